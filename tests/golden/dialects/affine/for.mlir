// RUN: gradus opt %s

func.func @bounds(%n: index, %m: memref<64xindex>) {
  affine.for %i = 0 to 10 {
    affine.store %i, %m[%i] : memref<64xindex>
  }
  affine.for %i = -4 to 20 step 6 {
    affine.store %i, %m[%i + 4] : memref<64xindex>
  }
  affine.for %i = %n to 10 {
    affine.store %i, %m[%i mod 64] : memref<64xindex>
  }
  affine.for %i = max affine_map<()[s0] -> (s0, 0)>()[%n] to min affine_map<()[s0] -> (s0 * 2, 64)>()[%n] step 3 {
    affine.store %i, %m[%i] : memref<64xindex>
  } {note = "kept"}
  affine.for %i = 0 to 8 {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0)[s0] -> (d0 + 2)>(%i)[%n] {
      affine.store %j, %m[%i * 2 + %j] : memref<64xindex>
    }
  }
  return
}

// `min` and `max` are dropped for maps with one result; bounds that are a single operand are printed as that operand.
func.func @prefix(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %0 = affine.for %i = max affine_map<() -> (0)>() to min affine_map<() -> (7)>() iter_args(%a = %n) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  %2 = affine.for %i = affine_map<()[s0] -> (s0)>()[%c0] to affine_map<(d0) -> (d0)>(%c0) iter_args(%a = %0) -> (index) {
    affine.yield %a : index
  }
  return %2 : index
}

func.func @carried(%x: index, %y: f32) -> (index, f32) {
  %0:2 = affine.for %i = 0 to 5 iter_args(%a = %x, %b = %y) -> (index, f32) {
    %1 = arith.addi %a, %i : index
    %2 = arith.addf %b, %b : f32
    affine.yield %1, %2 : index, f32
  }
  return %0#0, %0#1 : index, f32
}

// The step is limited to the range of the attribute's type.
func.func @long_step(%x: index) -> index {
  %0 = affine.for %i = 0 to 5 step 9223372036854775807 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}
