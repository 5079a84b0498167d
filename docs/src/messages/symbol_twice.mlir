func.func @f() {
  return
}
func.func @f(%x: i32) {
  return
}
