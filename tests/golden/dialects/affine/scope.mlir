// RUN: gradus opt %s --allow-unregistered-dialect

// A value at the top level of an affine scope is a symbol in it; an unregistered op opens a scope.
func.func @nested_scope(%m: memref<8xindex>) {
  affine.for %i = 0 to 4 {
    "test.affine_scope"() ({
      %n = affine.load %m[%i] : memref<8xindex>
      affine.for %j = 0 to %n {
        affine.store %j, %m[symbol(%n)] : memref<8xindex>
      }
      "test.terminator"() : () -> ()
    }) : () -> ()
  }
  return
}

// `memref.dim` results are symbols, and so are results of pure ops on symbols.
func.func @symbols(%m: memref<?x8xindex>, %a: index, %b: index) -> index {
  %c0 = arith.constant 0 : index
  %0 = affine.for %i = 0 to 3 iter_args(%acc = %c0) -> (index) {
    %n = memref.dim %m, %c0 : memref<?x8xindex>
    %sum = arith.addi %a, %b : index
    %1 = affine.for %j = 0 to min affine_map<()[s0, s1] -> (s0, s1)>()[%n, %sum] iter_args(%inner = %acc) -> (index) {
      %2 = affine.load %m[%j, %i] : memref<?x8xindex>
      %3 = arith.addi %2, %inner : index
      affine.yield %3 : index
    }
    affine.yield %1 : index
  }
  return %0 : index
}
