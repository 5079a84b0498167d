// RUN: gradus opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{a machine has 15 numbers, not 3}}
nna.program @numbers product [1, 1, 1] scalar kernel_outer resident 1 machine [8, 2, 2] {
  nna.halt
}

// -----

// expected-error@+1 {{a product of 0x1 and 1x1 is empty}}
nna.program @empty product [0, 1, 1] scalar kernel_outer resident 1 machine [8, 2, 2, 65536, 4, 2, 4, 1, 1, 1, 4, 4, 2, 9, 8] {
  nna.halt
}

// -----

// expected-error@+1 {{'pixel' of 'nndrdocb' is 4}}
nna.program @v1 product [1, 1, 1] scalar kernel_outer resident 1 machine [4, 2, 2, 65536, 4, 2, 4, 1, 1, 1, 4, 4, 2, 9, 8] {
  nna.nndrdocb v0, block0, pixel4, lo
  nna.halt
}

// -----

// expected-error@+1 {{'arith.constant' is not an instruction}}
nna.program @other product [1, 1, 1] scalar kernel_outer resident 1 machine [8, 2, 2, 65536, 4, 2, 4, 1, 1, 1, 4, 4, 2, 9, 8] {
  %0 = arith.constant 0 : i32
  nna.halt
}

// -----

nna.program @p product [1, 1, 1] scalar kernel_outer resident 1 machine [8, 2, 2, 65536, 4, 2, 4, 1, 1, 1, 4, 4, 2, 9, 8] {
  nna.halt
}

func.func @extents(%a: tensor<1x2xi8>, %b: tensor<2x1xi8>) {
  // expected-error@+1 {{requires operands and a result of the program's extents [1, 1, 1]}}
  %0 = nna.call @p %a, %b : (tensor<1x2xi8>, tensor<2x1xi8>) -> tensor<1x1xi32>
  return
}

// -----

func.func @missing(%a: tensor<1x1xi8>, %b: tensor<1x1xi8>) {
  // expected-error@+1 {{requires the symbol of an 'nna.program'}}
  %0 = nna.call @missing %a, %b : (tensor<1x1xi8>, tensor<1x1xi8>) -> tensor<1x1xi32>
  return
}
