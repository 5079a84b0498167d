// RUN: gradus opt %s

func.func @min(%i: index, %n: index) -> (index, index, index) {
  %0 = affine.min affine_map<(d0)[s0] -> (d0, s0 - 1, 100)>(%i)[%n]
  %1 = affine.min affine_map<(d0) -> (d0 floordiv 2)>(%i)
  %2 = affine.min affine_map<() -> (3, 5)>() {note}
  return %0, %1, %2 : index, index, index
}

func.func @max(%i: index, %n: index) -> (index, index) {
  %0 = affine.max affine_map<(d0)[s0] -> (d0 - s0, s0 - d0)>(%i)[%n]
  %1 = affine.max affine_map<(d0, d1) -> (d0, d1, -8)>(%i, %n)
  return %0, %1 : index, index
}
