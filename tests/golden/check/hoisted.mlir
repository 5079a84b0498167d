// RUN: gradus check %s --loop-invariant-code-motion | FileCheck %s

// Ops that are hoisted out of loops without iterations have a meaning for all operands.
// CHECK: @range: no difference
func.func @range(%n: i8, %step: tensor<f16>) {
  scf.for %i = %n to %n step %n : i8 {
    %0 = graph.range %step, %step, %step : (tensor<f16>, tensor<f16>, tensor<f16>) -> tensor<?xf16>
  }
  return
}
// CHECK: @rounding: no difference
func.func @rounding(%n: i8, %x: f32) {
  scf.for %i = %n to %n step %n : i8 {
    %0 = arith.truncf %x to_nearest_away : f32 to f16
  }
  return
}
// CHECK: @kind: no difference
func.func @kind(%n: i8, %x: vector<2x3xi8>, %acc: vector<2xi8>) {
  scf.for %i = %n to %n step %n : i8 {
    %0 = vector.multi_reduction <maximumf>, %x, %acc [1] : vector<2x3xi8> to vector<2xi8>
  }
  return
}
