// RUN: gradus opt %s --mem2reg

// A slot of a loop's body is a new one in each iteration: no argument of the loop's header, where its poison is not defined.
func.func @f(%i: index, %c: i1) {
  cf.br ^bb1
^bb1:
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  %alloca = memref.alloca() : memref<1xi8>
  %0 = memref.load %alloca[%i] : memref<1xi8>
  memref.store %0, %alloca[%i] : memref<1xi8>
  cf.br ^bb1
^bb3:
  return
}
// -----
// A slot before the loop is one: its value is carried.
func.func @before(%i: index, %c: i1, %x: i8) -> i8 {
  %alloca = memref.alloca() : memref<1xi8>
  cf.br ^bb1
^bb1:
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  %0 = memref.load %alloca[%i] : memref<1xi8>
  %1 = arith.addi %0, %x : i8
  memref.store %1, %alloca[%i] : memref<1xi8>
  cf.br ^bb1
^bb3:
  %2 = memref.load %alloca[%i] : memref<1xi8>
  return %2 : i8
}
// -----
// Within an iteration the slot is stored on one path only.
func.func @path(%i: index, %c: i1, %x: i8) -> i8 {
  cf.br ^bb1
^bb1:
  %alloca = memref.alloca() : memref<1xi8>
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  memref.store %x, %alloca[%i] : memref<1xi8>
  cf.br ^bb3
^bb3:
  %0 = memref.load %alloca[%i] : memref<1xi8>
  cf.cond_br %c, ^bb1, ^bb4
^bb4:
  return %0 : i8
}
