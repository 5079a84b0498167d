"""Transformer blocks on the cpu target against onnxruntime, f32 and quantized by onnxruntime's own quantizer.

  cargo build --release && python3 benches/transformers.py [--only bert,vit] [--gradus PATH]
  python3 benches/transformers.py --write FOLDER      writes the models and stops

An encoder block of BERT-base (Devlin et al., 2019: 12 heads, 768 features, sequences of 32, 128 and 512 tokens) and a small vision
transformer (Dosovitskiy et al., 2021: 6 heads, 384 features, 4 blocks, 196 patches of 16x16 pixels), as exporters write them, with
seeded weights. Times are medians of rounds in which both take turns, on one thread. Ratios above 1 are faster than onnxruntime's.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import peers  # before numpy, which reads how many threads it may have

import numpy as np
import onnx
import onnx.helper as h
import qdq

HERE = os.path.dirname(os.path.abspath(__file__))
SEQUENCES = [32, 128, 512]


class Graph:
    """A model under construction: each method adds a node and returns its result."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)

    def node(self, kind, *inputs, **attrs):
        name = f'{kind.lower()}_{len(self.nodes)}'
        self.nodes.append(h.make_node(kind, list(inputs), [name], name=name, **attrs))
        return name

    def constant(self, array):
        name = f'w{len(self.weights)}'
        self.weights.append(onnx.numpy_helper.from_array(array, name))
        return name

    def weight(self, *shape, scale=0.05):
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def scalar(self, x):
        return self.constant(np.float32(x))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def dense(self, x, features, results):
        return self.node('Add', self.node('MatMul', x, self.weight(features, results)), self.weight(results))

    def norm(self, x, features):
        scale = self.constant((1 + 0.1 * self.random.standard_normal(features)).astype(np.float32))
        return self.node('LayerNormalization', x, scale, self.weight(features), axis=-1, epsilon=1e-12)

    def gelu(self, x):
        erf = self.node('Erf', self.node('Div', x, self.scalar(2 ** 0.5)))
        return self.node('Mul', self.node('Mul', x, self.node('Add', erf, self.scalar(1))), self.scalar(0.5))

    def heads(self, x, tokens, heads, size):
        return self.node('Transpose', self.node('Reshape', x, self.ints(1, tokens, heads, size)), perm=[0, 2, 1, 3])

    def attention(self, x, tokens, features, heads, mask=None):
        size = features // heads
        q, k, v = (self.heads(self.dense(x, features, features), tokens, heads, size) for _ in range(3))
        scores = self.node('MatMul', q, self.node('Transpose', k, perm=[0, 1, 3, 2]))
        scores = self.node('Div', scores, self.scalar(size ** 0.5))
        if mask:
            scores = self.node('Add', scores, mask)
        mixed = self.node('MatMul', self.node('Softmax', scores, axis=-1), v)
        rows = self.node('Reshape', self.node('Transpose', mixed, perm=[0, 2, 1, 3]), self.ints(1, tokens, features))
        return self.dense(rows, features, features)

    def feed_forward(self, x, features):
        return self.dense(self.gelu(self.dense(x, features, 4 * features)), 4 * features, features)

    def model(self, inputs, result, shape):
        inputs = [h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, of) for name, of in inputs]
        output = h.make_tensor_value_info(result, onnx.TensorProto.FLOAT, shape)
        graph = h.make_graph(self.nodes, 'transformer', inputs, [output], self.weights)
        model = h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def bert(tokens):
    g, features = Graph(), 768
    x = g.norm(g.node('Add', 'x', g.attention('x', tokens, features, 12, 'mask')), features)
    y = g.norm(g.node('Add', x, g.feed_forward(x, features)), features)
    return g.model([('x', [1, tokens, features]), ('mask', [1, 1, 1, tokens])], y, [1, tokens, features])


def vit(blocks=4, features=384, heads=6):
    g, tokens = Graph(), 197
    patches = g.node('Conv', 'image', g.weight(features, 3, 16, 16), g.weight(features), strides=[16, 16])
    rows = g.node('Transpose', g.node('Reshape', patches, g.ints(1, features, tokens - 1)), perm=[0, 2, 1])
    x = g.node('Add', g.node('Concat', g.weight(1, 1, features), rows, axis=1), g.weight(1, tokens, features))
    for _ in range(blocks):
        x = g.node('Add', x, g.attention(g.norm(x, features), tokens, features, heads))
        x = g.node('Add', x, g.feed_forward(g.norm(x, features), features))
    first = g.node('Gather', g.norm(x, features), g.constant(np.int64(0)), axis=1)
    logits = g.node('Gemm', first, g.weight(1000, features), g.weight(1000), transB=1)
    return g.model([('image', [1, 3, 224, 224])], logits, [1, 1000])


MODELS = {**{f'bert{tokens}': lambda tokens=tokens: bert(tokens) for tokens in SEQUENCES}, 'vit': vit}


class Inputs(qdq.quantize.CalibrationDataReader):
    """Seeded inputs of a model."""

    def __init__(self, session):
        rng = np.random.default_rng(0)
        draw = lambda i: rng.standard_normal(i.shape).astype(np.float32) * (i.name != 'mask')
        self.rest = iter([{i.name: draw(i) for i in session.get_inputs()} for _ in range(2)])

    def get_next(self):
        return next(self.rest, None)


def quantized(model, to):
    """Quantizes a model: bytes without sign for activations, with sign for weights."""
    qdq.quantize.quantize(model, to, inputs=Inputs(peers.session_of(model)))


def gradus(path, *args):
    return subprocess.run([path, *args], check=True, capture_output=True, text=True).stdout


def difference(path, model, session, home):
    """The largest difference of the results from onnxruntime's, relative to the largest of these."""
    rng, flags, inputs = np.random.default_rng(1), [], {}
    for i in session.get_inputs():
        inputs[i.name] = rng.standard_normal(i.shape).astype(np.float32)
        np.save(os.path.join(home, f'{i.name}.npy'), inputs[i.name])
        flags += ['--input', f'{i.name}={home}/{i.name}.npy']
    name = session.get_outputs()[0].name
    gradus(path, 'run', model, '--target', 'cpu', *flags, '--output', f'{name}={home}/y.npy')
    want = session.run(None, inputs)[0]
    return np.abs(np.load(f'{home}/y.npy') - want).max() / np.abs(want).max()


def measure(path, name, model, home):
    """Prints the times, the difference, and what runs without a kernel."""
    session = peers.session_of(model)
    compiled = model.replace('.onnx', '.gradus')
    gradus(path, 'compile', model, '--target', 'cpu', '-o', compiled)

    def ours(repeat):
        lines = gradus(path, 'bench', compiled, '--repeat', str(repeat)).splitlines()
        line = next(line for line in lines if 'median' in line)
        return float(line.split('median ')[1].split()[0])
    times = peers.in_turn({'gradus': ours, 'onnxruntime': peers.runtime(session)}, 7)
    lines = gradus(path, 'bench', compiled, '--repeat', '1').splitlines()
    without = ', '.join(line for line in lines if line.startswith('by reference: ')) or 'none'
    ratio = times['onnxruntime'] / times['gradus']
    print(f'{name:14} {times["gradus"]:8.3f} ms   onnxruntime {times["onnxruntime"]:8.3f} ms {ratio:5.2f}   '
          f'differs by {difference(path, model, session, home):.1e}   without kernels: {without}', flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--only', default='', help='names of models, such as bert32,vit')
    p.add_argument('--kinds', default='f32,int8', help='of f32 and int8')
    p.add_argument('--write', metavar='FOLDER')
    p.add_argument('--gradus', default=os.path.join(HERE, '..', 'target', 'release', 'gradus'))
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as home:
        home = args.write or home
        os.makedirs(home, exist_ok=True)
        for name in args.only.split(',') if args.only else MODELS:
            floats, bytes_ = (os.path.join(home, f'{name}_{kind}.onnx') for kind in ['f32', 'int8'])
            onnx.save(MODELS[name](), floats)
            if 'int8' in args.kinds:
                quantized(floats, bytes_)
            for kind, model in [('f32', floats), ('int8', bytes_)]:
                if kind in args.kinds and not args.write:
                    measure(args.gradus, f'{name} {kind}', model, home)


if __name__ == '__main__':
    sys.exit(main())
