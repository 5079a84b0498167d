// RUN: gradus check %s --target=cpu | FileCheck %s

// The product is outlined, since its function has several blocks: kernels round in the function that is called.
// CHECK: @f: no difference
func.func @f(%bias: tensor<1xf32>, %is_known: i1, %x: tensor<1x3x1x1xf32>, %w: tensor<1x3x3x3xf32>) -> tensor<1x1x1x1xf32> {
  %0 = graph.conv %x, %w, %bias {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x1x1xf32>, tensor<1x3x3x3xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  cf.cond_br %is_known, ^bb2, ^bb1
^bb1:
  call @log() : () -> ()
  cf.br ^bb3
^bb2:
  cf.br ^bb3
^bb3:
  return %0 : tensor<1x1x1x1xf32>
}
func.func private @log()
