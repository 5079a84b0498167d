// RUN: gradus opt %s --canonicalize --cse

// Constants are folded, common subexpressions are eliminated, and one addition remains.
func.func @tour(%x: i32) -> (i32, i32) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %six = arith.muli %c2, %c3 : i32
  %zero = arith.subi %x, %x : i32
  %a = arith.addi %x, %six : i32
  %b = arith.addi %six, %x : i32
  %c = arith.addi %b, %zero : i32
  return %a, %c : i32, i32
}
