// RUN: gradus opt %s --mlir-print-op-generic

func.func private @declared(i32) -> i32 attributes {x.y}
func.func @f(%a: i32 {x.name = "a"}) -> (i32 {x.name = "r"}) {
  %f = constant @declared : (i32) -> i32
  %0 = call @declared(%a) : (i32) -> i32
  %1 = call_indirect %f(%0) : (i32) -> i32
  return %1 : i32
}
