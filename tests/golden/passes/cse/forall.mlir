// RUN: gradus opt %s --cse

// An `scf.forall` whose result is unused.
func.func @unused(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  %0 = scf.forall (%i) in (%c4) shared_outs(%out = %b) -> (tensor<4xf32>) {
    %part = tensor.extract_slice %a[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return
}

func.func @twice(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = scf.forall (%i) in (4) shared_outs(%out = %b) -> (tensor<4xf32>) {
    %part = tensor.extract_slice %a[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  %1 = scf.forall (%i) in (4) shared_outs(%out = %b) -> (tensor<4xf32>) {
    %part = tensor.extract_slice %a[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
