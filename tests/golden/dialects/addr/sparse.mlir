// RUN: gradus opt %s

func.func @rows(%a: tensor<4x16xf32>, %o: tensor<3xi32>, %v: tensor<3xf32>, %e: tensor<2xi32>) -> tensor<2x16xf32> {
  %0 = addr.sparse_gemm %a[%o], %v rows %e : (tensor<4x16xf32>, tensor<3xi32>, tensor<3xf32>, tensor<2xi32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}
func.func @epilogue(%a: tensor<64xf64>, %o: tensor<3xi32>, %v: tensor<3xf64>, %e: tensor<2xi32>, %b: tensor<2xf64>, %r: tensor<2x16xf64>) -> tensor<2x16xf64> {
  %0 = addr.sparse_gemm %a[%o], %v rows %e bias %b plus %r {high = 6.0 : f32, low = 0.0 : f32} : (tensor<64xf64>, tensor<3xi32>, tensor<3xf64>, tensor<2xi32>, tensor<2xf64>, tensor<2x16xf64>) -> tensor<2x16xf64>
  return %0 : tensor<2x16xf64>
}
func.func @bands(%a: tensor<2x3x2x4xbf16>, %o: tensor<3xi32>, %v: tensor<3xbf16>, %e: tensor<5xi32>) -> tensor<2x5x8xbf16> {
  %0 = addr.sparse_gemm %a[%o], %v rows %e strips 2 pitch 24 : (tensor<2x3x2x4xbf16>, tensor<3xi32>, tensor<3xbf16>, tensor<5xi32>) -> tensor<2x5x8xbf16>
  return %0 : tensor<2x5x8xbf16>
}
