func.func @f(%count: i32) -> i32 {
  %y = arith.adid %count, %count : i32
  %z = arith.addi %count, %cuont : i32
  return %z : i32
}
