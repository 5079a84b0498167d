// RUN: gradus opt %s --expand-composed-ops --canonicalize --split-input-file

// Attention scores and values.
func.func @scores(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x5x4x8xf32>) -> (tensor<2x4x3x5xf32>, tensor<2x3x4x8xf32>) {
  %0 = graph.einsum %q, %k {equation = "bhqd,bhkd->bhqk"} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %1 = graph.einsum %0, %v {equation = "bhqk,bkhd->bqhd"} : (tensor<2x4x3x5xf32>, tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32>
  return %0, %1 : tensor<2x4x3x5xf32>, tensor<2x3x4x8xf32>
}

// -----

// Rows of one matrix keep their axes; several summed axes become one.
func.func @rows(%a: tensor<?x?x4xf32>, %b: tensor<4x3xf32>, %c: tensor<2x5x4x3xf32>, %d: tensor<4x3x6xi32>, %e: tensor<2x5x4x3xi32>) -> (tensor<?x?x3xf32>, tensor<2x5x6xi32>) {
  %0 = graph.einsum %a, %b {equation = "...j,jk->...k"} : (tensor<?x?x4xf32>, tensor<4x3xf32>) -> tensor<?x?x3xf32>
  %1 = graph.einsum %e, %d {equation = "abhd,hdk->abk"} : (tensor<2x5x4x3xi32>, tensor<4x3x6xi32>) -> tensor<2x5x6xi32>
  return %0, %1 : tensor<?x?x3xf32>, tensor<2x5x6xi32>
}

// -----

// Sums over axes of one operand come first, and nothing is left to sum in the second product.
func.func @sums(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<3xf32>) -> (tensor<5x3xf32>, tensor<4x3xf32>) {
  %0 = graph.einsum %a, %b {equation = "bij,jk->ki"} : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<5x3xf32>
  %1 = graph.einsum %c, %b {equation = "i,jk->ji"} : (tensor<3xf32>, tensor<4x5xf32>) -> tensor<4x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<4x3xf32>
}

// -----

func.func @three(%v: tensor<4xf32>, %m: tensor<4x3xf32>, %w: tensor<3xf32>) -> tensor<f32> {
  %0 = graph.einsum %v, %m, %w {equation = "i,ij,j"} : (tensor<4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
