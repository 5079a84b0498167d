// RUN: gradus opt %s --convert-scf-to-cf

// A reduction region with structured control flow, and a loop body that consists of several blocks once it is lowered.
func.func @clamped(%n: index, %x: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  %0:2 = scf.parallel (%i) = (%c0) to (%end) step (%c1) init (%x, %x) -> (index, index) {
    %even = arith.andi %i, %c1 : index
    %is = arith.cmpi eq, %even, %c0 : index
    %1 = scf.if %is -> index {
      %2 = arith.muli %i, %i : index
      scf.yield %2 : index
    } else {
      scf.yield %i : index
    }
    scf.reduce(%1, %i : index, index) {
    ^bb0(%a: index, %b: index):
      %sum = arith.addi %a, %b : index
      %large = arith.cmpi sgt, %sum, %c9 : index
      %clamped = scf.if %large -> index {
        %less = arith.subi %sum, %c9 : index
        scf.yield %less : index
      } else {
        scf.yield %sum : index
      }
      scf.reduce.return %clamped : index
    }, {
    ^bb0(%a: index, %b: index):
      %product = arith.muli %a, %b : index
      scf.reduce.return %product : index
    }
  }
  return %0#0, %0#1 : index, index
}
