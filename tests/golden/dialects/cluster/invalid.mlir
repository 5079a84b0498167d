// RUN: gradus opt %s --split-input-file --verify-diagnostics

cluster.program @order machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{expected 'event'}}
  cluster.wait {count = 1, event = 0}
}

// -----

cluster.program @number machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{custom op 'cluster.wait' has -1, which is not between 0 and 4294967295}}
  cluster.wait {event = -1, count = 1}
}

// -----

cluster.program @word machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{expected one of f32, f16, i8, u8}}
  cluster.softmax {task = 0, input = {offset = 0, row = 4, pixel = 4, channel = 4, rows = 1, cols = 1, channels = 1, elem = f64}, output = {offset = 0, row = 4, pixel = 4, channel = 4, rows = 1, cols = 1, channels = 1, elem = f32}}
}

// -----

cluster.program @comma machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{expected '{'}}
  cluster.map {task = 0, input = {offset = 0, row = 4, pixel = 4, channel = 4, rows = 1, cols = 1, channels = 1, elem = f32}, output = {offset = 0, row = 4, pixel = 4, channel = 4, rows = 1, cols = 1, channels = 1, elem = f32}, stages = [{kind = sigmoid},]}
}

// -----

cluster.program @rule machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.notify' op violates a rule: a mask has clusters of the program only}}
  cluster.notify {clusters = 2, event = 0}
}

// -----

cluster.program @missing machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.wait' op requires the field 'count'}}
  "cluster.wait"() <{fields = {event = 0 : i64}}> : () -> ()
}

// -----

cluster.program @unknown machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.wait' op has an unknown field 'size'}}
  "cluster.wait"() <{fields = {event = 0 : i64, count = 1 : i64, size = 1 : i64}}> : () -> ()
}

// -----

cluster.program @mistyped machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.wait' op requires a 64-bit integer as the field 'event'}}
  "cluster.wait"() <{fields = {event = 0 : i32, count = 1 : i64}}> : () -> ()
}

// -----

cluster.program @range machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.wait' op has 4294967296, which is not between 0 and 4294967295, in the field 'count'}}
  "cluster.wait"() <{fields = {event = 0 : i64, count = 4294967296 : i64}}> : () -> ()
}

// -----

cluster.program @path machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.map' op requires a 32-bit float as the field 'stages[1].slope'}}
  "cluster.map"() <{fields = {task = 0 : i64, input = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, output = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, stages = [{kind = "sigmoid"}, {kind = "leaky", slope = 1.0 : f64}]}}> : () -> ()
}

// -----

cluster.program @kind machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.map' op requires one of requantize, affine, add, mul, quantized_add, quantized_mul, clamp, leaky, sigmoid, hard_sigmoid, hard_swish, table, quantize, dequantize as the field 'stages[0].kind'}}
  "cluster.map"() <{fields = {task = 0 : i64, input = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, output = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, stages = [{kind = "tanh"}]}}> : () -> ()
}

// -----

cluster.program @many machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.map' op has 7 elements in the field 'stages', too many}}
  "cluster.map"() <{fields = {task = 0 : i64, input = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, output = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, stages = [{kind = "sigmoid"}, {kind = "sigmoid"}, {kind = "sigmoid"}, {kind = "sigmoid"}, {kind = "sigmoid"}, {kind = "sigmoid"}, {kind = "sigmoid"}]}}> : () -> ()
}

// -----

cluster.program @nested machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.map' op has an unknown field 'input.depth'}}
  "cluster.map"() <{fields = {task = 0 : i64, input = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32", depth = 1 : i64}, output = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, stages = []}}> : () -> ()
}

// -----

cluster.program @group machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  // expected-error@+1 {{'cluster.map' op requires an array as the field 'stages'}}
  "cluster.map"() <{fields = {task = 0 : i64, input = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, output = {offset = 0 : i64, row = 4 : i64, pixel = 4 : i64, channel = 4 : i64, rows = 1 : i64, cols = 1 : i64, channels = 1 : i64, elem = "f32"}, stages = {}}}> : () -> ()
}

// -----

cluster.program @number machine {clusters = 2, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
// expected-error@+1 {{expected 0, the number of the next cluster}}
cluster 1 {
}

// -----

// expected-error@+1 {{'cluster.program' op has records of 2 clusters, of a machine with 1}}
cluster.program @clusters machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
}
cluster 1 {
}

// -----

// expected-error@+1 {{'cluster.program' op is isolated from above but has no region}}
cluster.program @none machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>

// -----

// expected-error@+1 {{'cluster.program' op requires a machine with alignment: a power of 2 up to 4096}}
cluster.program @machine machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 33, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
}

// -----

// expected-error@+1 {{'cluster.program' op requires 0 to 2147483648 bytes of DDR}}
cluster.program @ddr machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr -1 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
}

// -----

// expected-error@+1 {{'cluster.program' op has more constants than the 2 bytes of DDR}}
cluster.program @constants machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 2 operands [] results [] constants dense<0> : tensor<3xui8>
cluster 0 {
}

// -----

// expected-error@+1 {{'cluster.program' op has 8 bytes of operands at byte 60, beyond the 64 of DDR}}
cluster.program @operand machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [[60, 8]] results [] constants dense<> : tensor<0xui8>
cluster 0 {
}

// -----

// expected-error@+1 {{attribute 'results' failed to satisfy constraint: array of pairs of 64-bit integers}}
cluster.program @pairs machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [1] constants dense<> : tensor<0xui8>
cluster 0 {
}

// -----

// The result is never written.
// expected-error@+1 {{'cluster.program' op is rejected: poison: }}
cluster.program @poison machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [[0, 8]] constants dense<> : tensor<0xui8>
cluster 0 {
}

// -----

// The read of the bytes does not wait for them.
// expected-error@+1 {{'cluster.program' op is rejected: record 1 of cluster 0: read after write: }}
cluster.program @race machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [[0, 8]] results [[8, 8]] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, clusters = 1, event = 0}
  cluster.store {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 8, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, event = 1}
  cluster.wait {event = 0, count = 1}
  cluster.wait {event = 1, count = 1}
}

// -----

// Each cluster waits for the other one.
// expected-error@+1 {{'cluster.program' op is rejected: }}
cluster.program @deadlock machine {clusters = 2, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.wait {event = 0, count = 1}
  cluster.notify {clusters = 2, event = 0}
}
cluster 1 {
  cluster.wait {event = 0, count = 1}
  cluster.notify {clusters = 1, event = 0}
}

// -----

func.func @alone() {
  // expected-error@+1 {{'cluster.wait' op expects parent op 'cluster.program'}}
  cluster.wait {event = 0, count = 1}
  return
}

// -----

cluster.program @p machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [[0, 8]] results [[8, 8]] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, clusters = 1, event = 0}
  cluster.wait {event = 0, count = 1}
  cluster.store {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 8, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, event = 1}
  cluster.wait {event = 1, count = 1}
}

func.func @f(%a: tensor<8xi8>) {
  // expected-error@+1 {{'cluster.call' op calls a program of 1 operands and 1 results}}
  cluster.call @p(%a) : (tensor<8xi8>) -> ()
  return
}

// -----

cluster.program @p machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [[0, 8]] results [[8, 8]] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, clusters = 1, event = 0}
  cluster.wait {event = 0, count = 1}
  cluster.store {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 8, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, event = 1}
  cluster.wait {event = 1, count = 1}
}

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'cluster.call' op requires a tensor of 8 bytes, not 'tensor<4xf32>'}}
  %0 = cluster.call @p(%a) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

cluster.program @p machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [[0, 8]] results [[8, 8]] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, clusters = 1, event = 0}
  cluster.wait {event = 0, count = 1}
  cluster.store {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 8, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, event = 1}
  cluster.wait {event = 1, count = 1}
}

func.func @f(%a: tensor<2xi32>) {
  // expected-error@+1 {{'cluster.call' op requires tensors of f32, f16, i8 or ui8 with static extents, not 'tensor<2xi32>'}}
  %0 = cluster.call @p(%a) : (tensor<2xi32>) -> tensor<4xf16>
  return
}

// -----

cluster.program @p machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [[0, 8]] results [[8, 8]] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, clusters = 1, event = 0}
  cluster.wait {event = 0, count = 1}
  cluster.store {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 8, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, event = 1}
  cluster.wait {event = 1, count = 1}
}

func.func @f(%a: tensor<8xi8>) {
  // expected-error@+1 {{'cluster.call' op requires the name of a 'cluster.program'}}
  %0 = cluster.call @f(%a) : (tensor<8xi8>) -> tensor<8xi8>
  return
}

// -----

// expected-error@+1 {{'cluster.program' op 'cluster.code': byte 20: an unknown function}}
cluster.program @bytes machine {clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 64 operands [] results [] constants dense<> : tensor<0xui8>
cluster 0 {
  cluster.code dense<[16, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]> : tensor<32xui8>
}
