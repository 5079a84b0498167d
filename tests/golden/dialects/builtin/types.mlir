// RUN: gradus opt %s --allow-unregistered-dialect

"t.types"() : () -> (
  i1, si8, ui16, i7, index, none,
  f16, bf16, f32, f64, f80, f128, tf32, f8E5M2, f8E4M3FN, f4E2M1FN,
  complex<f32>, tuple<>, tuple<i32, tuple<f32>>,
  vector<4xf32>, vector<[4]x2xi8>, vector<f32>,
  tensor<f32>, tensor<?x0x3xi8>, tensor<*xf32>, tensor<2xf32, "encoding">, tensor<2x!foo.elem<1>>,
  memref<2x?xi8>, () -> (), (i32) -> (i32, f32), ((i32) -> i32) -> (),
  !foo.bar, !foo<"text">, !foo.nested<[1, 2], x = "y">)
