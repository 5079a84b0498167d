// RUN: not gradus check %s --loop-invariant-code-motion 2>&1 | FileCheck %s

// The original does not come to the op: that it cannot be executed says nothing about the pass.
// CHECK: @axis: inconclusive
func.func @axis(%n: i1, %x: !graph.sequence<tensor<*xf32>>) {
  scf.while : () -> () {
    scf.condition(%n)
  } do {
    %0 = graph.concat_from_sequence %x {axis = 1 : i64} : (!graph.sequence<tensor<*xf32>>) -> tensor<*xf32>
    scf.yield
  }
  return
}
