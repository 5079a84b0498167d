// RUN: gradus opt %s --pass-pipeline='builtin.module(builtin.module(cse))' --mlir-print-ir-after-all --mlir-print-skip-regions --allow-unregistered-dialect --mlir-disable-threading

module @inner {
  "t.r"() ({
    "t.x"() {map = affine_map<(d0) -> (d0)>} : () -> ()
  }) : () -> ()
}
module @other attributes {t.k = 1 : i32} {
}
