// RUN: gradus opt %s

// The old element is returned; the combined element is stored.
func.func @integers(%v: i32, %m: memref<4xi32>, %i: index) -> (i32, i32, i32) {
  %0 = memref.atomic_rmw addi %v, %m[%i] : (i32, memref<4xi32>) -> i32
  %1 = memref.atomic_rmw muli %v, %m[%i] : (i32, memref<4xi32>) -> i32
  %2 = memref.atomic_rmw assign %v, %m[%i] : (i32, memref<4xi32>) -> i32
  %3 = memref.atomic_rmw andi %1, %m[%i] : (i32, memref<4xi32>) -> i32
  %4 = memref.atomic_rmw ori %0, %m[%i] : (i32, memref<4xi32>) -> i32
  %5 = memref.atomic_rmw xori %2, %m[%i] : (i32, memref<4xi32>) -> i32
  return %3, %4, %5 : i32, i32, i32
}

func.func @orders(%v: i8, %m: memref<i8>) -> (i8, i8, i8, i8, i8) {
  %0 = memref.atomic_rmw maxs %v, %m[] : (i8, memref<i8>) -> i8
  %1 = memref.atomic_rmw maxu %v, %m[] : (i8, memref<i8>) -> i8
  %2 = memref.atomic_rmw mins %v, %m[] : (i8, memref<i8>) -> i8
  %3 = memref.atomic_rmw minu %v, %m[] {note} : (i8, memref<i8>) -> i8
  %4 = memref.load %m[] : memref<i8>
  return %0, %1, %2, %3, %4 : i8, i8, i8, i8, i8
}

func.func @floats(%v: f32, %m: memref<2x2xf32>, %i: index) -> f32 {
  %0 = memref.atomic_rmw addf %v, %m[%i, %i] : (f32, memref<2x2xf32>) -> f32
  %1 = memref.atomic_rmw mulf %v, %m[%i, %i] : (f32, memref<2x2xf32>) -> f32
  %2 = memref.atomic_rmw maximumf %v, %m[%i, %i] : (f32, memref<2x2xf32>) -> f32
  %3 = memref.atomic_rmw minimumf %v, %m[%i, %i] : (f32, memref<2x2xf32>) -> f32
  %4 = memref.atomic_rmw maxnumf %v, %m[%i, %i] : (f32, memref<2x2xf32>) -> f32
  %5 = memref.atomic_rmw minnumf %v, %m[%i, %i] : (f32, memref<2x2xf32>) -> f32
  return %5 : f32
}

// The update is a region.
func.func @generic(%m: memref<10xf32>, %i: index) -> f32 {
  %0 = memref.generic_atomic_rmw %m[%i] : memref<10xf32> {
  ^bb0(%old: f32):
    %c1 = arith.constant 1.0 : f32
    %new = arith.addf %c1, %old : f32
    memref.atomic_yield %new : f32
  }
  %1 = memref.generic_atomic_rmw %m[%i] : memref<10xf32> {
  ^bb0(%old: f32):
    memref.atomic_yield %old {note} : f32
  } {note}
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
