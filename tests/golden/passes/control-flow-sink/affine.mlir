// RUN: gradus opt %s --control-flow-sink

// A value at the top level of a function is an affine symbol, in the branch of an `scf.if` it is not: the cast stays.
func.func @symbol(%c: i1, %n: i32, %m: memref<?xf32>) -> f32 {
  %s = arith.index_cast %n : i32 to index
  %z = arith.constant 0.0 : f32
  %r = scf.if %c -> (f32) {
    %v = affine.load %m[%s] : memref<?xf32>
    scf.yield %v : f32
  } else {
    scf.yield %z : f32
  }
  return %r : f32
}
