// RUN: gradus opt %s

func.func @bits(%a: i64, %b: i64) -> (i64, i64, i64) {
  %0 = arith.andi %a, %b : i64
  %1 = arith.ori %0, %b : i64
  %2 = arith.xori %1, %a : i64
  return %0, %1, %2 : i64, i64, i64
}
func.func @shifts(%a: i64, %b: i64) -> (i64, i64, i64) {
  %0 = arith.shli %a, %b : i64
  %1 = arith.shrui %a, %b : i64
  %2 = arith.shrsi %a, %b : i64
  return %0, %1, %2 : i64, i64, i64
}
func.func @extremes(%a: index, %b: index) -> (index, index, index, index) {
  %0 = arith.maxsi %a, %b : index
  %1 = arith.maxui %a, %b : index
  %2 = arith.minsi %a, %b : index
  %3 = arith.minui %a, %b : index
  return %0, %1, %2, %3 : index, index, index, index
}
