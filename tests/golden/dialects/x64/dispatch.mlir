// RUN: gradus opt %s --split-input-file --verify-diagnostics

x64.code @functions = dense<195> : tensor<2xui8>
func.func @f(%w: tensor<1xf32>, %p: tensor<1x1xui8>, %b: tensor<1x16xf32>) -> tensor<1x16xf32> {
  // expected-error@+1 {{requires a start for each pattern and the end, in order}}
  %c = x64.dispatch @functions(%w, %p, %b) bits 1 starts [0, 1] panel 64 tile 64 : (tensor<1xf32>, tensor<1x1xui8>, tensor<1x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}

// -----

x64.code @functions = dense<195> : tensor<2xui8>
func.func @f(%w: tensor<1xf32>, %p: tensor<1x2xui8>, %b: tensor<1x16xf32>) -> tensor<1x16xf32> {
  // expected-error@+1 {{requires patterns for all rows of the result and of 'b'}}
  %c = x64.dispatch @functions(%w, %p, %b) bits 1 starts [0, 1, 2] panel 64 tile 64 : (tensor<1xf32>, tensor<1x2xui8>, tensor<1x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}

// -----

x64.code @functions = dense<195> : tensor<2xui8>
func.func @f(%w: tensor<1xf32>, %p: tensor<1x1xui8>, %b: tensor<1x15xf32>) -> tensor<1x15xf32> {
  // expected-error@+1 {{has rows of 60 bytes, which are no panels of 64, and code without a mask}}
  %c = x64.dispatch @functions(%w, %p, %b) bits 1 starts [0, 1, 2] panel 64 tile 64 : (tensor<1xf32>, tensor<1x1xui8>, tensor<1x15xf32>) -> tensor<1x15xf32>
  return %c : tensor<1x15xf32>
}
