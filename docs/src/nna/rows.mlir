// One row of nine weights, and nine rows of 64 channels: two patches.
func.func @main(%a: tensor<1x9xi8>, %b: tensor<9x64xi8>) -> tensor<1x64xi32> {
  %0 = nna.matmul diagonal %a, %b : (tensor<1x9xi8>, tensor<9x64xi8>) -> tensor<1x64xi32>
  return %0 : tensor<1x64xi32>
}
// ROWS: nncfg jump, 8
// ROWS: la [[A:v[0-9]+]], lo, [[F:r[0-9]+]], 0
// ROWS: la [[A]], hi, [[F]], 64
// ROWS: la [[B:v[0-9]+]], lo, [[F]], 128
// ROWS: nndwf fram0, [[A]]
// ROWS: nndwf fram0, [[B]]
// KERNEL: ls [[W:v[0-9]+]], r{{[0-9]+}}, 0
// KERNEL: and [[K:v[0-9]+]], [[W]], v16
// KERNEL: nndww wram0, [[K]]
// KERNEL-COUNT-143: nndww wram0
// KERNEL-NOT: nndww
