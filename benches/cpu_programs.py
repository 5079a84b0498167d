"""The programs and models that the benchmark of the cpu target times: convolutions, dense products, networks."""
import csv
import math
import os
import typing

import numpy as np
import onnx
import onnx.helper as h

HERE = os.path.dirname(os.path.abspath(__file__))


class Conv(typing.NamedTuple):
    """The sizes of a convolution."""
    c: int
    size: int
    o: int
    k: int
    stride: int
    groups: int

    @property
    def pad(self):
        return self.k // 2

    @property
    def out(self):
        return (self.size + 2 * self.pad - self.k) // self.stride + 1

    @property
    def flops(self):
        return 2 * self.out ** 2 * self.o * (self.c // self.groups) * self.k ** 2

    @property
    def repeat(self):
        """How often it is done in a round."""
        return max(9, min(200, int(3e9 / self.flops)))

    @property
    def attrs(self):
        pads, strides = f'array<i64: {", ".join([str(self.pad)] * 4)}>', f'array<i64: {self.stride}, {self.stride}>'
        return f'pads = {pads}, strides = {strides}, group = {self.groups} : i64'

    def types(self, image, weight):
        """The types of the image and the result with channels last and first, and of the weights."""
        c, size, o, out = self.c, self.size, self.o, self.out
        return (f'tensor<1x{size}x{size}x{c}x{image}>', f'tensor<1x{c}x{size}x{size}x{image}>',
                f'tensor<1x{o}x{out}x{out}x{image}>', f'tensor<1x{out}x{out}x{o}x{image}>',
                f'tensor<{o}x{c // self.groups}x{self.k}x{self.k}x{weight}>')


def convolutions():
    """The name and the sizes of each layer."""
    with open(os.path.join(HERE, 'conv_layers.tsv')) as rows:
        for row in csv.DictReader(rows, delimiter='\t'):
            yield row['name'], Conv(*(int(row[key]) for key in
                                      ['in_channels', 'in_size', 'out_channels', 'kernel', 'stride', 'groups']))


def kinds(name, conv):
    """What a layer counts as."""
    network = name.split()[0]
    return [network] if network != 'mb2' else [network, 'mb2 dense' if conv.groups == 1 else 'mb2 depthwise']


def dense(array):
    return f'dense<"0x{array.tobytes().hex().upper()}">'


def layer(conv, w):
    """A convolution as a program. The first one of a network reads what is given, others what others made."""
    packed, plain, made, back, weights = conv.types('f32', 'f32')
    argument, unpack = f'%a: {packed}', f'%x = layout.unpack %a from <"NHWC"> : {packed} -> {plain}'
    if conv.c == 3:
        argument, unpack = f'%x: {plain}', ''
    return f'''func.func @main({argument}) -> {back} {{
  {unpack}
  %w = arith.constant {dense(w)} : {weights}
  %y = graph.conv %x, %w {{{conv.attrs}}} : ({plain}, {weights}) -> {made}
  %c = layout.pack %y into <"NHWC"> : {made} -> {back}
  return %c : {back}
}}
'''


def model_of(conv, w):
    """A convolution as a model."""
    node = h.make_node('Conv', ['x', 'w'], ['y'], pads=[conv.pad] * 4, strides=[conv.stride] * 2, group=conv.groups)
    graph = h.make_graph([node], 'layer', [h.make_tensor_value_info('x', 1, [1, conv.c, conv.size, conv.size])],
                         [h.make_tensor_value_info('y', 1, None)], [onnx.numpy_helper.from_array(w, 'w')])
    return h.make_model(graph, opset_imports=[h.make_opsetid('', 13)], ir_version=8).SerializeToString()


def weights_of(conv):
    return np.random.rand(conv.o, conv.c // conv.groups, conv.k, conv.k).astype(np.float32)


def quantized(conv):
    """A layer with bytes in place of floats: an image without sign, weights with one; a scale as it may be found."""
    w = np.random.randint(-128, 128, (conv.o, conv.c // conv.groups, conv.k, conv.k), np.int8)
    packed, plain, made, back, weights = conv.types('ui8', 'i8')
    types = f'({plain}, tensor<f32>, tensor<ui8>, {weights}, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> {made}'
    return f'''func.func @main(%a: {packed}) -> {back} {{
  %x = layout.unpack %a from <"NHWC"> : {packed} -> {plain}
  %w = arith.constant {dense(w)} : {weights}
  %s = arith.constant dense<{np.random.uniform(0.01, 0.03):.9f}> : tensor<f32>
  %z = graph.constant dense<128> : tensor<ui8>
  %n = arith.constant dense<0> : tensor<i8>
  %y = graph.qlinear_conv %x, %s, %z, %w, %s, %n, %s, %z {{{conv.attrs}}} : {types}
  %c = layout.pack %y into <"NHWC"> : {made} -> {back}
  return %c : {back}
}}
'''


def product(m, k, n):
    """A dense product with a constant as second factor."""
    a, b, y = f'tensor<{m}x{k}xf32>', f'tensor<{k}x{n}xf32>', f'tensor<{m}x{n}xf32>'
    return f'''func.func @main(%a: {a}) -> {y} {{
  %b = arith.constant {dense(np.random.rand(k, n).astype(np.float32))} : {b}
  %y = graph.matmul %a, %b : ({a}, {b}) -> {y}
  return %y : {y}
}}
'''


def randomized(model):
    """The model with random weights, and what its last softmax reads as output."""
    rng = np.random.default_rng(1)
    graph, roles = model.graph, {}
    for node in graph.node:
        if node.op_type == 'BatchNormalization':
            roles[node.input[1]] = roles[node.input[4]] = 'positive'
        if node.op_type in ('Conv', 'Gemm'):
            roles.setdefault(node.input[1], 'factor')

    def values(name, shape):
        if roles.get(name) == 'positive':
            return rng.uniform(0.5, 1.0, shape).astype(np.float32)
        scale = math.sqrt(1 / (np.prod(shape[1:]) or 1)) if roles.get(name) == 'factor' else 0.1
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    known = {}
    for tensor in graph.initializer:
        known[tensor.name] = array = onnx.numpy_helper.to_array(tensor)
        if array.dtype == np.float32 and array.size > 1:
            tensor.CopyFrom(onnx.numpy_helper.from_array(values(tensor.name, array.shape), tensor.name))
    for node in list(graph.node):
        if node.op_type == 'ConstantOfShape' and node.input[0] in known:
            shape = tuple(int(d) for d in known[node.input[0]])
            graph.initializer.append(onnx.numpy_helper.from_array(values(node.output[0], shape), node.output[0]))
            graph.node.remove(node)
    last = graph.node[-1]
    if last.op_type == 'Softmax':
        graph.output[0].name = last.input[0]
        graph.node.remove(last)
    del graph.value_info[:]
    return model


def mobilenet():
    """MobileNet-v2 with seeded weights (Sandler et al., 2018, table 2)."""
    rng, nodes, weights = np.random.default_rng(3), [], []

    def weight(name, array):
        weights.append(onnx.numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def node(op, inputs, **attributes):
        name = f'{op}{len(nodes)}'
        nodes.append(h.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def conv(x, c, o, k, stride=1, groups=1, clip=True):
        i, fan = len(nodes), c // groups * k * k
        w = weight(f'w{i}', rng.standard_normal((o, c // groups, k, k)) * math.sqrt(2 / fan))
        b = weight(f'b{i}', rng.standard_normal(o) * 0.1)
        y = node('Conv', [x, w, b], kernel_shape=[k, k], pads=[k // 2] * 4, strides=[stride] * 2, group=groups)
        return node('Clip', [y, low, high]) if clip else y

    low, high = weight('low', np.array(0)), weight('high', np.array(6))
    x, c = conv('x', 3, 32, 3, 2), 32
    for expansion, o, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                        (6, 320, 1, 1)]:
        for i in range(count):
            wide = c * expansion
            y = conv(x, c, wide, 1) if expansion != 1 else x
            y = conv(y, wide, wide, 3, stride if i == 0 else 1, wide)
            y = conv(y, wide, o, 1, clip=False)
            x, c = node('Add', [x, y]) if i > 0 else y, o
    x = node('Flatten', [node('GlobalAveragePool', [conv(x, c, 1280, 1)])])
    factors = [weight('fw', rng.standard_normal((1000, 1280)) / 36), weight('fb', rng.standard_normal(1000) * 0.1)]
    y = node('Gemm', [x, *factors], transB=1)
    graph = h.make_graph(nodes, 'mobilenet_v2', [h.make_tensor_value_info('x', 1, [1, 3, 224, 224])],
                         [h.make_tensor_value_info(y, 1, [1, 1000])], weights)
    return h.make_model(graph, opset_imports=[h.make_opsetid('', 13)], ir_version=8)
