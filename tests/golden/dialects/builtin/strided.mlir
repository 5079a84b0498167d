// RUN: gradus opt %s --allow-unregistered-dialect

"t.layouts"() : () -> (
  memref<4x8xf32, strided<[8, 1]>>,
  memref<4x8xf32, strided<[?, 1], offset: ?>>,
  memref<4x8xf32, strided<[16, 2], offset: 5>, 3>,
  memref<?x4xf32, 2 : i32>,
  memref<*xf32, "space">)
"t.attrs"() {s = strided<[1, ?], offset: -3>} : () -> ()
