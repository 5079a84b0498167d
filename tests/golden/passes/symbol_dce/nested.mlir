// RUN: gradus opt %s --symbol-dce --allow-unregistered-dialect
// Chains of dead symbols go; what is visible, and what that uses, stays.
func.func private @dead() {
  call @dead_too() : () -> ()
  return
}
func.func private @dead_too() {
  return
}
func.func @visible() {
  call @used() : () -> ()
  return
}
func.func private @used() {
  return
}
func.func private @mentioned() {
  return
}
"foreign.op"() {who = [@mentioned]} : () -> ()

// -----

// Symbols of a table that can be seen are seen; those of a nameless or private one are not.
module @visible {
  func.func nested @nested() { return }
  func.func private @private() { return }
}
module {
  func.func @public() { return }
}
module @hidden attributes {sym_visibility = "private"} {
  func.func @reached() { return }
  func.func @unreached() { return }
}
"foreign.op"() {who = @hidden::@reached} : () -> ()
