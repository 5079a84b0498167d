// RUN: gradus opt %s --allow-unregistered-dialect

"t.maps"() {
  constant = affine_map<() -> (0)>,
  empty = affine_map<() -> ()>,
  named = affine_map<(i, j)[n] -> (i + n, j * 2)>,
  simplified = affine_map<(d0) -> (d0 + 0, d0 * 1, 2 * d0 + 3 * d0, 7 mod 4, 7 floordiv 2, 7 ceildiv 2)>,
  divided = affine_map<(d0)[s0] -> (d0 floordiv s0, d0 mod 8, d0 ceildiv 4)>,
  negative = affine_map<(d0, d1) -> (-d0, d0 - d1, -(d0 + d1))>,
  parens = affine_map<(d0, d1) -> ((d0 + d1) * 4 + (d0 - 1) floordiv 2)>
} : () -> ()
"t.sets"() {
  half = affine_set<(d0)[s0] : (d0 >= 0, s0 - d0 - 1 >= 0)>,
  line = affine_set<(d0, d1) : (d0 - d1 == 0)>,
  compared = affine_set<(d0) : (d0 <= 5, d0 >= 1)>
} : () -> ()
"t.types"() : () -> (memref<4x8xf32, affine_map<(d0, d1) -> (d1, d0)>>)
