// RUN: gradus opt %s --affine-loop-tile=tile-size=2 --allow-unregistered-dialect --split-input-file --verify-diagnostics

// A dependence with distance (1, -1).
func.func @back(%m: memref<8x8xindex>) {
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 7 {
      %0 = affine.load %m[%i - 1, %j + 1] : memref<8x8xindex>
      affine.store %0, %m[%i, %j] : memref<8x8xindex>
    }
  }
  return
}

// -----

// All iterations read and write one element.
func.func @sum(%m: memref<8x8xf32>, %s: memref<1xf32>) {
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %m[%i, %j] : memref<8x8xf32>
      %1 = affine.load %s[0] : memref<1xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %s[0] : memref<1xf32>
    }
  }
  return
}

// -----

// Subscripts that depend on both induction variables, and unknown accesses.
func.func @unknown(%m: memref<8xindex>) {
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      affine.store %j, %m[%i + %j] : memref<8xindex>
    }
  }
  return
}

// -----

func.func private @f(index)

func.func @call() {
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      func.call @f(%i) : (index) -> ()
    }
  }
  return
}

// -----

// A subview of the stored memref.
func.func @view(%m: memref<8x8xindex>) {
  %v = memref.subview %m[0, 1] [8, 7] [1, 1] : memref<8x8xindex> to memref<8x7xindex, strided<[8, 1], offset: 1>>
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 0 to 7 {
    affine.for %j = 0 to 7 {
      %0 = affine.load %v[%i, %j] : memref<8x7xindex, strided<[8, 1], offset: 1>>
      affine.store %0, %m[%i + 1, %j] : memref<8x8xindex>
    }
  }
  return
}

// -----

// Overlapping vector accesses.
func.func @vectors(%m: memref<16xf32>) {
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      %0 = affine.vector_load %m[%j] : memref<16xf32>, vector<4xf32>
      affine.vector_store %0, %m[%j] : memref<16xf32>, vector<4xf32>
    }
  }
  return
}

// -----

// Memref arguments may alias.
func.func @arguments(%a: memref<8x8xindex>, %b: memref<8x8xindex>) {
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 7 {
      %0 = affine.load %a[%i - 1, %j + 1] : memref<8x8xindex>
      affine.store %0, %b[%i, %j] : memref<8x8xindex>
    }
  }
  return
}

// -----

memref.global @g : memref<8x8xindex>

func.func @global(%a: memref<8x8xindex>) {
  %g = memref.get_global @g : memref<8x8xindex>
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 7 {
      %0 = affine.load %a[%i - 1, %j + 1] : memref<8x8xindex>
      affine.store %0, %g[%i, %j] : memref<8x8xindex>
    }
  }
  return
}

// -----

// A memref carried to the next iteration aliases its initial value.
func.func @carried(%a: memref<8x8xindex>, %n: index) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = memref.alloc() : memref<8x8xindex>
  %1 = scf.for %k = %c0 to %n step %c1 iter_args(%b = %0) -> (memref<8x8xindex>) {
    scf.execute_region {
      scf.yield
    }
    scf.yield %b : memref<8x8xindex>
  }
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 7 {
      %2 = affine.load %0[%i - 1, %j + 1] : memref<8x8xindex>
      affine.store %2, %1[%i, %j] : memref<8x8xindex>
    }
  }
  return
}

// -----

// An unregistered op may have any effect.
func.func @undeclared() {
  // expected-remark@+1 {{tiling nest is invalid due to dependences}}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 7 {
      "test.print"(%i, %j) : (index, index) -> ()
    }
  }
  return
}
