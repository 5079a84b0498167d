// RUN: gradus opt %s

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{source rank higher than destination rank}}
  %a = vector.broadcast %v24 : vector<2x4xf32> to vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{dimension mismatch (4 vs. [4])}}
  %a = vector.broadcast %v4 : vector<4xf32> to vector<[4]xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{transposition length mismatch: 1}}
  %a = vector.transpose %v24, [1] : vector<2x4xf32> to vector<4x2xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{duplicate position index: 1}}
  %a = vector.transpose %v24, [1,1] : vector<2x4xf32> to vector<4x2xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{dimension size mismatch at: 1}}
  %a = vector.transpose %v24, [1,0] : vector<2x4xf32> to vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<1x[1]xf32>) {
  // expected-error@+1 {{dimension is scalable on one side only: 1}}
  %a = vector.transpose %v, [1,0] : vector<1x[1]xf32> to vector<1x1xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{vector result rank mismatch: 3}}
  %a = vector.transpose %v24, [1,0] : vector<2x4xf32> to vector<4x2x1xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{transposition index out of range: -1}}
  %a = vector.transpose %v24, [-1,0] : vector<2x4xf32> to vector<4x2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {source, result} have same rank}}
  %a = vector.bitcast %v4 : vector<4xf32> to vector<2x2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{source/result bitwidth of the minor 1-D vectors must be equal}}
  %a = vector.bitcast %v4 : vector<4xf32> to vector<3xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{dimension size mismatch at: 0}}
  %a = vector.bitcast %v24 : vector<2x4xf32> to vector<3x4xf32>
  return
}

// -----

func.func @f(%z0: vector<f32>) {
  // expected-error@+1 {{source/result bitwidth of the 0-D vector element types must be equal}}
  %a = vector.bitcast %z0 : vector<f32> to vector<f64>
  return
}

// -----

func.func @f(%v4x: vector<4xindex>) {
  // expected-error@+1 {{source/result bitwidth of the minor 1-D vectors must be equal}}
  %a = vector.bitcast %v4x : vector<4xindex> to vector<8xindex>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{has different number of scalable dims at source (0) and result (1)}}
  %a = vector.shape_cast %v4 : vector<4xf32> to vector<[4]xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{has different number of scalable dims at source (0) and result (1)}}
  %a = vector.shape_cast %v4 : vector<4xf32> to vector<2x[2]xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{has different number of elements at source (8) and result (3)}}
  %a = vector.shape_cast %v24 : vector<2x4xf32> to vector<3xf32>
  return
}

// -----

func.func @f(%t: tensor<?xf32>) {
  // expected-error@+1 {{source type is not a vector}}
  %a = "vector.broadcast"(%t) : (tensor<?xf32>) -> vector<4xf32>
  return
}
