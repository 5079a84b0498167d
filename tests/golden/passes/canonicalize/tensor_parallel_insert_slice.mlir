// RUN: gradus opt %s --canonicalize --mlir-print-op-generic --allow-unregistered-dialect

func.func @rows(%a: tensor<?x?xf32>, %b: tensor<1x5xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = "scf.forall"(%a) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
  ^bb0(%i: index, %out: tensor<?x?xf32>):
    %1 = tensor.cast %b : tensor<1x5xf32> to tensor<?x5xf32>
    "scf.forall.in_parallel"() ({
      tensor.parallel_insert_slice %1 into %out[%i, %c0] [%c1, 5] [%c1, %c1] : tensor<?x5xf32> into tensor<?x?xf32>
    }) : () -> ()
  }) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
