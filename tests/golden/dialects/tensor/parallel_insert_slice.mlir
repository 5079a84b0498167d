// RUN: gradus opt %s --mlir-print-op-generic --allow-unregistered-dialect

func.func @rows(%a: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %0 = "scf.forall"(%a) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
  ^bb0(%i: index, %out: tensor<4x6xf32>):
    "scf.forall.in_parallel"() ({
      tensor.parallel_insert_slice %b into %out[%i, 0] [1, 6] [1, 1] {note} : tensor<6xf32> into tensor<4x6xf32>
    }) : () -> ()
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
