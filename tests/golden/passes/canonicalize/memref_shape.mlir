// RUN: gradus opt %s --canonicalize

func.func @identity(%m: memref<2x3xf32>) -> (memref<2x3xf32>, memref<2x3xf32>) {
  %0 = memref.collapse_shape %m [[0], [1]] : memref<2x3xf32> into memref<2x3xf32>
  %1 = memref.expand_shape %m [[0], [1]] output_shape [2, 3] : memref<2x3xf32> into memref<2x3xf32>
  return %0, %1 : memref<2x3xf32>, memref<2x3xf32>
}

// Inverse collapse and expand cancel.
func.func @inverses(%m: memref<2x?xf32>, %k: memref<6xf32>, %d: memref<?x?xf32>, %n: index, %p: index) -> (memref<2x?xf32>, memref<6xf32>, memref<?x?xf32>) {
  %0 = memref.collapse_shape %m [[0, 1]] : memref<2x?xf32> into memref<?xf32>
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [2, %n] : memref<?xf32> into memref<2x?xf32>
  %2 = memref.expand_shape %k [[0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32>
  %3 = memref.collapse_shape %2 [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  %4 = memref.expand_shape %d [[0, 1], [2]] output_shape [%n, 4, %p] : memref<?x?xf32> into memref<?x4x?xf32>
  %5 = memref.collapse_shape %4 [[0, 1], [2]] : memref<?x4x?xf32> into memref<?x?xf32>
  return %1, %3, %5 : memref<2x?xf32>, memref<6xf32>, memref<?x?xf32>
}

// Two consecutive collapses or expansions are composed.
func.func @compose(%m: memref<2x3x4x5xf32>, %k: memref<120xf32>, %o: memref<1x1x1xf32>) -> (memref<120xf32>, memref<2x3x4x5xf32>, memref<f32>) {
  %0 = memref.collapse_shape %m [[0, 1], [2, 3]] : memref<2x3x4x5xf32> into memref<6x20xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<6x20xf32> into memref<120xf32>
  %2 = memref.expand_shape %k [[0, 1]] output_shape [6, 20] : memref<120xf32> into memref<6x20xf32>
  %3 = memref.expand_shape %2 [[0, 1], [2, 3]] output_shape [2, 3, 4, 5] : memref<6x20xf32> into memref<2x3x4x5xf32>
  %4 = memref.collapse_shape %o [[0, 1], [2]] : memref<1x1x1xf32> into memref<1x1xf32>
  %5 = memref.collapse_shape %4 [] : memref<1x1xf32> into memref<f32>
  return %1, %3, %5 : memref<120xf32>, memref<2x3x4x5xf32>, memref<f32>
}

// A collapse of an expansion, to fewer dimensions and to more.
func.func @collapse_of_expand(%m: memref<?x?x?xf32>, %k: memref<?x4xf32>, %n: index, %p: index, %q: index) -> (memref<?x?xf32>, memref<?x?x4xf32>) {
  %0 = memref.expand_shape %m [[0], [1], [2, 3]] output_shape [%n, %p, %q, 1] : memref<?x?x?xf32> into memref<?x?x?x1xf32>
  %1 = memref.collapse_shape %0 [[0, 1], [2, 3]] : memref<?x?x?x1xf32> into memref<?x?xf32>
  %2 = memref.expand_shape %k [[0, 1, 2, 3], [4]] output_shape [%n, %p, 3, %q, 4] : memref<?x4xf32> into memref<?x?x3x?x4xf32>
  %3 = memref.collapse_shape %2 [[0, 1, 2], [3], [4]] : memref<?x?x3x?x4xf32> into memref<?x?x4xf32>
  return %1, %3 : memref<?x?xf32>, memref<?x?x4xf32>
}

// Reassociation groups that do not nest stay.
func.func @crossing(%m: memref<6x4xf32>) -> memref<2x12xf32> {
  %0 = memref.expand_shape %m [[0, 1], [2]] output_shape [2, 3, 4] : memref<6x4xf32> into memref<2x3x4xf32>
  %1 = memref.collapse_shape %0 [[0], [1, 2]] : memref<2x3x4xf32> into memref<2x12xf32>
  return %1 : memref<2x12xf32>
}

// An expansion of a collapse, to fewer dimensions and to more.
func.func @expand_of_collapse(%m: memref<2x3x4x5x6xf32>, %k: memref<6x5xf32>) -> (memref<6x20x6xf32>, memref<2x3x5x1xf32>) {
  %0 = memref.collapse_shape %m [[0, 1, 2, 3], [4]] : memref<2x3x4x5x6xf32> into memref<120x6xf32>
  %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [6, 20, 6] : memref<120x6xf32> into memref<6x20x6xf32>
  %2 = memref.collapse_shape %k [[0, 1]] : memref<6x5xf32> into memref<30xf32>
  %3 = memref.expand_shape %2 [[0, 1, 2, 3]] output_shape [2, 3, 5, 1] : memref<30xf32> into memref<2x3x5x1xf32>
  return %1, %3 : memref<6x20x6xf32>, memref<2x3x5x1xf32>
}

// The assignment of dimensions is ambiguous.
func.func @unclear(%m: memref<?x?x2xf32>, %n: index, %p: index) -> memref<?x2x?xf32> {
  %0 = memref.collapse_shape %m [[0, 1, 2]] : memref<?x?x2xf32> into memref<?xf32>
  %1 = memref.expand_shape %0 [[0, 1, 2]] output_shape [%n, 2, %p] : memref<?xf32> into memref<?x2x?xf32>
  return %1 : memref<?x2x?xf32>
}

// Non-identity layouts: only a cast is folded.
func.func @layouts(%m: memref<2x3xf32, strided<[3, 1], offset: 1>>) -> memref<2x3xf32, strided<[3, 1], offset: 1>> {
  %0 = memref.collapse_shape %m [[0, 1]] : memref<2x3xf32, strided<[3, 1], offset: 1>> into memref<6xf32, strided<[1], offset: 1>>
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [2, 3] : memref<6xf32, strided<[1], offset: 1>> into memref<2x3xf32, strided<[3, 1], offset: 1>>
  return %1 : memref<2x3xf32, strided<[3, 1], offset: 1>>
}

// A collapse of a cast that drops static information.
func.func @collapse_of_cast(%m: memref<2x3x4xf32>, %o: memref<?x3x4xf32>) -> (memref<?xf32>, memref<?x?xf32>) {
  %0 = memref.cast %m : memref<2x3x4xf32> to memref<?x3x4xf32>
  %1 = memref.collapse_shape %0 [[0, 1, 2]] : memref<?x3x4xf32> into memref<?xf32>
  %2 = memref.cast %o : memref<?x3x4xf32> to memref<?x?x4xf32>
  %3 = memref.collapse_shape %2 [[0], [1, 2]] : memref<?x?x4xf32> into memref<?x?xf32>
  return %1, %3 : memref<?xf32>, memref<?x?xf32>
}
