// RUN: gradus check %s --cse | FileCheck %s

// A reduction that starts with poison is poison.
// CHECK: @reduced: no difference
func.func @reduced(%a: vector<2xf16>) -> (f16, f16) {
  %p = ub.poison : f16
  %0 = vector.reduction <add>, %a, %p : vector<2xf16> into f16
  %1 = vector.reduction <add>, %a : vector<2xf16> into f16
  %2 = vector.reduction <add>, %a : vector<2xf16> into f16
  %3 = arith.addf %1, %2 : f16
  return %0, %3 : f16, f16
}
