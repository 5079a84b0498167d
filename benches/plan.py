#!/usr/bin/env python3
"""Peak, lower bound and time of `gradus plan` on reference instances, against published planners.

  cargo build --release && python3 benches/plan.py [--seconds 0.05,5] [--peers PEERS.tsv] [--gradus PATH] [FILE.csv...]

Without files: those of tests/plan. A file name with a number before '.csv' has that capacity. PEERS.tsv has a row per
instance with the columns instance, minimalloc_cpu_s, idealloc_best_of_1_and_200, first_fit_by_size and
vela_hillclimb_3000: seconds of MiniMalloc at the capacity, and the peaks of the others over the lower bound. Seconds are
processor time of whole processes, the smallest of three runs.
"""
import argparse
import csv
import os
import pathlib
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ['minimalloc_cpu_s', 'idealloc_best_of_1_and_200', 'first_fit_by_size', 'vela_hillclimb_3000']


def run(gradus, path, seconds, capacity):
    """Peak, lower bound, processor seconds, and whether a plan fits."""
    command = [gradus, 'plan', str(path), '--seconds', str(seconds)]
    if capacity:
        command += ['--capacity', capacity]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    numbers = [re.search(rf'^{name} +(\d+)', output.stdout, re.M) for name in ('peak', 'lower bound')]
    if not all(numbers):
        sys.exit(f'{path}: {output.stderr}')
    return [int(n[1]) for n in numbers], after.ru_utime - before.ru_utime, output.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = pathlib.Path(os.environ.get('CARGO_TARGET_DIR', ROOT / 'target'))
    parser.add_argument('--gradus', default=str(target / 'release/gradus'))
    parser.add_argument('--seconds', default='0.05,5')
    parser.add_argument('--peers', type=pathlib.Path)
    parser.add_argument('files', nargs='*', type=pathlib.Path)
    args = parser.parse_args()
    files = args.files or sorted((ROOT / 'tests/plan').rglob('*.csv'))
    peers = {}
    if args.peers:
        with args.peers.open() as rows:
            peers = {row['instance']: row for row in csv.DictReader(rows, delimiter='\t')}
    budgets = args.seconds.split(',')
    print('\t'.join(['instance', 'lower bound', *(f'{what} at {s} s' for s in budgets for what in ('peak/bound', 'cpu s')),
                     *(PEERS if peers else [])]))
    ratios = {s: [] for s in budgets}
    for path in files:
        found = re.search(r'\.(\d+)\.csv$', path.name)
        cells = []
        for seconds in budgets:
            runs = [run(args.gradus, path, seconds, found and found[1]) for _ in range(3)]
            [peak, bound], _, fits = runs[0]
            ratios[seconds].append(peak / max(bound, 1))
            cells += [f'{ratios[seconds][-1]:.4f}{"" if fits else " DOES NOT FIT"}', f'{min(r[1] for r in runs):.3f}']
        row = peers.get(path.name.split('.')[0], {})
        print('\t'.join([path.name, str(bound), *cells, *(row.get(name, '') for name in PEERS if peers)]), flush=True)
    for seconds, found in ratios.items():
        print(f'mean peak/bound at {seconds} s: {sum(found) / len(found):.4f}')


if __name__ == '__main__':
    main()
