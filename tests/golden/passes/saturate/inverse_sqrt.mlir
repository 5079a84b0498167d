// RUN: gradus opt %s --saturate="target=scalar rules=fast-inverse-sqrt floats=approx"

// Normalization of a vector: v / |v|.
func.func @norm(%x: f32, %y: f32, %z: f32) -> (f32, f32, f32) {
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %x : f32
  %1 = arith.mulf %y, %y : f32
  %2 = arith.mulf %z, %z : f32
  %3 = arith.addf %0, %1 : f32
  %4 = arith.addf %3, %2 : f32
  %5 = math.sqrt %4 : f32
  %6 = arith.divf %one, %5 : f32
  %7 = arith.mulf %x, %6 : f32
  %8 = arith.mulf %y, %6 : f32
  %9 = arith.mulf %z, %6 : f32
  return %7, %8, %9 : f32, f32, f32
}

// The same with three divisions.
func.func @divided(%x: f32, %y: f32, %z: f32) -> (f32, f32, f32) {
  %0 = arith.mulf %x, %x : f32
  %1 = arith.mulf %y, %y : f32
  %2 = arith.mulf %z, %z : f32
  %3 = arith.addf %0, %1 : f32
  %4 = arith.addf %3, %2 : f32
  %5 = math.sqrt %4 : f32
  %6 = arith.divf %x, %5 : f32
  %7 = arith.divf %y, %5 : f32
  %8 = arith.divf %z, %5 : f32
  return %6, %7, %8 : f32, f32, f32
}

// Other float types have their exponents at other bits, so the rule does not apply.
func.func @wide(%x: f64) -> f64 {
  %one = arith.constant 1.0 : f64
  %0 = math.sqrt %x : f64
  %1 = arith.divf %one, %0 : f64
  return %1 : f64
}
