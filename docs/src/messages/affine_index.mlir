func.func @f(%m: memref<10xf32>, %n: index) {
  affine.for %i = 0 to 10 {
    %j = arith.muli %i, %n : index
    %0 = affine.load %m[%j] : memref<10xf32>
  }
  return
}
