// RUN: calculus opt %s --saturate="rules=derive,integrate,simplify floats=approx max-iterations=8 max-nodes=5000"

// The integrals of egg's tests, except that of the logarithm: x/x = 1 drops an operand, so it is not an equation.
// Values computed from constants only cost nothing, so that x is extracted as the integral of 1 where both are in one class.

// The integral of 1 is x.
func.func @one() -> (f64, f64) {
  %1 = arith.constant 1.0 : f64
  %x = calculus.symbol @x : f64
  %i = calculus.integral %1 by @x : f64
  return %i, %x : f64, f64
}

// The integral of cos x is sin x.
func.func @cosine() -> (f64, f64) {
  %x = calculus.symbol @x : f64
  %f = math.cos %x : f64
  %i = calculus.integral %f by @x : f64
  %a = math.sin %x : f64
  return %i, %a : f64, f64
}

// The integral of x^1 is x^2/2.
func.func @power() -> (f64, f64) {
  %1 = arith.constant 1.0 : f64
  %2 = arith.constant 2.0 : f64
  %x = calculus.symbol @x : f64
  %f = math.powf %x, %1 : f64
  %i = calculus.integral %f by @x : f64
  %s = math.powf %x, %2 : f64
  %a = arith.divf %s, %2 : f64
  return %i, %a : f64, f64
}

// The integral of x cos x is x sin x + cos x, by parts; also with the factors swapped.
func.func @parts() -> (f64, f64, f64) {
  %x = calculus.symbol @x : f64
  %cos = math.cos %x : f64
  %f = arith.mulf %x, %cos : f64
  %i = calculus.integral %f by @x : f64
  %g = arith.mulf %cos, %x : f64
  %j = calculus.integral %g by @x : f64
  %sin = math.sin %x : f64
  %p = arith.mulf %x, %sin : f64
  %a = arith.addf %p, %cos : f64
  return %i, %j, %a : f64, f64, f64
}
