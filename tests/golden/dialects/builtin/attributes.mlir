// RUN: gradus opt %s --allow-unregistered-dialect

"t.scalars"() {
  unit, word = unit, yes = true, no = false,
  int = 42, narrow = -1 : i8, wide = 340282366920938463463374607431768211455 : i128, unsigned = 200 : ui8,
  place = 3 : index, hex = 0xFF : i32,
  float = 1.0, single = 0.1 : f32, bits = 0x7FC00001 : f32, big = 1.0e300, half = 65504.0 : f16,
  text = "quote \" backslash \\ newline \0A tab \09 and \E2\82\AC", typed = "t" : !t.string,
  "name that needs quotes" = 1
} : () -> ()
"t.names"() {
  flat = @f, nested = @a::@b::@c, quoted = @"with space",
  type = i32, function = (i32, f32) -> (), functions = () -> (i1, i2),
  dict = {b = 2, a = 1, nested = {}}
} : () -> ()
"t.opaque"() {
  body = #foo.bar<1, [2, {3}], "four > five">, word = #foo.bar, text = #foo<"anything">,
  type = !foo.bar<x -> y>
} : () -> ()
