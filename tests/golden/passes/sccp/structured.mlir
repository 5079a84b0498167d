// RUN: gradus opt %s --sccp

// Constants are created once, at the start of the function; ops whose results are all constant are erased.
func.func @branches(%c: i1) -> i32 {
  %0 = scf.if %c -> (i32) {
    %one = arith.constant 1 : i32
    scf.yield %one : i32
  } else {
    %other = arith.constant 1 : i32
    scf.yield %other : i32
  }
  return %0 : i32
}

func.func @same_constants(%c: i1, %a: i32) -> i32 {
  %0 = scf.if %c -> (i32) {
    %one = arith.constant {tag = "first"} 1 : i32
    %1 = arith.addi %a, %one : i32
    scf.yield %1 : i32
  } else {
    %one = arith.constant 1 : i32
    %1 = arith.subi %a, %one : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// Known trip counts: 0, 1, and more.
func.func @affine() -> (i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %none = affine.for %i = 0 to 0 iter_args(%x = %c1) -> (i32) {
    %0 = arith.addi %x, %x : i32
    affine.yield %0 : i32
  }
  %once = affine.for %i = 0 to 2 step 3 iter_args(%x = %c1) -> (i32) {
    %0 = arith.addi %x, %c2 : i32
    affine.yield %0 : i32
  }
  %more = affine.for %i = 0 to 4 iter_args(%x = %c1) -> (i32) {
    %0 = arith.addi %x, %x : i32
    affine.yield %0 : i32
  }
  return %none, %once, %more : i32, i32, i32
}

// The condition is false in the first iteration.
func.func @never(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.muli %n, %c0 : index
  %0 = scf.while (%x = %zero) : (index) -> index {
    %more = arith.cmpi slt, %x, %c0 : index
    scf.condition(%more) %x : index
  } do {
  ^bb0(%x: index):
    %next = arith.addi %x, %c1 : index
    scf.yield %next : index
  }
  return %0 : index
}

// The condition is true in the first iteration and not constant later.
func.func @sometimes() -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.while (%x = %c0) : (index) -> index {
    %more = arith.cmpi slt, %x, %c3 : index
    scf.condition(%more) %x : index
  } do {
  ^bb0(%x: index):
    %next = arith.addi %x, %c1 : index
    scf.yield %next : index
  }
  return %0 : index
}

// Reductions: loops with results that are no region arguments.
func.func @reduced(%n: index) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant 5 : i32
  %0 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%init) -> i32 {
    %five = arith.constant 5 : i32
    scf.reduce(%five : i32) {
    ^bb0(%a: i32, %b: i32):
      %sum = arith.addi %a, %b : i32
      scf.reduce.return %sum : i32
    }
  }
  %1 = affine.parallel (%i) = (0) to (4) reduce ("addi") -> (i32) {
    affine.yield %init : i32
  }
  return %0, %1 : i32, i32
}

// The result of a parallel reduction is not constant, although its initial value and operand are.
func.func @reduction(%which: index, %x: i8) -> i8 {
  %zero = arith.constant 0 : i8
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %chosen = scf.index_switch %which -> i8
  case 1 {
    %sum = scf.parallel (%i) = (%0) to (%1) step (%1) init (%x) -> i8 {
      scf.reduce(%x : i8) {
      ^bb0(%a: i8, %b: i8):
        scf.reduce.return %a : i8
      }
    }
    scf.yield %sum : i8
  }
  default {
    scf.yield %zero : i8
  }
  return %chosen : i8
}

// An extent is the operand that the tensor was created with, which is replaced although it has no user here.
func.func private @seen(index)
func.func @size_of_changing(%x: f32) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %6 = arith.constant 6 : index
  %end:2 = scf.for %i = %0 to %6 step %1 iter_args(%a = %0, %b = %0) -> (index, index) {
    %sum = arith.addi %a, %i : index
    %size = arith.andi %a, %i : index
    %made = tensor.generate %size {
    ^bb0(%row: index, %column: index):
      tensor.yield %x : f32
    } : tensor<2x?xf32>
    %dim = tensor.dim %made, %1 : tensor<2x?xf32>
    func.call @seen(%dim) : (index) -> ()
    scf.yield %b, %sum : index, index
  }
  return
}
