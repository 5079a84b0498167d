// RUN: gradus check %s --canonicalize | FileCheck %s

// A copy keeps all bytes, also those of a signaling NaN: erasing a copy of a memref to itself changes nothing.
// CHECK: @copied: no difference
func.func @copied(%bytes: memref<?xi8>) -> i8 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %low = arith.constant 1 : i8
  %middle = arith.constant 0xBD : i8
  %high = arith.constant 0x7F : i8
  memref.store %low, %bytes[%zero] : memref<?xi8>
  memref.store %low, %bytes[%one] : memref<?xi8>
  memref.store %middle, %bytes[%two] : memref<?xi8>
  memref.store %high, %bytes[%three] : memref<?xi8>
  %float = memref.view %bytes[%zero][] : memref<?xi8> to memref<f32>
  memref.copy %float, %float : memref<f32> to memref<f32>
  %byte = memref.load %bytes[%two] : memref<?xi8>
  return %byte : i8
}

// The bits of a NaN are unspecified, those of the other elements are not: only the former are poison.
// CHECK: @cast: no difference
func.func @cast(%x: tensor<1x2xf32>) -> tensor<1x2xi32> {
  %0 = arith.negf %x : tensor<1x2xf32>
  %1 = arith.divf %0, %0 fastmath<nnan> : tensor<1x2xf32>
  %2 = tensor.bitcast %1 : tensor<1x2xf32> to tensor<1x2xi32>
  return %2 : tensor<1x2xi32>
}
