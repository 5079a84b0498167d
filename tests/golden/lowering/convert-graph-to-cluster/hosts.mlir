// RUN: gradus opt %s --convert-graph-to-cluster=clusters=2 --split-input-file | FileCheck %s

// A convolution whose weights are no constant stays on the host; the second program reads a result of the first one too.
// CHECK-LABEL: func.func @between
// CHECK: %[[A:.*]] = cluster.call @cluster0(%arg0)
// CHECK: %[[B:.*]] = graph.conv %[[A]], %arg1, %arg2
// CHECK: cluster.call @cluster1(%[[B]], %[[A]])
func.func @between(%x: tensor<1x8x1x2xf16>, %w: tensor<2x8x1x1xf16>, %b: tensor<2xf16>) -> tensor<1x10x1x2xf16> {
  %0 = graph.relu %x : tensor<1x8x1x2xf16>
  %1 = graph.conv %0, %w, %b : (tensor<1x8x1x2xf16>, tensor<2x8x1x1xf16>, tensor<2xf16>) -> tensor<1x2x1x2xf16>
  %2 = graph.concat %1, %0 {axis = 1 : i64} : (tensor<1x2x1x2xf16>, tensor<1x8x1x2xf16>) -> tensor<1x10x1x2xf16>
  %3 = graph.relu %2 : tensor<1x10x1x2xf16>
  return %3 : tensor<1x10x1x2xf16>
}

// -----

// A program that would only copy is none.
// CHECK-LABEL: func.func @view
// CHECK: graph.flatten
// CHECK-NOT: cluster
func.func @view(%x: tensor<1x4xf16>) -> tensor<1x4xf16> {
  %0 = graph.flatten %x : (tensor<1x4xf16>) -> tensor<1x4xf16>
  return %0 : tensor<1x4xf16>
}

// -----

// A region uses a result of the program, so that its op comes after it.
// CHECK-LABEL: func.func @region
// CHECK: %[[A:.*]] = cluster.call @cluster0(%arg0)
// CHECK: scf.if
// CHECK-NEXT: func.call @use(%[[A]])
func.func private @use(tensor<1x4xf16>)
func.func @region(%x: tensor<1x4xf16>, %c: i1) {
  %0 = graph.add %x, %x : (tensor<1x4xf16>, tensor<1x4xf16>) -> tensor<1x4xf16>
  scf.if %c {
    func.call @use(%0) : (tensor<1x4xf16>) -> ()
  }
  return
}

// -----

// The second call does not need the program, and stays after the first one, which does.
// CHECK-LABEL: func.func @calls
// CHECK: %[[A:.*]] = cluster.call @cluster0(%arg0)
// CHECK-NEXT: call @use(%[[A]])
// CHECK-NEXT: call @other()
func.func private @use(tensor<1x4xf16>)
func.func private @other()
func.func @calls(%x: tensor<1x4xf16>) {
  %0 = graph.add %x, %x : (tensor<1x4xf16>, tensor<1x4xf16>) -> tensor<1x4xf16>
  func.call @use(%0) : (tensor<1x4xf16>) -> ()
  func.call @other() : () -> ()
  return
}
