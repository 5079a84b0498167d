"""Networks quantized by onnxruntime's own quantizer: `cpu.py --only quantized`."""
import os
import subprocess
import sys

import peers  # before numpy, which reads how many threads it may have

import numpy as np
import onnx

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'networks'))
import quantize


def simplified(model, home):
    """The model with normalizations in its convolutions, as quantizers expect it."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in weights]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    for node in model.graph.node:
        if node.op_type == 'Sum' and len(node.input) == 2:
            node.op_type = 'Add'
    model.ir_version = 8
    before, after = (os.path.join(home, file) for file in ['plain.onnx', 'simple.onnx'])
    onnx.save(onnx.version_converter.convert_version(model, 13), before)
    quantize.fold(before, after)
    return after


def quantized(model, to, per_channel):
    """Quantizes a model: bytes without sign for activations, with sign for weights."""
    quantize.quantize(model, to, per_channel)


def steps_apart(path, model, session, home):
    """How many results are how many steps of the output from those of onnxruntime."""
    x, y = (os.path.join(home, file) for file in ['x.npy', 'y.npy'])
    image = session.get_inputs()[0]
    data = np.random.default_rng(1).standard_normal(image.shape).astype(np.float32)
    np.save(x, data)
    want = session.run(None, {image.name: data})[0].ravel()
    command = [path, 'run', model, '--target', 'cpu', '--input', x, '--output', y]
    subprocess.run(command, check=True, capture_output=True)
    have = np.load(y).ravel()
    gaps = np.diff(np.unique(np.concatenate([have, want])))
    step = gaps[gaps > 1e-3 * gaps.max()].min()
    apart, counts = np.unique(np.abs(np.round((have - want) / step)).astype(int), return_counts=True)
    return ', '.join(f'{count} by {n}' for n, count in zip(apart, counts) if n) or 'none'
