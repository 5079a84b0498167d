#map = affine_map<(d0, d1) -> (d0 * d1)>
func.func @f(%m: memref<4x4xf32, #map>) {
  return
}
