// RUN: gradus opt %s --apply-rules=max-num-rewrites=50 --verify-diagnostics

// The rule matches its own result, with swapped operands.
// expected-warning@+1 {{rules still apply after 50 rewrites; they may undo each other}}
module {
  rewrite.rule @reassociate {
    %a = value
    %b = value
    %c = value
    %first = op "arith.addi"(%a, %b)
    %sum = op "arith.addi"(%first, %c)
    match %sum
    %last = op "arith.addi"(%b, %c)
    %new = op "arith.addi"(%a, %last)
    replace %new
  }

  func.func @f(%a: i32, %b: i32, %c: i32, %d: i32) -> i32 {
    %0 = arith.addi %a, %b : i32
    %1 = arith.addi %0, %c : i32
    %2 = arith.addi %1, %d : i32
    return %2 : i32
  }
}
