// RUN: gradus opt %s

#triangle = affine_set<(d0, d1)[s0] : (d0 >= 0, d1 - d0 >= 0, s0 - d1 - 1 >= 0)>

func.func @forms(%i: index, %j: index, %n: index, %x: f32, %m: memref<2xf32>) -> f32 {
  affine.if #triangle(%i, %j)[%n] {
    affine.store %x, %m[0] : memref<2xf32>
  }
  affine.if affine_set<(d0) : (d0 mod 2 == 0)>(%i) {
    affine.store %x, %m[0] : memref<2xf32>
  } else {
    affine.store %x, %m[1] : memref<2xf32>
  } {note}
  affine.if affine_set<() : (1 == 0)>() {
    affine.store %x, %m[1] : memref<2xf32>
  } else {
  }
  %0 = affine.if affine_set<()[s0] : (s0 - 4 >= 0, 10 - s0 >= 0)>()[%n] -> f32 {
    %1 = affine.load %m[0] : memref<2xf32>
    affine.yield %1 : f32
  } else {
    affine.yield %x : f32
  }
  return %0 : f32
}

func.func @two_results(%n: index, %x: index, %y: index) -> (index, index) {
  %0:2 = affine.if affine_set<()[s0] : (s0 == 0)>()[%n] -> (index, index) {
    affine.yield %x, %y : index, index
  } else {
    affine.yield %y, %x : index, index
  }
  return %0#0, %0#1 : index, index
}
