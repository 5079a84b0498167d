// RUN: gradus opt %s --allow-unregistered-dialect

"t.ints"() {
  list = dense<[1, -2, 3]> : tensor<3xi32>,
  matrix = dense<[[1, 2], [3, 4]]> : vector<2x2xi8>,
  splat = dense<7> : tensor<4x4xi64>,
  uniform = dense<[5, 5, 5]> : tensor<3xi16>,
  bools = dense<[true, false, true]> : tensor<3xi1>,
  scalar = dense<9> : tensor<i32>,
  empty = dense<> : tensor<0xi32>,
  hex = dense<"0x0100000002000000"> : tensor<2xi32>,
  unsigned = dense<[255, 0]> : tensor<2xui8>,
  odd = dense<[-4, 3]> : tensor<2xi3>,
  index = dense<[0, 1]> : tensor<2xindex>
} : () -> ()
"t.floats"() {
  list = dense<[1.0, -2.5, 3.0e10]> : tensor<3xf32>,
  bits = dense<[0x7FC00000, 0xFF800000]> : tensor<2xf32>,
  half = dense<1.0> : tensor<2xf16>,
  brain = dense<[0.1, 0.2]> : tensor<2xbf16>,
  tiny = dense<1.0> : tensor<2xf8E4M3FN>,
  double = dense<3.14159265358979> : tensor<1xf64>
} : () -> ()
"t.others"() {
  complex = dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>,
  strings = dense<["a", "b\0A"]> : tensor<2x!t.string>
} : () -> ()
