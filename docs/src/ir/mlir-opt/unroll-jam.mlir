func.func private @tell(index, index)

func.func @order() {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      func.call @tell(%i, %j) : (index, index) -> ()
    }
  }
  return
}
