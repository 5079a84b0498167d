// RUN: gradus check %s --convert-f32-to-f16 --floats=rounding --inputs=16 | FileCheck %s

// A tiny power is 0 in f16, and what `ceil` makes of it is no mistake of the pass: operands are rounded beside an element that is poison too.
// CHECK: @tiny: no difference
func.func @tiny(%x: tensor<4xf32>) -> tensor<4xf32> {
  %exponents = arith.constant dense<[-0.412428051, -1.153750e+02, 9.999940e-41, 1.000000e+00]> : tensor<4xf32>
  %0 = math.powf %x, %exponents fastmath<reassoc,nnan> : tensor<4xf32>
  %1 = graph.ceil %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
