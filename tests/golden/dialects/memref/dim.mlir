// RUN: gradus opt %s

func.func @dim(%m: memref<4x?xf32>, %i: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %0 = memref.dim %m, %c1 : memref<4x?xf32>
  // A dimension out of range is UB.
  %1 = memref.dim %m, %i : memref<4x?xf32>
  return %0, %1 : index, index
}

func.func @unranked(%m: memref<*xf32>, %i: index) -> (index, index) {
  %0 = memref.rank %m : memref<*xf32>
  %1 = memref.dim %m, %i : memref<*xf32>
  return %0, %1 : index, index
}

func.func @rank(%m: memref<2x3x?xi1>) -> index {
  %0 = memref.rank %m {note} : memref<2x3x?xi1>
  %1 = memref.dim {note} %m, %0 : memref<2x3x?xi1>
  return %0 : index
}
