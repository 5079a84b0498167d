func.func private @g(i32, f32) -> i32
func.func @f(%x: i32) -> i32 {
  %0 = call @g(%x, %x) : (i32, i32) -> i32
  return %0 : i32
}
