// RUN: gradus opt %s --canonicalize

// A split of a concatenation is its operands, and a concatenation of all parts the whole tensor.
func.func @split(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>) {
  %sizes = graph.constant dense<[3, 1]> : tensor<2xi64>
  %0 = graph.concat %a, %b {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1:2 = graph.split %0, %sizes {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2x1xf32>)
  %2:2 = graph.split %c, %sizes {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2x1xf32>)
  %3 = graph.concat %2#0, %2#1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %1#0, %1#1, %3 : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>
}

// -----

// Slices of a whole tensor, of one operand, and in one operand of a concatenation; all slices, concatenated.
func.func @slices(%a: tensor<2x3xf32>, %b: tensor<2x2xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x3xf32>) {
  %0 = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %three = graph.constant dense<3> : tensor<1xi64>
  %last = graph.constant dense<-1> : tensor<1xi64>
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %1 = graph.slice %a, %zero, %end axes %one : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  %2 = graph.slice %0, %three, %end axes %one steps %one : (tensor<2x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xf32>
  %3 = graph.slice %0, %last, %end axes %one : (tensor<2x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x1xf32>
  %4 = graph.slice %a, %zero, %two axes %one : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xf32>
  %5 = graph.slice %a, %two, %three axes %last : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x1xf32>
  %6 = graph.concat %4, %5 {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %1, %2, %3, %6 : tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x3xf32>
}

// -----

// A concatenation without other uses is part of the next one along its axis.
func.func @flatten(%a: tensor<2x3xf32>, %b: tensor<2x2xf32>) -> (tensor<2x10xf32>, tensor<4x5xf32>, tensor<2x10xf32>, tensor<2x5xf32>) {
  %0 = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  %1 = graph.concat %0, %b, %a {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x10xf32>
  %2 = graph.concat %b, %a {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  %3 = graph.concat %b, %a {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  %4 = graph.concat %2, %3 {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %5 = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  %6 = graph.concat %5, %a, %b {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x10xf32>
  return %1, %4, %6, %5 : tensor<2x10xf32>, tensor<4x5xf32>, tensor<2x10xf32>, tensor<2x5xf32>
}

// -----

// Reversed, strided, out of order, incomplete, across two operands, along another axis: nothing changes.
func.func @kept(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x8xf32>) {
  %0:2 = graph.split %a {axis = 1 : i64} : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %one = graph.constant dense<1> : tensor<1xi64>
  %three = graph.constant dense<3> : tensor<1xi64>
  %first = graph.constant dense<0> : tensor<1xi64>
  %step = graph.constant dense<2> : tensor<1xi64>
  %down = graph.constant dense<-1> : tensor<1xi64>
  %below = graph.constant dense<-9223372036854775808> : tensor<1xi64>
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %1 = graph.slice %a, %end, %below axes %one steps %down : (tensor<4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x4xf32>
  %2 = graph.concat %0#1, %0#0 {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %3 = graph.slice %a, %first, %end axes %one steps %step : (tensor<4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x2xf32>
  %4 = graph.concat %3, %0#1 {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %5 = graph.slice %2, %one, %three axes %one : (tensor<4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x2xf32>
  %6:2 = graph.split %a {axis = 0 : i64} : (tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %7 = graph.concat %6#0, %6#1 {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %1, %2, %4, %3, %5, %7 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x8xf32>
}
