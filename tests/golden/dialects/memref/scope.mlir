// RUN: gradus opt %s

// The end of what is on the stack.
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

// A scope inside a scope; the end is written if it says something.
func.func @nested(%v: i32) -> i32 {
  %0 = memref.alloca_scope -> i32 {
    memref.alloca_scope {
      memref.alloca_scope.return {note}
    }
    memref.alloca_scope.return {note} %v : i32
  }
  return %0 : i32
}

// Memory that left its scope is gone: using it is undefined.
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
