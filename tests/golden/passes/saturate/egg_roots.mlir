// RUN: gradus opt %s --saturate="floats=approx"

// The tests of powers and roots of egg, on floats with reassociation.

// b^x b^y = b^(x + y)
rewrite.rule @same_base approx {
  %b = value
  %x = value
  %y = value
  %left = op "math.powf"(%b, %x)
  %right = op "math.powf"(%b, %y)
  %product = op "arith.mulf"(%left, %right)
  match %product
  %sum = op "arith.addf"(%x, %y)
  %power = op "math.powf"(%b, %sum)
  replace %power
}

// a/c - b/c = (a - b)/c
rewrite.rule @same_divisor approx {
  %a = value
  %b = value
  %c = constant
  %left = op "arith.divf"(%a, %c)
  %right = op "arith.divf"(%b, %c)
  %difference = op "arith.subf"(%left, %right)
  match %difference
  %rest = op "arith.subf"(%a, %b)
  %quotient = op "arith.divf"(%rest, %c)
  replace %quotient
}

// (c + a) - (c - b) = a + b
rewrite.rule @same_term approx {
  %a = value
  %b = value
  %c = constant
  %left = op "arith.addf"(%c, %a)
  %right = op "arith.subf"(%c, %b)
  %difference = op "arith.subf"(%left, %right)
  match %difference
  %sum = op "arith.addf"(%a, %b)
  replace %sum
}

// (a + a)/2 = a
rewrite.rule @half approx {
  %a = value
  %two = number 2.0
  %sum = op "arith.addf"(%a, %a)
  %half = op "arith.divf"(%sum, %two)
  match %half
  replace %a
}

func.func @powers(%x: f64, %y: f64) -> f64 {
  %c2 = arith.constant 2.0 : f64
  %0 = math.powf %c2, %x : f64
  %1 = math.powf %c2, %y : f64
  %2 = arith.mulf %0, %1 : f64
  return %2 : f64
}

// 1/((1 + r)/2 - (1 - r)/2) = 1/r, where egg has the square root of five for r
func.func @simplify_root(%five: f64) -> f64 {
  %c1 = arith.constant 1.0 : f64
  %c2 = arith.constant 2.0 : f64
  %r = math.sqrt %five : f64
  %0 = arith.addf %c1, %r : f64
  %1 = arith.divf %0, %c2 : f64
  %2 = arith.subf %c1, %r : f64
  %3 = arith.divf %2, %c2 : f64
  %4 = arith.subf %1, %3 : f64
  %5 = arith.divf %c1, %4 : f64
  return %5 : f64
}
