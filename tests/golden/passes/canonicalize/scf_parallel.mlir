// RUN: gradus opt %s --canonicalize

func.func @dimensions_that_run_once(%n: index, %x: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  %0 = scf.parallel (%i, %j, %k) = (%c0, %c1, %c2) to (%c1, %end, %c2) step (%c1, %c1, %c2) init (%x) -> index {
    scf.reduce(%j : index) {
    ^bb0(%a: index, %b: index):
      %sum = arith.addi %a, %b : index
      scf.reduce.return %sum : index
    }
  }
  %1 = scf.parallel (%i, %j, %k) = (%c0, %c1, %c1) to (%c1, %end, %c2) step (%c1, %c1, %c2) init (%0) -> index {
    %2 = arith.muli %j, %k : index
    %3 = arith.addi %2, %i : index
    scf.reduce(%3 : index) {
    ^bb0(%a: index, %b: index):
      %sum = arith.muli %a, %b : index
      scf.reduce.return %sum : index
    }
  }
  return %1 : index
}

func.func @once(%n: index, %x: index, %c: i1) -> (index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0:2 = scf.parallel (%i) = (%c1) to (%c2) step (%c2) init (%n, %x) -> (index, index) {
    cf.assert %c, "once"
    %1 = arith.addi %i, %n : index
    scf.reduce(%1, %i : index, index) {
    ^bb0(%a: index, %b: index):
      %sum = arith.muli %a, %b : index
      scf.reduce.return %sum : index
    }, {
    ^bb0(%a: index, %b: index):
      %difference = arith.subi %a, %b : index
      scf.reduce.return %difference : index
    }
  }
  return %0#0, %0#1 : index, index
}

func.func @merge(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {
    scf.parallel (%j, %k) = (%c0, %c1) to (%end, %end) step (%c1, %c1) {
      %0 = arith.cmpi ne, %i, %j : index
      %1 = arith.ori %0, %c : i1
      cf.assert %1, "where they meet"
    }
  }
  return
}

func.func @bounds_change(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {
    scf.parallel (%j) = (%c0) to (%i) step (%c1) {
      cf.assert %c, "below the diagonal"
    }
  }
  return
}

func.func @no_effect(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %0 = arith.addi %i, %n : index
  }
  return
}

// A step that is found to be 0: the loop is UB, and could not keep a constant step of 0.
func.func @no_step(%n: index, %init: index) -> index {
  %c0 = arith.constant 0 : index
  %step = arith.muli %n, %c0 : index
  %r = scf.parallel (%i) = (%c0) to (%n) step (%step) init (%init) -> index {
    scf.reduce(%i : index) {
    ^bb0(%a: index, %b: index):
      %s = arith.addi %a, %b : index
      scf.reduce.return %s : index
    }
  }
  return %r : index
}

// COM: A loop that never runs may have an invalid step, the merged loop may not.
func.func @nested_with_unknown_steps(%n: index, %step: index, %out: memref<?x?xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%n) step (%step) {
      memref.store %x, %out[%i, %j] : memref<?x?xi32>
      scf.reduce
    }
    scf.reduce
  }
  return
}

func.func @nested_with_steps_of_the_outer_loop(%n: index, %step: index, %out: memref<?x?xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  scf.parallel (%i) = (%c0) to (%n) step (%step) {
    scf.parallel (%j, %k) = (%c0, %n) to (%n, %c0) step (%c3, %step) {
      memref.store %x, %out[%j, %k] : memref<?x?xi32>
      scf.reduce
    }
    scf.reduce
  }
  return
}
