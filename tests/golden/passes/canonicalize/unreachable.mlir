// RUN: gradus opt %s --canonicalize --allow-unregistered-dialect

// Unreachable blocks are erased, even if they use each other's values; successors of unregistered ops stay.
func.func @f(%a: i32) -> i32 {
  "t.br"(%a)[^used] : (i32) -> ()
^never(%u: i32):
  "t.never"(%v) ({
    "t.inner"(%v, %u) : (i32, i32) -> ()
  }) : (i32) -> ()
  "t.br"()[^neither] : () -> ()
^neither:
  %v = "t.def"(%u) : (i32) -> i32
  "t.br"(%v)[^never] : (i32) -> ()
^used(%b: i32):
  return %b : i32
}
