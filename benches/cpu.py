#!/usr/bin/env python3
"""How fast the cpu target is: convolutions of ResNet-50 and MobileNet-v2, and whole networks, against onnxruntime.

  cargo build --release && pip install onnx onnxruntime && python3 benches/cpu.py [--only layers|bytes|networks|results] [--gradus PATH]

One thread, f32, batch 1, both in turn in the same run; medians. A layer has its image as the compiler would have it inside of a
network, with channels last, for onnxruntime with channels first; so neither converts. Ratios above 1 are faster than onnxruntime.
Layers of bytes are against our own floats. Networks are the light models of the onnx package, with random weights in place of theirs, which
are all the same: they are compiled, their results before the last softmax compared with onnxruntime's, and both timed.
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
NETWORKS = ['resnet50', 'squeezenet', 'shufflenet', 'densenet121', 'inception_v1', 'inception_v2', 'bvlc_alexnet', 'vgg19', 'zfnet512']


def gradus(path, program, repeat):
    """The median time in milliseconds, and what ran without a kernel."""
    command = [path, 'bench', program, '--target', 'cpu', '--repeat', str(repeat)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures = subprocess.run([*command, '--json'], check=True, capture_output=True, text=True).stdout
    return json.loads(figures), text.partition('by reference: ')[2].strip()


def session_of(model):
    """A model on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=['CPUExecutionProvider'])


def runtime(model, repeat):
    """The median time in milliseconds of onnxruntime."""
    session = session_of(model)
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
    summarize(ratios, 1)


def summarize(ratios, goal):
    """The geometric mean of each kind."""
    for kind, some in ratios.items():
        mean = math.exp(statistics.mean(map(math.log, some)))
        print(f'{kind}: {mean:.2f} of {len(some)}, at least {min(some):.2f}, {sum(r < goal for r in some)} below {goal}')


def quantized(row):
    """The same layer with bytes in place of floats: an image without sign, weights with one."""
    text, _, flops = layer(row)
    c, size, o, k, stride, groups = (int(row[key]) for key in
                                     ['in_channels', 'in_size', 'out_channels', 'kernel', 'stride', 'groups'])
    pad, out = k // 2, (size + 2 * (k // 2) - k) // stride + 1
    w = np.random.randint(-128, 128, (o, c // groups, k, k), np.int8)
    packed, plain = f'tensor<1x{size}x{size}x{c}xui8>', f'tensor<1x{c}x{size}x{size}xui8>'
    made, back = f'tensor<1x{o}x{out}x{out}xui8>', f'tensor<1x{out}x{out}x{o}xui8>'
    weights = f'tensor<{o}x{c // groups}x{k}x{k}xi8>'
    attrs = f'pads = array<i64: {pad}, {pad}, {pad}, {pad}>, strides = array<i64: {stride}, {stride}>, group = {groups} : i64'
    types = f'({plain}, tensor<f32>, tensor<ui8>, {weights}, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> {made}'
    return f'''func.func @main(%a: {packed}) -> {back} {{
  %x = layout.unpack %a from <"NHWC"> : {packed} -> {plain}
  %w = arith.constant dense<"0x{w.tobytes().hex().upper()}"> : {weights}
  %s = arith.constant dense<0.02> : tensor<f32>
  %z = graph.constant dense<128> : tensor<ui8>
  %n = arith.constant dense<0> : tensor<i8>
  %y = graph.qlinear_conv %x, %s, %z, %w, %s, %n, %s, %z {{{attrs}}} : {types}
  %c = layout.pack %y into <"NHWC"> : {made} -> {back}
  return %c : {back}
}}
''', text, flops


def bytes_layers(path):
    ratios = {}
    with open(os.path.join(HERE, 'conv_layers.tsv')) as rows:
        for row in csv.DictReader(rows, delimiter='\t'):
            narrow, wide, flops = quantized(row)
            times = []
            for text in [narrow, wide]:
                with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
                    f.write(text)
                    f.flush()
                    times.append(gradus(path, f.name, max(9, min(200, int(3e9 / flops))))[0]['median_ms'])
            ratio = times[1] / times[0]
            ratios.setdefault('depthwise' if row['groups'] != '1' else row['name'].split()[0], []).append(ratio)
            print(f'{row["name"]:28} {times[0]:8.3f} ms {flops / times[0] / 1e6:7.1f} GOP/s   floats {times[1]:8.3f} ms   {ratio:5.2f}',
                  flush=True)
    summarize(ratios, 2.5)


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


def peak_of_runtime(model):
    """The most memory in MiB of a process that runs the model once, less that of one that only loads onnxruntime."""
    script = """
import numpy as np, onnxruntime, sys
if len(sys.argv) > 1:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=['CPUExecutionProvider'])
    session.run(None, {i.name: np.zeros(i.shape, np.float32) for i in session.get_inputs()})
line = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))
print(int(line.split()[1]) / 1024)
"""
    def peak(args):
        return float(subprocess.run([sys.executable, '-c', script, *args], check=True, capture_output=True).stdout)
    return peak([model]) - peak([])


def networks(path, agree):
    folder = os.path.join(os.path.dirname(onnx.__file__), 'backend', 'test', 'data', 'light')
    for name in NETWORKS:
        with tempfile.TemporaryDirectory() as home:
            model, program, x, y = (os.path.join(home, file) for file in ['m.onnx', 'm.gradus', 'x.npy', 'y.npy'])
            onnx.save(randomized(onnx.load(os.path.join(folder, f'light_{name}.onnx'))), model)
            subprocess.run([path, 'compile', model, '--target', 'cpu', '-o', program], check=True)
            session = session_of(model)
            image = session.get_inputs()[0]
            data = np.random.default_rng(2).standard_normal(image.shape).astype(np.float32)
            want = session.run(None, {image.name: data})[0]
            np.save(x, data)
            subprocess.run([path, 'run', program, '--input', x, '--output', y], check=True, capture_output=True)
            off = np.abs(np.load(y) - want).max() / np.abs(want).max()
            line = f'{name:14} off by {off:.1e} of the largest result'
            assert off < 1e-3, line
            if not agree:
                theirs, peak = runtime(model, 11), peak_of_runtime(model)
                ours, without = gradus(path, program, 11)
                line += (f'; {ours["median_ms"]:7.2f} ms, {ours["peak_rss_mib"]:6.1f} MiB; onnxruntime {theirs:7.2f} ms, {peak:6.1f} MiB; '
                         f'{theirs / ours["median_ms"]:5.2f}; without kernels: {without or "none"}')
            print(line, flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--only', choices=['layers', 'bytes', 'networks', 'results'])
    p.add_argument('--gradus', default=os.path.join(HERE, '..', 'target', 'release', 'gradus'))
    args = p.parse_args()
    if args.only in (None, 'layers'):
        layers(args.gradus)
    if args.only in (None, 'bytes'):
        bytes_layers(args.gradus)
    if args.only in (None, 'networks', 'results'):
        networks(args.gradus, args.only == 'results')


if __name__ == '__main__':
    sys.exit(main())
