func.func private @log(i32)
func.func @scale(%x: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %0 = arith.muli %x, %c3 : i32
  return %0 : i32
}
func.func @average(%m: memref<64xi32>, %n: index, %count: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i32) {
    %v = memref.load %m[%i] : memref<64xi32>
    %w = func.call @scale(%v) : (i32) -> i32
    %t = arith.addi %s, %w : i32
    scf.yield %t : i32
  }
  func.call @log(%sum) : (i32) -> ()
  %r = arith.divsi %sum, %count : i32
  return %r : i32
}
