// RUN: gradus check %s --specialize-shapes="shapes=x=2x3,y=3;x=1x3;y=0" | FileCheck %s

// Arguments of any shapes, among them those of the copies.
// CHECK: @main: no difference
func.func @main(%x: tensor<?x3xf32> {graph.name = "x"}, %y: tensor<?xf32> {graph.name = "y"}) -> (tensor<?x3xf32>, tensor<?xf32>) {
  %0 = graph.relu %x : tensor<?x3xf32>
  %1 = graph.neg %y : tensor<?xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?xf32>
}
