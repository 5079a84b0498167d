func.func @f(%x: i32) -> i32 {
  cf.br ^end(%x, %x : i32, i32)
^end(%y: i32):
  return %y : i32
}
