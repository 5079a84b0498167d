"""What the scripts share that draw models and compare their results with onnxruntime's."""
import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime


def session_of(model, folder):
    """Writes a model to a folder, and returns its session of onnxruntime, which prints no warnings."""
    onnx.save(model, folder / 'model.onnx')
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    return onnxruntime.InferenceSession(str(folder / 'model.onnx'), settings, providers=['CPUExecutionProvider'])


def run_gradus(options, folder, feed, names):
    """Runs the model of a folder. Returns its results by name, or the first line of what is wrong."""
    np.savez(folder / 'in.npz', **feed)
    outputs = [part for i, name in enumerate(names) for part in ('--output', f'{name}={folder}/{i}.npy')]
    target = ['--target', options.target] if options.target else []
    command = [options.gradus, 'run', folder / 'model.onnx', *target, '--input', folder / 'in.npz', *outputs]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip().splitlines()[0]
    return {name: np.load(folder / f'{i}.npy') for i, name in enumerate(names)}


def main(description, folder, count, draw):
    """Compares models. `draw` makes one at random, and returns it with a function of the options and a folder, which returns what differs, an
    empty text if nothing does, or None if onnxruntime does not run the model."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--count', type=int, default=count)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--target', default='cpu')
    parser.add_argument('--gradus', default='target/release/gradus')
    options = parser.parse_args()
    kept, agree, left_out, differ = Path(folder), 0, 0, 0
    for i in range(options.count):
        model, compare = draw(np.random.default_rng([options.seed, i]))
        with tempfile.TemporaryDirectory() as folder:
            wrong = compare(options, Path(folder))
        if wrong is None:
            left_out += 1
        elif wrong:
            differ += 1
            kept.mkdir(exist_ok=True)
            onnx.save(model, kept / f'{i}.onnx')
            print(f'{i}: {wrong}', flush=True)
        else:
            agree += 1
    print(f'{agree} models agree, {differ} do not; onnxruntime does not run {left_out} others')
    return int(differ > 0)
