// RUN: gradus opt %s

func.func @subscripts(%n: index, %m: memref<16x16xindex>, %s: memref<index>) -> index {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      %0 = affine.load %m[%i + 1, %j * 2] : memref<16x16xindex>
      affine.store %0, %m[%i * 4 + %j, (%i - %j) mod 16] : memref<16x16xindex>
      %1 = affine.load %m[symbol(%n) mod 8, 15] {note} : memref<16x16xindex>
      affine.store %1, %m[(%i + 3) floordiv 2, -%j + 9] {note} : memref<16x16xindex>
      affine.store %1, %m[%i + %i, %j ceildiv 3] : memref<16x16xindex>
    }
  }
  %2 = affine.load %s[] : memref<index>
  affine.store %2, %s[] : memref<index>
  return %2 : index
}

// A value can be used as a dimension and as a symbol.
func.func @mentioned(%n: index, %m: memref<16x16xindex>) -> index {
  %c3 = arith.constant 3 : index
  %0 = affine.load %m[%c3, symbol(%c3) + %c3] : memref<16x16xindex>
  return %0 : index
}

func.func @vectors(%m: memref<8x16xi32>) -> vector<4xi32> {
  affine.for %i = 0 to 8 {
    %0 = affine.vector_load %m[%i, 4] : memref<8x16xi32>, vector<4xi32>
    affine.vector_store %0, %m[%i, %i + 4] : memref<8x16xi32>, vector<4xi32>
    %1 = affine.vector_load %m[0, %i] {note} : memref<8x16xi32>, vector<2x8xi32>
    affine.vector_store %1, %m[6, 8] {note} : memref<8x16xi32>, vector<2x8xi32>
  }
  %2 = affine.vector_load %m[0, 8] : memref<8x16xi32>, vector<4xi32>
  return %2 : vector<4xi32>
}

func.func @vector_elements(%m: memref<8xvector<2xi32>>) -> vector<2xi32> {
  %0 = affine.load %m[3] : memref<8xvector<2xi32>>
  affine.store %0, %m[4] : memref<8xvector<2xi32>>
  return %0 : vector<2xi32>
}

func.func @prefetch(%m: memref<8x16xi32>, %i: index) {
  affine.prefetch %m[%i, %i + 5], read, locality<3>, data : memref<8x16xi32>
  affine.prefetch %m[%i, 0], write, locality<0>, instr {note} : memref<8x16xi32>
  return
}
