// RUN: gradus opt %s

func.func @unary(%a: i32, %b: i8, %c: index) -> (i32, i32, i32, i32, i8, i8, index) {
  %0 = math.absi %a : i32
  %1 = math.ctlz %a : i32
  %2 = math.ctpop %a : i32
  %3 = math.cttz %a : i32
  %4 = math.absi %b : i8
  %5 = math.ctlz %b {note} : i8
  %6 = math.ctpop %c : index
  return %0, %1, %2, %3, %4, %5, %6 : i32, i32, i32, i32, i8, i8, index
}
func.func @power(%a: i8, %b: i8, %c: i64, %d: i64) -> (i8, i64) {
  %0 = math.ipowi %a, %b : i8
  %1 = math.ipowi %c, %d : i64
  return %0, %1 : i8, i64
}
func.func @shaped(%a: tensor<?xi1>, %b: vector<2x2xi16>) -> (tensor<?xi1>, vector<2x2xi16>) {
  %0 = math.ctpop %a : tensor<?xi1>
  %1 = math.ipowi %b, %b : vector<2x2xi16>
  return %0, %1 : tensor<?xi1>, vector<2x2xi16>
}
