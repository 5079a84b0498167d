func.func @choose(%x: index) -> i32 {
  %r = scf.index_switch %x -> i32
  case 4294967296 {
    %one = arith.constant 1 : i32
    scf.yield %one : i32
  }
  default {
    %two = arith.constant 2 : i32
    scf.yield %two : i32
  }
  return %r : i32
}
