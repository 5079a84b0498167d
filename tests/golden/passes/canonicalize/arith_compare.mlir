// RUN: gradus opt %s --canonicalize
// Comparisons with constants, of extended values, and of booleans.
func.func @constant_left_eq(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi eq, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_ne(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi ne, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_slt(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi slt, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_sle(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi sle, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_sgt(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi sgt, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_sge(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi sge, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_ult(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi ult, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_ule(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi ule, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_ugt(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi ugt, %c5, %x : i32
  return %r : i1
}
func.func @constant_left_uge(%x: i32) -> i1 {
  %c5 = arith.constant 5 : i32
  %r = arith.cmpi uge, %c5, %x : i32
  return %r : i1
}
func.func @extsi_eq(%a: i8, %b: i8) -> i1 {
  %0 = arith.extsi %a : i8 to i16
  %1 = arith.extsi %b : i8 to i16
  %r = arith.cmpi eq, %0, %1 : i16
  return %r : i1
}
func.func @extsi_slt(%a: i8, %b: i8) -> i1 {
  %0 = arith.extsi %a : i8 to i16
  %1 = arith.extsi %b : i8 to i16
  %r = arith.cmpi slt, %0, %1 : i16
  return %r : i1
}
func.func @extsi_uge(%a: i8, %b: i8) -> i1 {
  %0 = arith.extsi %a : i8 to i16
  %1 = arith.extsi %b : i8 to i16
  %r = arith.cmpi uge, %0, %1 : i16
  return %r : i1
}
func.func @extsi_sgt(%a: i8, %b: i8) -> i1 {
  %0 = arith.extsi %a : i8 to i16
  %1 = arith.extsi %b : i8 to i16
  %r = arith.cmpi sgt, %0, %1 : i16
  return %r : i1
}
func.func @extui_eq(%a: i8, %b: i8) -> i1 {
  %0 = arith.extui %a : i8 to i16
  %1 = arith.extui %b : i8 to i16
  %r = arith.cmpi eq, %0, %1 : i16
  return %r : i1
}
func.func @extui_slt(%a: i8, %b: i8) -> i1 {
  %0 = arith.extui %a : i8 to i16
  %1 = arith.extui %b : i8 to i16
  %r = arith.cmpi slt, %0, %1 : i16
  return %r : i1
}
func.func @extui_uge(%a: i8, %b: i8) -> i1 {
  %0 = arith.extui %a : i8 to i16
  %1 = arith.extui %b : i8 to i16
  %r = arith.cmpi uge, %0, %1 : i16
  return %r : i1
}
func.func @extui_sgt(%a: i8, %b: i8) -> i1 {
  %0 = arith.extui %a : i8 to i16
  %1 = arith.extui %b : i8 to i16
  %r = arith.cmpi sgt, %0, %1 : i16
  return %r : i1
}
func.func @extsi_ne_zero(%x: i1) -> i1 {
  %c0 = arith.constant 0 : i8
  %0 = arith.extsi %x : i1 to i8
  %r = arith.cmpi ne, %0, %c0 : i8
  return %r : i1
}
func.func @extui_ne_zero(%x: i1) -> i1 {
  %c0 = arith.constant 0 : i8
  %0 = arith.extui %x : i1 to i8
  %r = arith.cmpi ne, %0, %c0 : i8
  return %r : i1
}
func.func @eq_true(%x: i1) -> i1 {
  %t = arith.constant true
  %r = arith.cmpi eq, %x, %t : i1
  return %r : i1
}
func.func @ne_false(%x: i1) -> i1 {
  %t = arith.constant false
  %r = arith.cmpi ne, %x, %t : i1
  return %r : i1
}
