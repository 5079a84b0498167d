// RUN: gradus opt %s --split-input-file --verify-diagnostics --saturate="target=flops rules=add-add max-nodes=30 report"

// Two products of three matrices: 270,000 multiplications become 20,000.
// expected-remark@+1 {{cost 270000, then 20000, optimal among what the rules reached (cheapest trees); 7 nodes, saturated after 1 iterations}}
func.func @two_products(%m0: tensor<100x10xf32>, %m1: tensor<10x150xf32>, %m2: tensor<150x8xf32>) -> tensor<100x8xf32> {
  %p1 = graph.matmul %m0, %m1 : (tensor<100x10xf32>, tensor<10x150xf32>) -> tensor<100x150xf32>
  %p2 = graph.matmul %p1, %m2 : (tensor<100x150xf32>, tensor<150x8xf32>) -> tensor<100x8xf32>
  return %p2 : tensor<100x8xf32>
}

// -----

// Three of four: 16,550,000 become 1,162,500.
// expected-remark@+1 {{cost 16550000, then 1162500, optimal among what the rules reached (cheapest trees); 14 nodes, saturated after 1 iterations}}
func.func @three_products(%m0: tensor<200x175xf32>, %m1: tensor<175x250xf32>, %m2: tensor<250x150xf32>, %m3: tensor<150x10xf32>) -> tensor<200x10xf32> {
  %p1 = graph.matmul %m0, %m1 : (tensor<200x175xf32>, tensor<175x250xf32>) -> tensor<200x250xf32>
  %p2 = graph.matmul %p1, %m2 : (tensor<200x250xf32>, tensor<250x150xf32>) -> tensor<200x150xf32>
  %p3 = graph.matmul %p2, %m3 : (tensor<200x150xf32>, tensor<150x10xf32>) -> tensor<200x10xf32>
  return %p3 : tensor<200x10xf32>
}

// -----

// Seven matrices take 56 nodes.
// expected-remark@+1 {{cost 72, then 68, optimal among what the rules reached (cheapest trees); 20 nodes, saturated after 1 iterations}}
func.func @too_long(%m0: tensor<2x3xf32>, %m1: tensor<3x2xf32>, %m2: tensor<2x3xf32>, %m3: tensor<3x2xf32>, %m4: tensor<2x3xf32>, %m5: tensor<3x2xf32>, %m6: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %p1 = graph.matmul %m0, %m1 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %p2 = graph.matmul %p1, %m2 : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p3 = graph.matmul %p2, %m3 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %p4 = graph.matmul %p3, %m4 : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p5 = graph.matmul %p4, %m5 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  // expected-remark@+1 {{its 7 operands are not grouped in other ways: that takes 56 nodes, more than the limit allows}}
  %p6 = graph.matmul %p5, %m6 : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %p6 : tensor<2x3xf32>
}
