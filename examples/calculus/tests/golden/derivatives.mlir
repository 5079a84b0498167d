// RUN: calculus opt %s --saturate="rules=derive,simplify floats=approx"

// The derivatives of egg's tests. Each function returns the derivative and the expected result: they are merged into one value.

// dx/dx = 1
func.func @same() -> (f64, f64) {
  %1 = arith.constant 1.0 : f64
  %x = calculus.symbol @x : f64
  %d = calculus.derivative %x by @x : f64
  return %d, %1 : f64, f64
}

// dy/dx = 0
func.func @different() -> (f64, f64) {
  %0 = arith.constant 0.0 : f64
  %y = calculus.symbol @y : f64
  %d = calculus.derivative %y by @x : f64
  return %d, %0 : f64, f64
}

// d(1 + 2x)/dx = 2
func.func @linear() -> (f64, f64) {
  %1 = arith.constant 1.0 : f64
  %2 = arith.constant 2.0 : f64
  %x = calculus.symbol @x : f64
  %p = arith.mulf %2, %x : f64
  %f = arith.addf %1, %p : f64
  %d = calculus.derivative %f by @x : f64
  return %d, %2 : f64, f64
}

// d(1 + yx)/dx = y
func.func @other() -> (f64, f64) {
  %1 = arith.constant 1.0 : f64
  %x = calculus.symbol @x : f64
  %y = calculus.symbol @y : f64
  %p = arith.mulf %y, %x : f64
  %f = arith.addf %1, %p : f64
  %d = calculus.derivative %f by @x : f64
  return %d, %y : f64, f64
}

// d(ln x)/dx = 1/x
func.func @logarithm() -> (f64, f64) {
  %1 = arith.constant 1.0 : f64
  %x = calculus.symbol @x : f64
  %f = math.log %x : f64
  %d = calculus.derivative %f by @x : f64
  %a = arith.divf %1, %x : f64
  return %d, %a : f64, f64
}

// d(x^3)/dx = 3x^2
func.func @power() -> (f64, f64) {
  %2 = arith.constant 2.0 : f64
  %3 = arith.constant 3.0 : f64
  %x = calculus.symbol @x : f64
  %f = math.powf %x, %3 : f64
  %d = calculus.derivative %f by @x : f64
  %s = math.powf %x, %2 : f64
  %a = arith.mulf %3, %s : f64
  return %d, %a : f64, f64
}

// d(x^3 - 7x^2)/dx = x(3x - 14)
func.func @polynomial() -> (f64, f64) {
  %2 = arith.constant 2.0 : f64
  %3 = arith.constant 3.0 : f64
  %7 = arith.constant 7.0 : f64
  %14 = arith.constant 14.0 : f64
  %x = calculus.symbol @x : f64
  %p3 = math.powf %x, %3 : f64
  %p2 = math.powf %x, %2 : f64
  %t = arith.mulf %7, %p2 : f64
  %f = arith.subf %p3, %t : f64
  %d = calculus.derivative %f by @x : f64
  %m = arith.mulf %3, %x : f64
  %s = arith.subf %m, %14 : f64
  %a = arith.mulf %x, %s : f64
  return %d, %a : f64, f64
}

// d(sin x cos x)/dx = cos x cos x - sin x sin x
func.func @product() -> (f64, f64) {
  %x = calculus.symbol @x : f64
  %sin = math.sin %x : f64
  %cos = math.cos %x : f64
  %f = arith.mulf %sin, %cos : f64
  %d = calculus.derivative %f by @x : f64
  %a = arith.mulf %cos, %cos : f64
  %b = arith.mulf %sin, %sin : f64
  %c = arith.subf %a, %b : f64
  return %d, %c : f64, f64
}
