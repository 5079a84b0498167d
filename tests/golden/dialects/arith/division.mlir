// RUN: gradus opt %s

func.func @quotients(%a: i8, %b: i8) -> (i8, i8, i8, i8, i8) {
  %0 = arith.divui %a, %b : i8
  %1 = arith.divsi %a, %b : i8
  %2 = arith.ceildivui %a, %b : i8
  %3 = arith.ceildivsi %a, %b : i8
  %4 = arith.floordivsi %a, %b : i8
  return %0, %1, %2, %3, %4 : i8, i8, i8, i8, i8
}
func.func @remainders(%a: i8, %b: i8) -> (i8, i8) {
  %0 = arith.remui %a, %b : i8
  %1 = arith.remsi %a, %b : i8
  return %0, %1 : i8, i8
}
func.func @exact(%a: i8, %b: i8) -> (i8, i8, i8, i8) {
  %0 = arith.divui %a, %b exact : i8
  %1 = arith.divsi %a, %b exact : i8
  %2 = arith.shrui %a, %b exact : i8
  %3 = arith.shrsi %a, %b exact : i8
  return %0, %1, %2, %3 : i8, i8, i8, i8
}
