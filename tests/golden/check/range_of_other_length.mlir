// RUN: gradus check %s --canonicalize | FileCheck %s

// A range whose length is not that of its type is poison, however long it is. The first product is poison where it overflows, the one that
// replaces it is not.
// CHECK: @f: no difference
func.func @f(%start: tensor<index>, %x: tensor<index>, %step: tensor<index>) -> tensor<1xindex> {
  %c = arith.constant dense<52197860626914> : tensor<index>
  %0 = arith.muli %x, %c : tensor<index>
  %c4 = arith.constant dense<4> : tensor<index>
  %1 = arith.muli %0, %c4 overflow<nuw> : tensor<index>
  %2 = graph.range %start, %1, %step : (tensor<index>, tensor<index>, tensor<index>) -> tensor<1xindex>
  return %2 : tensor<1xindex>
}
