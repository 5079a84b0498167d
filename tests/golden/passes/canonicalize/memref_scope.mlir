// RUN: gradus opt %s --canonicalize

// A scope without allocations.
func.func @inline(%v: i32) -> i32 {
  %0:2 = memref.alloca_scope -> (i32, i32) {
    %1 = arith.muli %v, %v : i32
    memref.alloca_scope.return %1, %v : i32, i32
  }
  %2 = arith.addi %0#0, %0#1 : i32
  return %2 : i32
}

func.func private @unknown()

// A callee may allocate in the scope.
func.func @call() {
  memref.alloca_scope {
    func.call @unknown() : () -> ()
  }
  func.call @unknown() : () -> ()
  return
}

// Both scopes end together.
func.func @last(%v: i32, %m: memref<1xi32>, %i: index) {
  %0 = arith.addi %v, %v : i32
  memref.alloca_scope {
    %a = memref.alloca() : memref<4xi32>
    memref.store %0, %a[%i] : memref<4xi32>
    %1 = memref.load %a[%i] : memref<4xi32>
    memref.store %1, %m[%i] : memref<1xi32>
  }
  return
}

// Inlining would extend the lifetime of the memory.
func.func @not_last(%v: i32, %m: memref<1xi32>, %i: index) {
  memref.alloca_scope {
    %a = memref.alloca() : memref<4xi32>
    memref.store %v, %a[%i] : memref<4xi32>
    %1 = memref.load %a[%i] : memref<4xi32>
    memref.store %1, %m[%i] : memref<1xi32>
  }
  memref.store %v, %m[%i] : memref<1xi32>
  return
}
