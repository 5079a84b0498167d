#!/usr/bin/env python3
"""How fast the cpu target is: convolutions of ResNet-50 and MobileNet-v2, dense products, and whole networks, against peers.

  cargo build --release && pip install onnx onnxruntime onednn-cpu-gomp mkl openvino
  python3 benches/cpu.py [--only layers|bytes|gemm|networks|bf16|quantized|results] [--threads N] [--gradus PATH]

One thread (networks: --threads), f32, batch 1, all in turn in the same run; medians. A layer has its image as the compiler would have it inside of a
network, with channels last, as for oneDNN; for onnxruntime with channels first; so none converts. Ratios above 1 are faster than
the peer. Layers of bytes are against our own floats. Dense products have a constant as second factor, and are against MKL, also
where that is packed beforehand; each is done again transposed. Networks are the light models of the onnx package, with random
weights in place of theirs, which are all the same: they are compiled, their results before the last softmax compared with
onnxruntime's, and all timed. Quantized networks are those, quantized by onnxruntime with seeded images, and the digits of the
examples; they are against our floats and onnxruntime's integers. Only onnxruntime is required, other peers are left out where they are not installed.
"""
import argparse
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import peers  # before numpy, which reads how many threads it may have

import numpy as np
import onnx

import qdq
from cpu_programs import convolutions, kinds, layer, mobilenet, model_of, product, quantized, randomized, weights_of

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = ['resnet50', 'squeezenet', 'shufflenet', 'densenet121', 'inception_v1', 'inception_v2', 'bvlc_alexnet', 'vgg19', 'zfnet512']
PRODUCTS = [(512, 512, 512), (256, 1152, 3136), (64, 64, 3136), (1024, 1024, 64), (128, 1152, 784), (512, 4608, 49)]


def bench(path, program, repeat, *options, threads=1):
    command = [path, 'bench', program, '--target', 'cpu', '--threads', str(threads), '--repeat', str(repeat), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def gradus(path, program, threads=1):
    """The work of a program."""
    return lambda repeat: json.loads(bench(path, program, repeat, '--json', threads=threads))['median_ms']


@contextlib.contextmanager
def written(text):
    """A program in a file."""
    with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
        f.write(text)
        f.flush()
        yield f.name


def compared(ratios, some, times):
    """What peers take, and how much faster ours is. Keeps the ratios."""
    text = ''
    for peer, theirs in times.items():
        if peer != 'gradus':
            ratio = theirs / times['gradus']
            text += f'   {peer} {theirs:7.3f} ms {ratio:5.2f}'
            for kind in some:
                ratios.setdefault(f'{kind}, {peer}', []).append(ratio)
    return text


def speed(flops, ms):
    """In GFLOP/s, and of the peak where that is known."""
    rate, peak = flops / ms / 1e6, peers.fma_peak()
    return f'{rate:6.1f} GFLOP/s' + (f' {rate / peak:4.0%}' if peak else '')


def print_peak():
    if peers.fma_peak():
        print(f'peak of multiplications and additions: {peers.fma_peak():.1f} GFLOP/s')


def layers(path):
    print_peak()
    ratios = {}
    for name, conv in convolutions():
        w = weights_of(conv)
        session = peers.session_of(model_of(conv, w))
        dnn = peers.convolution_of(conv, w, session)
        with written(layer(conv, w)) as program:
            times = peers.in_turn({'gradus': gradus(path, program), 'onnxruntime': peers.runtime(session),
                                   'oneDNN': dnn and peers.timed(dnn)}, conv.repeat)
        ours = times['gradus']
        print(f'{name:24} {ours:7.3f} ms {speed(conv.flops, ours)}{compared(ratios, kinds(name, conv), times)}', flush=True)
    summarize(ratios, 1)


def summarize(ratios, goal):
    """The geometric mean of each kind."""
    for kind, some in sorted(ratios.items()):
        mean = math.exp(statistics.mean(map(math.log, some)))
        print(f'{kind}: {mean:.2f} of {len(some)}, at least {min(some):.2f}, {sum(r < goal for r in some)} below {goal}')


def products(path):
    print_peak()
    ratios = {}
    for m, k, n in dict.fromkeys(order for m, k, n in PRODUCTS for order in [(m, k, n), (n, k, m)]):
        flops = 2 * m * k * n
        mkl = peers.product_of(m, k, n)
        with written(product(m, k, n)) as program:
            times = peers.in_turn({'gradus': gradus(path, program), 'MKL': mkl and peers.timed(mkl.plain),
                                   'MKL packed': mkl and peers.timed(mkl.packed)}, max(9, min(200, int(3e9 / flops))))
        ours, kind = times['gradus'], 'as given' if (m, k, n) in PRODUCTS else 'transposed'
        print(f'{f"{m} x {k} x {n}":20} {ours:7.3f} ms {speed(flops, ours)}{compared(ratios, [kind, "all"], times)}', flush=True)
    summarize(ratios, 1)


def bytes_layers(path):
    ratios = {}
    for name, conv in convolutions():
        with written(quantized(conv)) as narrow, written(layer(conv, weights_of(conv))) as wide:
            times = peers.in_turn({'gradus': gradus(path, narrow), 'floats': gradus(path, wide)}, conv.repeat)
        ours = times['gradus']
        print(f'{name:24} {ours:7.3f} ms {conv.flops / ours / 1e6:7.1f} GOP/s{compared(ratios, kinds(name, conv)[-1:], times)}',
              flush=True)
    summarize(ratios, 2.5)


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


def peak_of_gradus(path, program):
    """The same of ours: less that of one that runs a program of nothing."""
    def peak(program):
        return json.loads(bench(path, program, 1, '--json'))['peak_rss_mib']
    with written('func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n  return %x : tensor<1xf32>\n}\n') as nothing:
        return peak(program) - peak(nothing)


def networks(path, threads, agree):
    folder, ratios = os.path.join(os.path.dirname(onnx.__file__), 'backend', 'test', 'data', 'light'), {}
    for name in NETWORKS:
        with tempfile.TemporaryDirectory() as home:
            model, program, x, y = (os.path.join(home, file) for file in ['m.onnx', 'm.gradus', 'x.npy', 'y.npy'])
            onnx.save(randomized(onnx.load(os.path.join(folder, f'light_{name}.onnx'))), model)
            subprocess.run([path, 'compile', model, '--target', 'cpu', '-o', program], check=True)
            session = peers.session_of(model, threads)
            image = session.get_inputs()[0]
            data = np.random.default_rng(2).standard_normal(image.shape).astype(np.float32)
            want = session.run(None, {image.name: data})[0]
            np.save(x, data)
            subprocess.run([path, 'run', program, '--input', x, '--output', y], check=True, capture_output=True)
            off = np.abs(np.load(y) - want).max() / np.abs(want).max()
            line = f'{name:14} off by {off:.1e} of the largest result'
            assert off < 1e-3, line
            if not agree:
                line += timed_network(path, threads, model, program, session, (data, want), ratios)
            print(line, flush=True)
    summarize(ratios, 1)


def bf16_networks(path, threads, names):
    """Networks in bf16 against OpenVINO's bf16 and against our f32; how far results are from onnxruntime's f32, in the mean and at most."""
    folder, ratios = os.path.join(os.path.dirname(onnx.__file__), 'backend', 'test', 'data', 'light'), {}
    for name in names:
        with tempfile.TemporaryDirectory() as home:
            model, x, y = (os.path.join(home, file) for file in ['m.onnx', 'x.npy', 'y.npy'])
            onnx.save(randomized(onnx.load(os.path.join(folder, f'light_{name}.onnx'))), model)
            programs = {'gradus': os.path.join(home, 'bf16.gradus'), 'f32': os.path.join(home, 'f32.gradus')}
            for kind, program in programs.items():
                options = ['--precision', 'bf16'] if kind == 'gradus' else []
                subprocess.run([path, 'compile', model, '--target', 'cpu', *options, '-o', program], check=True)
            session = peers.session_of(model, threads)
            image = session.get_inputs()[0]
            data = np.random.default_rng(2).standard_normal(image.shape).astype(np.float32)
            want = session.run(None, {image.name: data})[0]
            request = peers.request_of(model, data, want, threads, 'bf16')
            np.save(x, data)
            subprocess.run([path, 'run', programs['gradus'], '--input', x, '--output', y], check=True, capture_output=True)
            results = {'gradus': np.load(y), 'OpenVINO': request and request.infer({0: data})[0].copy()}
            off = [f'{kind} {np.abs(found - want).mean() / np.abs(want).mean():.1e} and {np.abs(found - want).max() / np.abs(want).max():.1e}'
                   for kind, found in results.items() if found is not None]
            times = peers.in_turn({'gradus': gradus(path, programs['gradus'], threads), 'OpenVINO': request and peers.timed(request.infer),
                                   'f32': gradus(path, programs['f32'], threads)}, 30)
            without = ', '.join(line for line in bench(path, programs['gradus'], 1).splitlines() if line.startswith('by reference: '))
            print(f'{name:14} {times["gradus"]:7.2f} ms{compared(ratios, ["bf16"], times)}; off by {", ".join(off)}; '
                  f'without kernels: {without or "none"}', flush=True)
    summarize(ratios, 1)


def quantized_networks(path, names):
    folder, ratios = os.path.join(os.path.dirname(onnx.__file__), 'backend', 'test', 'data', 'light'), {}
    examples = os.path.join(HERE, '..', 'examples')
    for name in ['digits', *names]:
        with tempfile.TemporaryDirectory() as home:
            if name == 'digits':
                floats, models = os.path.join(examples, 'digits_cnn.onnx'), {'': os.path.join(examples, 'digits_cnn_int8.onnx')}
            else:
                light = os.path.join(folder, f'light_{name}.onnx')
                floats = qdq.simplified(mobilenet() if name == 'mobilenet_v2' else randomized(onnx.load(light)), home)
                models = {kind: os.path.join(home, f'{kind}.onnx') for kind in ['per tensor', 'per channel']}
                for kind, model in models.items():
                    qdq.quantized(floats, model, kind == 'per channel')
            for kind, model in models.items():
                session = peers.session_of(model)
                times = peers.in_turn({'gradus': gradus(path, model), 'onnxruntime': peers.runtime(session),
                                       'floats': gradus(path, floats)}, 300 if name == 'digits' else 15)
                lines = bench(path, model, 1).splitlines()
                without = ', '.join(line for line in lines if line.startswith('by reference: '))
                print(f'{name} {kind}: {times["gradus"]:7.3f} ms{compared(ratios, ["quantized"], times)}; steps from onnxruntime: '
                      f'{qdq.steps_apart(path, model, session, home)}; without kernels: {without or "none"}', flush=True)
    summarize(ratios, 1)


def timed_network(path, threads, model, program, session, example, ratios):
    """Times, memory, and what runs without a kernel."""
    request = peers.request_of(model, *example, threads)
    theirs = peers.runtime(session)
    times = peers.in_turn({'gradus': gradus(path, program, threads), 'onnxruntime': theirs,
                           'OpenVINO': request and peers.timed(request.infer)}, max(5, min(40, int(400 / theirs(1)))))
    memory = peak_of_gradus(path, program)
    lines = bench(path, program, 1).splitlines()
    without = ', '.join(' '.join(line.split()[2:]) for line in lines if line.startswith('by reference: '))
    return (f'; {times["gradus"]:7.2f} ms{compared(ratios, ["networks"], times)}; {memory:6.1f} MiB, '
            f'onnxruntime {peak_of_runtime(model):6.1f} MiB; without kernels: {without or "none"}')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--only', choices=['layers', 'bytes', 'gemm', 'networks', 'bf16', 'quantized', 'results'])
    p.add_argument('--threads', type=int, default=1, help='for networks')
    p.add_argument('--networks', type=lambda names: names.split(','), help='for bf16 and quantized')
    p.add_argument('--gradus', default=os.path.join(HERE, '..', 'target', 'release', 'gradus'))
    args = p.parse_args()
    for name, measure in [('layers', layers), ('bytes', bytes_layers), ('gemm', products)]:
        if args.only in (None, name):
            measure(args.gradus)
    if args.only in (None, 'bf16'):
        bf16_networks(args.gradus, args.threads, args.networks or NETWORKS[:6])
    if args.only in (None, 'quantized'):
        quantized_networks(args.gradus, args.networks or ['resnet50', 'mobilenet_v2'])
    if args.only in (None, 'networks', 'results'):
        networks(args.gradus, args.threads, args.only == 'results')


if __name__ == '__main__':
    sys.exit(main())
