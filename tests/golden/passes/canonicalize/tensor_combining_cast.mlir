// RUN: gradus opt %s --canonicalize

// Casts are folded into the `in_parallel` region, which may hold only combining ops, so the new slice is created before it.
func.func @insert(%rows: tensor<?x?xf32>, %row: tensor<1x5xf32>) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %0 = scf.forall (%i) in (4) shared_outs(%out = %rows) -> (tensor<?x?xf32>) {
    %cast = tensor.cast %row : tensor<1x5xf32> to tensor<?x5xf32>
    %slice = tensor.extract_slice %cast[0, 0] [%c1, 5] [1, 1] : tensor<?x5xf32> to tensor<?x5xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %slice into %out[%i, 0] [%c1, 5] [1, 1] : tensor<?x5xf32> into tensor<?x?xf32>
    }
  }
  return %0 : tensor<?x?xf32>
}

// -----

func.func @insert_unknown(%rows: tensor<?x?xf32>, %row: tensor<?x5xf32>) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %0 = scf.forall (%i) in (4) shared_outs(%out = %rows) -> (tensor<?x?xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %out[%i, 0] [%c1, 5] [1, 1] : tensor<?x5xf32> into tensor<?x?xf32>
    }
  }
  return %0 : tensor<?x?xf32>
}
