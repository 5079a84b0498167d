// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error@+1 {{integer bitwidth is limited to 16777215 bits}}
"t.x"() : () -> i16777216

// -----

// expected-error@+1 {{invalid tensor element type}}
"t.x"() : () -> tensor<4x(i32) -> i32>

// -----

// expected-error@+1 {{vector types must have positive constant sizes}}
"t.x"() : () -> vector<0xf32>

// -----

// expected-error@+1 {{invalid element type for complex}}
"t.x"() : () -> complex<index>

// -----

// expected-error@+1 {{undefined symbol alias id 'nothing'}}
"t.x"() : () -> !nothing

// -----

// expected-error@+1 {{memref layout mismatch between rank and affine map: 1 != 2}}
"t.x"() : () -> memref<4xf32, affine_map<(d0, d1) -> (d0)>>

// -----

// expected-error@+1 {{invalid dimension}}
"t.x"() : () -> tensor<99999999999999999999xf32>
