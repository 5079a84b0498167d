// RUN: gradus opt %s

func.func @casts(%a: i32, %b: index) -> (index, i64) {
  %0 = builtin.unrealized_conversion_cast %a : i32 to index
  %1 = builtin.unrealized_conversion_cast to i64
  %2:2 = builtin.unrealized_conversion_cast %a, %b : i32, index to f32, f64 {why = "two"}
  return %0, %1 : index, i64
}
