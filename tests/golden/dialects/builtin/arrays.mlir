// RUN: gradus opt %s --allow-unregistered-dialect

"t.arrays"() {
  bools = array<i1: true, false>,
  bytes = array<i8: 1, -2>,
  words = array<i64: 1, 2, 3>,
  floats = array<f32: 1.5, -0.0>,
  none = array<i32>,
  mixed = [1, 2 : i8, 3.0, "four", [5], {six}, @seven, i8],
  empty = []
} : () -> ()
