// RUN: gradus check %s --expand-composed-ops --floats=rounding | FileCheck %s

// CHECK: @mean: no difference
func.func @mean(%a: tensor<4x3xf32>, %b: tensor<3xf32>, %c: tensor<f32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>) {
  %0 = graph.mean %a, %b, %c : (tensor<4x3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %1 = graph.mean %a, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %2 = graph.mean %b : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>
}
// CHECK: @swiglu: no difference
func.func @swiglu(%a: tensor<2x?xf32>, %b: tensor<2x?xf32>, %c: tensor<5xf16>) -> (tensor<2x?xf32>, tensor<5xf16>) {
  %0 = graph.swiglu %a, %b : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %1 = graph.swiglu %c, %c {alpha = 2.0 : f32} : (tensor<5xf16>, tensor<5xf16>) -> tensor<5xf16>
  return %0, %1 : tensor<2x?xf32>, tensor<5xf16>
}
// CHECK: @log_sum_exp: no difference
func.func @log_sum_exp(%x: tensor<2x3x4x1xf32>, %y: tensor<0x3xf32>, %h: tensor<3x5xf16>) -> (tensor<1x1x1x1xf32>, tensor<3x4xf32>, tensor<2x1x4x1xf32>, tensor<1x3xf32>, tensor<3xf16>, tensor<2x3x4x1xf32>) {
  %first = graph.constant dense<[0, -1]> : tensor<2xi64>
  %second = graph.constant dense<1> : tensor<1xi64>
  %zeroth = graph.constant dense<0> : tensor<1xi64>
  %none = graph.constant dense<> : tensor<0xi64>
  %0 = graph.reduce_log_sum_exp %x : (tensor<2x3x4x1xf32>) -> tensor<1x1x1x1xf32>
  %1 = graph.reduce_log_sum_exp %x, %first {keepdims = 0 : i64} : (tensor<2x3x4x1xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %2 = graph.reduce_log_sum_exp %x, %second : (tensor<2x3x4x1xf32>, tensor<1xi64>) -> tensor<2x1x4x1xf32>
  %3 = graph.reduce_log_sum_exp %y, %zeroth : (tensor<0x3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
  %4 = graph.reduce_log_sum_exp %h, %second {keepdims = 0 : i64} : (tensor<3x5xf16>, tensor<1xi64>) -> tensor<3xf16>
  %5 = graph.reduce_log_sum_exp %x, %none {noop_with_empty_axes = 1 : i64} : (tensor<2x3x4x1xf32>, tensor<0xi64>) -> tensor<2x3x4x1xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x1x1x1xf32>, tensor<3x4xf32>, tensor<2x1x4x1xf32>, tensor<1x3xf32>, tensor<3xf16>, tensor<2x3x4x1xf32>
}
// CHECK: @lp_normalization: no difference
func.func @lp_normalization(%x: tensor<2x3x4xf32>, %y: tensor<3x?xf32>, %z: tensor<1xf64>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x?xf32>, tensor<1xf64>) {
  %0 = graph.lp_normalization %x {axis = 1 : i64} : tensor<2x3x4xf32>
  %1 = graph.lp_normalization %x {p = 1 : i64} : tensor<2x3x4xf32>
  %2 = graph.lp_normalization %y : tensor<3x?xf32>
  %3 = graph.lp_normalization %z : tensor<1xf64>
  return %0, %1, %2, %3 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x?xf32>, tensor<1xf64>
}
// CHECK: @zero_norm: no difference
func.func @zero_norm(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<2x3xf32>
  %0 = graph.mul %x, %zero : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.lp_normalization %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// CHECK: @mean_variance: no difference
func.func @mean_variance(%x: tensor<2x3x4x5xf32>, %y: tensor<?x4xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<?x4xf32>) {
  %0 = graph.mean_variance_normalization %x : tensor<2x3x4x5xf32>
  %1 = graph.mean_variance_normalization %x {axes = array<i64: 1, 2, 3>} : tensor<2x3x4x5xf32>
  %2 = graph.mean_variance_normalization %y {axes = array<i64: 0>} : tensor<?x4xf32>
  return %0, %1, %2 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<?x4xf32>
}
// CHECK: @batch: no difference
func.func @batch(%x: tensor<2x3x4x5xf32>, %y: tensor<?x3xf16>, %z: tensor<4xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %one: tensor<1xf32>) -> (tensor<2x3x4x5xf32>, tensor<?x3xf16>, tensor<4xf32>) {
  %square = graph.mul %b, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %0 = graph.batch_normalization %x, %a, %b, %a, %square : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  %1 = graph.batch_normalization %y, %a, %b, %a, %square {epsilon = 1.0e-2 : f32} : (tensor<?x3xf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3xf16>
  %2 = graph.batch_normalization %z, %one, %one, %one, %one : (tensor<4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<2x3x4x5xf32>, tensor<?x3xf16>, tensor<4xf32>
}
// CHECK: @instance: no difference
func.func @instance(%x: tensor<2x3x4x5xf32>, %y: tensor<1x3xf32>, %z: tensor<?x3x?x2xf32>, %e: tensor<0x3x2xf32>, %n: tensor<?x3x5xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<2x3x4x5xf32>, tensor<1x3xf32>, tensor<?x3x?x2xf32>, tensor<0x3x2xf32>, tensor<?x3x5xf32>) {
  %0 = graph.instance_normalization %x, %a, %b : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  %1 = graph.instance_normalization %y, %a, %b : (tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  %2 = graph.instance_normalization %z, %a, %b : (tensor<?x3x?x2xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3x?x2xf32>
  %3 = graph.instance_normalization %e, %a, %b : (tensor<0x3x2xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<0x3x2xf32>
  %4 = graph.instance_normalization %n, %a, %b : (tensor<?x3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3x5xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3x4x5xf32>, tensor<1x3xf32>, tensor<?x3x?x2xf32>, tensor<0x3x2xf32>, tensor<?x3x5xf32>
}
// CHECK: @group: no difference
func.func @group(%x: tensor<2x4x3x1x2xf32>, %y: tensor<?x4xf16>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<2x4x3x1x2xf32>, tensor<2x4x3x1x2xf32>, tensor<?x4xf16>) {
  %0 = graph.group_normalization %x, %a, %b {num_groups = 2 : i64} : (tensor<2x4x3x1x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x1x2xf32>
  %1 = graph.group_normalization %x, %a, %b {num_groups = 1 : i64} : (tensor<2x4x3x1x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x1x2xf32>
  %2 = graph.group_normalization %y, %a, %b {num_groups = 2 : i64, epsilon = 1.0e-2 : f32} : (tensor<?x4xf16>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf16>
  return %0, %1, %2 : tensor<2x4x3x1x2xf32>, tensor<2x4x3x1x2xf32>, tensor<?x4xf16>
}
// CHECK: @lp_pool: no difference
func.func @lp_pool(%x: tensor<2x3x5x6xf32>, %y: tensor<1x1x7xf32>, %z: tensor<?x2x?xf32>) -> (tensor<2x3x6x4xf32>, tensor<2x3x3x3xf32>, tensor<1x1x4xf32>, tensor<1x1x3xf32>, tensor<?x2x?xf32>) {
  %0 = graph.lp_pool %x {kernel_shape = array<i64: 2, 3>, pads = array<i64: 1, 0, 1, 0>} : (tensor<2x3x5x6xf32>) -> tensor<2x3x6x4xf32>
  %1 = graph.lp_pool %x {kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 2>, auto_pad = "SAME_UPPER", p = 1 : i64} : (tensor<2x3x5x6xf32>) -> tensor<2x3x3x3xf32>
  %2 = graph.lp_pool %y {kernel_shape = array<i64: 2>, strides = array<i64: 2>, ceil_mode = 1 : i64, p = 3 : i64} : (tensor<1x1x7xf32>) -> tensor<1x1x4xf32>
  %3 = graph.lp_pool %y {kernel_shape = array<i64: 2>, strides = array<i64: 3>, dilations = array<i64: 2>, pads = array<i64: 1, 2>, ceil_mode = 1 : i64} : (tensor<1x1x7xf32>) -> tensor<1x1x3xf32>
  %4 = graph.lp_pool %z {kernel_shape = array<i64: 2>} : (tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3x6x4xf32>, tensor<2x3x3x3xf32>, tensor<1x1x4xf32>, tensor<1x1x3xf32>, tensor<?x2x?xf32>
}
// CHECK: @global_lp_pool: no difference
func.func @global_lp_pool(%x: tensor<2x3x4x5xf32>, %y: tensor<?x3xf32>, %z: tensor<1x2x0xf32>) -> (tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<?x3xf32>, tensor<1x2x1xf32>) {
  %0 = graph.global_lp_pool %x : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
  %1 = graph.global_lp_pool %x {p = 1 : i64} : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
  %2 = graph.global_lp_pool %x {p = 3 : i64} : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
  %3 = graph.global_lp_pool %y : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %4 = graph.global_lp_pool %z : (tensor<1x2x0xf32>) -> tensor<1x2x1xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<?x3xf32>, tensor<1x2x1xf32>
}
// CHECK: @cross_entropy: no difference
func.func @cross_entropy(%x: tensor<4x3xf32>, %y: tensor<2x3x2xf32>, %w: tensor<3xf32>) -> (tensor<f32>, tensor<2x2xf32>, tensor<2x3x2xf32>, tensor<f32>) {
  %t = graph.constant dense<[2, 0, 1, 2]> : tensor<4xi64>
  %s = graph.constant dense<[[2, 0], [1, 2]]> : tensor<2x2xi64>
  %0 = graph.softmax_cross_entropy_loss %x, %t : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<f32>
  %1:2 = graph.softmax_cross_entropy_loss %y, %s {reduction = "none", ignore_index = 1 : i64} : (tensor<2x3x2xf32>, tensor<2x2xi64>) -> (tensor<2x2xf32>, tensor<2x3x2xf32>)
  %2 = graph.softmax_cross_entropy_loss %x, %t, %w {reduction = "sum"} : (tensor<4x3xf32>, tensor<4xi64>, tensor<3xf32>) -> tensor<f32>
  return %0, %1#0, %1#1, %2 : tensor<f32>, tensor<2x2xf32>, tensor<2x3x2xf32>, tensor<f32>
}
// CHECK: @products: no difference
func.func @products(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>, %m: tensor<4x3xf32>, %n: tensor<?x4xf32>, %v: tensor<4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x3xf32>, tensor<?x3xf32>, tensor<3x5xf32>, tensor<5x3xf32>, tensor<f32>, tensor<2xf32>) {
  %0 = graph.einsum %a, %b {equation = "bij,bkj->bik"} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %1 = graph.einsum %a, %m {equation = "bij, jk"} : (tensor<2x3x4xf32>, tensor<4x3xf32>) -> tensor<2x3x3xf32>
  %2 = graph.einsum %n, %m {equation = "...j,jk->...k"} : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %3 = graph.einsum %a, %b {equation = "bij,bkj->ik"} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<3x5xf32>
  %4 = graph.einsum %a, %b {equation = "bij,ckj->ki"} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<5x3xf32>
  %5 = graph.einsum %v, %v {equation = "i,i"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %6 = graph.einsum %a, %m {equation = "bij,ji->b"} : (tensor<2x3x4xf32>, tensor<4x3xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3x5xf32>, tensor<2x3x3xf32>, tensor<?x3xf32>, tensor<3x5xf32>, tensor<5x3xf32>, tensor<f32>, tensor<2xf32>
}
// CHECK: @more_products: no difference
func.func @more_products(%a: tensor<2x3x4xf32>, %b: tensor<3x1x4x2xf32>, %c: tensor<1x3x4xf32>, %m: tensor<4x3xf32>, %v: tensor<4xf32>, %e: tensor<0x4xf32>) -> (tensor<2x3x1x2xf32>, tensor<4x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2xf32>, tensor<3xf32>, tensor<3x0xf32>, tensor<2x3x3xf32>) {
  %0 = graph.einsum %a, %b {equation = "bhd,hcdk->bhck"} : (tensor<2x3x4xf32>, tensor<3x1x4x2xf32>) -> tensor<2x3x1x2xf32>
  %1 = graph.einsum %m, %v {equation = "ij,k->kji"} : (tensor<4x3xf32>, tensor<4xf32>) -> tensor<4x3x4xf32>
  %2 = graph.einsum %a, %c {equation = "...,..."} : (tensor<2x3x4xf32>, tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  %3 = graph.einsum %a {equation = "ijk->ki"} : (tensor<2x3x4xf32>) -> tensor<4x2xf32>
  %4 = graph.einsum %v, %m, %v {equation = "i,ij,k->j"} : (tensor<4xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<3xf32>
  %5 = graph.einsum %m, %e {equation = "kj,nk->jn"} : (tensor<4x3xf32>, tensor<0x4xf32>) -> tensor<3x0xf32>
  %6 = graph.einsum %a, %c {equation = "bij,bkj->bik"} : (tensor<2x3x4xf32>, tensor<1x3x4xf32>) -> tensor<2x3x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3x1x2xf32>, tensor<4x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2xf32>, tensor<3xf32>, tensor<3x0xf32>, tensor<2x3x3xf32>
}
// Products of integers are exact.
// CHECK: @integers: no difference
func.func @integers(%a: tensor<2x3xi8>, %b: tensor<3x2xi8>, %c: tensor<2x3xi64>) -> (tensor<2x2xi8>, tensor<2x3x2x3xi64>, tensor<i64>) {
  %0 = graph.einsum %a, %b {equation = "ij,jk->ki"} : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi8>
  %1 = graph.einsum %c, %c {equation = "ij,kl->ijkl"} : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3x2x3xi64>
  %2 = graph.einsum %c {equation = "ij->"} : (tensor<2x3xi64>) -> tensor<i64>
  return %0, %1, %2 : tensor<2x2xi8>, tensor<2x3x2x3xi64>, tensor<i64>
}
// CHECK: @dft: no difference
func.func @dft(%x: tensor<2x8x1xf32>, %y: tensor<5x3x2xf32>, %z: tensor<6x1xf32>, %n: tensor<?x4x1xf32>) -> (tensor<2x5x2xf32>, tensor<2x8x2xf32>, tensor<5x3x2xf32>, tensor<4x2xf32>, tensor<2x4x2xf32>, tensor<?x4x2xf32>, tensor<6x2xf32>) {
  %axis = graph.constant dense<0> : tensor<i64>
  %four = graph.constant dense<4> : tensor<i64>
  %six = graph.constant dense<6> : tensor<i64>
  %0 = graph.dft %x {onesided = 1 : i64} : (tensor<2x8x1xf32>) -> tensor<2x5x2xf32>
  %1 = graph.dft %x : (tensor<2x8x1xf32>) -> tensor<2x8x2xf32>
  %2 = graph.dft %y axis %axis : (tensor<5x3x2xf32>, tensor<i64>) -> tensor<5x3x2xf32>
  %3 = graph.dft %z length %six {onesided = 1 : i64} : (tensor<6x1xf32>, tensor<i64>) -> tensor<4x2xf32>
  %4 = graph.dft %x length %four : (tensor<2x8x1xf32>, tensor<i64>) -> tensor<2x4x2xf32>
  %5 = graph.dft %n : (tensor<?x4x1xf32>) -> tensor<?x4x2xf32>
  %6 = graph.dft %z : (tensor<6x1xf32>) -> tensor<6x2xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x5x2xf32>, tensor<2x8x2xf32>, tensor<5x3x2xf32>, tensor<4x2xf32>, tensor<2x4x2xf32>, tensor<?x4x2xf32>, tensor<6x2xf32>
}
// CHECK: @inverse: no difference
func.func @inverse(%x: tensor<2x5x2xf32>, %y: tensor<4x1x3x2xf64>, %z: tensor<2x5x1xf32>) -> (tensor<2x8x1xf32>, tensor<2x5x2xf32>, tensor<2x9x1xf32>, tensor<7x1x3x2xf64>, tensor<2x8x1xf32>, tensor<2x3x1xf32>, tensor<2x1x2xf32>) {
  %axis = graph.constant dense<-4> : tensor<i64>
  %nine = graph.constant dense<9> : tensor<i64>
  %seven = graph.constant dense<7> : tensor<1xi64>
  %three = graph.constant dense<3> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.dft %x {inverse = 1 : i64, onesided = 1 : i64} : (tensor<2x5x2xf32>) -> tensor<2x8x1xf32>
  %1 = graph.dft %x {inverse = 1 : i64} : (tensor<2x5x2xf32>) -> tensor<2x5x2xf32>
  %2 = graph.dft %x length %nine {inverse = 1 : i64, onesided = 1 : i64} : (tensor<2x5x2xf32>, tensor<i64>) -> tensor<2x9x1xf32>
  %3 = graph.dft %y length %seven axis %axis {inverse = 1 : i64} : (tensor<4x1x3x2xf64>, tensor<1xi64>, tensor<i64>) -> tensor<7x1x3x2xf64>
  %4 = graph.dft %z {inverse = 1 : i64, onesided = 1 : i64} : (tensor<2x5x1xf32>) -> tensor<2x8x1xf32>
  %5 = graph.dft %x length %three {inverse = 1 : i64, onesided = 1 : i64} : (tensor<2x5x2xf32>, tensor<i64>) -> tensor<2x3x1xf32>
  %6 = graph.dft %x length %one : (tensor<2x5x2xf32>, tensor<i64>) -> tensor<2x1x2xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x8x1xf32>, tensor<2x5x2xf32>, tensor<2x9x1xf32>, tensor<7x1x3x2xf64>, tensor<2x8x1xf32>, tensor<2x3x1xf32>, tensor<2x1x2xf32>
}
// CHECK: @stft: no difference
func.func @stft(%x: tensor<2x12x1xf32>, %y: tensor<1x9x2xf32>, %n: tensor<?x?x1xf32>) -> (tensor<2x5x3x2xf32>, tensor<1x2x5x2xf32>, tensor<2x1x7x2xf32>, tensor<?x?x3x2xf32>) {
  %step = graph.constant dense<2> : tensor<i64>
  %four = graph.constant dense<4> : tensor<i64>
  %five = graph.constant dense<5> : tensor<i64>
  %window = graph.hann_window %four : (tensor<i64>) -> tensor<4xf32>
  %0 = graph.stft %x, %step window %window : (tensor<2x12x1xf32>, tensor<i64>, tensor<4xf32>) -> tensor<2x5x3x2xf32>
  %1 = graph.stft %y, %four length %five {onesided = 0 : i64} : (tensor<1x9x2xf32>, tensor<i64>, tensor<i64>) -> tensor<1x2x5x2xf32>
  %2 = graph.stft %x, %step : (tensor<2x12x1xf32>, tensor<i64>) -> tensor<2x1x7x2xf32>
  %3 = graph.stft %n, %step window %window length %four : (tensor<?x?x1xf32>, tensor<i64>, tensor<4xf32>, tensor<i64>) -> tensor<?x?x3x2xf32>
  return %0, %1, %2, %3 : tensor<2x5x3x2xf32>, tensor<1x2x5x2xf32>, tensor<2x1x7x2xf32>, tensor<?x?x3x2xf32>
}
// CHECK: @rotary: no difference
func.func @rotary(%x: tensor<2x4x3x8xf32>, %y: tensor<2x3x12xf32>, %cos: tensor<5x4xf32>, %sin: tensor<5x4xf32>, %c: tensor<2x3x2xf32>, %s: tensor<2x3x2xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x3x12xf32>, tensor<2x3x12xf32>, tensor<2x4x3x8xf32>) {
  %at = graph.constant dense<[[0, 1, 2], [4, 3, -1]]> : tensor<2x3xi64>
  %0 = graph.rotary_embedding %x, %cos, %sin, %at : (tensor<2x4x3x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x4x3x8xf32>
  %1 = graph.rotary_embedding %x, %cos, %sin, %at {interleaved = 1 : i64} : (tensor<2x4x3x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x4x3x8xf32>
  %2 = graph.rotary_embedding %y, %c, %s {num_heads = 2 : i64, rotary_embedding_dim = 4 : i64} : (tensor<2x3x12xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x12xf32>
  %3 = graph.rotary_embedding %y, %c, %s {num_heads = 3 : i64, interleaved = 1 : i64} : (tensor<2x3x12xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x12xf32>
  %4 = graph.rotary_embedding %x, %c, %s {interleaved = 1 : i64, rotary_embedding_dim = 4 : i64} : (tensor<2x4x3x8xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x4x3x8xf32>
  return %0, %1, %2, %3, %4 : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x3x12xf32>, tensor<2x3x12xf32>, tensor<2x4x3x8xf32>
}
// CHECK: @open: no difference
func.func @open(%x: tensor<?x?x4xf32>, %c: tensor<?x?x1xf32>, %a: tensor<?x?x4xf32>, %b: tensor<4x?xf32>) -> (tensor<?x?x4xf32>, tensor<?x?x?xf32>) {
  %0 = graph.rotary_embedding %x, %c, %c {num_heads = 2 : i64} : (tensor<?x?x4xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x4xf32>
  %1 = graph.einsum %a, %b {equation = "bij,jk->bik"} : (tensor<?x?x4xf32>, tensor<4x?xf32>) -> tensor<?x?x?xf32>
  return %0, %1 : tensor<?x?x4xf32>, tensor<?x?x?xf32>
}
// Maxima that are infinite, norms of infinite elements and of zeros.
// CHECK: @special: no difference
func.func @special(%x: tensor<3x2xf32>, %y: tensor<2x1x1x1xf32>) -> (tensor<3xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x1x1x1xf32>) {
  %infinite = graph.constant dense<[[0xFF800000, 0xFF800000], [0x7F800000, 1.0], [0x7F800000, 0xFF800000]]> : tensor<3x2xf32>
  %axis = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.add %x, %infinite : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = graph.reduce_log_sum_exp %0, %axis {keepdims = 0 : i64} : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<3xf32>
  %2 = graph.lp_normalization %0 : tensor<3x2xf32>
  %3 = graph.mean_variance_normalization %0 {axes = array<i64: 1>} : tensor<3x2xf32>
  %4 = graph.mean_variance_normalization %y : tensor<2x1x1x1xf32>
  return %1, %2, %3, %4 : tensor<3xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x1x1x1xf32>
}
// The sum of two terms of equal size cancels: what is left is a rounding of f64.
// CHECK: @cancels: no difference
func.func @cancels(%scale: tensor<2xf32>) -> tensor<1x2xf32> {
  %x = arith.constant dense<[[-8.775000e+01, 5.605190e-45]]> : tensor<1x2xf32>
  %0 = graph.group_normalization %x, %scale, %scale {epsilon = 0.000000e+00 : f32, num_groups = 1 : i64} : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// Another result is rounded in f32.
// CHECK: @cancels_beside_roundings: no difference
func.func @cancels_beside_roundings(%x: tensor<1x1x1x1xf32>, %one: tensor<1xf32>, %scale: tensor<4xf32>) -> (tensor<1x4xf32>, tensor<1x1x1x1xf32>) {
  %0 = graph.batch_normalization %x, %one, %one, %one, %one : (tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %y = arith.constant dense<[[-36.2359161, 4020.46436, 0x7F800000, -4.462500e+01]]> : tensor<1x4xf32>
  %1 = graph.group_normalization %y, %scale, %scale {epsilon = 0.000000e+00 : f32, num_groups = 2 : i64} : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return %1, %0 : tensor<1x4xf32>, tensor<1x1x1x1xf32>
}
