// RUN: gradus opt %s

// All operators of affine expressions, negative factors, and symbolic divisors.
func.func @exprs(%i: index, %j: index, %n: index) -> (index, index, index, index, index, index) {
  %0 = affine.apply affine_map<(d0, d1)[s0] -> (d0 * 2 - d1 + s0 - 7)>(%i, %j)[%n]
  %1 = affine.apply affine_map<(d0, d1) -> ((d0 + d1) floordiv 4)>(%i, %j)
  %2 = affine.apply affine_map<(d0, d1) -> ((d0 - d1) ceildiv 4)>(%i, %j)
  %3 = affine.apply affine_map<(d0)[s0] -> ((d0 + 3) mod 5 + s0 * -3)>(%i)[%n]
  %4 = affine.apply affine_map<(d0)[s0] -> (d0 * s0 + d0 mod (s0 + 1))>(%i)[%n]
  %5 = affine.apply affine_map<() -> (42)>()
  return %0, %1, %2, %3, %4, %5 : index, index, index, index, index, index
}

#shared = affine_map<(d0)[s0] -> (d0 + s0)>

func.func @attributes(%i: index, %n: index) -> index {
  %0 = affine.apply #shared(%i)[%n] {note = "kept"}
  return %0 : index
}

// The result of `affine.apply` is a valid dimension, and a valid symbol if all operands are symbols.
func.func @chain(%n: index, %m: memref<64xindex>) -> index {
  %twice = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
  %c0 = arith.constant 0 : index
  %0 = affine.for %i = 0 to 4 iter_args(%a = %c0) -> (index) {
    %j = affine.apply affine_map<(d0) -> (d0 * 3)>(%i)
    %1 = affine.load %m[%j + %i] : memref<64xindex>
    %2 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%j)[%twice]
    %3 = arith.addi %1, %2 : index
    %4 = arith.addi %3, %a : index
    affine.yield %4 : index
  }
  return %0 : index
}
