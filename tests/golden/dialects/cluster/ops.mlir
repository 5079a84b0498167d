// RUN: gradus opt %s

// All functions: floats, whose result another cluster stores.
cluster.program @floats machine {clusters = 2, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 256 operands [] results [[64, 8]] constants dense<0> : tensor<64xui8>
cluster 0 {
  cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 64}, clusters = 3, event = 0}
  cluster.wait {event = 0, count = 1}
  cluster.conv {task = 0, input = {offset = 0, row = 16, pixel = 16, channel = 4, rows = 1, cols = 1, channels = 4, elem = f32}, output = {offset = 64, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}, weights = 16, weights_elem = f32, bias = 56, window = {kernel = [1, 1], stride = [1, 1], dilation = [1, 1], first = [0, 0]}, group_in = 4, group_out = 2, skip = 0, zero = 0, weights_zero = 0, stages = [{kind = affine, scales = 48}, {kind = leaky, slope = 1.000000e-01}]}
  cluster.map {task = 1, input = {offset = 64, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}, output = {offset = 64, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}, stages = [{kind = hard_swish}, {kind = sigmoid}, {kind = clamp, low = 0.000000e+00, high = 0x7F800000}]}
  cluster.softmax {task = 2, input = {offset = 64, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}, output = {offset = 72, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}}
  cluster.lrn {task = 3, input = {offset = 72, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}, output = {offset = 80, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}, before = 0, size = 2, alpha = 1.000000e-04, beta = 7.500000e-01, bias = 1.000000e+00}
  cluster.pool {task = 4, input = {offset = 80, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}, output = {offset = 88, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}, window = {kernel = [1, 1], stride = [1, 1], dilation = [1, 1], first = [0, 0]}, is_max = false, divisor = 1, stages = []}
  cluster.send {transfer = {from = {offset = 88, row = 0, pixel = 0}, to = {offset = 88, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, clusters = 2, event = 1}
  cluster.notify {clusters = 2, event = 2} attributes {note = "ready"}
}
cluster 1 {
  cluster.wait {event = 0, count = 1}
  cluster.wait {event = 1, count = 1}
  cluster.wait {event = 2, count = 1}
  cluster.store {transfer = {from = {offset = 88, row = 0, pixel = 0}, to = {offset = 64, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 8}, event = 3}
  cluster.wait {event = 3, count = 1}
}

// -----

// Bytes: a requantized convolution without bias, and all stages of quantized values. The second cluster is idle.
cluster.program @bytes machine {clusters = 2, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64, int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300, ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32, slice = 350000} ddr 1024 operands [] results [[1000, 2]] constants dense<1> : tensor<512xui8>
cluster 0 {
  cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 512}, clusters = 1, event = 0}
  cluster.wait {event = 0, count = 1}
  cluster.conv {task = 0, input = {offset = 0, row = 4, pixel = 4, channel = 1, rows = 1, cols = 1, channels = 4, elem = i8}, output = {offset = 600, row = 2, pixel = 2, channel = 1, rows = 1, cols = 1, channels = 2, elem = i8}, weights = 4, weights_elem = i8, window = {kernel = [1, 1], stride = [1, 1], dilation = [1, 1], first = [0, 0]}, group_in = 4, group_out = 2, skip = 0, zero = -3, weights_zero = 0, stages = [{kind = requantize, scales = 20, zero = 5, elem = i8}, {kind = quantized_add, other = {offset = 28, row = 2, pixel = 2, channel = 1, rows = 1, cols = 1, channels = 2, elem = i8}, x = {scale = 5.000000e-01, zero = 1}, y = {scale = 2.500000e-01, zero = 2}, to = {scale = 1.000000e-01, zero = -4}, elem = i8}, {kind = table, tables = 64, per_channel = false, from = i8, to = i8}]}
  cluster.map {task = 1, input = {offset = 600, row = 2, pixel = 2, channel = 1, rows = 1, cols = 1, channels = 2, elem = i8}, output = {offset = 608, row = 2, pixel = 2, channel = 1, rows = 1, cols = 1, channels = 2, elem = i8}, stages = [{kind = dequantize, from = {scale = 5.000000e-01, zero = 1}}, {kind = mul, other = {offset = 320, row = 4, pixel = 4, channel = 4, rows = 1, cols = 1, channels = 1, elem = f32}}, {kind = add, other = {offset = 324, row = 8, pixel = 8, channel = 4, rows = 1, cols = 1, channels = 2, elem = f32}}, {kind = hard_sigmoid, alpha = 2.000000e-01, beta = 5.000000e-01}, {kind = quantize, to = {scale = 3.906250e-03, zero = -128}, elem = i8}, {kind = quantized_mul, other = {offset = 28, row = 1, pixel = 1, channel = 1, rows = 1, cols = 1, channels = 1, elem = i8}, x = {scale = 5.000000e-01, zero = 1}, y = {scale = 2.500000e-01, zero = 2}, to = {scale = 1.000000e-01, zero = -4}, elem = i8}]}
  cluster.store {transfer = {from = {offset = 608, row = 0, pixel = 0}, to = {offset = 1000, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 2}, event = 1}
  cluster.wait {event = 1, count = 1}
}
cluster 1 {
}
