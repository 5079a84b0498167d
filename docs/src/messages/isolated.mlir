func.func @f(%x: i32) {
  builtin.module {
    func.func @g() -> i32 {
      return %x : i32
    }
  }
  return
}
