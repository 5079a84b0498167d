// RUN: gradus opt %s --specialize-shapes="shapes=image=1x3x8x8;image=2x3x8x?" --split-input-file --verify-diagnostics

// expected-error@+1 {{'image=1x3x8x8' does not fit parameter 'image' of type 'tensor<?x3x4x?xf32>'}}
func.func @main(%x: tensor<?x3x4x?xf32> {graph.name = "image"}) -> tensor<?x3x4x?xf32> {
  return %x : tensor<?x3x4x?xf32>
}

// -----

// expected-error@+1 {{the function has no body}}
func.func private @main(%x: tensor<?x3x8x8xf32> {graph.name = "image"})

// -----

// expected-error@+1 {{there is no function '@main'}}
module {
  func.func @other() {
    return
  }
}
