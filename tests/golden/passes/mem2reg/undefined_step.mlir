// RUN: gradus opt %s --mem2reg

// A loop whose step was stored as 0 is undefined behavior, and goes, since the verifier rejects it.
func.func @stored(%n: index) {
  %zero = arith.constant 0 : index
  %slot = memref.alloca() : memref<index>
  memref.store %zero, %slot[] : memref<index>
  %step = memref.load %slot[] : memref<index>
  scf.parallel (%i) = (%zero) to (%n) step (%step) {
  }
  return
}
