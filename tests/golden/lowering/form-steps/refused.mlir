// RUN: gradus opt %s --form-steps --split-input-file --verify-diagnostics

// expected-remark@+1 {{'func.func' stays without steps: an op that does not only compute tensors ('scf.if')}}
func.func @region(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %true = arith.constant true
  %0 = scf.if %true -> tensor<4xf32> {
    %1 = graph.relu %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-remark@+1 {{'func.func' stays without steps: a value that is no tensor of static shape}}
func.func @extents(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.relu %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-remark@+1 {{'func.func' stays without steps: no op whose result is used}}
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
