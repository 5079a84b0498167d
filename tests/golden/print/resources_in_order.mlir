// RUN: gradus opt %s --allow-unregistered-dialect
// Resources are printed in the order of their first use, unused ones last.

func.func @f() -> tensor<2xi32> {
  %0 = arith.constant {note = dense_resource<b> : tensor<2xi32>} dense_resource<a> : tensor<2xi32>
  "t.region"() ({
    "t.inner"() {x = dense_resource<n> : tensor<2xi32>} : () -> ()
  }) {x = dense_resource<l> : tensor<2xi32>} : () -> ()
  return %0 : tensor<2xi32>
}

{-#
  dialect_resources: {
    builtin: {
      unused: "0x040000000100000002000000",
      n: "0x040000000100000002000000",
      l: "0x040000000100000002000000",
      a: "0x040000000100000002000000",
      b: "0x040000000100000002000000"
    }
  }
#-}
