// RUN: gradus opt %s --split-input-file --verify-diagnostics

npu.program @token machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [] results [] constants dense<> : tensor<0xui8> {
  // expected-error@+1 {{requires a token from 0 to 31, not 32}}
  npu.signal load token 32
  npu.end
}

// -----

npu.program @list machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [] results [] constants dense<> : tensor<0xui8> {
  // expected-error@+1 {{requires 3 numbers as 'counts', not 2}}
  npu.load ddr 0 sram 0 run 1 counts [1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}

// -----

npu.program @range machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [] results [] constants dense<> : tensor<0xui8> {
  // expected-error@+1 {{requires a 'run' in the range of its field, not -1}}
  npu.load ddr 0 sram 0 run -1 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}

// -----

// expected-error@+1 {{'npu.move' violates a rule: a slice has 1 to 64 bytes}}
npu.program @rule machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [] results [] constants dense<> : tensor<0xui8> {
  npu.move from 0 to 128 slice 65 counts [1, 1, 1, 1] strides [0, 0, 0, 0], [0, 0, 0, 0]
  npu.end
}

// -----

// expected-error@+1 {{requires a machine with banks: a power of 2 up to 32}}
npu.program @machine machine [8, 8, 4, 524288, 3, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [] results [] constants dense<> : tensor<0xui8> {
  npu.end
}

// -----

// expected-error@+1 {{requires 19 parameters of the machine, not 2}}
npu.program @parameters machine [8, 8] ddr 64 operands [] results [] constants dense<> : tensor<0xui8> {
  npu.end
}

// -----

// expected-error@+1 {{has more constants than the 2 bytes of DDR}}
npu.program @constants machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 2 operands [] results [] constants dense<0> : tensor<3xui8> {
  npu.end
}

// -----

// expected-error@+1 {{has an operand or result at byte 65, beyond the 64 bytes of DDR}}
npu.program @operand machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [65] results [] constants dense<> : tensor<0xui8> {
  npu.end
}

// -----

npu.program @nothing machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [0] results [0] constants dense<> : tensor<0xui8> {
  npu.end
}

func.func @count() -> tensor<4xi8> {
  // expected-error@+1 {{calls a program of 1 operands and 1 results}}
  %0 = npu.call @nothing() : () -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

npu.program @nothing machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [0] results [0] constants dense<> : tensor<0xui8> {
  npu.end
}

func.func @bytes(%a: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{requires tensors of bytes with static extents, not 'tensor<4xi32>'}}
  %0 = npu.call @nothing(%a) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
