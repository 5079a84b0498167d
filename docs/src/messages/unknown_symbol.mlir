func.func private @compute(i32) -> i32
func.func @f(%x: i32) -> i32 {
  %0 = call @comptue(%x) : (i32) -> i32
  return %0 : i32
}
