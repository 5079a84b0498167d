// RUN: gradus opt %s --split-input-file --verify-diagnostics

func.func @other_element(%s: !graph.sequence<tensor<?xf32>>, %x: tensor<2xf64>) {
  // expected-error @+1 {{requires elements of the same element type}}
  %0 = graph.sequence_insert %s, %x : (!graph.sequence<tensor<?xf32>>, tensor<2xf64>) -> !graph.sequence<tensor<?xf32>>
  return
}

// -----

func.func @stated(%x: tensor<2xf64>) {
  // expected-error @+1 {{requires a result of its element type}}
  %0 = graph.sequence_empty {dtype = i64} : () -> !graph.sequence<tensor<?xf32>>
  return
}

// -----

func.func @cast(%s: !graph.sequence<tensor<?xf32>>) {
  // expected-error @+1 {{requires sequences of the same element type}}
  %0 = graph.sequence_cast %s : (!graph.sequence<tensor<?xf32>>) -> !graph.sequence<tensor<?xf64>>
  return
}

// -----

// expected-error @+1 {{tensor type}}
func.func private @no_tensors(!graph.sequence<f32>)
