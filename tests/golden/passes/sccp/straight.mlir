// RUN: gradus opt %s --sccp --allow-unregistered-dialect
func.func @chain(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = arith.muli %c1, %c2 : i32
  %1 = arith.cmpi slt, %0, %c1 : i32
  %2 = arith.select %1, %x, %0 : i32
  return %2 : i32
}

// -----

// An op on constants whose result is not constant stays.
func.func @mixed(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %0 = arith.addi %c1, %c1 : i32
  %1 = arith.addi %x, %0 : i32
  return %1 : i32
}

// -----

// Results of unregistered ops are unknown.
func.func @unknown() -> i32 {
  %c1 = arith.constant 1 : i32
  %0 = "foreign.op"(%c1) ({
    %1 = arith.addi %c1, %c1 : i32
    "foreign.end"(%1) : (i32) -> ()
  }) : (i32) -> i32
  return %0 : i32
}
