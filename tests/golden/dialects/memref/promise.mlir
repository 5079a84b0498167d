// RUN: gradus opt %s

func.func @alignment(%m: memref<4xi32>, %i: index) -> i32 {
  %0 = memref.assume_alignment %m, 16 : memref<4xi32>
  %1 = memref.assume_alignment %0, 1 {note} : memref<4xi32>
  %2 = memref.load %1[%i] : memref<4xi32>
  return %2 : i32
}

func.func @distinct(%a: memref<4xi32>, %b: memref<?xi32>, %i: index) -> (i32, i32) {
  %0:2 = memref.distinct_objects %a, %b : memref<4xi32>, memref<?xi32>
  %1 = memref.distinct_objects %a {note} : memref<4xi32>
  %2 = memref.load %0#0[%i] : memref<4xi32>
  %3 = memref.load %0#1[%i] : memref<?xi32>
  return %2, %3 : i32, i32
}
