// RUN: gradus opt %s --verify-roundtrip --allow-unregistered-dialect

func.func @f(%a: i32) -> i32 {
  %0 = "t.op"(%a) {map = affine_map<(d0) -> (d0)>} : (i32) -> i32 loc(fused<"meta">["a", "b":1:2])
  return %0 : i32
}
