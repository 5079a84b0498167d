// RUN: gradus opt %s --canonicalize

func.func @constants(%a: index) -> (index, index, index) {
  %c3 = arith.constant 3 : index
  %0 = affine.min affine_map<(d0) -> (d0, 5)>(%c3)
  %1 = affine.max affine_map<(d0) -> (d0 + 9, 5)>(%c3)
  // Constant results are combined to one.
  %2 = affine.min affine_map<(d0) -> (8, d0, 6)>(%a)
  return %0, %1, %2 : index, index, index
}

// A single result becomes `affine.apply`, duplicates are removed, and operands are canonicalized.
func.func @simple(%a: index, %b: index) -> (index, index, index) {
  %0 = affine.min affine_map<(d0)[s0] -> (d0 + s0)>(%a)[%b]
  %1 = affine.max affine_map<(d0, d1) -> (d0, d1, d0)>(%a, %b)
  %2 = affine.min affine_map<(d0, d1, d2) -> (d0 + 1, d1 - 1)>(%a, %a, %b)
  return %0, %1, %2 : index, index, index
}

// Nested minima are merged, and ops that compute operands are composed into the map.
func.func @nested(%a: index, %b: index) -> (index, index, index) {
  %0 = affine.min affine_map<(d0) -> (d0, 7)>(%a)
  %1 = affine.min affine_map<(d0, d1) -> (d0, d1)>(%0, %b)
  %2 = affine.max affine_map<(d0) -> (d0, 7)>(%a)
  %3 = affine.max affine_map<(d0)[s0] -> (d0 * 2, s0)>(%b)[%2]
  %4 = affine.apply affine_map<(d0) -> (d0 * 2)>(%a)
  %5 = affine.min affine_map<(d0) -> (d0 + 1, 9)>(%4)
  return %1, %3, %5 : index, index, index
}

// A minimum as operand of a maximum is not merged.
func.func @mixed(%a: index, %b: index) -> index {
  %0 = affine.min affine_map<(d0) -> (d0, 7)>(%a)
  %1 = affine.max affine_map<(d0, d1) -> (d0, d1)>(%0, %b)
  return %1 : index
}
