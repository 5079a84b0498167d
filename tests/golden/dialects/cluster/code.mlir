// RUN: gradus opt %s

// Records as bytes: the wait for the bytes that the first record fetches, the store, and the wait for that.
cluster.program @copy machine {
  clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64,
  int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300,
  ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32,
  slice = 350000
} ddr 128 operands [[0, 64]] results [[64, 64]] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 64}, clusters = 1, event = 0}
  cluster.code dense<[16, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 48, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 64, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]> : tensor<80xui8>
}

func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %y = cluster.call @copy(%x) : (tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
