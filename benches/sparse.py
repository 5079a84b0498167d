#!/usr/bin/env python3
"""How much faster networks become whose convolutions are pruned.

  cargo build --release && pip install onnx
  python3 benches/sparse.py MODEL.onnx [--zeros 80,90] [--threads N] [--depthwise] [--gradus PATH]

The weights of smallest magnitude of each convolution become zero. Weights of depthwise convolutions stay, unless `--depthwise`.
The compiler chooses by cost which convolutions become generated code. Both programs are timed in turn, f32, batch 1; medians. The
result of the pruned network is compared with that of its reference evaluation.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))


def group_of(node):
    return next((a.i for a in node.attribute if a.name == 'group'), 1)


def pruned(model, percent, depthwise):
    """A copy of a model in which so many of a hundred weights of each convolution are zero."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    weights = {i.name: i for i in copy.graph.initializer}
    for node in copy.graph.node:
        if node.op_type != 'Conv' or node.input[1] not in weights or group_of(node) > 1 and not depthwise:
            continue
        tensor = weights[node.input[1]]
        w = numpy_helper.to_array(tensor).copy()
        # Equal magnitudes are ordered by chance.
        order = np.lexsort((np.random.default_rng(w.size).random(w.size), np.abs(w).ravel()))
        w.ravel()[order[:w.size * percent // 100]] = 0
        tensor.CopyFrom(numpy_helper.from_array(w, tensor.name))
    return copy


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compiled(path, home, model, name):
    """The files of a model and of its program."""
    source, program = (os.path.join(home, f'{name}.{end}') for end in ['onnx', 'gradus'])
    onnx.save(model, source)
    run(path, 'compile', source, '--target', 'cpu', '-o', program)
    return source, program


def difference(path, home, source, program, shape):
    """The largest difference from the reference evaluation, relative to the largest element of the result."""
    x, got, want = (os.path.join(home, f'{name}.npy') for name in ['x', 'got', 'want'])
    np.save(x, np.random.default_rng(2).standard_normal(shape).astype(np.float32))
    run(path, 'run', source, '--input', x, '--output', want)
    run(path, 'run', program, '--input', x, '--output', got)
    want = np.load(want)
    return np.abs(np.load(got) - want).max() / np.abs(want).max()


def timed(path, threads, programs, rounds=5):
    """The medians of the programs' times in milliseconds, in turn."""
    times = [[] for _ in programs]
    for _ in range(rounds):
        for program, all_times in zip(programs, times):
            report = run(path, 'bench', program, '--target', 'cpu', '--threads', str(threads), '--repeat', '5', '--json')
            all_times.append(json.loads(report)['median_ms'])
    return [statistics.median(all_times) for all_times in times]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('model')
    p.add_argument('--zeros', default='80,90', help='percentages')
    p.add_argument('--threads', type=int, default=1)
    p.add_argument('--depthwise', action='store_true')
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--save', help='folder for the programs, which stay there; without it they are timed')
    p.add_argument('--gradus', default=os.path.join(HERE, '..', 'target', 'release', 'gradus'))
    args = p.parse_args()
    model = onnx.load(args.model)
    known = {i.name for i in model.graph.initializer}
    image = next(i for i in model.graph.input if i.name not in known)
    shape = [d.dim_value or 1 for d in image.type.tensor_type.shape.dim]
    with tempfile.TemporaryDirectory() as home:
        home = args.save or home
        dense = compiled(args.gradus, home, model, 'dense')
        for percent in map(int, args.zeros.split(',')):
            sparse = compiled(args.gradus, home, pruned(model, percent, args.depthwise), f'sparse{percent}')
            off = difference(args.gradus, home, *sparse, shape)
            line = f'{percent} % zeros: off by {off:.1e} of the largest result'
            if not args.save:
                a, b = timed(args.gradus, args.threads, [dense[1], sparse[1]], args.rounds)
                line += f', dense {a:.1f} ms, sparse {b:.1f} ms, ratio {a / b:.2f}'
            print(line, flush=True)


if __name__ == '__main__':
    main()
