// RUN: gradus opt %s --canonicalize

// Constant extents are moved into the type; negative ones are not.
func.func @constant_sizes(%n: index, %v: i32, %i: index) -> (i32, i32) {
  %c4 = arith.constant 4 : index
  %c-1 = arith.constant -1 : index
  %a = memref.alloc(%c4, %n) {alignment = 8 : i64} : memref<?x2x?xi32>
  %b = memref.alloca(%c4)[%n] : memref<?xi32, strided<[1], offset: ?>>
  memref.store %v, %a[%i, %i, %i] : memref<?x2x?xi32>
  memref.store %v, %b[%i] : memref<?xi32, strided<[1], offset: ?>>
  %0 = memref.load %a[%i, %i, %i] : memref<?x2x?xi32>
  %1 = memref.load %b[%i] : memref<?xi32, strided<[1], offset: ?>>
  memref.dealloc %a : memref<?x2x?xi32>
  return %0, %1 : i32, i32
}

func.func @negative() -> memref<?xi32> {
  %c-1 = arith.constant -1 : index
  %a = memref.alloc(%c-1) : memref<?xi32>
  return %a : memref<?xi32>
}

// Memory that is only written and freed is removed.
func.func @dead(%v: i32, %i: index) {
  %a = memref.alloc() : memref<4xi32>
  memref.store %v, %a[%i] : memref<4xi32>
  memref.dealloc %a : memref<4xi32>
  %b = memref.alloca() : memref<4xi32>
  memref.store %v, %b[%i] : memref<4xi32>
  %c = memref.alloc() : memref<4xi32>
  return
}

// A memref that is stored in memory escapes; it stays, and so does the memory that holds it.
func.func @stored(%m: memref<1xmemref<4xi32>>, %i: index) {
  %a = memref.alloc() : memref<4xi32>
  memref.store %a, %m[%i] : memref<1xmemref<4xi32>>
  return
}

func.func @realloc(%a: memref<?xi32>, %v: i32, %i: index) {
  %0 = memref.realloc %a : memref<?xi32> to memref<8xi32>
  memref.store %v, %0[%i] : memref<8xi32>
  memref.dealloc %0 : memref<8xi32>
  return
}

func.func @dealloc_of_cast(%a: memref<4xi32>) {
  %0 = memref.cast %a : memref<4xi32> to memref<?xi32>
  memref.dealloc %0 : memref<?xi32>
  return
}
