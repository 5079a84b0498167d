#map = affine_map<(d0, d1)[s0] -> (d0 + s1, d1 * d0)>
func.func @f(%m: memref<4x4xf32, #map>) {
  return
}
