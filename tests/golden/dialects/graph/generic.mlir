// RUN: gradus opt %s --mlir-print-op-generic

func.func @f(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> tensor<?x4xf32> {
  %0 = graph.add %x, %y : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %1 = graph.relu %0 : tensor<?x4xf32>
  %2 = graph.neg %1 : tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}
