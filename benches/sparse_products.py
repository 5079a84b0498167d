#!/usr/bin/env python3
"""Products with a sparse constant, on one thread: what the compiler chooses against the best libraries.

  cargo build --release
  apt-get install g++ libopenblas-dev libeigen3-dev libxsmm-dev && pip install mkl
  python3 benches/sparse_products.py shapes [--zeros 70,80,90,95,98,99] [--only 512x512x512]
  python3 benches/sparse_products.py dlmc FOLDER           # patterns of pruned networks (DLMC), with seeded values
  python3 benches/sparse_products.py pyfr FOLDER [--f64]   # operators of PyFR, times 48,000 columns
  python3 benches/sparse_products.py bytes                 # the shapes in 8 bits, against our dense product

A row is a matrix `M x K` times `K x N`: the form that the compiler chose, its microseconds, and how much longer each peer and each
other form of ours takes. Programs and peers take turns in rounds; times are medians. Forms whose programs are equal byte for byte are
measured once. Peers that are not installed are left out.
"""
import argparse
import collections
import csv
import filecmp
import importlib.metadata
import json
import math
import os
import statistics
import subprocess
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = [(512, 512, 512), (256, 1152, 3136), (64, 64, 3136), (1024, 1024, 64), (128, 1152, 784), (512, 4608, 49)]
DENSE = ['mkl', 'mkl_packed', 'openblas', 'ours_dense']
SPARSE = ['mkl_sparse', 'eigen_sparse', 'xsmm']
OWN = ['ours_dense', 'ours_unrolled', 'ours_csr']
PYFR_COLUMNS = 48000

Case = collections.namedtuple('Case', 'name matrix columns')


def shapes(args):
    """Uniformly random patterns."""
    for m, k, n in SHAPES:
        name = f'{m}x{k}x{n}'
        for zeros in map(int, args.zeros.split(',') if args.only in (None, name) else []):
            rng = np.random.default_rng(zeros)
            a = rng.uniform(-1, 1, m * k)
            a[rng.permutation(m * k)[:m * k * zeros // 100]] = 0
            yield Case(f'{name} {zeros} %', a.reshape(m, k), n)


def rows_of(folder):
    with open(os.path.join(folder, 'index.tsv')) as f:
        yield from csv.DictReader((line for line in f), delimiter='\t')


def dlmc(args):
    """Patterns by compressed rows, in the order of the index."""
    for row in rows_of(args.folder):
        path = os.path.join(args.patterns or args.folder, row['set'], row['file'])
        if not os.path.exists(path) or args.only and args.only not in row['file']:
            continue
        with open(path) as f:
            m, k, _ = map(int, f.readline().replace(',', ' ').split())
            starts, columns = (np.array(f.readline().split(), int) for _ in range(2))
        a = np.zeros((m, k))
        values = np.random.default_rng(len(columns)).uniform(-1, 1, len(columns))
        for i in range(m):
            a[i, columns[starts[i]:starts[i + 1]]] = values[starts[i]:starts[i + 1]]
        yield Case(f"{row['file'].removesuffix('.smtx')} {row['zeros_pct']} %", a, int(row['N']))


def pyfr(args):
    """Operators in the Matrix Market's form."""
    for row in rows_of(args.folder):
        path = os.path.join(args.folder, row['file'])
        if not os.path.exists(path) or args.only and args.only not in row['file']:
            continue
        with open(path) as f:
            lines = [line.split() for line in f if not line.startswith('%')]
        m, k, _ = map(int, lines[0])
        a = np.zeros((m, k))
        for i, j, value in lines[1:]:
            a[int(i) - 1, int(j) - 1] = float(value)
        yield Case(f"{row['file'].removesuffix('.mtx')} {row['zeros_pct']} %", a, PYFR_COLUMNS)


def program(a, columns, op):
    """The text of a product with a constant."""
    m, k = a.shape
    element = 'f32' if a.dtype == np.float32 else 'f64'
    types = [f'tensor<{r}x{c}x{element}>' for r, c in [(m, k), (k, columns), (m, columns)]]
    return f'''func.func @main(%b: {types[1]}) -> {types[2]} {{
  %a = arith.constant dense<"0x{a.tobytes().hex().upper()}"> : {types[0]}
  %c = {op} %a, %b : ({types[0]}, {types[1]}) -> {types[2]}
  return %c : {types[2]}
}}
'''


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compiled(args, home, case, a):
    """The programs of a case by name. Names of equal programs have one path."""
    dense = np.where(a == 0, 0.5, a).astype(a.dtype)
    forms = {'ours': (a, 'graph.matmul'), 'ours_dense': (dense, 'graph.matmul'),
             'ours_unrolled': (a, 'sparse.matmul unrolled'), 'ours_csr': (a, 'sparse.matmul csr')}
    if args.f64:
        # There are no other kernels of f64.
        del forms['ours_dense'], forms['ours_csr']
    programs = {}
    for name, (matrix, op) in forms.items():
        source, programs[name] = (os.path.join(home, f'{name}.{end}') for end in ['mlir', 'gradus'])
        with open(source, 'w') as f:
            f.write(program(matrix, case.columns, op))
        run(args.gradus, 'compile', source, '--target', 'cpu', '-o', programs[name])
        programs[name] = next(path for path in programs.values() if filecmp.cmp(path, programs[name], shallow=False))
    return programs


def bench(args, path, which='median_ms'):
    """The median time of a program in microseconds, or another statistic."""
    report = run(args.gradus, 'bench', path, '--target', 'cpu', '--threads', '1', '--repeat', str(args.repeat), '--json')
    return json.loads(report)[which] * 1e3


def chosen_op(args, path):
    """The op of a program that takes the most time."""
    report = run(args.gradus, 'bench', path, '--target', 'cpu', '--threads', '1', '--repeat', '1', '--ops')
    return next(line for line in report.splitlines() if '%' in line).split('%')[1].split(':')[0].strip()


def library(package, name):
    """The path of a library of a package, or "-"."""
    try:
        files = importlib.metadata.files(package) or []
        return str(next(file for file in files if file.name.startswith(name)).locate())
    except (importlib.metadata.PackageNotFoundError, StopIteration):
        return '-'


def peers_of(home):
    """Builds the program of the peers, with LIBXSMM if it is there. Returns its command."""
    path, source = os.path.join(home, 'peers'), os.path.join(HERE, 'sparse_peers.cpp')
    command = ['g++', '-std=c++17', '-O3', '-march=native', '-I/usr/include/eigen3', source, '-o', path]
    tails = [['-DWITH_LIBXSMM', '-lxsmm', '-lxsmmnoblas', '-ldl', '-lpthread', '-lm'], ['-ldl']]
    if not any(subprocess.run(command + tail, capture_output=True).returncode == 0 for tail in tails):
        raise SystemExit('g++ and Eigen are required: apt-get install g++ libeigen3-dev')
    return [path, library('mkl', 'libmkl_rt'), 'libopenblas.so.0']


def measured(args, home, peers, case):
    """The times of a case in microseconds by name, and the op that the compiler chose."""
    a = np.ascontiguousarray(case.matrix, np.float64 if args.f64 else np.float32)
    programs = compiled(args, home, case, a)
    matrix = os.path.join(home, 'matrix')
    with open(matrix, 'wb') as f:
        np.array([a.itemsize, *a.shape, case.columns], np.int32).tofile(f)
        a.tofile(f)
    times = collections.defaultdict(list)
    for _ in range(args.rounds):
        best = {}
        for line in run(*peers, matrix, str(args.repeat)).splitlines():
            _, name, time, off = line.split('\t')
            if name.startswith('xsmm') and math.isinf(float(off)):
                continue  # LIBXSMM leaves rows without nonzeros as they were.
            assert float(off) < (1e-10 if args.f64 else 1e-3), f'{name} of {case.name} is off by {off}'
            name = name.rstrip('0123456789')
            best[name] = min(float(time), best.get(name, math.inf))
        for name, time in best.items():
            times[name].append(time)
        medians = {path: bench(args, path) for path in set(programs.values())}
        for name, path in programs.items():
            times[name].append(medians[path])
    times = {name: statistics.median(some) for name, some in times.items()}
    return times, chosen_op(args, programs['ours'])


def byte_program(w, columns, form):
    """The text of a product of bytes with a constant, which is the left or the right operand."""
    m, k = w.shape
    if form == 'left':
        types, operands = [(m, k, 'i8'), (k, columns, 'ui8'), (m, columns, 'i32')], '%c, %x'
    else:
        types, operands = [(columns, k, 'ui8'), (k, m, 'i8'), (columns, m, 'i32')], '%x, %c'
        w = np.where(w == 0, 3, w) if form == 'dense' else w
        w = np.ascontiguousarray(w.T, np.int8)
    a, b, y = (f'tensor<{r}x{c}x{element}>' for r, c, element in types)
    x, c = (b, a) if form == 'left' else (a, b)
    return f'''func.func @main(%x: {x}) -> {y} {{
  %c = graph.constant dense<"0x{w.tobytes().hex().upper()}"> : {c}
  %y = graph.matmul_integer {operands} : ({a}, {b}) -> {y}
  return %y : {y}
}}
'''


def bench_bytes(args, home):
    """Prints how much longer our dense product of bytes takes than what the compiler chose for either operand."""
    for m, k, n in SHAPES:
        for zeros in map(int, args.zeros.split(',') if args.only in (None, f'{m}x{k}x{n}') else []):
            rng = np.random.default_rng(zeros)
            w = rng.integers(1, 128, m * k).astype(np.int8) * rng.choice([-1, 1], m * k).astype(np.int8)
            w[rng.permutation(m * k)[:m * k * zeros // 100]] = 0
            programs, times = {}, collections.defaultdict(list)
            for form in ['dense', 'left', 'right']:
                source, programs[form] = (os.path.join(home, f'{form}.{end}') for end in ['mlir', 'gradus'])
                with open(source, 'w') as f:
                    f.write(byte_program(w.reshape(m, k), n, form))
                run(args.gradus, 'compile', source, '--target', 'cpu', '-o', programs[form])
            for _ in range(args.rounds):
                for form, path in programs.items():
                    times[form].append(bench(args, path, 'min_ms'))
            dense, left, right = (min(times[form]) for form in ['dense', 'left', 'right'])
            ops = ', '.join(f'{form} {dense / time:.2f} {chosen_op(args, programs[form])}'
                            for form, time in [('left', left), ('right', right)])
            print(f'{m}x{k}x{n} {zeros} %: dense {dense:.1f} us; {ops}', flush=True)


def mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('set', choices=['shapes', 'dlmc', 'pyfr', 'bytes'])
    p.add_argument('folder', nargs='?', help='with index.tsv and matrices')
    p.add_argument('--patterns', help='folder of the unpacked matrices, if it is another')
    p.add_argument('--zeros', default='70,80,90,95,98,99', help='percentages')
    p.add_argument('--only', help='a shape, or a part of file names')
    p.add_argument('--every', type=int, default=1, help='one in N matrices')
    p.add_argument('--f64', action='store_true')
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--repeat', type=int, default=7)
    p.add_argument('--gradus', default=os.path.join(HERE, '..', 'target', 'release', 'gradus'))
    args = p.parse_args()
    ratios = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as home:
        if args.set == 'bytes':
            return bench_bytes(args, home)
        peers = peers_of(home)
        for i, case in enumerate({'shapes': shapes, 'dlmc': dlmc, 'pyfr': pyfr}[args.set](args)):
            if i % args.every:
                continue
            times, chosen = measured(args, home, peers, case)
            by = {name: time / times['ours'] for name, time in times.items() if name != 'ours'}
            foreign = [name for name in by if not name.startswith('ours')]
            by['best dense'] = min(by[name] for name in DENSE if name in by)
            by['best sparse'] = min(by[name] for name in SPARSE if name in by)
            by['best peer'] = min(by[name] for name in foreign)
            by['best of all'] = min(by['best peer'], *(by[name] for name in OWN if name in by))
            for name, ratio in by.items():
                ratios[name].append(ratio)
            text = ', '.join(f'{name} {ratio:.2f}' for name, ratio in by.items())
            print(f"{case.name}: {chosen} {times['ours']:.1f} us; {text}", flush=True)
    for name, some in ratios.items():
        print(f'{name}: mean {mean(some):.2f}, least {min(some):.2f}, below 0.95: {sum(r < 0.95 for r in some)} of {len(some)}')


if __name__ == '__main__':
    main()
