func.func @f(%x: int32) -> i32 {
  return %x : i32
}
