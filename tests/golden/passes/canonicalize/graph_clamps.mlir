// RUN: gradus opt %s --canonicalize

// Clamps of clamps are one clamp, relu included.
func.func @relu_clip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %low = graph.constant dense<-1.0> : tensor<f32>
  %high = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.clip %x min %low max %high : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The lower bound -0 becomes 0, the result of relu.
func.func @clip_relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %low = graph.constant dense<-0.0> : tensor<f32>
  %high = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.relu %x : tensor<4xf32>
  %1 = graph.clip %0 min %low max %high : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @clip_clip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.constant dense<-1.0> : tensor<f32>
  %b = graph.constant dense<6.0> : tensor<f32>
  %c = graph.constant dense<1.0> : tensor<f32>
  %d = graph.constant dense<5.0> : tensor<f32>
  %0 = graph.clip %x min %a max %b : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.clip %0 min %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.clip %1 min %a max %d : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// An upper bound alone, and a bound that is not constant: nothing changes.
func.func @kept(%x: tensor<4xf32>, %b: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = graph.constant dense<-1.0> : tensor<f32>
  %0 = graph.clip %x max %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.relu %0 : tensor<4xf32>
  %2 = graph.clip %x min %b max %a : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.relu %2 : tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Not merged: no number is within both clamps, so that the result is a bound, of the sign of the outer one.
func.func @apart(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %low = graph.constant dense<-3.0> : tensor<f32>
  %high = graph.constant dense<-1.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.clip %x min %low max %high : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.relu %0 : tensor<4xf32>
  %2 = graph.clip %0 min %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.clip %0 min %zero max %zero : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
