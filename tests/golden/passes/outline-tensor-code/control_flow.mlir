// RUN: gradus opt %s --outline-tensor-code --split-input-file

// A branch, and what follows it.
func.func @branch(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %c -> (tensor<4xf32>) {
    %1 = graph.exp %x : tensor<4xf32>
    %2 = graph.relu %1 : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %3 = graph.neg %0 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// The body of a loop; a constant is copied, a scalar stays.
func.func @loop(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %half = graph.constant dense<5.000000e-01> : tensor<f32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %x) -> (tensor<2xf32>) {
    %n = arith.index_cast %i : index to i64
    %t = tensor.from_elements %n : tensor<i64>
    %f = graph.cast %t to f32 : (tensor<i64>) -> tensor<f32>
    %1 = graph.mul %acc, %half : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = graph.add %1, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    scf.yield %2 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

// An op between needs a result, so that there are two functions.
func.func @between(%x: tensor<3xi64>, %y: tensor<3xi64>) -> tensor<3xi64> {
  %c0 = arith.constant 0 : index
  %0 = graph.add %x, %y : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %e = tensor.extract %0[%c0] : tensor<3xi64>
  %zero = arith.constant 0 : i64
  %is = arith.cmpi sgt, %e, %zero : i64
  %1 = graph.mul %x, %0 : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %2 = scf.if %is -> (tensor<3xi64>) {
    scf.yield %1 : tensor<3xi64>
  } else {
    scf.yield %0 : tensor<3xi64>
  }
  return %2 : tensor<3xi64>
}

// -----

// Blocks.
func.func @blocks(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x : tensor<4xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %1 = graph.sqrt %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
^bb2:
  return %0 : tensor<4xf32>
}

// -----

// Nothing to do without control flow.
func.func @straight(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
