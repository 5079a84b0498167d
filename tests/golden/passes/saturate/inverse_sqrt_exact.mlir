// RUN: gradus opt %s --saturate="target=scalar rules=fast-inverse-sqrt" --verify-diagnostics

// expected-error@+1 {{the rules of group 'fast-inverse-sqrt' are approximate: they need floats=approx}}
module {
  func.func @inverse(%x: f32) -> f32 {
    %one = arith.constant 1.0 : f32
    %0 = math.sqrt %x : f32
    %1 = arith.divf %one, %0 : f32
    return %1 : f32
  }
}
