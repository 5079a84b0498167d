// RUN: gradus opt %s --split-input-file --refine-shapes="shapes=image=1x3x8x?,arg1=6"

// The shape that the reshape computes from the extents of the image becomes a constant, where it does not depend on the open one.
func.func @main(%image: tensor<?x3x?x?xf32> {graph.name = "image"}, %row: tensor<?xf32>) -> (tensor<?x?x?xf32>, tensor<?xf32>) {
  %w = graph.constant dense<0.5> : tensor<4x3x3x3xf32>
  %0 = graph.conv %image, %w {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<?x3x?x?xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x?xf32>
  %1 = graph.relu %0 : tensor<?x4x?x?xf32>
  %shape = graph.shape %1 {start = 0 : i64, end = 2 : i64} : (tensor<?x4x?x?xf32>) -> tensor<2xi64>
  %rest = graph.constant dense<-1> : tensor<1xi64>
  %to = graph.concat %shape, %rest {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %2 = graph.reshape %1, %to : (tensor<?x4x?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %3 = graph.neg %row : tensor<?xf32>
  return %2, %3 : tensor<?x?x?xf32>, tensor<?xf32>
}

// -----

// A loop does not infer its results: it reads and returns the old types by casts.
func.func @main(%image: tensor<?x3x8x?xf32> {graph.name = "image"}, %x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = graph.neg %x : tensor<?xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> (tensor<?xf32>) {
    %2 = graph.add %a, %0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  %3 = graph.neg %1 : tensor<?xf32>
  return %3 : tensor<?xf32>
}
