// 66 columns: two blocks of 32 channels on the engine, and two columns of scalar code, unless they are padded.
func.func @main(%a: tensor<2x9xi8>, %b: tensor<9x66xi8>) -> tensor<2x66xi32> {
  %0 = nna.matmul diagonal %a, %b : (tensor<2x9xi8>, tensor<9x66xi8>) -> tensor<2x66xi32>
  return %0 : tensor<2x66xi32>
}
// SCALAR: nnmacg
// SCALAR: madd
// SCALAR: sw
// SCALAR-NOT: nnmacg
