// RUN: gradus opt %s --canonicalize
// A 4x4 image with one channel under a 3x3 filter, as explicit products and through address tables, with equal results.
func.func @worked_example() -> (tensor<1x1x2x2xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %x = arith.constant dense<[[[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0]]]]> : tensor<1x1x4x4xf32>
  %w = arith.constant dense<[[[[1.0, 0.0, 2.0], [-1.0, 3.0, 0.0], [0.0, 1.0, -2.0]]]]> : tensor<1x1x3x3xf32>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  %b = arith.constant dense<[[1.0, 0.0, 2.0, -1.0, 3.0, 0.0, 0.0, 1.0, -2.0]]> : tensor<1x9xf32>
  %base = arith.constant dense<[0, 1, 4, 5]> : tensor<4xi32>
  %relative = arith.constant dense<[0, 1, 2, 4, 5, 6, 8, 9, 10]> : tensor<9xi32>
  %1 = addr.gemm %x[%base + %relative], %b : (tensor<1x1x4x4xf32>, tensor<4xi32>, tensor<9xi32>, tensor<1x9xf32>) -> tensor<4x1xf32>
  %running = arith.constant dense<[0, 1, 1, 2, 1, 1, 2, 1, 1]> : tensor<9xi32>
  %2 = addr.gemm %x[%base + %running] running, %b : (tensor<1x1x4x4xf32>, tensor<4xi32>, tensor<9xi32>, tensor<1x9xf32>) -> tensor<4x1xf32>
  return %0, %1, %2 : tensor<1x1x2x2xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}
// Padding without an address: base -1 reads zeros.
func.func @zero_page() -> (tensor<1x1x2x2xf32>, tensor<4x1xf32>) {
  %x = arith.constant dense<[[[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0]]]]> : tensor<1x1x4x4xf32>
  %w = arith.constant dense<[[[[1.0, 0.0, 2.0], [-1.0, 3.0, 0.0], [0.0, 1.0, -2.0]]]]> : tensor<1x1x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  %b = arith.constant dense<[[1.0, 0.0, 2.0, -1.0, 3.0, 0.0, 0.0, 1.0, -2.0]]> : tensor<1x9xf32>
  %bases = arith.constant dense<[[-1, -1, -1, -1, 0, 1, -1, 4, 5], [-1, -1, -1, 1, 2, 3, 5, 6, 7], [-1, 4, 5, -1, 8, 9, -1, 12, 13], [5, 6, 7, 9, 10, 11, 13, 14, 15]]> : tensor<4x9xi32>
  %1 = addr.indirect_gemm %x[%bases] run 1, %b : (tensor<1x1x4x4xf32>, tensor<4x9xi32>, tensor<1x9xf32>) -> tensor<4x1xf32>
  return %0, %1 : tensor<1x1x2x2xf32>, tensor<4x1xf32>
}
// Products of 8-bit integers are accumulated in i32; two output channels read runs of two elements.
func.func @short_integers() -> (tensor<2x2xi32>, tensor<2x2xi32>) {
  %x = arith.constant dense<[100, 101, 102, 103, -104, 105]> : tensor<6xi8>
  %b = arith.constant dense<[[100, 1, 100, 1], [0, 1, 0, -1]]> : tensor<2x4xi8>
  %base = arith.constant dense<[0, 2]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %0 = addr.gemm %x[%base + %relative], %b : (tensor<6xi8>, tensor<2xi32>, tensor<4xi32>, tensor<2x4xi8>) -> tensor<2x2xi32>
  %bases = arith.constant dense<[[0, 2], [2, 4]]> : tensor<2x2xi32>
  %1 = addr.indirect_gemm %x[%bases] run 2, %b : (tensor<6xi8>, tensor<2x2xi32>, tensor<2x4xi8>) -> tensor<2x2xi32>
  return %0, %1 : tensor<2x2xi32>, tensor<2x2xi32>
}
func.func @tables_that_are_not_known(%x: tensor<?x4xf32>, %base: tensor<?xi32>, %relative: tensor<9xi32>, %b: tensor<2x9xf32>) -> tensor<?x2xf32> {
  %0 = addr.gemm %x[%base + %relative], %b : (tensor<?x4xf32>, tensor<?xi32>, tensor<9xi32>, tensor<2x9xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
// Bias per column, and a clamp.
func.func @bias_and_bounds() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = arith.constant dense<[[1.0, 1.0], [1.0, -1.0]]> : tensor<2x2xf32>
  %bias = arith.constant dense<[0.5, -10.0]> : tensor<2xf32>
  %base = arith.constant dense<[0, 2]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %0 = addr.gemm %x[%base + %relative], %b bias %bias {low = 0.0 : f32, high = 6.0 : f32} : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %bases = arith.constant dense<[[0], [-1]]> : tensor<2x1xi32>
  %1 = addr.indirect_gemm %x[%bases] run 2, %b bias %bias {high = 2.0 : f32} : (tensor<4xf32>, tensor<2x1xi32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}
// Zero points and requantization: rounded half to even and saturated to 8 bits.
func.func @quantized() -> (tensor<2x2xui8>, tensor<2x2xi8>) {
  %x = graph.constant dense<[128, 129, 130, 255]> : tensor<4xui8>
  %b = arith.constant dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>
  %a_zero = graph.constant dense<128> : tensor<ui8>
  %b_zero = arith.constant dense<[1, 0]> : tensor<2xi8>
  %scale = arith.constant dense<0.5> : tensor<f32>
  %scales = arith.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %zero = graph.constant dense<200> : tensor<ui8>
  %none = arith.constant dense<0> : tensor<i8>
  %base = arith.constant dense<[0, 2]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %0 = addr.gemm %x[%base + %relative], %b a_zero %a_zero b_zero %b_zero scale %scale zero %zero : (tensor<4xui8>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi8>, tensor<ui8>, tensor<2xi8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  %bases = arith.constant dense<[[0], [-1]]> : tensor<2x1xi32>
  %bias = arith.constant dense<[3, 5]> : tensor<2xi32>
  %1 = addr.indirect_gemm %x[%bases] run 2, %b a_zero %a_zero bias %bias scale %scales zero %none : (tensor<4xui8>, tensor<2x1xi32>, tensor<2x2xi8>, tensor<ui8>, tensor<2xi32>, tensor<2xf32>, tensor<i8>) -> tensor<2x2xi8>
  return %0, %1 : tensor<2x2xui8>, tensor<2x2xi8>
}
// Two groups of columns, each with addresses of its own: the first reads the even elements, the second the odd ones.
func.func @groups() -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xi32>) {
  %x = arith.constant dense<[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]> : tensor<6xf32>
  %b = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]> : tensor<4x2xf32>
  %base = arith.constant dense<[[0, 2], [1, 3]]> : tensor<2x2xi32>
  %relative = arith.constant dense<[0, 2]> : tensor<2xi32>
  %0 = addr.gemm %x[%base + %relative], %b : (tensor<6xf32>, tensor<2x2xi32>, tensor<2xi32>, tensor<4x2xf32>) -> tensor<2x4xf32>
  %bases = arith.constant dense<[[[0, 2], [2, -1]], [[1, 3], [3, -1]]]> : tensor<2x2x2xi32>
  %panels = arith.constant dense<[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]]]> : tensor<2x2x3xf32>
  %1 = addr.indirect_gemm %x[%bases] run 1, %panels columns 4 : (tensor<6xf32>, tensor<2x2x2xi32>, tensor<2x2x3xf32>) -> tensor<2x4xf32>
  %y = arith.constant dense<[1, 10, 2, 20, 3, 30]> : tensor<6xi8>
  %c = arith.constant dense<[[1, 0], [0, 1], [1, 1], [1, -1]]> : tensor<4x2xi8>
  %zeros = arith.constant dense<[0, 0, 1, 0]> : tensor<4xi8>
  %2 = addr.gemm %y[%base + %relative], %c b_zero %zeros : (tensor<6xi8>, tensor<2x2xi32>, tensor<2xi32>, tensor<4x2xi8>, tensor<4xi8>) -> tensor<2x4xi32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xi32>
}
// Blocks of two columns one behind the other, with a summand in the same order, bytes with a scale per column, and blocks of one.
func.func @blocks() -> (tensor<2x2x2xf32>, tensor<2x2x2xi8>, tensor<4x2x1xf32>) {
  %x = arith.constant dense<[1.0, 10.0, 2.0, 20.0]> : tensor<4xf32>
  %b = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]> : tensor<4x2xf32>
  %base = arith.constant dense<[0, 2]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %bias = arith.constant dense<[0.0, 100.0, 200.0, 300.0]> : tensor<4xf32>
  %add = arith.constant dense<[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]> : tensor<2x2x2xf32>
  %0 = addr.gemm %x[%base + %relative], %b bias %bias plus %add {block = 2 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<4x2xf32>, tensor<4xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %y = arith.constant dense<[1, 10, 2, 20]> : tensor<4xi8>
  %c = arith.constant dense<[[1, 0], [0, 1], [1, 1], [1, -1]]> : tensor<4x2xi8>
  %bases = arith.constant dense<[[0], [2]]> : tensor<2x1xi32>
  %scale = arith.constant dense<[1.0, 2.0, 0.5, 1.0]> : tensor<4xf32>
  %zero = arith.constant dense<1> : tensor<i8>
  %1 = addr.indirect_gemm %y[%bases] run 2, %c scale %scale zero %zero {block = 2 : i64} : (tensor<4xi8>, tensor<2x1xi32>, tensor<4x2xi8>, tensor<4xf32>, tensor<i8>) -> tensor<2x2x2xi8>
  %2 = addr.gemm %x[%base + %relative], %b {block = 1 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<4x2xf32>) -> tensor<4x2x1xf32>
  return %0, %1, %2 : tensor<2x2x2xf32>, tensor<2x2x2xi8>, tensor<4x2x1xf32>
}
