// RUN: bits opt %s --pass-pipeline='builtin.module(func.func(bits-cost{limit=12}))' --verify-diagnostics

// expected-remark@below {{1 bits ops take 1 instructions}}
func.func @cheap(%x: i32) -> i32 {
  %0 = bits.rotl %x, %x : i32
  return %0 : i32
}

// expected-remark@below {{2 bits ops take 13 instructions}}
// expected-warning@below {{13 instructions exceed the limit of 12}}
func.func @dear(%x: i32) -> i32 {
  %0 = bits.rotl %x, %x : i32
  %1 = bits.popcount %0 : i32
  return %1 : i32
}
