// RUN: gradus opt %s

// Globals live until the program ends.
memref.global "private" constant @table : memref<2x2xf32> = dense<[[0.0, 1.0], [2.0, 3.0]]> {alignment = 64 : i64}
memref.global @counter : memref<i32> = dense<7>
memref.global "nested" @scratch : memref<4xi64> = uninitialized
memref.global "public" @elsewhere : memref<4xf16, 3>
memref.global constant @flags : memref<3xi1> = dense<[true, false, true]> {note}
memref.global @gaps : memref<2xi8, strided<[3], offset: 1>> = dense<[4, 5]>
memref.global @raw : memref<2xi16> = dense_resource<raw>

func.func @read(%i: index, %j: index) -> (f32, i1) {
  %0 = memref.get_global @table : memref<2x2xf32>
  %1 = memref.load %0[%i, %j] : memref<2x2xf32>
  %2 = memref.get_global @flags : memref<3xi1>
  %3 = memref.load %2[%i] : memref<3xi1>
  return %1, %3 : f32, i1
}

// All uses name the same memory; the first use sees the initial value.
func.func @count() -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %0 = memref.get_global @counter : memref<i32>
  %1 = memref.load %0[] : memref<i32>
  %2 = arith.addi %1, %c1 : i32
  memref.store %2, %0[] : memref<i32>
  %3 = memref.get_global @counter : memref<i32> {note}
  %4 = memref.load %3[] : memref<i32>
  return %1, %4 : i32, i32
}

func.func @spread(%i: index, %v: i64) -> (i8, i64) {
  %0 = memref.get_global @gaps : memref<2xi8, strided<[3], offset: 1>>
  %1 = memref.load %0[%i] : memref<2xi8, strided<[3], offset: 1>>
  %2 = memref.get_global @scratch : memref<4xi64>
  memref.store %v, %2[%i] : memref<4xi64>
  %3 = memref.load %2[%i] : memref<4xi64>
  return %1, %3 : i8, i64
}

// Writes to constant globals and `memref.dealloc` of a global are UB.
func.func @undefined(%i: index, %v: f32) {
  %0 = memref.get_global @table : memref<2x2xf32>
  memref.store %v, %0[%i, %i] : memref<2x2xf32>
  memref.dealloc %0 : memref<2x2xf32>
  return
}

// A global of a nested module shadows the outer one.
module @inner {
  memref.global @counter : memref<1xi32> = dense<1>
  func.func @f() -> memref<1xi32> {
    %0 = memref.get_global @counter : memref<1xi32>
    return %0 : memref<1xi32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      raw: "0x0200000001000200"
    }
  }
#-}
