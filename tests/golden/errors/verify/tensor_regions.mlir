// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%f: f32) {
  // expected-error@+1 {{must have one body argument per input dimension}}
  %0 = "tensor.generate"() ({ ^bb0(%a: index): tensor.yield %f : f32 }) : () -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{all body arguments must be index}}
  %0 = "tensor.generate"() ({ ^bb0(%a: index, %b: i32): tensor.yield %f : f32 }) : () -> tensor<2x2xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expects regions to end with 'tensor.yield', found 'test.foo'}}
  %0 = "tensor.generate"() ({ ^bb0(%a: index, %b: index): "test.foo"() : () -> () }) : () -> tensor<2x2xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
  %0 = "tensor.generate"() ({ }) : () -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{expects parent op to be one of 'tensor.generate}}
  tensor.yield %f : f32
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32) {
  // expected-error@+1 {{expected the block to have 2 arguments}}
  %0 = tensor.pad %t low[0, 0] high[0, 0] { ^bb0(%a: index): tensor.yield %f : f32 } : tensor<?x4xf32> to tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32) {
  // expected-error@+1 {{expected block argument 2 to be an index}}
  %0 = tensor.pad %t low[0, 0] high[0, 0] { ^bb0(%a: index, %b: i32): tensor.yield %f : f32 } : tensor<?x4xf32> to tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %k: i32) {
  // expected-error@+1 {{expected yield type to match shape element type}}
  %0 = tensor.pad %t low[0, 0] high[0, 0] { ^bb0(%a: index, %b: index): tensor.yield %k : i32 } : tensor<?x4xf32> to tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32) {
  // expected-error@+1 {{failed to infer expectedType from sourceType 'tensor<?x4xf32>', specified resultType is 'tensor<?x4xf32>'}}
  %0 = tensor.pad %t low[0] high[0, 0] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<?x4xf32> to tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32) {
  // expected-error@+1 {{specified type 'tensor<?x4xf32>' does not match the inferred type 'tensor<?x5xf32>'}}
  %0 = tensor.pad %t low[0, 0] high[0, 1] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<?x4xf32> to tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32) {
  // expected-error@+1 {{specified type 'tensor<?x?xf32>' does not match the inferred type 'tensor<?x5xf32>'}}
  %0 = tensor.pad %t low[0, 0] high[0, 1] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<?x4xf32> to tensor<?x?xf32>
  return
}
