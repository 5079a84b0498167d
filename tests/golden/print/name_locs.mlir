// RUN: gradus opt %s --mlir-use-nameloc-as-prefix --allow-unregistered-dialect

// Values are named after the first name in their location; characters that are invalid in names are replaced.
func.func @f(%a: i32 loc("arg a")) -> i32 {
  %c0 = arith.constant 0 : i32 loc("c0")
  %0 = arith.addi %a, %c0 : i32 loc("1x")
  %1 = arith.addi %a, %c0 : i32 loc("c0")
  %2 = arith.addi %a, %c0 : i32 loc(fused["q", "r"])
  %3 = arith.addi %a, %c0 : i32 loc(callsite("s" at "t"))
  %4 = arith.addi %a, %c0 : i32 loc("")
  %5:2 = "t.q"() : () -> (i32, i32) loc("m-n.$_é")
  "t.br"()[^b] : () -> ()
^b(%z: i32 loc("zz")):
  return %0 : i32 loc("q")
}
