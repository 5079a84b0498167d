// RUN: gradus opt %s

// The maxima of windows of 3x3. Each cluster has four rows of the image, from byte 4 of its memory on, and receives the row beyond
// them from the other one: its halo.
cluster.program @maxima machine {
  clusters = 2, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64,
  int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300,
  ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32,
  slice = 350000
} ddr 64 operands [[0, 32]] results [[32, 32]] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.fetch {
    transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 4, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 16},
    clusters = 1, event = 0
  }
  cluster.wait {event = 0, count = 1}
  cluster.send {
    transfer = {from = {offset = 16, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 4},
    clusters = 2, event = 1
  }
  cluster.wait {event = 1, count = 1}
  cluster.pool {
    task = 0,
    input = {offset = 4, row = 4, pixel = 1, channel = 1, rows = 5, cols = 4, channels = 1, elem = i8},
    output = {offset = 32, row = 4, pixel = 1, channel = 1, rows = 4, cols = 4, channels = 1, elem = i8},
    window = {kernel = [3, 3], stride = [1, 1], dilation = [1, 1], first = [-1, -1]},
    is_max = true, divisor = 0, stages = []
  }
  cluster.store {
    transfer = {from = {offset = 32, row = 0, pixel = 0}, to = {offset = 32, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 16},
    event = 2
  }
  cluster.wait {event = 2, count = 1}
}
cluster 1 {
  cluster.fetch {
    transfer = {from = {offset = 16, row = 0, pixel = 0}, to = {offset = 4, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 16},
    clusters = 2, event = 0
  }
  cluster.wait {event = 0, count = 1}
  cluster.send {
    transfer = {from = {offset = 4, row = 0, pixel = 0}, to = {offset = 20, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 4},
    clusters = 1, event = 1
  }
  cluster.wait {event = 1, count = 1}
  cluster.pool {
    task = 0,
    input = {offset = 0, row = 4, pixel = 1, channel = 1, rows = 5, cols = 4, channels = 1, elem = i8},
    output = {offset = 32, row = 4, pixel = 1, channel = 1, rows = 4, cols = 4, channels = 1, elem = i8},
    window = {kernel = [3, 3], stride = [1, 1], dilation = [1, 1], first = [0, -1]},
    is_max = true, divisor = 0, stages = []
  }
  cluster.store {
    transfer = {from = {offset = 32, row = 0, pixel = 0}, to = {offset = 48, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 16},
    event = 2
  }
  cluster.wait {event = 2, count = 1}
}

func.func @main() -> tensor<8x4xi8> {
  %image = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]> : tensor<8x4xi8>
  %maxima = cluster.call @maxima(%image) : (tensor<8x4xi8>) -> tensor<8x4xi8>
  return %maxima : tensor<8x4xi8>
}
