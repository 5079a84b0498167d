// RUN: gradus opt %s --canonicalize

func.func @there_and_back(%a: i32) -> (i32, i32) {
  %0 = builtin.unrealized_conversion_cast %a : i32 to i64
  %1 = builtin.unrealized_conversion_cast %0 : i64 to i32
  %same = builtin.unrealized_conversion_cast %a : i32 to i32
  return %1, %same : i32, i32
}

func.func @several(%a: i32, %b: f32) -> (i32, f32, i64) {
  %0 = builtin.unrealized_conversion_cast %a, %b : i32, f32 to i64
  %1:2 = builtin.unrealized_conversion_cast %0 : i64 to i32, f32
  return %1#0, %1#1, %0 : i32, f32, i64
}

// Casts with permuted values are no inverses.
func.func @swapped(%a: i32) -> i32 {
  %0:2 = builtin.unrealized_conversion_cast %a : i32 to i64, i64
  %1 = builtin.unrealized_conversion_cast %0#1, %0#0 : i64, i64 to i32
  return %1 : i32
}

// Only pairs of casts are folded, as in mlir-opt; reconcile-unrealized-casts follows chains.
func.func @chain(%a: i32) -> i32 {
  %0 = builtin.unrealized_conversion_cast %a : i32 to i64
  %1 = builtin.unrealized_conversion_cast %0 : i64 to f32
  %2 = builtin.unrealized_conversion_cast %1 : f32 to i32
  return %2 : i32
}
