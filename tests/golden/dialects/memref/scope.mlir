// RUN: gradus opt %s

// The lifetime of stack memory.
func.func @plain(%v: i32, %m: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  memref.alloca_scope {
    %a = memref.alloca() : memref<4xi32>
    memref.store %v, %a[%c0] : memref<4xi32>
    %0 = memref.load %a[%c0] : memref<4xi32>
    memref.store %0, %m[%c0] : memref<1xi32>
  }
  return
}

func.func @results(%v: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %0:2 = memref.alloca_scope -> (i32, i32) {
    %a = memref.alloca() : memref<4xi32>
    memref.store %v, %a[%c0] : memref<4xi32>
    %1 = memref.load %a[%c0] : memref<4xi32>
    memref.alloca_scope.return %1, %v : i32, i32
  } {note}
  return %0#0, %0#1 : i32, i32
}

// Nested scopes; the terminator is printed if it has operands.
func.func @nested(%v: i32) -> i32 {
  %0 = memref.alloca_scope -> i32 {
    memref.alloca_scope {
      memref.alloca_scope.return {note}
    }
    memref.alloca_scope.return {note} %v : i32
  }
  return %0 : i32
}

// Use of stack memory after its scope is UB.
func.func @gone(%v: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %0 = memref.alloca_scope -> (memref<1xi32>) {
    %a = memref.alloca() : memref<1xi32>
    memref.store %v, %a[%c0] : memref<1xi32>
    memref.alloca_scope.return %a : memref<1xi32>
  }
  %1 = memref.load %0[%c0] : memref<1xi32>
  return %1 : i32
}
