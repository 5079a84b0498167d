// RUN: gradus opt %s

func.func @f(%a: i32 {x.name = "a"}, %b: f32, %c: i8 {x.u}) -> (i32 {x.name = "r"}, f32) {
  return %a, %b : i32, f32
}
func.func private @g(i32 {x.name = "a"}) -> (i32 {x.name = "r"})
