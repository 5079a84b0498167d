// 23 forms of a product of two tensors of `i8`, with scales that are no powers of two and a zero point of each.
func.func @main(%a0: tensor<1x8x6x7xi8>, %b0: tensor<1x8x6x7xi8>,
                %a1: tensor<1x8x6x7xi8>, %b1: tensor<i8>,
                %a2: tensor<1x8x6x7xi8>, %b2: tensor<1x1x1x1xi8>,
                %a3: tensor<1x8x6x7xi8>, %b3: tensor<1x8x1x1xi8>,
                %a4: tensor<1x8x6x7xi8>, %b4: tensor<1x1x1x7xi8>,
                %a5: tensor<1x8x6x7xi8>, %b5: tensor<1x1x6x1xi8>,
                %a6: tensor<1x8x6x7xi8>, %b6: tensor<1x1x6x7xi8>,
                %a7: tensor<1x8x6x7xi8>, %b7: tensor<7xi8>,
                %a8: tensor<6x7x8xi8>, %b8: tensor<6x7x8xi8>,
                %a9: tensor<6x7x8xi8>, %b9: tensor<8xi8>,
                %a10: tensor<12x8xi8>, %b10: tensor<12x8xi8>,
                %a11: tensor<12x8xi8>, %b11: tensor<8xi8>,
                %a12: tensor<12x8xi8>, %b12: tensor<12x1xi8>,
                %a13: tensor<9xi8>, %b13: tensor<9xi8>,
                %a14: tensor<i8>, %b14: tensor<i8>,
                %a15: tensor<2x2x3x4x5xi8>, %b15: tensor<2x2x3x4x5xi8>,
                %a16: tensor<2x2x3x4x5xi8>, %b16: tensor<1x2x1x4x1xi8>,
                %a17: tensor<4x1xi8>, %b17: tensor<1x6xi8>,
                %a18: tensor<1x4x1x6xi8>, %b18: tensor<1x1x5x6xi8>,
                %a19: tensor<2x8x6x7xi8>, %b19: tensor<2x8x6x7xi8>,
                %a20: tensor<2x8x6x7xi8>, %b20: tensor<1x8x1x1xi8>,
                %a21: tensor<2x8x6x7xi8>, %b21: tensor<2x8x1x1xi8>,
                %a22: tensor<2x8x6x7xi8>, %b22: tensor<2x1x6x7xi8>)
    -> (tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<6x7x8xi8>, tensor<6x7x8xi8>, tensor<12x8xi8>, tensor<12x8xi8>, tensor<12x8xi8>, tensor<9xi8>, tensor<i8>, tensor<2x2x3x4x5xi8>, tensor<2x2x3x4x5xi8>, tensor<4x6xi8>, tensor<1x4x5x6xi8>, tensor<2x8x6x7xi8>, tensor<2x8x6x7xi8>, tensor<2x8x6x7xi8>, tensor<2x8x6x7xi8>) {
  %sa = graph.constant dense<0.0371> : tensor<f32>
  %sb = graph.constant dense<0.0519> : tensor<f32>
  %sy = graph.constant dense<0.0293> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<-5> : tensor<i8>
  %zy = graph.constant dense<7> : tensor<i8>
  %same = graph.qlinear_mul %a0, %sa, %za, %b0, %sb, %zb, %sy, %zy : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  %scalar0 = graph.qlinear_mul %a1, %sa, %za, %b1, %sb, %zb, %sy, %zy : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  %scalar4 = graph.qlinear_mul %a2, %sa, %za, %b2, %sb, %zb, %sy, %zy : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x1x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  %channels = graph.qlinear_mul %a3, %sa, %za, %b3, %sb, %zb, %sy, %zy : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  %row = graph.qlinear_mul %a4, %sa, %za, %b4, %sb, %zb, %sy, %zy : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x1x1x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  %column = graph.qlinear_mul %a5, %sa, %za, %b5, %sb, %zb, %sy, %zy : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x1x6x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  %mask = graph.qlinear_mul %a6, %sa, %za, %b6, %sb, %zb, %sy, %zy : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x1x6x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  %width = graph.qlinear_mul %a7, %sa, %za, %b7, %sb, %zb, %sy, %zy : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  %hwc = graph.qlinear_mul %a8, %sa, %za, %b8, %sb, %zb, %sy, %zy : (tensor<6x7x8xi8>, tensor<f32>, tensor<i8>, tensor<6x7x8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<6x7x8xi8>
  %hwc_c = graph.qlinear_mul %a9, %sa, %za, %b9, %sb, %zb, %sy, %zy : (tensor<6x7x8xi8>, tensor<f32>, tensor<i8>, tensor<8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<6x7x8xi8>
  %tokens = graph.qlinear_mul %a10, %sa, %za, %b10, %sb, %zb, %sy, %zy : (tensor<12x8xi8>, tensor<f32>, tensor<i8>, tensor<12x8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<12x8xi8>
  %tokens_c = graph.qlinear_mul %a11, %sa, %za, %b11, %sb, %zb, %sy, %zy : (tensor<12x8xi8>, tensor<f32>, tensor<i8>, tensor<8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<12x8xi8>
  %tokens_t = graph.qlinear_mul %a12, %sa, %za, %b12, %sb, %zb, %sy, %zy : (tensor<12x8xi8>, tensor<f32>, tensor<i8>, tensor<12x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<12x8xi8>
  %vector = graph.qlinear_mul %a13, %sa, %za, %b13, %sb, %zb, %sy, %zy : (tensor<9xi8>, tensor<f32>, tensor<i8>, tensor<9xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<9xi8>
  %rank0 = graph.qlinear_mul %a14, %sa, %za, %b14, %sb, %zb, %sy, %zy : (tensor<i8>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<i8>
  %volume = graph.qlinear_mul %a15, %sa, %za, %b15, %sb, %zb, %sy, %zy : (tensor<2x2x3x4x5xi8>, tensor<f32>, tensor<i8>, tensor<2x2x3x4x5xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x2x3x4x5xi8>
  %volume_c = graph.qlinear_mul %a16, %sa, %za, %b16, %sb, %zb, %sy, %zy : (tensor<2x2x3x4x5xi8>, tensor<f32>, tensor<i8>, tensor<1x2x1x4x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x2x3x4x5xi8>
  %outer = graph.qlinear_mul %a17, %sa, %za, %b17, %sb, %zb, %sy, %zy : (tensor<4x1xi8>, tensor<f32>, tensor<i8>, tensor<1x6xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<4x6xi8>
  %outer4 = graph.qlinear_mul %a18, %sa, %za, %b18, %sb, %zb, %sy, %zy : (tensor<1x4x1x6xi8>, tensor<f32>, tensor<i8>, tensor<1x1x5x6xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x4x5x6xi8>
  %batch = graph.qlinear_mul %a19, %sa, %za, %b19, %sb, %zb, %sy, %zy : (tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x8x6x7xi8>
  %batch_c = graph.qlinear_mul %a20, %sa, %za, %b20, %sb, %zb, %sy, %zy : (tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x8x6x7xi8>
  %batch_ic = graph.qlinear_mul %a21, %sa, %za, %b21, %sb, %zb, %sy, %zy : (tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<2x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x8x6x7xi8>
  %batch_m = graph.qlinear_mul %a22, %sa, %za, %b22, %sb, %zb, %sy, %zy : (tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<2x1x6x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x8x6x7xi8>
  return %same, %scalar0, %scalar4, %channels, %row, %column, %mask, %width, %hwc, %hwc_c, %tokens, %tokens_c, %tokens_t, %vector, %rank0, %volume, %volume_c, %outer, %outer4, %batch, %batch_c, %batch_ic, %batch_m : tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<1x8x6x7xi8>, tensor<6x7x8xi8>, tensor<6x7x8xi8>, tensor<12x8xi8>, tensor<12x8xi8>, tensor<12x8xi8>, tensor<9xi8>, tensor<i8>, tensor<2x2x3x4x5xi8>, tensor<2x2x3x4x5xi8>, tensor<4x6xi8>, tensor<1x4x5x6xi8>, tensor<2x8x6x7xi8>, tensor<2x8x6x7xi8>, tensor<2x8x6x7xi8>, tensor<2x8x6x7xi8>
}
