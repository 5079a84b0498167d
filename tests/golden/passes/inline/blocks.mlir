// RUN: gradus opt %s --inline

// Functions are canonicalized in between, which merges blocks.
func.func @straight(%a: i32) -> i32 {
  cf.br ^one(%a : i32)
^one(%b: i32):
  %0 = func.call @callee(%b) : (i32) -> i32
  cf.br ^two(%0 : i32)
^two(%c: i32):
  return %c : i32
}

func.func private @callee(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  cf.br ^end
^end:
  %0 = arith.addi %a, %c1 : i32
  return %0 : i32
}

// A block argument that is only passed to itself is erased.
func.func @round(%a: f32) {
  cf.br ^loop(%a : f32)
^loop(%x: f32):
  %0 = arith.addf %x, %x : f32
  cf.br ^loop(%0 : f32)
}
