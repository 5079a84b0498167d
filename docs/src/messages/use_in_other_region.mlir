func.func @f(%c: i1, %x: i32) -> i32 {
  scf.if %c {
    %0 = arith.addi %x, %x : i32
  }
  return %0 : i32
}
