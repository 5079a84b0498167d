#!/usr/bin/env python3
"""Layers that are drawn at random, against onnxruntime and OpenVINO: what the tables of fixed layers do not have.

  cargo build --release && python3 benches/layers.py [--count 300] [--seed 1] [--threads 1] [--only KIND] [--operators] [--repeat 10] [--gradus PATH]

Kinds and extents are those of networks: products with few columns or rows, convolutions from 7x7 to 1,000x1,000, one-dimensional and depthwise
ones with large windows, attention with one query, and the layers between. Each is a model with random weights, written as text of its kind and its
extents. Times are medians; all take turns for three rounds. Printed as they come and then worst first: the time of the better peer over that of
gradus (above 1 is faster), and the largest difference from onnxruntime relative to the largest element. Needs pip packages onnx, onnxruntime and
numpy; OpenVINO is left out where it is not installed.
"""
import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import peers  # before numpy, which reads how many threads it may have

import numpy as np
import onnx
from layer_kinds import KINDS, OPERATORS, Layer, operator


def own(gradus, model, feed, threads, folder):
    """The work of a model in gradus, compiled once, and its result."""
    np.savez(folder / 'in.npz', **feed)
    compiled = folder / 'layer.gradus'
    subprocess.run([gradus, 'compile', model, '-o', compiled], check=True, capture_output=True, text=True)
    common = [compiled, '--threads', str(threads), '--input', folder / 'in.npz']
    subprocess.run([gradus, 'run', *common, '--output', folder / 'out.npy'], check=True, capture_output=True, text=True)

    def work(repeat):
        out = subprocess.run([gradus, 'bench', *common, '--repeat', str(repeat), '--json'], check=True, capture_output=True, text=True).stdout
        return json.loads(out)['median_ms']
    return work, np.load(folder / 'out.npy')


def openvino_work(model, feed, want, threads):
    try:
        import openvino
        compiled = openvino.Core().compile_model(str(model), 'CPU', {
            'INFERENCE_NUM_THREADS': threads, 'NUM_STREAMS': 1, 'PERFORMANCE_HINT': 'LATENCY', 'INFERENCE_PRECISION_HINT': 'f32',
            'ENABLE_CPU_PINNING': False})
    except ImportError:
        return peers.left_out('OpenVINO', 'openvino')
    except RuntimeError:
        return None
    request = compiled.create_infer_request()
    request.infer(feed)
    return peers.timed(lambda: request.infer(None))


def difference(have, want):
    if have.shape != want.shape or have.dtype != want.dtype:
        return math.inf
    have, want = have.astype(np.float64), want.astype(np.float64)
    return float(np.abs(have - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-30))


def measured(layer, result, options, folder):
    model = folder / 'layer.onnx'
    onnx.save(layer.model(result), model)
    session = peers.session_of(str(model), options.threads)
    want = session.run(None, layer.feed)[0]
    try:
        work, have = own(options.gradus, model, layer.feed, options.threads, folder)
    except subprocess.CalledProcessError as error:
        return (error.stderr.strip().splitlines() or ['failed'])[0]
    off = difference(have, want)
    works = {'gradus': work, 'onnxruntime': peers.timed(lambda: session.run(None, layer.feed)),
             'OpenVINO': openvino_work(model, layer.feed, want, options.threads)}
    return peers.in_turn(works, options.repeat), off


def line(name, times, off):
    better = min((time, peer) for peer, time in times.items() if peer != 'gradus')
    return f'{better[0] / times["gradus"]:6.2f} {times["gradus"]:9.3f} ms  {better[1]:12} {off:8.1e}  {name}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--count', type=int, default=300)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--repeat', type=int, default=10)
    parser.add_argument('--only', default='')
    parser.add_argument('--operators', action='store_true', help='operators that are no kind, each once')
    parser.add_argument('--gradus', default='target/release/gradus')
    options = parser.parse_args()
    kinds = [kind for kind in KINDS if options.only in kind.__name__]
    drawn = [(kinds[i % len(kinds)], ()) for i in range(options.count)] if not options.operators else [
        (operator, (name,)) for name in OPERATORS if options.only in name]
    rows = []
    for i, (kind, of) in enumerate(drawn):
        layer = Layer(np.random.default_rng([options.seed, i]))
        result = kind(layer, *of)
        name = f'{i} {kind.__name__}: ' + ' '.join(word for word in layer.words if word)
        with tempfile.TemporaryDirectory() as folder:
            row = measured(layer, result, options, Path(folder))
        if isinstance(row, str):
            print(f'failed  {name}: {row}', flush=True)
            continue
        times, off = row
        rows.append((min(t for peer, t in times.items() if peer != 'gradus') / times['gradus'], line(name, times, off)))
        print(rows[-1][1], flush=True)
    print('\nworst first:')
    for _, text in sorted(rows):
        print(text)
    ratios = sorted(ratio for ratio, _ in rows)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f'{len(ratios)} layers, geometric mean {mean:.2f}, below 0.9: {sum(r < 0.9 for r in ratios)}, below 1: {sum(r < 1 for r in ratios)}')


main()
