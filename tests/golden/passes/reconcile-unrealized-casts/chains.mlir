// RUN: gradus opt %s --reconcile-unrealized-casts --allow-unregistered-dialect
// Chains of several casts back to the original type, of one value and of several.
func.func @chain(%a: i64) -> (i64, i32, f32) {
  %0 = builtin.unrealized_conversion_cast %a : i64 to i32
  %1 = builtin.unrealized_conversion_cast %0 : i32 to i16
  %2 = builtin.unrealized_conversion_cast %1 : i16 to i32
  %3 = builtin.unrealized_conversion_cast %2 : i32 to i64
  %4:2 = builtin.unrealized_conversion_cast %a : i64 to f32, f32
  %5 = builtin.unrealized_conversion_cast %4#0, %4#1 : f32, f32 to i64
  %6 = builtin.unrealized_conversion_cast %4#1, %4#0 : f32, f32 to i64
  %7:2 = builtin.unrealized_conversion_cast %5 : i64 to f32, f32
  "foo.use"(%6, %7#1, %5, %3, %2) : (i64, f32, i64, i64, i32) -> ()
  return %3, %2, %7#0 : i64, i32, f32
}

// -----

// Unused casts are erased, and casts to the same type; a cast with other users stays, with the casts that it needs.
func.func @uses(%a: i64, %b: index) -> (index, index, i64) {
  %unused = builtin.unrealized_conversion_cast %a : i64 to i32
  %twice_unused = builtin.unrealized_conversion_cast %unused : i32 to i16
  %same = builtin.unrealized_conversion_cast %b : index to index
  %0 = builtin.unrealized_conversion_cast %a : i64 to f64
  %1 = builtin.unrealized_conversion_cast %0 : f64 to index
  %nothing = builtin.unrealized_conversion_cast to i64
  return %1, %same, %nothing : index, index, i64
}

// -----

// Uses in nested regions count; casts in different regions form one chain.
func.func @regions(%a: i64) {
  %0 = builtin.unrealized_conversion_cast %a : i64 to i32
  "foo.region"() ({
    %1 = builtin.unrealized_conversion_cast %0 : i32 to i64
    "foo.use"(%1) : (i64) -> ()
  }) : () -> ()
  return
}

// -----

// In a graph region casts may form a cycle, unused or with other users.
"foo.graph"() ({
  %0 = builtin.unrealized_conversion_cast %1 : i32 to i64
  %1 = builtin.unrealized_conversion_cast %0 : i64 to i32
  %2 = builtin.unrealized_conversion_cast %3 : f32 to f64
  %3 = builtin.unrealized_conversion_cast %2 : f64 to f32
  "foo.use"(%3) : (f32) -> ()
}) : () -> ()
