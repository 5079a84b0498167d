// RUN: gradus opt %s --form-steps=fuse=false --plan-memory='alignment=3 in-place=false'

// Offsets are multiples of the alignment and of the size of an element.
func.func @f(%x: tensor<5xi8>) -> tensor<5xi8> {
  %0 = graph.abs %x : tensor<5xi8>
  %1 = graph.cast %0 to f32 : (tensor<5xi8>) -> tensor<5xf32>
  %2 = graph.exp %1 : tensor<5xf32>
  %3 = graph.cast %2 to i8 : (tensor<5xf32>) -> tensor<5xi8>
  %4 = graph.neg %3 : tensor<5xi8>
  return %4 : tensor<5xi8>
}
