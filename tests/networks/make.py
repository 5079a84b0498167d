#!/usr/bin/env python3
"""Writes a network as an ONNX model, with seeded random weights.

  python3 tests/networks/make.py resnet50 --dtype int8 -o resnet50_int8.onnx --input image.npy --reference logits.npy
  python3 tests/networks/make.py densenet121 --size 32 --width 0.125 -o small.onnx

`--input` writes a seeded image, `--reference` the logits that onnxruntime computes for it. int8 is QDQ form by
onnxruntime's quantizer: static, per output channel, weights symmetric, after folding of batch normalizations.
Requires: pip install onnx onnxruntime
"""
import argparse
import os
import tempfile

import numpy as np
import onnx

import quantize
from architectures import NETWORKS
from network import Network


def image(size):
    """The input: seeded, and not among the images of the calibration."""
    return np.random.default_rng(1).standard_normal((1, 3, size, size)).astype(np.float32)


def write(name, size, width, dtype, output):
    """Builds the network and writes it."""
    network = Network(list(NETWORKS).index(name), size, width)
    model = network.model(name, NETWORKS[name](network))
    if dtype == 'f32':
        onnx.save(model, output)
        return
    with tempfile.TemporaryDirectory() as home:
        plain, folded = (os.path.join(home, file) for file in ('plain.onnx', 'folded.onnx'))
        onnx.save(model, plain)
        quantize.fold(plain, folded)
        quantize.quantize(folded, output)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('name', choices=NETWORKS)
    p.add_argument('--size', type=int, default=224, help='height and width of the image')
    p.add_argument('--width', type=float, default=1.0, help='factor of the numbers of channels')
    p.add_argument('--dtype', choices=['f32', 'int8'], default='f32')
    p.add_argument('-o', '--output', required=True, metavar='FILE.onnx')
    p.add_argument('--input', metavar='FILE.npy')
    p.add_argument('--reference', metavar='FILE.npy')
    args = p.parse_args()
    write(args.name, args.size, args.width, args.dtype, args.output)
    if args.input:
        np.save(args.input, image(args.size))
    if args.reference:
        np.save(args.reference, quantize.session(args.output).run(None, {'image': image(args.size)})[0])


if __name__ == '__main__':
    main()
