// RUN: gradus opt %s

// Heap memory is allocated, written, read and freed.
func.func @heap(%n: index, %v: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloc(%n) : memref<?xi32>
  memref.store %v, %m[%c0] : memref<?xi32>
  %0 = memref.load %m[%c0] : memref<?xi32>
  memref.dealloc %m : memref<?xi32>
  return %0 : i32
}

// Uninitialized memory is poison; a call that returns it may return any value.
func.func @unwritten() -> i32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<2xi32>
  %0 = memref.load %m[%c0] : memref<2xi32>
  return %0 : i32
}

func.func @stack(%v: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %m = memref.alloca() {alignment = 64 : i64} : memref<2x2xf32>
  memref.store %v, %m[%c1, %c1] : memref<2x2xf32>
  %0 = memref.load %m[%c1, %c1] : memref<2x2xf32>
  return %0 : f32
}

// Operands for dynamic extents, symbols of the layout, and memory spaces.
func.func @forms(%n: index, %s: index, %v: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8x64xi32, 1>
  %b = memref.alloc(%n, %n) : memref<?x4x?xi32>
  %c = memref.alloc()[%s] : memref<8x64xi32, affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>, 1>
  %d = memref.alloc(%n)[%s, %s] {alignment = 8 : i64} : memref<?x2xi32, strided<[?, 1], offset: ?>>
  %e = memref.alloca(%n)[%s] : memref<?xi32, affine_map<(d0)[s0] -> (d0 * 2 + s0)>>
  memref.store %v, %d[%c0, %c0] : memref<?x2xi32, strided<[?, 1], offset: ?>>
  memref.store %v, %e[%c0] : memref<?xi32, affine_map<(d0)[s0] -> (d0 * 2 + s0)>>
  memref.store %v, %a[%c0, %c0] : memref<8x64xi32, 1>
  memref.store %v, %b[%c0, %c0, %c0] : memref<?x4x?xi32>
  memref.store %v, %c[%c0, %c0] : memref<8x64xi32, affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>, 1>
  %0 = memref.load %d[%c0, %c0] : memref<?x2xi32, strided<[?, 1], offset: ?>>
  %1 = memref.load %e[%c0] : memref<?xi32, affine_map<(d0)[s0] -> (d0 * 2 + s0)>>
  %2 = arith.subi %0, %1 : i32
  return %2 : i32
}

// `memref.realloc` keeps the contents.
func.func @realloc(%v: i64, %n: index) -> (i64, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi64>
  memref.store %v, %m[%c1] : memref<2xi64>
  %wide = memref.realloc %m {alignment = 16 : i64} : memref<2xi64> to memref<6xi64>
  %open = memref.realloc %wide(%n) : memref<6xi64> to memref<?xi64>
  %0 = memref.load %open[%c1] : memref<?xi64>
  %1 = memref.dim %open, %c0 : memref<?xi64>
  memref.dealloc %open : memref<?xi64>
  return %0, %1 : i64, index
}

// Memory owned by the caller may be freed and returned.
func.func @argument(%a: memref<2xi32>, %b: memref<3xi8>) -> memref<3xi8> {
  memref.dealloc %a : memref<2xi32>
  return %b : memref<3xi8>
}

func.func @unranked(%a: memref<*xf32>) {
  memref.dealloc %a : memref<*xf32>
  return
}
