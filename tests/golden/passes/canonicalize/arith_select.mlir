// RUN: gradus opt %s --canonicalize

func.func @booleans(%c: i1) -> (i1, i1) {
  %true = arith.constant true
  %false = arith.constant false
  %0 = arith.select %c, %true, %false : i1
  %1 = arith.select %c, %false, %true : i1
  return %0, %1 : i1, i1
}

func.func @equality(%a: i32, %b: i32) -> (i32, i32, i32, i32, i32) {
  %eq = arith.cmpi eq, %a, %b : i32
  %ne = arith.cmpi ne, %a, %b : i32
  %lt = arith.cmpi slt, %a, %b : i32
  %0 = arith.select %eq, %a, %b : i32
  %1 = arith.select %eq, %b, %a : i32
  %2 = arith.select %ne, %a, %b : i32
  %3 = arith.select %ne, %b, %a : i32
  %4 = arith.select %lt, %a, %b : i32
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}
