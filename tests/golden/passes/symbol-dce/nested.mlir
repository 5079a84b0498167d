// RUN: gradus opt %s --symbol-dce --allow-unregistered-dialect
// Chains of dead symbols are erased; visible symbols stay, with the symbols that they use.
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

// Public symbols of a public table are visible; those of a nameless or private table are not.
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
