// RUN: gradus opt %s --affine-loop-tile=tile-size=4

func.func @one(%m: memref<10xindex>) {
  affine.for %i = 0 to 10 {
    affine.store %i, %m[%i] : memref<10xindex>
  }
  return
}

// All tiles are full.
func.func @full(%m: memref<12xindex>) {
  affine.for %i = 0 to 12 {
    affine.store %i, %m[%i] : memref<12xindex>
  }
  return
}

// A tile that is larger than the loop, and trip counts 1 and 0.
func.func @short(%m: memref<12xindex>) {
  affine.for %i = 2 to 7 step 2 {
    affine.store %i, %m[%i] : memref<12xindex>
  }
  affine.for %i = 2 to 3 {
    affine.store %i, %m[%i + 1] : memref<12xindex>
  }
  affine.for %i = 2 to 2 {
    affine.store %i, %m[%i] : memref<12xindex>
  }
  return
}

func.func @product(%a: memref<5x6xindex>, %b: memref<6x7xindex>, %c: memref<5x7xindex> {llvm.noalias}) {
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 7 {
      affine.for %k = 0 to 6 {
        %0 = affine.load %a[%i, %k] : memref<5x6xindex>
        %1 = affine.load %b[%k, %j] : memref<6x7xindex>
        %2 = arith.muli %0, %1 : index
        %3 = affine.load %c[%i, %j] : memref<5x7xindex>
        %4 = arith.addi %2, %3 : index
        affine.store %4, %c[%i, %j] : memref<5x7xindex>
      }
    }
  }
  return
}

func.func @unknown(%m: memref<32x32xindex>, %n: i5, %k: i5) {
  %a = arith.index_castui %n : i5 to index
  %b = arith.index_castui %k : i5 to index
  affine.for %i = 0 to %a {
    affine.for %j = max affine_map<()[s0] -> (s0 - 20, 0)>()[%a] to min affine_map<()[s0, s1] -> (s0, s1 floordiv 2)>()[%b, %a] {
      affine.store %i, %m[%i, %j] : memref<32x32xindex>
    }
  }
  return
}

// The band ends at an imperfect nest.
func.func @imperfect(%m: memref<8x8xindex>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.store %i, %m[%i, %j] : memref<8x8xindex>
    }
    affine.for %j = 0 to 8 {
      affine.store %j, %m[%j, %i] : memref<8x8xindex>
    }
  }
  return
}

// Not tiled: a loop with iteration arguments, a non-rectangular nest, and a loop that is not at the top level.
func.func @others(%m: memref<8x8xindex>, %x: index, %c: i1) -> index {
  %0 = affine.for %i = 0 to 8 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      affine.store %i, %m[%i, %j] : memref<8x8xindex>
    }
  }
  scf.if %c {
    affine.for %i = 0 to 8 {
      affine.store %i, %m[%i, %i] : memref<8x8xindex>
    }
  }
  return %0 : index
}
