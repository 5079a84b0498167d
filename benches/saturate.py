#!/usr/bin/env python3
"""How long `saturate` takes for the best order of matrix products, and whether it finds it.

  cargo build --release && python3 benches/saturate.py [--sizes 10,20,40,80,160] [-n 3] [--gradus PATH]

Chains of matrices with random dimensions up to 100, the same in each run. The multiplications that `saturate` reports are
compared with dynamic programming in this script; seconds are those of whole processes.
"""
import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # Leaves no __pycache__ in the tree.
from parse_print import measure  # noqa: E402


def chain(dims):
    """A chain of products, from the left."""
    def ty(rows, columns):
        return f'tensor<{dims[rows]}x{dims[columns]}xf32>'
    n = len(dims) - 1
    lines = [f'func.func @chain({", ".join(f"%m{i}: {ty(i, i + 1)}" for i in range(n))}) -> {ty(0, n)} {{']
    last = '%m0'
    for i in range(1, n):
        lines.append(f'  %p{i} = graph.matmul {last}, %m{i} : ({ty(0, i)}, {ty(i, i + 1)}) -> {ty(0, i + 1)}')
        last = f'%p{i}'
    return '\n'.join([*lines, f'  return {last} : {ty(0, n)}', '}', ''])


def fewest(dims):
    """The fewest multiplications."""
    n = len(dims) - 1
    best = [[0] * (n + 1) for _ in range(n)]
    for size in range(2, n + 1):
        for i in range(n - size + 1):
            j = i + size
            best[i][j] = min(best[i][k] + best[k][j] + dims[i] * dims[k] * dims[j] for k in range(i + 1, j))
    return best[0][n]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--sizes', default='10,20,40,80,160')
    p.add_argument('-n', type=int, default=3, help='measured runs of each size')
    p.add_argument('--gradus', default=os.path.join(here, '..', 'target', 'release', 'gradus'))
    args = p.parse_args()
    for size in map(int, args.sizes.split(',')):
        dims = [random.Random(f'{size} {i}').randint(1, 100) for i in range(size + 1)]
        with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
            f.write(chain(dims))
            f.flush()
            command = [args.gradus, 'opt', f.name, '--saturate=target=flops rules=mul-mul max-nodes=1000000 report']
            said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
            found = int(re.search(r'then (\d+)', said).group(1))
            times = [measure(command) for _ in range(args.n)]
            seconds = statistics.median(t[0] for t in times)
            print(f'{size:4} matrices {seconds:7.2f} s   {found} multiplications, {found / fewest(dims):.3f} times the fewest   '
                  f'{"optimal" if "optimal" in said else "not proved"}', flush=True)


if __name__ == '__main__':
    main()
