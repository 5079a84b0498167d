// RUN: gradus opt %s --canonicalize

func.func @identity(%m: memref<4xf32>, %n: memref<4xf32, 1>) -> (memref<4xf32>, memref<4xf32, 1>) {
  %0 = memref.cast %m : memref<4xf32> to memref<4xf32>
  %1 = memref.memory_space_cast %n : memref<4xf32, 1> to memref<4xf32, 1>
  return %0, %1 : memref<4xf32>, memref<4xf32, 1>
}

// A cast, and a cast followed by its inverse.
func.func @chain(%m: memref<4xf32>) -> (memref<?xf32, strided<[?]>>, memref<4xf32>, memref<*xf32>) {
  %0 = memref.cast %m : memref<4xf32> to memref<?xf32>
  %1 = memref.cast %0 : memref<?xf32> to memref<?xf32, strided<[?]>>
  %2 = memref.cast %0 : memref<?xf32> to memref<4xf32>
  %3 = memref.cast %1 : memref<?xf32, strided<[?]>> to memref<*xf32>
  return %1, %2, %3 : memref<?xf32, strided<[?]>>, memref<4xf32>, memref<*xf32>
}

// Not through an unranked memref.
func.func @unranked(%m: memref<*xf32>) -> memref<4xf32> {
  %0 = memref.cast %m : memref<*xf32> to memref<?xf32>
  %1 = memref.cast %0 : memref<?xf32> to memref<4xf32>
  return %1 : memref<4xf32>
}

func.func @spaces(%m: memref<4xf32, 1>, %i: index) -> (f32, memref<4xf32>) {
  %0 = memref.memory_space_cast %m : memref<4xf32, 1> to memref<4xf32, 2>
  %1 = memref.memory_space_cast %0 : memref<4xf32, 2> to memref<4xf32>
  %2 = memref.memory_space_cast %0 : memref<4xf32, 2> to memref<4xf32, 1>
  %3 = memref.load %2[%i] : memref<4xf32, 1>
  return %3, %1 : f32, memref<4xf32>
}

func.func @promises(%m: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %0 = memref.assume_alignment %m, 16 : memref<4xf32>
  %1 = memref.assume_alignment %0, 16 : memref<4xf32>
  %2 = memref.assume_alignment %1, 8 : memref<4xf32>
  return %1, %2 : memref<4xf32>, memref<4xf32>
}

func.func @transposes(%m: memref<2x3x4xf32>) -> (memref<2x3x4xf32>, memref<4x2x3xf32, strided<[1, 12, 4]>>, memref<2x3x4xf32, strided<[12, 4, 1]>>) {
  %0 = memref.transpose %m (a, b, c) -> (a, b, c) : memref<2x3x4xf32> to memref<2x3x4xf32>
  %1 = memref.transpose %m (a, b, c) -> (b, c, a) : memref<2x3x4xf32> to memref<3x4x2xf32, strided<[4, 1, 12]>>
  %2 = memref.transpose %1 (a, b, c) -> (b, c, a) : memref<3x4x2xf32, strided<[4, 1, 12]>> to memref<4x2x3xf32, strided<[1, 12, 4]>>
  // The op stays, since its result type would change.
  %3 = memref.transpose %m (a, b, c) -> (a, b, c) : memref<2x3x4xf32> to memref<2x3x4xf32, strided<[12, 4, 1]>>
  return %0, %2, %3 : memref<2x3x4xf32>, memref<4x2x3xf32, strided<[1, 12, 4]>>, memref<2x3x4xf32, strided<[12, 4, 1]>>
}
