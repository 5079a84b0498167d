// RUN: gradus opt %s --allow-unregistered-dialect
// Layout attributes have one printed form: defaults are omitted and spacing is normalized.
#kernels = #layout.tiled<"HWKD8k8d", pad = 0>
func.func private @weights(tensor<3x3x8x16xi8, #kernels>)
func.func private @modes() attributes {
  modes = [#layout.tiled<"HWC">, #layout.tiled<"HWC4w">, #layout.tiled<"HWC8w4c">, #layout.tiled<"HWC4w4c">,
           #layout.tiled<"HWKC2k4c">, #layout.tiled<"HKDW8w4d">, #layout.tiled<"NCHW32c">, #layout.tiled<"NCHW4c8c">,
           #layout.tiled<"2wHW">, #layout.tiled<"">],
  padding = [#layout.tiled<"HWC4w",pad=0>, #layout.tiled<  "HWC4w"  , pad =  -128 >, #layout.tiled<"HWC4w", pad = 1.250>,
             #layout.tiled<"HWC4w", pad = -inf>, #layout.tiled<"HWC4w", pad = 1.0e+2>],
  same = #layout<tiled<"NCHW8c">>
}
func.func @on_a_value(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %0 = "some.op"(%x) {layout = #layout.tiled<"NCHW8c">} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %0 : tensor<1x3x4x4xf32>
}
