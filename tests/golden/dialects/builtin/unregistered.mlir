// RUN: gradus opt %s --allow-unregistered-dialect

// Unregistered ops keep their operands, attributes, regions and types.
func.func @foreign(%a: i32, %b: index) {
  %0:3 = "t.many"(%a, %b) <{prop = 1 : i32}> ({
  ^entry(%x: i32, %y: f32):
    "t.branch"(%x)[^next, ^last] : (i32) -> ()
  ^next:
    "t.jump"()[^last] : () -> ()
  ^last:
    "t.stop"() : () -> ()
  }, {
    %only = "t.value"() : () -> i8
  }) {attr = "a"} : (i32, index) -> (i32, f32, i1)
  "t.empty_regions"() ({}, {}) : () -> ()
  "t.use"(%0#2, %0#0) : (i1, i32) -> ()
  return
}
