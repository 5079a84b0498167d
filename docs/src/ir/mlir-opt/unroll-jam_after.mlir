#map = affine_map<(d0) -> (d0 + 1)>
module {
  func.func private @tell(index, index)
  func.func @order() {
    %c0 = arith.constant 0 : index
    affine.for %arg0 = 0 to 2 {
      func.call @tell(%c0, %arg0) : (index, index) -> ()
      %0 = affine.apply #map(%c0)
      func.call @tell(%0, %arg0) : (index, index) -> ()
    }
    return
  }
}

