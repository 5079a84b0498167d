// RUN: gradus opt %s --saturate="target=scalar rules=horner,factor floats=approx max-iterations=30"

// A polynomial of degree n takes n multiplications and n additions, and no power.
func.func @degree_3(%x: f64, %a0: f64, %a1: f64, %a2: f64, %a3: f64) -> f64 {
  %e2 = arith.constant 2.0 : f64
  %e3 = arith.constant 3.0 : f64
  %p2 = math.powf %x, %e2 : f64
  %t2 = arith.mulf %a2, %p2 : f64
  %p3 = math.powf %x, %e3 : f64
  %t3 = arith.mulf %a3, %p3 : f64
  %t1 = arith.mulf %a1, %x : f64
  %s1 = arith.addf %a0, %t1 : f64
  %s2 = arith.addf %s1, %t2 : f64
  %s3 = arith.addf %s2, %t3 : f64
  return %s3 : f64
}

func.func @degree_10(%x: f64, %a0: f64, %a1: f64, %a2: f64, %a3: f64, %a4: f64, %a5: f64, %a6: f64, %a7: f64, %a8: f64, %a9: f64, %a10: f64) -> f64 {
  %e2 = arith.constant 2.0 : f64
  %e3 = arith.constant 3.0 : f64
  %e4 = arith.constant 4.0 : f64
  %e5 = arith.constant 5.0 : f64
  %e6 = arith.constant 6.0 : f64
  %e7 = arith.constant 7.0 : f64
  %e8 = arith.constant 8.0 : f64
  %e9 = arith.constant 9.0 : f64
  %e10 = arith.constant 10.0 : f64
  %p2 = math.powf %x, %e2 : f64
  %t2 = arith.mulf %a2, %p2 : f64
  %p3 = math.powf %x, %e3 : f64
  %t3 = arith.mulf %a3, %p3 : f64
  %p4 = math.powf %x, %e4 : f64
  %t4 = arith.mulf %a4, %p4 : f64
  %p5 = math.powf %x, %e5 : f64
  %t5 = arith.mulf %a5, %p5 : f64
  %p6 = math.powf %x, %e6 : f64
  %t6 = arith.mulf %a6, %p6 : f64
  %p7 = math.powf %x, %e7 : f64
  %t7 = arith.mulf %a7, %p7 : f64
  %p8 = math.powf %x, %e8 : f64
  %t8 = arith.mulf %a8, %p8 : f64
  %p9 = math.powf %x, %e9 : f64
  %t9 = arith.mulf %a9, %p9 : f64
  %p10 = math.powf %x, %e10 : f64
  %t10 = arith.mulf %a10, %p10 : f64
  %t1 = arith.mulf %a1, %x : f64
  %s1 = arith.addf %a0, %t1 : f64
  %s2 = arith.addf %s1, %t2 : f64
  %s3 = arith.addf %s2, %t3 : f64
  %s4 = arith.addf %s3, %t4 : f64
  %s5 = arith.addf %s4, %t5 : f64
  %s6 = arith.addf %s5, %t6 : f64
  %s7 = arith.addf %s6, %t7 : f64
  %s8 = arith.addf %s7, %t8 : f64
  %s9 = arith.addf %s8, %t9 : f64
  %s10 = arith.addf %s9, %t10 : f64
  return %s10 : f64
}

// Terms from the highest power down, integral exponents, and implicit coefficients 1.
func.func @whole(%x: f32, %a: f32) -> f32 {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c1_0 = arith.constant 1.0 : f32
  %c7_0 = arith.constant 7.0 : f32
  %cube = math.fpowi %x, %c3 : f32, i32
  %square = math.fpowi %x, %c2 : f32, i32
  %0 = arith.mulf %square, %c7_0 : f32
  %1 = arith.addf %cube, %0 : f32
  %2 = arith.mulf %a, %x : f32
  %3 = arith.addf %1, %2 : f32
  %4 = arith.addf %3, %c1_0 : f32
  return %4 : f32
}

// Powers with fractional exponents are no products.
func.func @root(%x: f64, %a: f64) -> f64 {
  %exponent = arith.constant 2.5 : f64
  %0 = math.powf %x, %exponent : f64
  %1 = arith.mulf %a, %0 : f64
  return %1 : f64
}
