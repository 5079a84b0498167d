// RUN: gradus opt %s --refine-shapes=shapes=arg0=1x4 --split-input-file

// The condition depends on an extent only: the branch takes the place of the conditional, and its rank is known.
func.func @main(%x: tensor<?x?xf32>) -> tensor<*xf32> {
  %one = graph.constant dense<1> : tensor<1xi64>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %rows = graph.gather %shape, %zero : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %is = graph.equal %rows, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %c0 = arith.constant 0 : index
  %c = tensor.extract %is[%c0] : tensor<1xi1>
  %0 = scf.if %c -> (tensor<*xf32>) {
    %1 = graph.squeeze %x, %zero : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
    %2 = tensor.cast %1 : tensor<?xf32> to tensor<*xf32>
    scf.yield %2 : tensor<*xf32>
  } else {
    %1 = tensor.cast %x : tensor<?x?xf32> to tensor<*xf32>
    scf.yield %1 : tensor<*xf32>
  }
  %3 = graph.neg %0 : tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// Both branches yield tensors with the same extents.
func.func @main(%x: tensor<?x4xf32>, %c: i1) -> tensor<?x4xf32> {
  %0 = scf.if %c -> (tensor<?x4xf32>) {
    %1 = graph.exp %x : tensor<?x4xf32>
    scf.yield %1 : tensor<?x4xf32>
  } else {
    %1 = graph.neg %x : tensor<?x4xf32>
    scf.yield %1 : tensor<?x4xf32>
  }
  %2 = graph.relu %0 : tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// -----

// The extents of one branch stay open.
func.func @main(%x: tensor<?x4xf32>, %c: i1, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = scf.if %c -> (tensor<?x4xf32>) {
    scf.yield %x : tensor<?x4xf32>
  } else {
    scf.yield %y : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}

// -----

// A branch within a branch.
func.func @main(%x: tensor<?x4xf32>, %c: i1, %d: i1) -> tensor<*xf32> {
  %0 = scf.if %c -> (tensor<*xf32>) {
    %1 = scf.if %d -> (tensor<?x4xf32>) {
      %2 = graph.exp %x : tensor<?x4xf32>
      scf.yield %2 : tensor<?x4xf32>
    } else {
      scf.yield %x : tensor<?x4xf32>
    }
    %3 = tensor.cast %1 : tensor<?x4xf32> to tensor<*xf32>
    scf.yield %3 : tensor<*xf32>
  } else {
    %1 = tensor.cast %x : tensor<?x4xf32> to tensor<*xf32>
    scf.yield %1 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}
