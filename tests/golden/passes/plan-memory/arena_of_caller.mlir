// RUN: gradus opt %s --plan-memory

// The bytes of an arena that the caller has made may be written there, beside an arena of the function's own.
func.func @f(%theirs: memref<3xi8>, %x: memref<1xi8>) {
  %0 = sched.buffer %theirs[2] : memref<3xi8> to memref<i8>
  %1 = memref.load %0[] : memref<i8>
  %2 = memref.alloc() : memref<1xi8>
  memref.copy %x, %2 : memref<1xi8> to memref<1xi8>
  return
}
