func.func @count(%n: index, %k: index, %m: memref<1xi32>) {
  %one = arith.constant 1 : i32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %k {
      %a = affine.load %m[0] : memref<1xi32>
      %b = arith.addi %a, %one : i32
      affine.store %b, %m[0] : memref<1xi32>
    }
  }
  return
}
