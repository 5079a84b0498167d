// RUN: gradus check %s --convert-graph-to-addr | FileCheck %s

// The bias of a product has the extents of its type; one of unknown extents may be wrong where another operand is poison.
// CHECK: @main: unchanged
func.func @main(%x: tensor<1x1x6x7xf16>, %w: tensor<1x1x6x6xf16>, %b: tensor<?xf16>) -> tensor<1x1x1x2xf16> {
  %0 = graph.conv %x, %w, %b : (tensor<1x1x6x7xf16>, tensor<1x1x6x6xf16>, tensor<?xf16>) -> tensor<1x1x1x2xf16>
  return %0 : tensor<1x1x1x2xf16>
}
