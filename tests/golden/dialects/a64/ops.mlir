// RUN: gradus opt %s

a64.func @weighted_sum {
^bb0(%b: !a64.x<0>, %c: !a64.x<4>, %pool: !a64.x<5>):
  %far = a64.add_imm %b imm 1 shift 12 : (!a64.x<0>) -> !a64.x<6>
  %x = a64.ldr [%b] offset 16 : (!a64.x<0>) -> !a64.v4s<1>
  %y = a64.ldr [%far] : (!a64.x<6>) -> !a64.v4s<2>
  %w = a64.ldr [%pool] : (!a64.x<5>) -> !a64.v4s<7>
  %0 = a64.fmul %x, %w lane 0 : (!a64.v4s<1>, !a64.v4s<7>) -> !a64.v4s<3>
  %1 = a64.fmla %0, %y, %w lane 3 : (!a64.v4s<3>, !a64.v4s<2>, !a64.v4s<7>) -> !a64.v4s<3>
  a64.str %1 [%c] : (!a64.v4s<3>, !a64.x<4>) -> ()
  a64.ret
}

// The instructions of a bundle read registers before any of them writes one.
a64.func @pipelined {
^bb0(%b: !a64.x<0>, %c: !a64.x<4>):
  %0 = a64.ldr [%b] : (!a64.x<0>) -> !a64.w<1>
  %1 = a64.movz imm 3 bundled : () -> !a64.w<2>
  %2 = a64.mul %0, %1 : (!a64.w<1>, !a64.w<2>) -> !a64.w<3>
  %3 = a64.ldr [%b] offset 16 bundled : (!a64.x<0>) -> !a64.w<1>
  %4 = a64_ext.madd_imm %2, %3 imm 5 : (!a64.w<3>, !a64.w<1>) -> !a64.w<3>
  %5 = a64_ext.ldr_sc_acc %4 [%b] offset 48 imm -7 : (!a64.w<3>, !a64.x<0>) -> !a64.w<3>
  a64.str %5 [%c] : (!a64.w<3>, !a64.x<4>) -> ()
  a64.ret
}

func.func @main(%b: tensor<13x1xi32>) -> tensor<1x1xi32> {
  %c = a64.call @pipelined(%b) panel 1 : (tensor<13x1xi32>) -> tensor<1x1xi32>
  return %c : tensor<1x1xi32>
}
