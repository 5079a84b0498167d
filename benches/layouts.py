"""Convolutions with the image in each of several layouts, and the layout that the cost model of the cpu chooses.

  cargo build --release && python3 benches/layouts.py [--gradus PATH]

Every 3rd layer of the benchmark's list, on one thread. The image is an argument in the layout, so that no time is spent on conversion;
results are channels last. Times are the least of a round's, and medians of three rounds in which the layouts take turns. The last column is the time in the layout that
`convert-graph-to-addr{target=cpu}` chooses for an image that it may have in any layout, over the least time.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import peers  # before numpy, which reads how many threads it may have

import numpy as np
from cpu_programs import HERE, convolutions, dense

LAYOUTS = ['NHWC', 'NCHW', 'NCHW8c', 'NCHW16c', 'NHWC16c']


def program(conv, layout, w):
    tile = {'NCHW8c': 8, 'NCHW16c': 16, 'NHWC16c': 16}.get(layout)
    c, size = conv.c, conv.size
    blocks = -(-c // (tile or c))
    packed = {'NHWC': f'1x{size}x{size}x{c}', 'NCHW': f'1x{c}x{size}x{size}', 'NHWC16c': f'1x{size}x{size}x{blocks}x16'}.get(
        layout, f'1x{blocks}x{size}x{size}x{tile}')
    plain, made = f'tensor<1x{c}x{size}x{size}xf32>', f'tensor<1x{conv.o}x{conv.out}x{conv.out}xf32>'
    back = f'tensor<1x{conv.out}x{conv.out}x{conv.o}xf32>'
    weights = f'tensor<{conv.o}x{c // conv.groups}x{conv.k}x{conv.k}xf32>'
    unpack = f'%x = layout.unpack %a from <"{layout}"> : tensor<{packed}xf32> -> {plain}'
    return f'''func.func @main(%a: tensor<{packed}xf32>) -> {back} {{
  {unpack}
  %w = arith.constant {dense(w)} : {weights}
  %y = graph.conv %x, %w {{{conv.attrs}}} : ({plain}, {weights}) -> {made}
  %r = layout.pack %y into <"NHWC"> : {made} -> {back}
  return %r : {back}
}}
'''


def compiled(path, home, conv, layout, w):
    source, lowered, to = (os.path.join(home, name) for name in ['a.mlir', 'b.mlir', f'{layout}.gradus'])
    with open(source, 'w') as file:
        file.write(program(conv, layout, w))
    passes = [f'--convert-graph-to-addr=layout={layout} algorithm=direct', '--propagate-layouts', '--canonicalize']
    subprocess.run([path, 'opt', source, *passes, '-o', lowered], check=True)
    subprocess.run([path, 'compile', lowered, '-o', to], check=True)
    return to


def work(path, file):
    def once(repeat):
        out = subprocess.run([path, 'bench', file, '--repeat', str(repeat)], check=True, capture_output=True, text=True).stdout
        return float(next(line for line in out.splitlines() if 'min. ' in line).split('min. ')[1].split()[0])
    return once


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--gradus', default=os.path.join(HERE, '..', 'target', 'release', 'gradus'))
    p.add_argument('--part', default='0/1', help='i/n: every n-th of the layers from the i-th on')
    args = p.parse_args()
    first, step = map(int, args.part.split('/'))
    dense_layers = [(name, conv) for name, conv in convolutions() if conv.groups == 1]
    for name, conv in dense_layers[::max(1, len(dense_layers) // 20)][:20][first::step]:
        w = np.random.default_rng(0).standard_normal((conv.o, conv.c // conv.groups, conv.k, conv.k)).astype(np.float32)
        with tempfile.TemporaryDirectory() as home:
            files = {layout: compiled(args.gradus, home, conv, layout, w) for layout in LAYOUTS}
            times = peers.in_turn({layout: work(args.gradus, file) for layout, file in files.items()},
                                  max(5, min(60, int(3e8 / conv.flops))))
        chosen = 'NCHW' if conv.c == 3 else 'NHWC'
        print(f'{name:24}' + ''.join(f' {layout} {ms:7.3f} ms' for layout, ms in times.items())
              + f'   {chosen} {times[chosen] / min(times.values()):5.2f}', flush=True)


if __name__ == '__main__':
    sys.exit(main())
