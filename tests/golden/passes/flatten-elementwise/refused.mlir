// RUN: gradus opt %s --flatten-elementwise --verify-diagnostics

func.func @large(%x: tensor<40000x40000xi8>, %w: tensor<40000x40000xi8>, %y: tensor<?xi8>, %s: tensor<f32>, %z: tensor<i8>) {
  // expected-remark@+1 {{'graph.qlinear_mul' stays in its shape: extents larger than 32768}}
  %0 = graph.qlinear_mul %w, %s, %z, %z, %s, %z, %s, %z : (tensor<40000x40000xi8>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<40000x40000xi8>
  // expected-remark@+1 {{'graph.qlinear_mul' stays in its shape: a shape that is not known}}
  %1 = graph.qlinear_mul %y, %s, %z, %y, %s, %z, %s, %z : (tensor<?xi8>, tensor<f32>, tensor<i8>, tensor<?xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<?xi8>
  return
}
