// RUN: gradus opt %s

func.func @grow(%x: tensor<2x3xf32>, %s: !graph.sequence<tensor<?x3xf32>>, %i: tensor<i64>) -> (tensor<?x3xf32>, tensor<?x?x3xf32>, tensor<i64>) {
  %0 = graph.sequence_insert %s, %x : (!graph.sequence<tensor<?x3xf32>>, tensor<2x3xf32>) -> !graph.sequence<tensor<?x3xf32>>
  %1 = graph.sequence_insert %0, %x, %i : (!graph.sequence<tensor<?x3xf32>>, tensor<2x3xf32>, tensor<i64>) -> !graph.sequence<tensor<?x3xf32>>
  %2 = graph.sequence_erase %1 : (!graph.sequence<tensor<?x3xf32>>) -> !graph.sequence<tensor<?x3xf32>>
  %3 = graph.sequence_at %2, %i : (!graph.sequence<tensor<?x3xf32>>, tensor<i64>) -> tensor<?x3xf32>
  %4 = graph.concat_from_sequence %2 {axis = 0 : i64, new_axis = 1 : i64} : (!graph.sequence<tensor<?x3xf32>>) -> tensor<?x?x3xf32>
  %5 = graph.sequence_length %2 : (!graph.sequence<tensor<?x3xf32>>) -> tensor<i64>
  return %3, %4, %5 : tensor<?x3xf32>, tensor<?x?x3xf32>, tensor<i64>
}

func.func @parts(%x: tensor<4x3xf32>) -> !graph.sequence<tensor<*xf32>> {
  %0 = graph.split_to_sequence %x {axis = 0 : i64, keepdims = 0 : i64} : (tensor<4x3xf32>) -> !graph.sequence<tensor<3xf32>>
  %1 = graph.sequence_cast %0 : (!graph.sequence<tensor<3xf32>>) -> !graph.sequence<tensor<*xf32>>
  return %1 : !graph.sequence<tensor<*xf32>>
}

func.func @made(%a: tensor<4xf32>, %b: tensor<2xf32>) -> (!graph.sequence<tensor<?xf32>>, !graph.sequence<tensor<*xi64>>, !graph.sequence<tensor<?x3xi64>>) {
  %0 = graph.sequence_construct %a, %b : (tensor<4xf32>, tensor<2xf32>) -> !graph.sequence<tensor<?xf32>>
  %1 = graph.sequence_empty {dtype = i64} : () -> !graph.sequence<tensor<*xi64>>
  %2 = graph.sequence_empty {dtype = i64} : () -> !graph.sequence<tensor<?x3xi64>>
  return %0, %1, %2 : !graph.sequence<tensor<?xf32>>, !graph.sequence<tensor<*xi64>>, !graph.sequence<tensor<?x3xi64>>
}
