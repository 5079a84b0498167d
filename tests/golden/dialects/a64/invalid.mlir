// RUN: gradus opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'a64.mul' has an operand of type !a64.w<1> that is not in its register here}}
a64.func @overwritten {
^bb0(%b: !a64.x<0>):
  %0 = a64.ldr [%b] : (!a64.x<0>) -> !a64.w<1>
  %1 = a64.movz imm 3 : () -> !a64.w<1>
  %2 = a64.mul %0, %1 : (!a64.w<1>, !a64.w<1>) -> !a64.w<3>
  a64.ret
}

// -----

// expected-error@+1 {{'a64.mul' has an operand of type !a64.w<1> that is not in its register here}}
a64.func @too_early {
^bb0(%b: !a64.x<0>):
  %0 = a64.ldr [%b] : (!a64.x<0>) -> !a64.w<1>
  %1 = a64.mul %0, %0 bundled : (!a64.w<1>, !a64.w<1>) -> !a64.w<3>
  a64.ret
}

// -----

// expected-error@+1 {{'a64.ldr' needs a unit that another instruction of its bundle uses}}
a64.func @two_loads {
^bb0(%b: !a64.x<0>):
  %0 = a64.ldr [%b] : (!a64.x<0>) -> !a64.w<1>
  %1 = a64.ldr [%b] offset 4 bundled : (!a64.x<0>) -> !a64.w<2>
  a64.ret
}

// -----

a64.func @tied {
^bb0(%b: !a64.x<0>, %v: !a64.v4s<1>):
  // expected-error@+1 {{requires the registers of its form, with the first source as result where it is overwritten}}
  %0 = a64.mla %v, %v, %v : (!a64.v4s<1>, !a64.v4s<1>, !a64.v4s<1>) -> !a64.v4s<2>
  a64.ret
}

// -----

a64.func @unaligned {
^bb0(%b: !a64.x<0>):
  // expected-error@+1 {{has an offset, immediate, shift or lane that its form does not have}}
  %0 = a64.ldr [%b] offset 6 : (!a64.x<0>) -> !a64.w<1>
  a64.ret
}

// -----

a64.func @large {
^bb0(%b: !a64.x<0>, %w: !a64.w<3>):
  // expected-error@+1 {{has an offset, immediate, shift or lane that its form does not have}}
  %0 = a64_ext.ldr_sc_acc %w [%b] imm 128 : (!a64.w<3>, !a64.x<0>) -> !a64.w<3>
  a64.ret
}

// -----

// expected-error@+1 {{byte 4 is not the start of an instruction of this dialect}}
a64.code @bytes = dense<[192, 3, 95, 214, 0, 0, 0, 0]> : tensor<8xui8>

// -----

a64.code @empty = dense<[192, 3, 95, 214]> : tensor<4xui8>
func.func @f(%b: tensor<4x3xi32>) -> tensor<1x3xi32> {
  // expected-error@+1 {{requires a panel of 1 to 3 columns}}
  %c = a64.call @empty(%b) panel 4 : (tensor<4x3xi32>) -> tensor<1x3xi32>
  return %c : tensor<1x3xi32>
}

// -----

func.func @f(%b: tensor<4x3xi32>) -> tensor<1x3xi32> {
  // expected-error@+1 {{requires the symbol of an 'a64.func' or 'a64.code'}}
  %c = a64.call @missing(%b) panel 1 : (tensor<4x3xi32>) -> tensor<1x3xi32>
  return %c : tensor<1x3xi32>
}
