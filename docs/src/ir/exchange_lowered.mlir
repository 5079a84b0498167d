func.func @exchange(%t: memref<3xi32>, %i: index, %x: i32) -> (memref<3xi32>, i32) {
  %0 = memref.load %t[%i] : memref<3xi32>
  memref.store %x, %t[%i] : memref<3xi32>
  return %t, %0 : memref<3xi32>, i32
}
