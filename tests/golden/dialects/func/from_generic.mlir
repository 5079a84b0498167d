// RUN: gradus opt %s

"func.func"() <{function_type = (i32) -> i32, sym_name = "f", sym_visibility = "private"}> ({
^bb0(%a: i32):
  %0 = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
  "func.return"(%0) : (i32) -> ()
}) : () -> ()
