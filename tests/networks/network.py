"""A builder of ONNX networks with seeded random weights."""
import math

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

OPSET = 17


class Network:
    """A network under construction. Values are names; the shape of each is in `shapes`.

    `width` scales the numbers of channels. Weights are drawn such that each layer preserves the second moment of its
    input, so that activations keep their magnitude at any depth.
    """

    def __init__(self, seed, size, width):
        self.rng, self.width = np.random.default_rng(seed), width
        self.nodes, self.constants, self.shapes = [], [], {'image': (1, 3, size, size)}

    def channels(self, count):
        """The scaled number of channels: even, at least 2."""
        return max(2, 2 * round(count * self.width / 2))

    def constant(self, array):
        name = f'constant_{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def floats(self, shape, mean, deviation):
        return self.constant((mean + deviation * self.rng.standard_normal(shape)).astype(np.float32))

    def between(self, count, low, high):
        return self.constant(self.rng.uniform(low, high, count).astype(np.float32))

    def op(self, kind, inputs, *shapes, **attributes):
        """Appends a node; returns its output, or the list of its outputs if it has several."""
        name = f'{kind.lower()}_{len(self.nodes)}'
        outputs = [name] if len(shapes) == 1 else [f'{name}_{i}' for i in range(len(shapes))]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name, **attributes))
        self.shapes.update(zip(outputs, map(tuple, shapes)))
        return outputs[0] if len(outputs) == 1 else outputs

    def relu(self, x):
        return self.op('Relu', [x], self.shapes[x])

    def relu6(self, x):
        bounds = [self.constant(np.array(bound, np.float32)) for bound in (0, 6)]
        return self.op('Clip', [x, *bounds], self.shapes[x])

    def add(self, x, y):
        return self.op('Add', [x, y], self.shapes[x])

    def conv(self, x, filters, kernel=1, stride=1, groups=1, pad=None, bias=True, gain=2.0):
        """A convolution, padded such that a stride of 1 preserves extents unless `pad` is given.

        `gain` is the second moment of the output over that of the input: 2 compensates a relu.
        """
        pad = kernel // 2 if pad is None else pad
        inputs = self.shapes[x][1] // groups
        weights = self.floats((filters, inputs, kernel, kernel), 0, math.sqrt(gain / (inputs * kernel * kernel)))
        biases = [self.floats(filters, 0, 0.05)] if bias else []
        shape = (1, filters, *self.extents(x, kernel, stride, [pad] * 4))
        return self.op('Conv', [x, weights, *biases], shape, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                       pads=[pad] * 4, group=groups)

    def extents(self, x, kernel, stride, pads):
        """Height and width after a window moved over `x`."""
        return [(extent + pads[i] + pads[i + 2] - kernel) // stride + 1 for i, extent in enumerate(self.shapes[x][2:])]

    def norm(self, x, scale=1.0):
        """A batch normalization whose statistics are near those of normalized activations."""
        count = self.shapes[x][1]
        parameters = [self.between(count, 0.8 * scale, 1.2 * scale), self.floats(count, 0, 0.1),
                      self.floats(count, 0, 0.1), self.between(count, 0.8, 1.2)]
        return self.op('BatchNormalization', [x, *parameters], self.shapes[x])

    def pool(self, kind, x, kernel=3, stride=2, pads=(0, 0, 0, 0)):
        """A `MaxPool` or an `AveragePool`; `pads` are top, left, bottom, right."""
        shape = (*self.shapes[x][:2], *self.extents(x, kernel, stride, pads))
        return self.op(kind, [x], shape, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads)

    def global_average(self, x):
        return self.op('GlobalAveragePool', [x], (*self.shapes[x][:2], 1, 1))

    def concat(self, *parts):
        _, _, *extents = self.shapes[parts[0]]
        return self.op('Concat', parts, (1, sum(self.shapes[part][1] for part in parts), *extents), axis=1)

    def halves(self, x):
        """The first and the second half of the channels."""
        _, channels, *extents = self.shapes[x]
        half = (1, channels // 2, *extents)
        return self.op('Split', [x, self.constant(np.array([channels // 2] * 2))], half, half, axis=1)

    def shuffle(self, x, groups=2):
        """Interleaves groups of channels: reshape, transpose, reshape."""
        shape = _, channels, *extents = self.shapes[x]
        grouped = (1, groups, channels // groups, *extents)
        x = self.op('Reshape', [x, self.constant(np.array(grouped))], grouped)
        x = self.op('Transpose', [x], [grouped[i] for i in (0, 2, 1, 3, 4)], perm=[0, 2, 1, 3, 4])
        return self.op('Reshape', [x, self.constant(np.array(shape))], shape)

    def flatten(self, x):
        return self.op('Flatten', [x], (1, math.prod(self.shapes[x])))

    def classify(self, x):
        """Averages over the image and a linear layer: the logits."""
        x = self.flatten(self.global_average(x))
        return self.linear(x, self.channels(1000))

    def linear(self, x, classes):
        count = self.shapes[x][1]
        parameters = [self.floats((classes, count), 0, math.sqrt(1 / count)), self.floats(classes, 0, 0.05)]
        return self.op('Gemm', [x, *parameters], (1, classes), transB=1)

    def model(self, name, logits):
        """Returns the checked model from `image` to `logits`."""
        self.nodes[-1].output[0] = 'logits'
        shapes = {'image': self.shapes['image'], 'logits': self.shapes[logits]}
        image, output = (helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in shapes.items())
        graph = helper.make_graph(self.nodes, name, [image], [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=8)
        checker.check_model(model, full_check=True)
        return model
