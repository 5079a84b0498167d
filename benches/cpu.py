#!/usr/bin/env python3
"""How fast the cpu target is: convolutions of ResNet-50 and MobileNet-v2, and whole networks, against onnxruntime.

  cargo build --release && pip install onnx onnxruntime && python3 benches/cpu.py [--only layers|networks] [--gradus PATH]

One thread, f32, batch 1, both in turn in the same run; medians. A layer has its image as the compiler would have it inside of a
network, with channels last, for onnxruntime with channels first; so neither converts. Ratios above 1 are faster than onnxruntime.
Networks are the light models of the onnx package, whose weights are all the same.
"""
import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnx.helper as h
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = ['resnet50', 'squeezenet', 'shufflenet', 'densenet121', 'inception_v1', 'inception_v2']


def gradus(path, program, repeat):
    """The median time in milliseconds, and what ran without a kernel."""
    command = [path, 'bench', program, '--target', 'cpu', '--repeat', str(repeat)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures = subprocess.run([*command, '--json'], check=True, capture_output=True, text=True).stdout
    return json.loads(figures), text.partition('by reference: ')[2].strip()


def runtime(model, repeat):
    """The median time in milliseconds of onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=['CPUExecutionProvider'])
    inputs = {i.name: np.random.rand(*i.shape).astype(np.float32) for i in session.get_inputs()}
    times = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        session.run(None, inputs)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[1:])


def layer(row):
    """A convolution as a program and as a model."""
    c, size, o, k, stride, groups = (int(row[key]) for key in
                                     ['in_channels', 'in_size', 'out_channels', 'kernel', 'stride', 'groups'])
    pad = k // 2
    out = (size + 2 * pad - k) // stride + 1
    w = np.random.rand(o, c // groups, k, k).astype(np.float32)
    packed, plain = f'tensor<1x{size}x{size}x{c}xf32>', f'tensor<1x{c}x{size}x{size}xf32>'
    made, back = f'tensor<1x{o}x{out}x{out}xf32>', f'tensor<1x{out}x{out}x{o}xf32>'
    weights = f'tensor<{o}x{c // groups}x{k}x{k}xf32>'
    attrs = f'pads = array<i64: {pad}, {pad}, {pad}, {pad}>, strides = array<i64: {stride}, {stride}>, group = {groups} : i64'
    text = f'''func.func @main(%a: {packed}) -> {back} {{
  %x = layout.unpack %a from <"NHWC"> : {packed} -> {plain}
  %w = arith.constant dense<"0x{w.tobytes().hex().upper()}"> : {weights}
  %y = graph.conv %x, %w {{{attrs}}} : ({plain}, {weights}) -> {made}
  %c = layout.pack %y into <"NHWC"> : {made} -> {back}
  return %c : {back}
}}
'''
    node = h.make_node('Conv', ['x', 'w'], ['y'], pads=[pad] * 4, strides=[stride] * 2, group=groups)
    graph = h.make_graph([node], 'layer', [h.make_tensor_value_info('x', 1, [1, c, size, size])],
                         [h.make_tensor_value_info('y', 1, None)], [onnx.numpy_helper.from_array(w, 'w')])
    model = h.make_model(graph, opset_imports=[h.make_opsetid('', 13)], ir_version=8)
    return text, model.SerializeToString(), 2 * out * out * o * (c // groups) * k * k


def layers(path):
    ratios = {}
    with open(os.path.join(HERE, 'conv_layers.tsv')) as rows:
        for row in csv.DictReader(rows, delimiter='\t'):
            text, model, flops = layer(row)
            with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
                f.write(text)
                f.flush()
                repeat = max(9, min(200, int(3e9 / flops)))
                theirs = runtime(model, repeat)
                ours = gradus(path, f.name, repeat)[0]['median_ms']
            ratio = theirs / ours
            ratios.setdefault(row['name'].split()[0], []).append(ratio)
            print(f'{row["name"]:28} {ours:8.3f} ms {flops / ours / 1e6:7.1f} GFLOP/s   onnxruntime {theirs:8.3f} ms   '
                  f'{ratio:5.2f}', flush=True)
    for kind, some in ratios.items():
        mean = math.exp(statistics.mean(map(math.log, some)))
        print(f'{kind}: {mean:.2f} of {len(some)}, at least {min(some):.2f}, {sum(r < 1 for r in some)} below 1')


def networks(path):
    folder = os.path.join(os.path.dirname(onnx.__file__), 'backend', 'test', 'data', 'light')
    for name in NETWORKS:
        model = os.path.join(folder, f'light_{name}.onnx')
        theirs = runtime(model, 11)
        ours, without = gradus(path, model, 11)
        print(f'{name:14} {ours["median_ms"]:8.2f} ms, {ours["peak_rss_mib"]:6.1f} MiB   onnxruntime {theirs:8.2f} ms   '
              f'{theirs / ours["median_ms"]:5.2f}   without kernels: {without}', flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--only', choices=['layers', 'networks'])
    p.add_argument('--gradus', default=os.path.join(HERE, '..', 'target', 'release', 'gradus'))
    args = p.parse_args()
    if args.only != 'networks':
        layers(args.gradus)
    if args.only != 'layers':
        networks(args.gradus)


if __name__ == '__main__':
    sys.exit(main())
