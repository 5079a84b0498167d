// RUN: gradus opt %s

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected source rank to be no greater than destination rank}}
  %a = vector.insert_strided_slice %v24, %v4 {offsets=[0], strides = [1,1]} : vector<2x4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected offsets dimension 1 to be confined to [0, 4)}}
  %a = vector.insert_strided_slice %v4, %v24 {offsets=[0,9], strides = [1]} : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected offsets dimension 1 to be confined to [0, 4)}}
  %a = vector.insert_strided_slice %v4, %v24 {offsets=[0,-1], strides = [1]} : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected offsets, sizes and strides attributes of same size}}
  %a = vector.extract_strided_slice %v4 {offsets=[0,0], sizes=[2], strides=[1]} : vector<4xf32> to vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected offsets attribute of rank no greater than vector rank}}
  %a = vector.extract_strided_slice %v4 {offsets=[0,0], sizes=[2,1], strides=[1,1]} : vector<4xf32> to vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected offsets dimension 0 to be confined to [0, 4)}}
  %a = vector.extract_strided_slice %v4 {offsets=[5], sizes=[2], strides=[1]} : vector<4xf32> to vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected sizes dimension 0 to be confined to [1, 5)}}
  %a = vector.extract_strided_slice %v4 {offsets=[0], sizes=[0], strides=[1]} : vector<4xf32> to vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected strides to be confined to [1, 2)}}
  %a = vector.extract_strided_slice %v4 {offsets=[0], sizes=[2], strides=[2]} : vector<4xf32> to vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected sum(offsets, sizes) dimension 0 to be confined to [1, 5)}}
  %a = vector.extract_strided_slice %v4 {offsets=[3], sizes=[2], strides=[1]} : vector<4xf32> to vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected result type to be 'vector<2xf32>'}}
  %a = vector.extract_strided_slice %v4 {offsets=[0], sizes=[2], strides=[1]} : vector<4xf32> to vector<3xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected result type to be 'vector<2x4xf32>'}}
  %a = vector.extract_strided_slice %v24 {offsets=[0], sizes=[2], strides=[1]} : vector<2x4xf32> to vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{attribute 'strides' failed to satisfy constraint: 64-bit integer array attribute}}
  %a = vector.extract_strided_slice %v4 {offsets=[0], sizes=[2], strides=[1.0]} : vector<4xf32> to vector<2xf32>
  return
}

// -----

func.func @f(%sc: vector<[4]xf32>) {
  // expected-error@+1 {{expected result type to be 'vector<[4]xf32>'}}
  %a = vector.extract_strided_slice %sc {offsets=[0], sizes=[4], strides=[1]} : vector<[4]xf32> to vector<4xf32>
  return
}

// -----

func.func @f(%sc: vector<[4]xf32>) {
  // expected-error@+1 {{expected size at idx=0 to match the corresponding base size from the input vector (2 vs 4)}}
  %a = vector.extract_strided_slice %sc {offsets=[0], sizes=[2], strides=[1]} : vector<[4]xf32> to vector<[2]xf32>
  return
}

// -----

func.func @f(%sc: vector<[4]xf32>) {
  // expected-error@+1 {{expected sum(offsets, sizes) dimension 0 to be confined to [1, 5)}}
  %a = vector.extract_strided_slice %sc {offsets=[1], sizes=[4], strides=[1]} : vector<[4]xf32> to vector<[4]xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected offsets of same size as destination vector rank}}
  %a = vector.insert_strided_slice %v4, %v24 {offsets = [0], strides = [1]} : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected strides of same size as source vector rank}}
  %a = vector.insert_strided_slice %v4, %v24 {offsets = [0, 0], strides = [1, 1]} : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected strides to be confined to [1, 2)}}
  %a = vector.insert_strided_slice %v4, %v24 {offsets = [0, 0], strides = [2]} : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v2: vector<2xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected sum(offsets, source vector shape) dimension 1 to be confined to [1, 5)}}
  %a = vector.insert_strided_slice %v2, %v24 {offsets = [0, 3], strides = [1]} : vector<2xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %s24: vector<2x[4]xf32>) {
  // expected-error@+1 {{mismatching scalable flags (at source vector idx=0)}}
  %a = vector.insert_strided_slice %v4, %s24 {offsets = [0, 0], strides = [1]} : vector<4xf32> into vector<2x[4]xf32>
  return
}

// -----

func.func @f(%s24: vector<2x[4]xf32>, %s2: vector<[2]xf32>) {
  // expected-error@+1 {{expected size at idx=0 to match the corresponding base size from the input vector (2 vs 4)}}
  %a = vector.insert_strided_slice %s2, %s24 {offsets = [0, 0], strides = [1]} : vector<[2]xf32> into vector<2x[4]xf32>
  return
}

// -----

func.func @f(%s24: vector<2x[4]xf32>) {
  // expected-error@+1 {{expected size at idx=1 to match the corresponding base size from the input vector (2 vs 4)}}
  %a = vector.extract_strided_slice %s24 {offsets = [0, 0], sizes = [1, 2], strides = [1, 1]} : vector<2x[4]xf32> to vector<1x[2]xf32>
  return
}
