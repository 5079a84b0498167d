func.func @f(%n: index, %x: f32) -> f32 {
  %r:2 = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (f32) {
    scf.yield %a : f32
  }
  return %r#1 : f32
}
