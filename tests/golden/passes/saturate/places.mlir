// RUN: gradus opt %s --saturate

rewrite.rule @common_factor {
  %x = value
  %y = value
  %z = value
  %a = op "arith.muli"(%x, %y)
  %b = op "arith.muli"(%x, %z)
  %sum = op "arith.addi"(%a, %b)
  match %sum
  %inner = op "arith.addi"(%y, %z)
  %product = op "arith.muli"(%x, %inner)
  replace %product
}

// An op before a loop is not moved into it.
func.func @before_loop(%a: index, %b: index, %c: index, %n: index, %m: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.muli %a, %b : index
  %1 = arith.muli %a, %c : index
  %2 = arith.addi %0, %1 : index
  scf.for %i = %c0 to %n step %c1 {
    %3 = arith.addi %2, %i : index
    memref.store %3, %m[%i] : memref<?xindex>
  }
  return
}

// Equal ops in two branches, neither of which dominates the other.
func.func @branches(%a: index, %b: index, %p: i1) -> index {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %0 = func.call @outside() : () -> index
  %1 = arith.muli %a, %0 : index
  %2 = arith.muli %a, %b : index
  %3 = arith.addi %1, %2 : index
  return %3 : index
^bb2:
  %4 = func.call @outside() : () -> index
  %5 = arith.muli %a, %4 : index
  %6 = arith.muli %a, %b : index
  %7 = arith.addi %5, %6 : index
  return %7 : index
}
func.func private @outside() -> index

// An equal value need not be available yet: the first difference cannot use a value that is loaded later.
func.func @later(%a: i32, %m: memref<i32>) -> (i32, i32) {
  %0 = arith.subi %a, %a : i32
  call @looks(%0) : (i32) -> ()
  %1 = memref.load %m[] : memref<i32>
  %2 = arith.subi %1, %1 : i32
  %3 = arith.muli %1, %a : i32
  %4 = arith.muli %1, %2 : i32
  %5 = arith.addi %3, %4 : i32
  return %2, %5 : i32, i32
}
func.func private @looks(i32)

// A masked op differs from an unmasked one, and no other op is created in its region.
func.func @masked(%a: vector<4xi8>, %m: vector<4xi1>, %s: i8) -> (i8, i8) {
  %0 = vector.reduction <add>, %a, %s : vector<4xi8> into i8
  %1 = arith.subi %s, %s : i8
  %2 = arith.addi %1, %s : i8
  %3 = vector.mask %m { vector.reduction <add>, %a, %2 : vector<4xi8> into i8 } : vector<4xi1> -> i8
  return %0, %3 : i8, i8
}
