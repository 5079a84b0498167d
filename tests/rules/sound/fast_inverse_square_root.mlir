rewrite.rule @fast_inverse_square_root approx {
  %f32 = type : f32
  %i32 = type : i32
  %x = value : %f32
  %one = number 1.0
  %root = op "math.sqrt"(%x)
  %inverse = op "arith.divf"(%one, %root) : %f32
  match %inverse
  // A first guess from the exponent, and one step of Newton.
  %bits = op "arith.bitcast"(%x) : %i32
  %shift = number 1.0 : %i32
  %halved = op "arith.shrui"(%bits, %shift) : %i32
  %magic = number 1597463007.0 : %i32
  %guessed = op "arith.subi"(%magic, %halved) : %i32
  %guess = op "arith.bitcast"(%guessed) : %f32
  %half = number 0.5 : %f32
  %three_halves = number 1.5 : %f32
  %square = op "arith.mulf"(%guess, %guess)
  %scaled = op "arith.mulf"(%x, %square)
  %half_of_it = op "arith.mulf"(%half, %scaled)
  %factor = op "arith.subf"(%three_halves, %half_of_it)
  %better = op "arith.mulf"(%guess, %factor)
  replace %better
}
