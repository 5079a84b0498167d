// RUN: gradus opt %s

func.func @f() {
  // expected-error@+1 {{expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim}}
  %a = vector.constant_mask [0, 1] : vector<4x4xi1>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{must specify array attr of size equal vector result rank}}
  %a = vector.constant_mask [1] : vector<4x4xi1>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{array attr of size out of bounds of vector result dimension size}}
  %a = vector.constant_mask [5] : vector<4xi1>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{array attr of size out of bounds of vector result dimension size}}
  %a = vector.constant_mask [-1] : vector<4xi1>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{mask dim size must be either 0 or 1 for 0-D vectors}}
  %a = vector.constant_mask [2] : vector<i1>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{array attr must have length 1 for 0-D vectors}}
  %a = vector.constant_mask [] : vector<i1>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{only supports 'none set' or 'all set' scalable dimensions}}
  %a = vector.constant_mask [2] : vector<[4]xi1>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{must specify exactly one operand for 0-D create_mask}}
  %a = vector.create_mask : vector<i1>
  return
}

// -----

func.func @f(%i: index) {
  // expected-error@+1 {{must specify exactly one operand for 0-D create_mask}}
  %a = vector.create_mask %i, %i : vector<i1>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expects number of results to match mask region yielded values}}
  vector.mask %k { vector.yield %v4, %v4 : vector<4xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expects only one operation to mask}}
  %a = vector.mask %k { %1 = vector.reduction <add>, %v4 : vector<4xf32> into f32  %2 = vector.reduction <add>, %v4 : vector<4xf32> into f32 vector.yield %2 : f32 } : vector<4xi1> -> f32
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expects a MaskableOpInterface within the mask region}}
  %a = vector.mask %k { %1 = arith.addf %v4, %v4 : vector<4xf32> vector.yield %1 : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{doesn't expect a passthru argument for this maskable operation}}
  %a = vector.mask %k, %s { vector.reduction <add>, %v4 : vector<4xf32> into f32 } : vector<4xi1> -> f32
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expects result type to match maskable operation result type}}
  %a = vector.mask %k { vector.reduction <add>, %v4 : vector<4xf32> into f32 } : vector<4xi1> -> vector<4xf32>
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expects all the results from the MaskableOpInterface to match all the values returned by the terminator}}
  %a = vector.mask %k { %1 = vector.reduction <add>, %v4 : vector<4xf32> into f32 vector.yield %s : f32 } : vector<4xi1> -> f32
  return
}

// -----

func.func @f(%k: vector<4xi1>) {
  // expected-error@+1 {{expects number of results to match mask region yielded values}}
  %a = vector.mask %k { } : vector<4xi1> -> f32
  return
}

// -----

func.func @f(%k: vector<4xi1>) {
  // expected-error@+1 {{expects number of results to match mask region yielded values}}
  %a = vector.mask %k { vector.yield } : vector<4xi1> -> f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{operand #0 must be vector of 1-bit signless integer values, but got 'vector<4xf32>'}}
  %a = vector.mask %v4 { vector.yield %s : f32 } : vector<4xf32> -> f32
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expects a result if passthru operand is provided}}
  vector.mask %k, %v4 { vector.yield } : vector<4xi1>
  return
}

// -----

func.func @f(%k: vector<4xi1>) {
  // expected-error@+1 {{expects a MaskableOpInterface within the mask region}}
  vector.mask %k { scf.execute_region { scf.yield } } : vector<4xi1>
  return
}

// -----

func.func @f(%k: vector<4xi1>) {
  // expected-error@+1 {{region should have no arguments}}
  "vector.mask"(%k) ({ ^bb0(%q: i32): "vector.yield"() : () -> () }) : (vector<4xi1>) -> ()
  return
}

// -----

func.func @f(%k: vector<4xi1>) {
  // expected-error@+1 {{region #0 ('maskRegion') failed to verify constraint: region with 1 blocks}}
  "vector.mask"(%k) ({ }) : (vector<4xi1>) -> ()
  return
}

// -----

func.func @f(%i: index) {
  // expected-error@+1 {{must specify an operand for each result vector dimension}}
  %a = vector.create_mask %i, %i : vector<[4]xi1>
  return
}

// -----

func.func @f(%i: index) {
  // expected-error@+1 {{must specify an operand for each result vector dimension}}
  %a = vector.create_mask %i : vector<2x4xi1>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{array attr of size out of bounds of vector result dimension size}}
  %a = vector.constant_mask [3, 4] : vector<2x4xi1>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %k2: vector<2x4xi1>) {
  // expected-error@+1 {{expects a 'vector<4xi1>' mask for the maskable operation}}
  %a = vector.mask %k2 { vector.reduction <add>, %v4 : vector<4xf32> into f32 } : vector<2x4xi1> -> f32
  return
}
