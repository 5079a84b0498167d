// RUN: gradus opt %s --split-input-file --verify-diagnostics --saturate="target=flops rules=add-add floats=exact report"

// Ten matrices: the best of 4,862 parenthesizations. Integer products are exactly associative.
// expected-remark@+1 {{cost 55710, then 9216, optimal among what the rules reached (cheapest trees); 175 nodes, saturated after 1 iterations}}
func.func @ten(%m0: tensor<30x35xi32>, %m1: tensor<35x15xi32>, %m2: tensor<15x5xi32>, %m3: tensor<5x10xi32>, %m4: tensor<10x20xi32>, %m5: tensor<20x25xi32>, %m6: tensor<25x3xi32>, %m7: tensor<3x40xi32>, %m8: tensor<40x6xi32>, %m9: tensor<6x12xi32>) -> tensor<30x12xi32> {
  %p1 = graph.matmul %m0, %m1 : (tensor<30x35xi32>, tensor<35x15xi32>) -> tensor<30x15xi32>
  %p2 = graph.matmul %p1, %m2 : (tensor<30x15xi32>, tensor<15x5xi32>) -> tensor<30x5xi32>
  %p3 = graph.matmul %p2, %m3 : (tensor<30x5xi32>, tensor<5x10xi32>) -> tensor<30x10xi32>
  %p4 = graph.matmul %p3, %m4 : (tensor<30x10xi32>, tensor<10x20xi32>) -> tensor<30x20xi32>
  %p5 = graph.matmul %p4, %m5 : (tensor<30x20xi32>, tensor<20x25xi32>) -> tensor<30x25xi32>
  %p6 = graph.matmul %p5, %m6 : (tensor<30x25xi32>, tensor<25x3xi32>) -> tensor<30x3xi32>
  %p7 = graph.matmul %p6, %m7 : (tensor<30x3xi32>, tensor<3x40xi32>) -> tensor<30x40xi32>
  %p8 = graph.matmul %p7, %m8 : (tensor<30x40xi32>, tensor<40x6xi32>) -> tensor<30x6xi32>
  %p9 = graph.matmul %p8, %m9 : (tensor<30x6xi32>, tensor<6x12xi32>) -> tensor<30x12xi32>
  return %p9 : tensor<30x12xi32>
}

// -----

// Float products are not associative and stay.
// expected-remark@+1 {{cost 270000, then 270000, optimal among what the rules reached (its own ops, each once); 5 nodes, saturated after 1 iterations}}
func.func @floats(%m0: tensor<100x10xf32>, %m1: tensor<10x150xf32>, %m2: tensor<150x8xf32>) -> tensor<100x8xf32> {
  %p1 = graph.matmul %m0, %m1 : (tensor<100x10xf32>, tensor<10x150xf32>) -> tensor<100x150xf32>
  %p2 = graph.matmul %p1, %m2 : (tensor<100x150xf32>, tensor<150x8xf32>) -> tensor<100x8xf32>
  return %p2 : tensor<100x8xf32>
}

// -----

// A product of a part of the chain has another use, so it costs nothing more.
// expected-remark@+1 {{cost 10000, then 5400, optimal among what the rules reached (cheapest trees); 7 nodes, saturated after 1 iterations}}
func.func @shared(%a: tensor<50x2xi32>, %b: tensor<2x50xi32>, %c: tensor<50x2xi32>) -> (tensor<50x50xi32>, tensor<50x2xi32>) {
  %0 = graph.matmul %a, %b : (tensor<50x2xi32>, tensor<2x50xi32>) -> tensor<50x50xi32>
  %1 = graph.matmul %0, %c : (tensor<50x50xi32>, tensor<50x2xi32>) -> tensor<50x2xi32>
  return %0, %1 : tensor<50x50xi32>, tensor<50x2xi32>
}

// -----

// Vectors and matrices: (a b) c and a (b c) differ.
// expected-remark@+1 {{cost 32, then 32, optimal among what the rules reached (its own ops, each once); 5 nodes, saturated after 1 iterations}}
func.func @vector(%a: tensor<4x4xi32>, %b: tensor<4xi32>, %c: tensor<4x4xi32>) -> tensor<4xi32> {
  %0 = graph.matmul %a, %b : (tensor<4x4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.matmul %0, %c : (tensor<4xi32>, tensor<4x4xi32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}
