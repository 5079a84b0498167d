// RUN: gradus opt %s --mlir-elide-elementsattrs-if-larger=2 --mlir-elide-resource-strings-if-larger=43 --allow-unregistered-dialect

// Splat constants are not elided. The string in @big has 44 characters with its quotes.
"t.use"() {splat = dense<1> : tensor<400xi32>, list = dense<[1, 2, 3]> : tensor<3xi32>, short = dense<[1, 2]> : tensor<2xi32>} : () -> ()
"t.use"() {names = dense<["a", "b", "c"]> : tensor<3x!t.s>, holes = sparse<[[0], [1], [2]], [1, 2, 3]> : tensor<9xi32>} : () -> ()
"t.use"() {big = dense_resource<big> : tensor<4xi32>, small = dense_resource<small> : tensor<1xi32>, array = array<i32: 1, 2, 3>} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      big: "0x0400000001000000010000000100000001000000",
      small: "0x0400000001000000"
    }
  }
#-}
