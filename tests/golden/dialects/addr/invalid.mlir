// RUN: gradus opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x4xf32>, %base: tensor<2xi32>, %relative: tensor<3xi32>, %b: tensor<1x2xf32>) {
  // expected-error@+1 {{'b' has 2 columns, but the offsets address 3}}
  %0 = addr.gemm %x[%base + %relative], %b : (tensor<4x4xf32>, tensor<2xi32>, tensor<3xi32>, tensor<1x2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %base: tensor<2xi32>, %relative: tensor<2xi32>, %b: tensor<1x2xf64>) {
  // expected-error@+1 {{requires 'a' and 'b' of the same element type}}
  %0 = addr.gemm %x[%base + %relative], %b : (tensor<4x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<1x2xf64>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %bases: tensor<2xi32>, %b: tensor<1x2xf32>) {
  // expected-error@+1 {{requires 'bases' of rank 2, or 3 with groups}}
  %0 = addr.indirect_gemm %x[%bases] run 1, %b : (tensor<4x4xf32>, tensor<2xi32>, tensor<1x2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %base: tensor<2xi64>, %relative: tensor<2xi32>, %b: tensor<1x2xf32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 32-bit signless integer values, but got 'tensor<2xi64>'}}
  %0 = addr.gemm %x[%base + %relative], %b : (tensor<4x4xf32>, tensor<2xi64>, tensor<2xi32>, tensor<1x2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %bases: tensor<2x2xi32>, %b: tensor<1x2xf32>) {
  // expected-error@+1 {{attribute 'run' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = addr.indirect_gemm %x[%bases] run 0, %b : (tensor<4x4xf32>, tensor<2x2xi32>, tensor<1x2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi8>, %base: tensor<2xi32>, %relative: tensor<2xi32>, %b: tensor<1x2xi8>, %z: tensor<2xi8>) {
  // expected-error@+1 {{requires scalar 'a_zero' and scalar or per-column 'b_zero' of the element types of 8-bit factors}}
  %0 = addr.gemm %x[%base + %relative], %b a_zero %z : (tensor<4xi8>, tensor<2xi32>, tensor<2xi32>, tensor<1x2xi8>, tensor<2xi8>) -> tensor<2x1xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi8>, %base: tensor<2xi32>, %relative: tensor<2xi32>, %b: tensor<1x2xi8>, %z: tensor<ui8>) {
  // expected-error@+1 {{requires scalar 'a_zero' and scalar or per-column 'b_zero' of the element types of 8-bit factors}}
  %0 = addr.gemm %x[%base + %relative], %b b_zero %z : (tensor<4xi8>, tensor<2xi32>, tensor<2xi32>, tensor<1x2xi8>, tensor<ui8>) -> tensor<2x1xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi8>, %base: tensor<2xi32>, %relative: tensor<2xi32>, %b: tensor<1x2xi8>, %s: tensor<2xf32>, %z: tensor<i8>) {
  // expected-error@+1 {{requires scalar or per-column 'scale' of type f32 and an 8-bit 'zero', for sums of 8-bit integers}}
  %0 = addr.gemm %x[%base + %relative], %b scale %s zero %z : (tensor<4xi8>, tensor<2xi32>, tensor<2xi32>, tensor<1x2xi8>, tensor<2xf32>, tensor<i8>) -> tensor<2x1xi8>
  return
}

// -----

func.func @f(%x: tensor<4xi8>, %base: tensor<2xi32>, %relative: tensor<2xi32>, %b: tensor<1x2xi8>, %s: tensor<f32>, %z: tensor<i32>) {
  // expected-error@+1 {{requires scalar or per-column 'scale' of type f32 and an 8-bit 'zero', for sums of 8-bit integers}}
  %0 = addr.gemm %x[%base + %relative], %b scale %s zero %z : (tensor<4xi8>, tensor<2xi32>, tensor<2xi32>, tensor<1x2xi8>, tensor<f32>, tensor<i32>) -> tensor<2x1xi8>
  return
}

// -----

func.func @f(%x: tensor<4xi8>, %base: tensor<2xi32>, %relative: tensor<2xi32>, %b: tensor<1x2xi8>, %s: tensor<f32>, %z: tensor<2xi8>) {
  // expected-error@+1 {{requires a scalar 'zero'}}
  %0 = addr.gemm %x[%base + %relative], %b scale %s zero %z : (tensor<4xi8>, tensor<2xi32>, tensor<2xi32>, tensor<1x2xi8>, tensor<f32>, tensor<2xi8>) -> tensor<2x1xi8>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %bases: tensor<2x3xi32>, %w: tensor<2x4xf32>) {
  // expected-error@+1 {{'b' has 2 rows, but 'bases' has 3 window positions}}
  %0 = addr.depthwise %x[%bases], %w : (tensor<2x4xf32>, tensor<2x3xi32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xui8>, %bases: tensor<2x3xi32>, %w: tensor<3x4xf32>) {
  // expected-error@+1 {{requires 'a' and 'b' of the same element type}}
  %0 = addr.depthwise %x[%bases], %w : (tensor<2x4xui8>, tensor<2x3xi32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xui8>, %bases: tensor<2x3xi32>, %w: tensor<3x4xi8>, %z: tensor<i8>) {
  // expected-error@+1 {{requires scalar 'a_zero' and scalar or per-column 'b_zero' of the element types of 8-bit factors}}
  %0 = addr.depthwise %x[%bases], %w a_zero %z : (tensor<2x4xui8>, tensor<2x3xi32>, tensor<3x4xi8>, tensor<i8>) -> tensor<2x4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %base: tensor<2x2xi32>, %relative: tensor<2xi32>, %b: tensor<3x2xf32>) {
  // expected-error@+1 {{requires columns that 2 groups divide, not 3}}
  %0 = addr.gemm %x[%base + %relative], %b : (tensor<4x4xf32>, tensor<2x2xi32>, tensor<2xi32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %base: tensor<2x2xi32>, %relative: tensor<2xi32>, %b: tensor<1x2x16xf32>) {
  // expected-error@+1 {{requires panels for 4 columns, but 'b' has 1 of width 16}}
  %0 = addr.gemm %x[%base + %relative], %b columns 4 : (tensor<4x4xf32>, tensor<2x2xi32>, tensor<2xi32>, tensor<1x2x16xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error@+1 {{requires a geometry with the extents of 'a'}}
  %0 = addr.conv_planes %x, %b {geometry = #addr.geometry<"windows", "NCW", [1, 2, 4], windows = [2, 3, 1, 1, 0]>} : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error@+1 {{requires a geometry of windows in the row-major layout or in bands, and bands that divide the result}}
  %0 = addr.conv_planes %x, %b {geometry = #addr.geometry<"windows", "NWC", [1, 2, 3], windows = [2, 3, 1, 1, 0]>} : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+1 {{requires 'b' with rows of 3 weights for each of some channels that divide 2}}
  %0 = addr.conv_planes %x, %b {geometry = #addr.geometry<"windows", "NCW", [1, 2, 3], windows = [1, 3, 1, 1, 0]>} : (tensor<1x2x3xf32>, tensor<3x2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>, %b: tensor<2x3xf32>, %bias: tensor<1xf32>) {
  // expected-error@+1 {{requires 'bias' of type tensor<2xf32>}}
  %0 = addr.conv_planes %x, %b bias %bias {geometry = #addr.geometry<"windows", "NCW", [1, 2, 3], windows = [1, 3, 1, 1, 0]>} : (tensor<1x2x3xf32>, tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x1x2x1xf32>, %b: tensor<1x1xf32>) {
  // expected-error@+1 {{requires a geometry of windows in the row-major layout or in bands, and bands that divide the result}}
  %0 = addr.conv_planes %x, %b {bands = 3 : i64, geometry = #addr.geometry<"windows", "NHC2hW", [1, 1, 4, 1], windows = [4, 1, 1, 1, 0, 1, 1, 1, 1, 0]>} : (tensor<1x2x1x2x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x1x3x1xf32>, %b: tensor<1x1xf32>) {
  // expected-error@+1 {{requires a geometry of windows in the row-major layout or in bands, and bands that divide the result}}
  %0 = addr.conv_planes %x, %b {geometry = #addr.geometry<"windows", "NHC3hW", [1, 1, 4, 1], windows = [4, 1, 1, 1, 0, 1, 1, 1, 1, 0]>} : (tensor<1x2x1x3x1xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %base: tensor<2xi32>, %relative: tensor<2xi32>, %b: tensor<4x2xf32>) {
  // expected-error@+1 {{requires columns that blocks of 3 divide, not 4}}
  %0 = addr.gemm %x[%base + %relative], %b {block = 3 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<4x2xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %base: tensor<2xi32>, %relative: tensor<2xi32>, %b: tensor<4x2xf32>, %add: tensor<2x4xf32>) {
  // expected-error@+1 {{requires 'add' of type tensor<2x2x2xf32>}}
  %0 = addr.gemm %x[%base + %relative], %b plus %add {block = 2 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<2x2x2xf32>
  return
}
