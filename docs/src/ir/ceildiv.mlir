func.func @blocks(%n: index) -> index {
  %0 = affine.apply affine_map<(d0) -> (d0 ceildiv 7)>(%n)
  return %0 : index
}
