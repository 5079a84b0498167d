// RUN: gradus opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'x64.vaddps' operand of type !x64.zmm<0> is not in its register here}}
x64.func @overwritten {
^bb0(%a: !x64.zmm<0>, %b: !x64.zmm<1>):
  %0 = x64.vaddps %a, %b : (!x64.zmm<0>, !x64.zmm<1>) -> !x64.zmm<0>
  %1 = x64.vaddps %a, %b : (!x64.zmm<0>, !x64.zmm<1>) -> !x64.zmm<2>
  x64.ret
}

// -----

x64.func @tied {
^bb0(%a: !x64.zmm<0>, %b: !x64.zmm<1>):
  // expected-error@+1 {{requires the registers of its form, with the first source as result where it is overwritten}}
  %0 = x64.vfmadd231ps %a, %b, %b : (!x64.zmm<0>, !x64.zmm<1>, !x64.zmm<1>) -> !x64.zmm<2>
  x64.ret
}

// -----

x64.func @widths {
^bb0(%a: !x64.zmm<0>, %b: !x64.ymm<1>):
  // expected-error@+1 {{requires the registers of its form}}
  %0 = x64.vaddps %a, %b : (!x64.zmm<0>, !x64.ymm<1>) -> !x64.zmm<0>
  x64.ret
}

// -----

// expected-error@+1 {{byte 1 is not the start of an instruction of this dialect}}
x64.code @unknown = dense<[195, 6]> : tensor<2xui8>

// -----

func.func @main(%pool: tensor<2xf32>, %b: tensor<2x8xf32>) -> tensor<1x8xf32> {
  // expected-error@+1 {{requires the symbol of an 'x64.func' or 'x64.code'}}
  %c = x64.call @main(%pool, %b) panel 32 tile 32 : (tensor<2xf32>, tensor<2x8xf32>) -> tensor<1x8xf32>
  return %c : tensor<1x8xf32>
}

// -----

x64.code @empty = dense<[195]> : tensor<1xui8>

func.func @narrow(%pool: tensor<2xf32>, %b: tensor<2x7xf32>) -> tensor<1x7xf32> {
  // expected-error@+1 {{has strips of 28 bytes, but code without a mask needs 32}}
  %c = x64.call @empty(%pool, %b) panel 32 tile 32 : (tensor<2xf32>, tensor<2x7xf32>) -> tensor<1x7xf32>
  return %c : tensor<1x7xf32>
}

// -----

x64.code @empty = dense<195> : tensor<1xui8>

func.func @strips(%pool: tensor<2xf32>, %b: tensor<2x16xf32>) -> tensor<1x16xf32> {
  // expected-error@+1 {{requires strips that divide 1 bands of 16 columns}}
  %c = x64.call @empty(%pool, %b) strips 3 pitch 20 panel 16 tile 16 : (tensor<2xf32>, tensor<2x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}

// -----

x64.code @empty = dense<195> : tensor<1xui8>

func.func @pitch(%pool: tensor<2xf32>, %b: tensor<2x16xf32>) -> tensor<1x16xf32> {
  // expected-error@+1 {{requires at most 1048576 strips that begin in its operand}}
  %c = x64.call @empty(%pool, %b) strips 2 pitch 132 panel 16 tile 16 : (tensor<2xf32>, tensor<2x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}

// -----

x64.code @empty = dense<195> : tensor<1xui8>

func.func @alone(%pool: tensor<2xf32>, %b: tensor<2x16xf32>) -> tensor<1x16xf32> {
  // expected-error@+1 {{requires both 'strips' and 'pitch', or neither}}
  %c = "x64.call"(%pool, %b) {callee = @empty, operandSegmentSizes = array<i32: 1, 1, 0>, panel = 16 : i64, strips = 2 : i64, tile = 16 : i64} : (tensor<2xf32>, tensor<2x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}

// -----

x64.code @empty = dense<195> : tensor<1xui8>

func.func @bands(%pool: tensor<2xf32>, %b: tensor<2x16xf32>) -> tensor<2x1x8xf32> {
  // expected-error@+1 {{requires strips that divide 2 bands of 8 columns}}
  %c = x64.call @empty(%pool, %b) strips 3 pitch 20 panel 16 tile 16 : (tensor<2xf32>, tensor<2x16xf32>) -> tensor<2x1x8xf32>
  return %c : tensor<2x1x8xf32>
}

// -----

x64.code @empty = dense<195> : tensor<1xui8>

func.func @nothing(%pool: tensor<2xf32>, %b: tensor<2x16xf32>) -> tensor<1x0xf32> {
  // expected-error@+1 {{requires at most 1048576 strips that begin in its operand}}
  %c = x64.call @empty(%pool, %b) strips 9223372036854775807 pitch 0 panel 16 tile 16 masked : (tensor<2xf32>, tensor<2x16xf32>) -> tensor<1x0xf32>
  return %c : tensor<1x0xf32>
}
