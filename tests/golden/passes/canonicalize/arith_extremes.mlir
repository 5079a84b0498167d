// RUN: gradus opt %s --canonicalize
// Operands that are the least or greatest value of the type.
func.func @maxsi_smallest(%x: i8) -> i8 {
  %c = arith.constant -128 : i8
  %0 = arith.maxsi %x, %c : i8
  return %0 : i8
}
func.func @maxsi_largest(%x: i8) -> i8 {
  %c = arith.constant 127 : i8
  %0 = arith.maxsi %x, %c : i8
  return %0 : i8
}
func.func @minsi_smallest(%x: i8) -> i8 {
  %c = arith.constant -128 : i8
  %0 = arith.minsi %x, %c : i8
  return %0 : i8
}
func.func @minsi_largest(%x: i8) -> i8 {
  %c = arith.constant 127 : i8
  %0 = arith.minsi %x, %c : i8
  return %0 : i8
}
func.func @maxui_zero(%x: i8) -> i8 {
  %c = arith.constant 0 : i8
  %0 = arith.maxui %x, %c : i8
  return %0 : i8
}
func.func @maxui_ones(%x: i8) -> i8 {
  %c = arith.constant -1 : i8
  %0 = arith.maxui %x, %c : i8
  return %0 : i8
}
func.func @minui_zero(%x: i8) -> i8 {
  %c = arith.constant 0 : i8
  %0 = arith.minui %x, %c : i8
  return %0 : i8
}
func.func @minui_ones(%x: i8) -> i8 {
  %c = arith.constant -1 : i8
  %0 = arith.minui %x, %c : i8
  return %0 : i8
}
func.func @other(%x: i8) -> i8 {
  %c = arith.constant 5 : i8
  %0 = arith.maxsi %x, %c : i8
  return %0 : i8
}
func.func @vectors(%x: vector<4xi16>) -> vector<4xi16> {
  %c = arith.constant dense<0> : vector<4xi16>
  %0 = arith.maxui %x, %c : vector<4xi16>
  return %0 : vector<4xi16>
}
