// RUN: gradus opt %s --inline
// A dead function nested in another dead function is erased once.
func.func private @outer() {
  builtin.module {
    func.func private @inner() {
      return
    }
  }
  return
}
func.func @f() {
  return
}
