func.func @f(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^then, ^end
^then:
  %0 = arith.addi %x, %x : i32
  cf.br ^end
^end:
  return %0 : i32
}
