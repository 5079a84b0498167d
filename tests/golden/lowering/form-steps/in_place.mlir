// RUN: gradus opt %s --form-steps --dce

// The first part is written in place, through a reshape; the second is used twice and copied; the third is an argument.
func.func @columns(%x: tensor<2x3x4xf32>, %y: tensor<6x2xf32>) -> (tensor<6x8xf32>, tensor<6x2xf32>) {
  %shape = arith.constant dense<[6, 4]> : tensor<2xi64>
  %0 = graph.relu %x : tensor<2x3x4xf32>
  %1 = graph.reshape %0, %shape : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %2 = graph.neg %y : tensor<6x2xf32>
  %3 = graph.concat %1, %2, %y {axis = 1 : i64} : (tensor<6x4xf32>, tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x8xf32>
  return %3, %2 : tensor<6x8xf32>, tensor<6x2xf32>
}

// -----

// Rows of a concatenation are contiguous.
func.func @rows(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %0 = graph.relu %x : tensor<2x4xf32>
  %1 = graph.neg %y : tensor<3x4xf32>
  %2 = graph.concat %0, %1 {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
}

// -----

// A slice of rows and the parts of a split along the first axis are views; a slice of columns is computed.
func.func @slices(%x: tensor<6x4xf32>) -> (tensor<2x4xf32>, tensor<6x2xf32>, tensor<3x4xf32>) {
  %one = arith.constant dense<1> : tensor<1xi64>
  %zero = arith.constant dense<0> : tensor<1xi64>
  %two = arith.constant dense<2> : tensor<1xi64>
  %three = arith.constant dense<3> : tensor<1xi64>
  %0 = graph.relu %x : tensor<6x4xf32>
  %1 = graph.slice %0, %one, %three axes %zero : (tensor<6x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32>
  %2 = graph.slice %0, %one, %three axes %one : (tensor<6x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6x2xf32>
  %3:2 = graph.split %0 {axis = 0 : i64, num_outputs = 2 : i64} : (tensor<6x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  %4 = graph.add %3#0, %3#1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1, %2, %4 : tensor<2x4xf32>, tensor<6x2xf32>, tensor<3x4xf32>
}
