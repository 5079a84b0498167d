// RUN: gradus opt %s --lower-affine

// Sums and products.
func.func @linear(%i: index, %n: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 * 3 - s0 + 7)>(%i)[%n]
  return %0 : index
}

// `floordiv` and `mod` are corrected from division that rounds towards zero, without negating the least integer.
func.func @divisions(%a: i32) -> (index, index, index) {
  %i = arith.index_cast %a : i32 to index
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 5)>(%i)
  %1 = affine.apply affine_map<(d0) -> (d0 ceildiv 5)>(%i)
  %2 = affine.apply affine_map<(d0) -> (d0 mod 5)>(%i)
  return %0, %1, %2 : index, index, index
}

func.func @divide_i64(%a: i64) -> (index, index, index) {
  %i = arith.index_cast %a : i64 to index
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 7)>(%i)
  %1 = affine.apply affine_map<(d0) -> (d0 ceildiv 7)>(%i)
  %2 = affine.apply affine_map<(d0) -> (d0 mod 7)>(%i)
  return %0, %1, %2 : index, index, index
}

func.func @symbols(%i: index, %n: i4) -> (index, index) {
  %c1 = arith.constant 1 : index
  %a = arith.index_castui %n : i4 to index
  %s = arith.addi %a, %c1 : index
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0 + d0 mod s0)>(%i)[%s]
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 * s0 + d0 ceildiv s0)>(%i)[%s]
  return %0, %1 : index, index
}

// Maps that need no arithmetic.
func.func @folded(%i: index) -> (index, index, index) {
  %c4 = arith.constant 4 : index
  %0 = affine.apply affine_map<(d0) -> (d0)>(%i)
  %1 = affine.apply affine_map<() -> (-9)>()
  %2 = affine.apply affine_map<(d0) -> (d0 * 2)>(%c4)
  return %0, %1, %2 : index, index, index
}

func.func @extremes(%i: index, %n: index) -> (index, index, index) {
  %0 = affine.min affine_map<(d0)[s0] -> (d0, s0 * 2, 7)>(%i)[%n]
  %1 = affine.max affine_map<(d0)[s0] -> (d0 - 1, s0)>(%i)[%n]
  %2 = affine.min affine_map<(d0) -> (d0 + 1)>(%i)
  return %0, %1, %2 : index, index, index
}
