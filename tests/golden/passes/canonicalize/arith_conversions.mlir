// RUN: gradus opt %s --canonicalize
// Chains of conversions.
func.func @extui_extui(%x: i8) -> i32 {
  %0 = arith.extui %x : i8 to i16
  %1 = arith.extui %0 : i16 to i32
  return %1 : i32
}
func.func @extsi_extsi(%x: i8) -> i32 {
  %0 = arith.extsi %x : i8 to i16
  %1 = arith.extsi %0 : i16 to i32
  return %1 : i32
}
func.func @extsi_extui(%x: i8) -> i32 {
  %0 = arith.extui %x : i8 to i16
  %1 = arith.extsi %0 : i16 to i32
  return %1 : i32
}
func.func @extui_of_extsi_stays(%x: i8) -> i32 {
  %0 = arith.extsi %x : i8 to i16
  %1 = arith.extui %0 : i16 to i32
  return %1 : i32
}
func.func @trunci_trunci(%x: i32) -> i8 {
  %0 = arith.trunci %x : i32 to i16
  %1 = arith.trunci %0 : i16 to i8
  return %1 : i8
}
func.func @trunci_extsi(%x: i8) -> i8 {
  %0 = arith.extsi %x : i8 to i16
  %1 = arith.trunci %0 : i16 to i8
  return %1 : i8
}
func.func @trunci_extui(%x: i8) -> i8 {
  %0 = arith.extui %x : i8 to i16
  %1 = arith.trunci %0 : i16 to i8
  return %1 : i8
}
func.func @trunci_extsi_wider(%x: i8) -> i16 {
  %0 = arith.extsi %x : i8 to i32
  %1 = arith.trunci %0 : i32 to i16
  return %1 : i16
}
func.func @trunci_extui_wider(%x: i8) -> i16 {
  %0 = arith.extui %x : i8 to i32
  %1 = arith.trunci %0 : i32 to i16
  return %1 : i16
}
func.func @trunci_extsi_narrower(%x: i16) -> i8 {
  %0 = arith.extsi %x : i16 to i32
  %1 = arith.trunci %0 : i32 to i8
  return %1 : i8
}
func.func @trunci_extui_narrower(%x: i16) -> i8 {
  %0 = arith.extui %x : i16 to i32
  %1 = arith.trunci %0 : i32 to i8
  return %1 : i8
}
func.func @extsi_of_trunci_stays(%x: i16) -> i16 {
  %0 = arith.trunci %x : i16 to i8
  %1 = arith.extsi %0 : i8 to i16
  return %1 : i16
}
func.func @truncf_extf(%x: f32) -> f32 {
  %0 = arith.extf %x : f32 to f64
  %1 = arith.truncf %0 : f64 to f32
  return %1 : f32
}
func.func @extf_of_truncf_stays(%x: f64) -> f64 {
  %0 = arith.truncf %x : f64 to f32
  %1 = arith.extf %0 : f32 to f64
  return %1 : f64
}
func.func @bitcast_back(%x: f32) -> f32 {
  %0 = arith.bitcast %x : f32 to i32
  %1 = arith.bitcast %0 : i32 to f32
  return %1 : f32
}
func.func @index_cast_back(%x: i32) -> i32 {
  %0 = arith.index_cast %x : i32 to index
  %1 = arith.index_cast %0 : index to i32
  return %1 : i32
}
func.func @index_cast_narrow_stays(%x: index) -> index {
  %0 = arith.index_cast %x : index to i8
  %1 = arith.index_cast %0 : i8 to index
  return %1 : index
}
func.func @index_castui_back(%x: i32) -> i32 {
  %0 = arith.index_castui %x : i32 to index
  %1 = arith.index_castui %0 : index to i32
  return %1 : i32
}
func.func @index_cast_extsi(%x: i8) -> index {
  %0 = arith.extsi %x : i8 to i32
  %1 = arith.index_cast %0 : i32 to index
  return %1 : index
}
func.func @index_castui_extui(%x: i8) -> index {
  %0 = arith.extui %x : i8 to i32
  %1 = arith.index_castui %0 : i32 to index
  return %1 : index
}
