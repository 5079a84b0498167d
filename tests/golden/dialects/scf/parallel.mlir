// RUN: gradus opt %s

func.func @two_reductions(%n: index, %x: index, %y: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  %0:2 = scf.parallel (%i, %j) = (%c0, %c1) to (%end, %end) step (%c1, %c3) init (%x, %y) -> (index, index) {
    %product = arith.muli %i, %j : index
    scf.reduce(%product, %i : index, index) {
    ^bb0(%a: index, %b: index):
      %sum = arith.addi %a, %b : index
      scf.reduce.return %sum : index
    }, {
    ^bb0(%a: index, %b: index):
      %max = arith.maxsi %a, %b : index
      scf.reduce.return %max : index
    } {note}
  } {note = "kept"}
  return %0#0, %0#1 : index, index
}

func.func @one_reduction(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.parallel (%i) = (%c0) to (%c3) step (%c1) init (%x) -> f32 {
    %cst = arith.constant 2.0 : f32
    scf.reduce(%cst : f32) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      scf.reduce.return %sum : f32
    }
  }
  return %0 : f32
}

// The terminator may be omitted in the text; it is always printed.
func.func @no_reduction(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  scf.parallel (%i) = (%c0) to (%c9) step (%c2) {
    cf.assert %c, "in every iteration"
  }
  scf.parallel (%i) = (%n) to (%n) step (%c2) {
    cf.assert %c, "in no iteration"
    scf.reduce
  }
  return
}
