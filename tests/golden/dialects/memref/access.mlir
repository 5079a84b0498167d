// RUN: gradus opt %s

// Loads and stores by index.
func.func @load_store(%m: memref<4x?xi32>, %i: index, %j: index) -> i32 {
  %0 = memref.load %m[%i, %j] : memref<4x?xi32>
  memref.store %0, %m[%j, %i] : memref<4x?xi32>
  %1 = memref.load %m[%i, %i] : memref<4x?xi32>
  return %1 : i32
}

func.func @hints(%m: memref<8xf32>, %i: index) -> f32 {
  %0 = memref.load %m[%i] {alignment = 16 : i64, nontemporal = true} : memref<8xf32>
  memref.store %0, %m[%i] {alignment = 4 : i64, some.note} : memref<8xf32>
  return %0 : f32
}

// A memref of rank 0 is accessed without indices.
func.func @scalar(%m: memref<f64>) -> f64 {
  %0 = memref.load %m[] : memref<f64>
  memref.store %0, %m[] : memref<f64>
  return %0 : f64
}

// Layout and memory space are part of the type.
func.func @layouts(
    %a: memref<4x4xi8, affine_map<(d0, d1) -> (d1, d0)>, 1>,
    %b: memref<?x?xi8, strided<[?, 1], offset: ?>>, %i: index) -> i8 {
  %0 = memref.load %a[%i, %i] : memref<4x4xi8, affine_map<(d0, d1) -> (d1, d0)>, 1>
  memref.store %0, %b[%i, %i] : memref<?x?xi8, strided<[?, 1], offset: ?>>
  %1 = memref.load %b[%i, %i] : memref<?x?xi8, strided<[?, 1], offset: ?>>
  return %1 : i8
}

// Elements may be memrefs.
func.func @nested(%m: memref<2xmemref<4xi32>>, %v: memref<4xi32>, %i: index) -> memref<4xi32> {
  memref.store %v, %m[%i] : memref<2xmemref<4xi32>>
  %0 = memref.load %m[%i] : memref<2xmemref<4xi32>>
  return %0 : memref<4xi32>
}

func.func @copy(%a: memref<2x3xf32>, %b: memref<?x3xf32, strided<[4, 1], offset: ?>>) {
  memref.copy %a, %b : memref<2x3xf32> to memref<?x3xf32, strided<[4, 1], offset: ?>>
  return
}

func.func @copy_unranked(%a: memref<*xi16>, %b: memref<*xi16>) {
  memref.copy %a, %b {note} : memref<*xi16> to memref<*xi16>
  return
}

func.func @prefetch(%m: memref<4x4xf32>, %i: index) -> f32 {
  memref.prefetch %m[%i, %i], read, locality<0>, data : memref<4x4xf32>
  memref.prefetch %m[%i, %i], write, locality<3>, instr : memref<4x4xf32>
  %0 = memref.load %m[%i, %i] : memref<4x4xf32>
  return %0 : f32
}
