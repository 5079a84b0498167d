// Two rows of twenty weights, in groups of nine, nine and two; 384 channels.
func.func @main(%a: tensor<2x20xi8>, %b: tensor<20x384xi8>) -> tensor<2x384xi32> {
  %0 = nna.matmul diagonal %a, %b : (tensor<2x20xi8>, tensor<20x384xi8>) -> tensor<2x384xi32>
  return %0 : tensor<2x384xi32>
}
// MASK: nncfg mask, 511
// MASK: nncfg mask, 3
// TURNS: nnmacg fram0
// TURNS-NOT: nnsync
// TURNS: nndwf fram1
// TURNS: nnmacg fram0
// TURNS-NOT: nnsync
// TURNS: sa
// TURNS: nnmacg fram1
// TURNS-NOT: nnsync
// TURNS: nndwf fram0
// SUMS: nndrdocb [[R:v[0-9]+]], block{{[01]}}, pixel0, lo
// SUMS: la [[T:v[0-9]+]], all, [[P:r[0-9]+]], [[AT:[0-9]+]]
// SUMS: add [[R]], [[R]], [[T]]
// SUMS: sa [[R]], all, [[P]], [[AT]]
// V2: pixel0, hi
// V2: pixel2, hi
// V2: pixel4, hi
// V2: pixel6, hi
// V1-NOT: {{pixel[13-9]}}
// V1: pixel2, hi
// V1-NOT: {{pixel[13-9]}}
