// RUN: gradus opt %s --saturate="target=scalar rules=divide-shift"

// Zero-extended 8-bit colors and their sums with `nsw` are nonnegative.
func.func @gray(%r: i8, %g: i8, %b: i8) -> i64 {
  %c77 = arith.constant 77 : i64
  %c150 = arith.constant 150 : i64
  %c29 = arith.constant 29 : i64
  %c256 = arith.constant 256 : i64
  %0 = arith.extui %r : i8 to i64
  %1 = arith.extui %g : i8 to i64
  %2 = arith.extui %b : i8 to i64
  %3 = arith.muli %0, %c77 : i64
  %4 = arith.muli %1, %c150 : i64
  %5 = arith.muli %2, %c29 : i64
  %6 = arith.addi %3, %4 : i64
  %7 = arith.addi %6, %5 : i64
  %8 = arith.divsi %7, %c256 : i64
  return %8 : i64
}

// The rewrite applies to each channel separately.
func.func @parts(%r: i8, %g: i8, %b: i8) -> i64 {
  %c77 = arith.constant 77 : i64
  %c150 = arith.constant 150 : i64
  %c29 = arith.constant 29 : i64
  %c256 = arith.constant 256 : i64
  %0 = arith.extui %r : i8 to i64
  %1 = arith.extui %g : i8 to i64
  %2 = arith.extui %b : i8 to i64
  %3 = arith.muli %0, %c77 : i64
  %4 = arith.muli %1, %c150 : i64
  %5 = arith.muli %2, %c29 : i64
  %6 = arith.divsi %3, %c256 : i64
  %7 = arith.divsi %4, %c256 : i64
  %8 = arith.divsi %5, %c256 : i64
  %9 = arith.addi %6, %7 : i64
  %10 = arith.addi %9, %8 : i64
  return %10 : i64
}

// Dividends that may be negative stay: division rounds towards zero, an arithmetic shift down.
func.func @any(%r: i64, %g: i64, %b: i64) -> i64 {
  %c77 = arith.constant 77 : i64
  %c150 = arith.constant 150 : i64
  %c29 = arith.constant 29 : i64
  %c256 = arith.constant 256 : i64
  %0 = arith.muli %r, %c77 : i64
  %1 = arith.muli %g, %c150 : i64
  %2 = arith.muli %b, %c29 : i64
  %3 = arith.addi %0, %1 : i64
  %4 = arith.addi %3, %2 : i64
  %5 = arith.divsi %4, %c256 : i64
  return %5 : i64
}

// A product of 9 and 7 bits may need 16 bits, including the sign bit.
func.func @overflows(%a: i16) -> i16 {
  %c511 = arith.constant 511 : i16
  %c65 = arith.constant 65 : i16
  %c16 = arith.constant 16 : i16
  %0 = arith.andi %a, %c511 : i16
  %1 = arith.muli %0, %c65 : i16
  %2 = arith.divsi %1, %c16 : i16
  return %2 : i16
}

// With one bit less, the sign bit stays 0.
func.func @fits(%a: i16) -> i16 {
  %c511 = arith.constant 511 : i16
  %c64 = arith.constant 64 : i16
  %c16 = arith.constant 16 : i16
  %0 = arith.andi %a, %c511 : i16
  %1 = arith.muli %0, %c64 : i16
  %2 = arith.divsi %1, %c16 : i16
  return %2 : i16
}
