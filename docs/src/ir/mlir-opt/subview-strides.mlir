func.func @part(%i: index, %m: memref<1x1x2xi8, strided<[3, 1, 3]>>) -> memref<?x1xi8, strided<[3, ?], offset: ?>> {
  %c1 = arith.constant 1 : index
  %r = memref.subview %m[%i, %i, 1] [%c1, 1, 1] [1, %i, 1] : memref<1x1x2xi8, strided<[3, 1, 3]>> to memref<?x1xi8, strided<[3, ?], offset: ?>>
  return %r : memref<?x1xi8, strided<[3, ?], offset: ?>>
}
