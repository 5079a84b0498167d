// RUN: gradus opt %s --reader=grammar | FileCheck %s
// RUN: not gradus opt %s --reader=slow 2>&1 | FileCheck %s --check-prefix=NAMES

// NAMES: invalid value 'slow' for '--reader <NAME>'
// NAMES: [possible values: fast, grammar]

// Custom and generic forms, aliases and resources are read by the rules of the grammar.
#map = affine_map<(d0)[s0] -> (d0 + s0)>
// CHECK: #[[MAP:.*]] = affine_map<(d0)[s0] -> (d0 + s0)>

// CHECK: func.func @f(%arg0: index, %arg1: memref<?xf32>) -> index {
func.func @f(%n: index,  // a comment
    %m: memref<?xf32>)
    -> index {
  // CHECK: %0 = affine.apply #[[MAP]](%arg0)[%arg0]
  %0 = affine.apply #map(%n)[%n]
  // CHECK: return %0 : index
  "func.return"(%0) : (index) -> ()
}

// CHECK: k: "0x04000000AABB"
module attributes {a.b = dense_resource<k> : tensor<2xi8>} {}
{-# dialect_resources: { builtin: { k: "0x04000000AABB" } } #-}
