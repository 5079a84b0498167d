"""Writes a detector like YOLOv3-tiny with random weights: `tiny_detector.py FILE [SIZE [DIVISOR OF CHANNELS]]`.

`gradus run FILE --target cluster --precision f16 --stats` has all of its ops on the clusters.
"""
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(5)
nodes, weights = [], []


def constant(name, array):
    weights.append(numpy_helper.from_array(array, name))
    return name


def conv(x, name, inputs, outputs, kernel, leaky=True):
    scale = (2.0 / (inputs * kernel * kernel)) ** 0.5
    w = constant(f"{name}_w", (rng.standard_normal((outputs, inputs, kernel, kernel)) * scale).astype(np.float32))
    b = constant(f"{name}_b", (rng.standard_normal(outputs) * 0.1).astype(np.float32))
    nodes.append(helper.make_node("Conv", [x, w, b], [name], name=name, pads=[kernel // 2] * 4))
    if not leaky:
        return name
    nodes.append(helper.make_node("LeakyRelu", [name], [f"{name}_a"], name=f"{name}_a", alpha=0.1))
    return f"{name}_a"


def pool(x, name, stride):
    pads = [0, 0, 1, 1] if stride == 1 else [0] * 4
    nodes.append(helper.make_node("MaxPool", [x], [name], name=name, kernel_shape=[2, 2], strides=[stride] * 2, pads=pads))
    return name


def main():
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 416
    div = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    c = lambda n: max(n // div, 8)
    x, channels = "image", 3
    skip = None
    for i, outputs in enumerate([16, 32, 64, 128, 256, 512]):
        x = conv(x, f"conv{i}", channels, c(outputs), 3)
        channels = c(outputs)
        skip = x if i == 4 else skip
        x = pool(x, f"pool{i}", 1 if i == 5 else 2)
    x = conv(x, "conv6", channels, c(1024), 3)
    neck = conv(x, "conv7", c(1024), c(256), 1)
    x = conv(neck, "conv8", c(256), c(512), 3)
    large = conv(x, "large", c(512), 255, 1, leaky=False)
    x = conv(neck, "conv10", c(256), c(128), 1)
    scales = constant("scales", np.array([1, 1, 2, 2], np.float32))
    nodes.append(helper.make_node("Resize", [x, "", scales], ["up"], name="up", mode="nearest",
                                  coordinate_transformation_mode="asymmetric", nearest_mode="floor"))
    nodes.append(helper.make_node("Concat", ["up", skip], ["joined"], name="joined", axis=1))
    x = conv("joined", "conv11", c(128) + c(256), c(256), 3)
    small = conv(x, "small", c(256), 255, 1, leaky=False)
    out = lambda n, s: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 255, s, s])
    graph = helper.make_graph(nodes, "tiny_detector", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])],
                              [out(large, size // 32), out(small, size // 16)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1])


main()
