#!/usr/bin/env python3
"""How long gradus takes for passes over large programs, against mlir-opt in the same run, and with two threads.

  cargo build --release && python3 benches/passes.py [--ops 1000000] [-n 5] [--gradus PATH] [--peer PATH]

Commands run in turn, as in parse_print.py. Against the peer, processor seconds of whole processes with one thread are
compared, reading and printing included; the ratio is the peer's by ours. For threads, the shortest elapsed times are: on a
machine that others use as well, most runs with two threads wait for them.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # Leaves no __pycache__ in the tree.
import gen_ir  # noqa: E402
from parse_print import measure  # noqa: E402

PASSES = ['', '--canonicalize', '--cse', '--inline', '--symbol-dce', '--sccp']


def elapsed(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def compare(path, flags, args):
    common = ['--allow-unregistered-dialect', *flags.split(), path]
    ours = [args.gradus, 'opt', '--mlir-disable-threading', *common]
    commands = [ours] + ([[args.peer, '--mlir-disable-threading', *common]] if args.peer else [])
    runs = [[measure(c)[0] for c in commands] for _ in range(args.n + 1)][1:]
    line = f'{statistics.median(r[0] for r in runs):7.2f} s'
    if args.peer:
        line += f'   peer {statistics.median(r[1] for r in runs):7.2f} s   {statistics.median(r[1] / r[0] for r in runs):5.2f} times'
    both = [args.gradus, 'opt', '--threads=2', *common]
    walls = [(elapsed(ours), elapsed(both)) for _ in range(args.n)]
    one, two = (min(times) for times in zip(*walls))
    return f'{line}   elapsed {one:6.2f} s, with two threads {two:6.2f} s: {one / two:4.2f} times'


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--ops', type=int, default=1_000_000)
    p.add_argument('-n', type=int, default=5, help='measured runs of each command')
    p.add_argument('--gradus', default=os.path.join(here, '..', 'target', 'release', 'gradus'))
    p.add_argument('--peer', default=shutil.which('mlir-opt') or shutil.which('mlir-opt-22'))
    args = p.parse_args()
    for kind in ['kept', 'loops']:
        with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
            gen_ir.write(kind, args.ops, f)
            f.flush()
            for flags in PASSES:
                print(f'{kind:5} {flags or "(custom form)":15} {compare(f.name, flags, args)}', flush=True)


if __name__ == '__main__':
    main()
