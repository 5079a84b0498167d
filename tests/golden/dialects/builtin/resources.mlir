// RUN: gradus opt %s --allow-unregistered-dialect

"t.use"() {w = dense_resource<weights> : tensor<2xf32>, v = dense_resource<"needs quotes"> : tensor<1xi8>} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040",
      "needs quotes": "0x0100000007"
    }
  },
  external_resources: {
    tool: {
      setting: "text",
      on: true,
      blob: "0x08000000AB"
    }
  }
#-}
