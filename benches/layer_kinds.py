"""Layers of networks, drawn at random: models of a few ops with random weights, and inputs for them."""
import math

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Layer:
    """A model while it is built: names of values are numbers in the order of their ops."""

    def __init__(self, random):
        self.random, self.nodes, self.constants, self.inputs, self.feed, self.words = random, [], [], [], {}, []

    def input(self, *shape, dtype=np.float32, high=None):
        name = f'x{len(self.inputs)}'
        made = self.random.integers(0, high, shape) if high else self.random.standard_normal(shape)
        self.feed[name] = made.astype(dtype)
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        return name

    def constant(self, value):
        name = f'c{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weights(self, *shape):
        depth = max(1, math.prod(shape[1:]))
        return self.constant((self.random.standard_normal(shape) / math.sqrt(depth)).astype(np.float32))

    def op(self, kind, *operands, outputs=1, **attributes):
        names = [f'v{len(self.nodes)}' if i == 0 else f'v{len(self.nodes)}_{i}' for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, operands, names, **attributes))
        return names[0]

    def model(self, result):
        out = helper.make_tensor_value_info(result, onnx.TensorProto.UNDEFINED, None)
        out.type.Clear()
        graph = helper.make_graph(self.nodes, 'layer', self.inputs, [out], self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9)
        return onnx.shape_inference.infer_shapes(made)

    def pick(self, *choices):
        return choices[int(self.random.integers(len(choices)))]

    def between(self, low, high):
        """A number between two, as likely in each octave."""
        return round(math.exp(self.random.uniform(math.log(low), math.log(high))))

    def say(self, *words):
        self.words += [str(word) for word in words]

    def activation(self, value):
        kind = self.pick('', '', 'Relu', 'HardSwish', 'Sigmoid', 'LeakyRelu', 'silu')
        if kind == 'silu':
            value = self.op('Mul', value, self.op('Sigmoid', value))
        elif kind:
            value = self.op(kind, value)
        self.say(kind) if kind else None
        return value


def conv(layer, size, channels, out, kernel, stride=1, groups=1, dilation=1):
    """A convolution of any number of spatial axes, padded to the same size, with bias and an activation."""
    window = [k for k in kernel]
    pads = [(k - 1) * dilation // 2 for k in window] + [(k - 1) * dilation - (k - 1) * dilation // 2 for k in window]
    layer.say('x'.join(map(str, kernel)) + (f'/{stride}' if stride > 1 else '') + (f' d{dilation}' if dilation > 1 else ''),
              'x'.join(map(str, size)), f'{channels}-{out}', f'groups={groups}' if groups > 1 else '')
    x, w = layer.input(1, channels, *size), layer.weights(out, channels // groups, *window)
    made = layer.op('Conv', x, w, layer.weights(out), kernel_shape=window, strides=[stride] * len(size), pads=pads, group=groups,
                    dilations=[dilation] * len(size))
    return layer.activation(made)


def image(layer, work):
    """An image size, and channels so that a layer is neither nothing nor a second: `work` bounds elements of the image."""
    height = layer.pick(7, 10, 14, 16, 20, 28, 40, 56, 80, 112, 160, 320, 640, 1000)
    width = layer.pick(height, height, height * 3 // 4, max(7, height // 3))
    channels = layer.between(3, max(4, min(1024, work // (height * width))))
    return [height, width], layer.pick(channels, -(-channels // 8) * 8, -(-channels // 8) * 8)


def pointwise(layer):
    size, channels = image(layer, 1 << 20)
    return conv(layer, size, channels, layer.pick(channels, channels // 4 + 1, min(channels * 4, 512), layer.between(4, 512)), [1, 1],
                layer.pick(1, 1, 1, 2))


def square(layer):
    size, channels = image(layer, 1 << 18)
    kernel = layer.pick(3, 3, 3, 5, 7)
    out = layer.pick(channels, layer.between(1, 256), layer.between(1, 24))
    return conv(layer, size, channels, out, [kernel, kernel], layer.pick(1, 1, 2), 1, layer.pick(1, 1, 1, 2))


def grouped(layer):
    size, channels = image(layer, 1 << 18)
    groups = layer.pick(2, 4, 8, 32)
    channels = -(-channels // groups) * groups
    return conv(layer, size, channels, channels, [3, 3], layer.pick(1, 2), groups)


def depthwise(layer):
    size, channels = image(layer, 1 << 20)
    kernel = layer.pick([3, 3], [3, 3], [5, 5], [7, 7], [1, 31], [31, 1], [1, 3], [9, 9])
    return conv(layer, size, channels, channels, kernel, layer.pick(1, 1, 2), channels, layer.pick(1, 1, 1, 2))


def one_dimensional(layer):
    length, channels = layer.between(16, 20000), layer.between(1, 512)
    depthwise = layer.pick(False, False, True)
    kernel = layer.pick(1, 3, 5, 7, 15, 31)
    channels = min(channels, max(1, (1 << 20) // length))
    return conv(layer, [length], channels, channels if depthwise else layer.between(1, 512), [kernel], layer.pick(1, 1, 2, 4),
                channels if depthwise else 1)


def transposed(layer):
    size, channels = image(layer, 1 << 16)
    kernel, stride = layer.pick((2, 2), (3, 2), (4, 2), (3, 1))
    out = layer.between(1, 128)
    layer.say(f'{kernel}x{kernel}/{stride}', 'x'.join(map(str, size)), f'{channels}-{out}')
    pad = (kernel - stride) // 2
    return layer.activation(layer.op('ConvTranspose', layer.input(1, channels, *size), layer.weights(channels, out, kernel, kernel),
                                     layer.weights(out), strides=[stride, stride], pads=[pad] * 4))


def product(layer):
    rows, depth, columns = layer.pick(1, 1, 2, 7, 16, 49, 128, 197, 512), layer.between(4, 4096), layer.between(1, 4096)
    while rows * depth * columns > 1 << 29:
        columns = columns // 2 + 1
    layer.say(f'{rows}x{depth}x{columns}')
    x, w = layer.input(rows, depth), layer.weights(depth, columns)
    made = layer.op('Gemm', x, w, layer.weights(columns)) if layer.pick(True, False) else layer.op('MatMul', x, w)
    return layer.activation(made)


def thin_product(layer):
    rows, depth, columns = layer.between(1, 4096), layer.between(1, 16), layer.between(1, 1024)
    if layer.pick(True, False):
        depth, columns = layer.between(16, 1024), layer.between(1, 40)
    layer.say(f'{rows}x{depth}x{columns}')
    return layer.op('Add', layer.op('MatMul', layer.input(1, rows, depth), layer.weights(depth, columns)), layer.weights(columns))


def product_of_inputs(layer):
    batch, rows, depth, columns = layer.between(1, 32), layer.between(1, 256), layer.between(4, 256), layer.between(4, 256)
    layer.say(f'{batch}x{rows}x{depth}x{columns}')
    return layer.op('MatMul', layer.input(batch, rows, depth), layer.input(batch, depth, columns))


def attention(layer):
    heads, queries, keys, width = layer.pick(1, 4, 8, 12), layer.pick(1, 1, 16, 50, 128, 197), layer.between(16, 1024), layer.pick(32, 64, 80, 128)
    layer.say(f'{heads} heads of {width}, {queries} queries, {keys} keys')
    q, k, v = (layer.input(1, heads, n, width) for n in (queries, keys, keys))
    scores = layer.op('MatMul', q, layer.op('Transpose', k, perm=[0, 1, 3, 2]))
    scaled = layer.op('Mul', scores, layer.constant(np.float32(1 / math.sqrt(width))))
    return layer.op('MatMul', layer.op('Softmax', scaled, axis=-1), v)


def pool(layer):
    size, channels = image(layer, 1 << 20)
    kind, kernel = layer.pick('MaxPool', 'AveragePool'), layer.pick(2, 3, 3, 5)
    stride = layer.pick(1, 2)
    layer.say(kind, f'{kernel}x{kernel}/{stride}', 'x'.join(map(str, size)), channels)
    return layer.op(kind, layer.input(1, channels, *size), kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4 if kernel > 2 else [0] * 4)


def resize(layer):
    size, channels = image(layer, 1 << 18)
    mode = layer.pick('nearest', 'linear', 'linear', 'cubic')
    coordinates = layer.pick('asymmetric', 'half_pixel', 'align_corners')
    scale = layer.pick(2.0, 2.0, 0.5, 1.5)
    layer.say(mode, coordinates, f'x{scale}', 'x'.join(map(str, size)), channels)
    return layer.op('Resize', layer.input(1, channels, *size), '', layer.constant(np.float32([1, 1, scale, scale])), mode=mode,
                    coordinate_transformation_mode=coordinates, nearest_mode='floor')


def normalization(layer):
    rows, width = layer.between(1, 1024), layer.between(16, 2048)
    kind = layer.pick('LayerNormalization', 'Softmax', 'InstanceNormalization', 'LogSoftmax', 'LpNormalization')
    layer.say(kind, f'{rows}x{width}')
    if kind == 'InstanceNormalization':
        return layer.op(kind, layer.input(1, rows, width), layer.weights(rows), layer.weights(rows))
    x = layer.input(1, rows, width)
    return layer.op(kind, x, layer.weights(width), layer.weights(width), axis=-1) if kind.startswith('Layer') else layer.op(kind, x, axis=-1)


def reduction(layer):
    shape = [layer.between(1, 16), layer.between(8, 256), layer.between(8, 256)]
    axes = layer.pick([0], [1], [2], [1, 2], [0, 2], [0, 1])
    kind = layer.pick('ReduceMean', 'ReduceSum', 'ReduceMax', 'ReduceL2', 'ReduceLogSumExp')
    layer.say(kind, shape, axes)
    return layer.op(kind, layer.input(*shape), layer.constant(np.int64(axes)), keepdims=1)


def elementwise(layer):
    shape = [1, layer.between(8, 512), layer.between(16, 4096)]
    kinds = [layer.pick('Exp', 'Tanh', 'Erf', 'Sqrt', 'Abs', 'Sigmoid', 'Softplus', 'HardSwish', 'Softsign') for _ in range(2)]
    value = layer.input(*shape)
    layer.say('+'.join(kinds), shape)
    for kind in kinds:
        value = layer.op(kind, layer.op('Abs', value) if kind == 'Sqrt' else value)
    return layer.op('Add', layer.op('Mul', value, layer.weights(shape[1], 1)), layer.weights(shape[2]))


def movement(layer):
    shape = [layer.between(1, 16), layer.between(4, 128), layer.between(4, 128), layer.between(4, 64)]
    kind = layer.pick('Transpose', 'Concat', 'Slice', 'Pad', 'Tile', 'DepthToSpace', 'Gather')
    x = layer.input(*([1, shape[1] * 4, *shape[2:]] if kind == 'DepthToSpace' else shape))
    if kind == 'Transpose':
        order = [int(n) for n in layer.random.permutation(4)]
        layer.say(kind, shape, order)
        return layer.op(kind, x, perm=order)
    axis = layer.pick(1, 2, 3)
    layer.say(kind, shape, axis)
    if kind == 'Concat':
        return layer.op(kind, x, layer.input(*shape), axis=axis)
    if kind == 'Slice':
        return layer.op(kind, x, layer.constant(np.int64([1])), layer.constant(np.int64([shape[axis] - 1])), layer.constant(np.int64([axis])),
                        layer.constant(np.int64([layer.pick(1, 2)])))
    if kind == 'Pad':
        return layer.op(kind, x, layer.constant(np.int64([0, 0, 1, 2, 0, 0, 2, 1])), mode=layer.pick('constant', 'reflect', 'edge'))
    if kind == 'Tile':
        return layer.op(kind, x, layer.constant(np.int64([1, 2, 1, 3])))
    if kind == 'DepthToSpace':
        return layer.op(kind, x, blocksize=2, mode=layer.pick('DCR', 'CRD'))
    return layer.op(kind, x, layer.input(layer.between(4, 64), dtype=np.int64, high=shape[axis]), axis=axis)


def recurrent(layer):
    steps, batch, inputs, hidden = layer.between(1, 100), layer.pick(1, 1, 4), layer.between(8, 256), layer.between(8, 256)
    kind, gates = layer.pick(('LSTM', 4), ('GRU', 3))
    directions = layer.pick(1, 2)
    layer.say(kind, f'{steps} steps, batch {batch}, {inputs}-{hidden}', 'both ways' if directions == 2 else '')
    shapes = [(directions, gates * hidden, inputs), (directions, gates * hidden, hidden), (directions, 2 * gates * hidden)]
    w, r, b = (layer.weights(*shape) for shape in shapes)
    return layer.op(kind, layer.input(steps, batch, inputs), w, r, b, hidden_size=hidden, direction='bidirectional' if directions == 2 else 'forward')


KINDS = [pointwise, pointwise, square, square, square, grouped, depthwise, depthwise, one_dimensional, one_dimensional, transposed, product, product,
         thin_product, product_of_inputs, attention, pool, resize, normalization, reduction, elementwise, movement, recurrent]

# Operators that have no kind of their own, at a size that networks have: what follows is made of a layer.
F32, I64, I32, U8 = np.float32, np.int64, np.int32, np.uint8


def boxes(layer, count, size=640):
    """Boxes of two corners, as a value of shape [1, count, 4]."""
    name = layer.input(1, count, 4)
    corner = layer.random.uniform(0, size, (1, count, 2))
    layer.feed[name] = np.concatenate([corner, corner + layer.random.uniform(4, size / 4, (1, count, 2))], axis=-1).astype(F32)
    return name


def positive(layer, *shape):
    name = layer.input(*shape)
    layer.feed[name] = np.abs(layer.feed[name]) + F32(0.1)
    return name


OPERATORS = {
    'ArgMax': lambda l: l.op('ArgMax', l.input(1, 512, 6625), axis=-1),
    'BatchNormalization': lambda l: l.op('BatchNormalization', l.input(1, 64, 56, 56), *(positive(l, 64) for _ in range(4))),
    'BitwiseAnd': lambda l: l.op('BitwiseAnd', l.input(256, 1024, dtype=I32, high=99), l.input(256, 1024, dtype=I32, high=99)),
    'BitShift': lambda l: l.op('BitShift', l.input(256, 1024, dtype=U8, high=99), l.input(256, 1024, dtype=U8, high=7), direction='LEFT'),
    'Cast to f16': lambda l: l.op('Cast', l.input(256, 1024), to=onnx.TensorProto.FLOAT16),
    'Cast to i64': lambda l: l.op('Cast', l.input(256, 1024), to=onnx.TensorProto.INT64),
    'Cast from u8': lambda l: l.op('Cast', l.input(256, 1024, dtype=U8, high=255), to=onnx.TensorProto.FLOAT),
    'Compress': lambda l: l.op('Compress', l.input(1024, 256), l.constant(l.random.integers(0, 2, 1024) > 0), axis=0),
    'CumSum': lambda l: l.op('CumSum', l.input(64, 128, 32), l.constant(I64(1))),
    'CumSum of i64': lambda l: l.op('CumSum', l.input(8, 512, dtype=I64, high=2), l.constant(I64(1))),
    'DFT': lambda l: l.op('DFT', l.input(64, 512, 1), '', axis=1, onesided=1),
    'DynamicQuantizeLinear': lambda l: l.op('DynamicQuantizeLinear', l.input(128, 768), outputs=3),
    'Einsum bhid,bhjd': lambda l: l.op('Einsum', l.input(1, 12, 128, 64), l.input(1, 12, 128, 64), equation='bhid,bhjd->bhij'),
    'Einsum bqnh,bknh': lambda l: l.op('Einsum', l.input(1, 128, 12, 64), l.input(1, 128, 12, 64), equation='bqnh,bknh->bnqk'),
    'GatherElements': lambda l: l.op('GatherElements', l.input(64, 512), l.input(64, 128, dtype=I64, high=512), axis=1),
    'GatherND': lambda l: l.op('GatherND', l.input(128, 64, 32), l.input(512, 2, dtype=I64, high=64)),
    'GridSample': lambda l: l.op('GridSample', l.input(1, 32, 64, 64), l.input(1, 64, 64, 2), mode='bilinear'),
    'GroupNormalization': lambda l: l.op('GroupNormalization', l.input(1, 64, 32, 32), l.weights(32), l.weights(32), num_groups=32),
    'Hardmax': lambda l: l.op('Hardmax', l.input(256, 1000), axis=-1),
    'InstanceNormalization': lambda l: l.op('InstanceNormalization', l.input(1, 64, 56, 56), l.weights(64), l.weights(64)),
    'IsNaN': lambda l: l.op('IsNaN', l.input(256, 1024)),
    'LayerNormalization': lambda l: l.op('LayerNormalization', l.input(1, 64, 28, 28), l.weights(28, 28), l.weights(28, 28), axis=2),
    'LpNormalization': lambda l: l.op('LpNormalization', l.input(16, 512, 64), axis=1),
    'LpPool': lambda l: l.op('LpPool', l.input(1, 64, 56, 56), kernel_shape=[2, 2], strides=[2, 2]),
    'MaxUnpool': lambda l: l.op('MaxUnpool', l.input(1, 16, 32, 32), l.input(1, 16, 32, 32, dtype=I64, high=65536), kernel_shape=[2, 2],
                                strides=[2, 2]),
    'Mean': lambda l: l.op('Mean', *(l.input(256, 1024) for _ in range(3))),
    'MeanVarianceNormalization': lambda l: l.op('MeanVarianceNormalization', l.input(1, 64, 56, 56), axes=[0, 2, 3]),
    'Mod of f32': lambda l: l.op('Mod', l.input(256, 1024), l.input(256, 1024), fmod=1),
    'Mod of i64': lambda l: l.op('Mod', l.input(256, 1024, dtype=I64, high=1000), l.constant(I64(7))),
    'NonMaxSuppression': lambda l: l.op('NonMaxSuppression', boxes(l, 1000), positive(l, 1, 8, 1000), l.constant(I64([100])), l.constant(F32([0.5])),
                                        l.constant(F32([0.3]))),
    'NonZero': lambda l: l.op('NonZero', l.input(256, 1024, dtype=I64, high=2)),
    'OneHot': lambda l: l.op('OneHot', l.input(1024, dtype=I64, high=1000), l.constant(I64(1000)), l.constant(F32([0, 1]))),
    'Pow': lambda l: l.op('Pow', positive(l, 256, 1024), l.constant(F32(1.7))),
    'Range of rows': lambda l: l.op('Add', l.input(2048), l.op('Cast', l.op('Range', *(l.constant(I64(n)) for n in (0, 2048, 1))), to=1)),
    'ReverseSequence': lambda l: l.op('ReverseSequence', l.input(64, 16, 256), l.input(16, dtype=I64, high=60)),
    'RoiAlign': lambda l: l.op('RoiAlign', l.input(1, 64, 50, 50), l.op('Squeeze', boxes(l, 32, 200), l.constant(I64([0]))),
                               l.constant(np.zeros(32, I64)), output_height=7, output_width=7, spatial_scale=0.25, sampling_ratio=2),
    'STFT': lambda l: l.op('STFT', l.input(1, 16000, 1), l.constant(I64(160)), l.constant(np.hanning(400).astype(F32))),
    'ScatterElements': lambda l: l.op('ScatterElements', l.input(64, 512), l.constant(np.tile(np.arange(128), (64, 1))), l.input(64, 128), axis=1),
    'ScatterND': lambda l: l.op('ScatterND', l.input(512, 256), l.constant(np.arange(0, 512, 4).reshape(128, 1)), l.input(128, 256)),
    'SoftmaxCrossEntropyLoss': lambda l: l.op('SoftmaxCrossEntropyLoss', l.input(128, 1000), l.input(128, dtype=I64, high=1000)),
    'Softmax over channels': lambda l: l.op('Softmax', l.input(1, 21, 128, 128), axis=1),
    'TopK': lambda l: l.op('TopK', l.input(64, 1000), l.constant(I64([10])), outputs=2),
    'TopK of boxes': lambda l: l.op('TopK', l.input(1, 8400), l.constant(I64([300])), outputs=2),
    'Trilu': lambda l: l.op('Trilu', l.input(12, 128, 128), upper=0),
    'Unique': lambda l: l.op('Unique', l.input(4096, dtype=I64, high=1000), outputs=1),
    'Where of i64': lambda l: l.op('Where', l.op('Greater', l.input(256, 1024), l.constant(F32(0))), l.input(256, 1024, dtype=I64, high=9),
                                   l.constant(I64(0))),
    'f16 Relu Add': lambda l: l.op('Add', l.op('Relu', l.input(256, 1024, dtype=np.float16)), l.input(256, 1024, dtype=np.float16)),
    'f64 Tanh Mul': lambda l: l.op('Mul', l.op('Tanh', l.input(128, 512, dtype=np.float64)), l.input(128, 512, dtype=np.float64)),
    'i64 Add Mul': lambda l: l.op('Add', l.op('Mul', l.input(256, 1024, dtype=I64, high=9), l.constant(I64(3))), l.constant(I64(1))),
    'QLinearMatMul': lambda l: l.op('QLinearMatMul', l.input(128, 768, dtype=U8, high=255), l.constant(F32(0.1)), l.constant(U8(128)),
                                    l.constant(l.random.integers(-127, 127, (768, 256)).astype(np.int8)), l.constant(F32(0.02)), l.constant(np.int8(0)),
                                    l.constant(F32(0.3)), l.constant(U8(120))),
}


def operator(layer, name):
    layer.say(name)
    return OPERATORS[name](layer)
