#!/usr/bin/env python3
"""How long gradus takes to read and print large programs, against mlir-opt in the same run.

  cargo build --release && python3 benches/parse_print.py [--ops 200000] [--mib 32] [-n 5] [--gradus PATH] [--peer PATH]

Each command runs on one thread, in turn, ours, peer's, ours, ..., after one unmeasured run of each. Processor seconds and
peak memory are the operating system's own (wait4). Printed is the median over pairs of ours divided by the peer's;
below 1 is better. The peer is found on PATH as mlir-opt or mlir-opt-22; Debian and Ubuntu have it in the package mlir-22-tools of
https://apt.llvm.org. Without it, only our figures are printed.
"""
import argparse
import os
import shutil
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # Leaves no __pycache__ in the tree.
import gen_ir  # noqa: E402

FLAGS = ['--allow-unregistered-dialect', '--mlir-print-op-generic', '--mlir-disable-threading']


def measure(command):
    """Processor seconds and peak KiB of a command that must succeed."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f'failed: {" ".join(command)}')
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def ops_in(path):
    """The number of ops in a generic form: each has one quoted name and one opening parenthesis after it."""
    with open(path) as f:
        return sum('"(' in line for line in f)


def compare(kind, size, args):
    with tempfile.NamedTemporaryFile('w', suffix='.mlir', delete=False) as f:
        gen_ir.write(kind, size, f)
    try:
        commands = [[args.gradus, 'opt', *FLAGS, f.name]] + ([[args.peer, *FLAGS, f.name]] if args.peer else [])
        runs = [[measure(c) for c in commands] for _ in range(args.n + 1)][1:]
        ops, mib = ops_in(f.name), os.path.getsize(f.name) / 2**20
        seconds = statistics.median(r[0][0] for r in runs)
        memory = statistics.median(r[0][1] for r in runs)
        line = f'{kind:7} {mib:7.1f} MiB {ops:8} ops  {seconds:7.3f} s {mib / seconds:7.1f} MiB/s {memory / 1024:7.0f} MiB'
        if kind != 'dense':
            line += f' {memory * 1024 / ops:6.0f} bytes/op'
        if args.peer:
            cpu = statistics.median(r[0][0] / r[1][0] for r in runs)
            peak = statistics.median(r[0][1] / r[1][1] for r in runs)
            line += f'   of the peer: {cpu:5.2f} of the time, {peak:5.2f} of the memory'
        print(line, flush=True)
    finally:
        os.unlink(f.name)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--ops', type=int, default=200_000)
    p.add_argument('--mib', type=int, default=32, help='size of the constants of dense')
    p.add_argument('-n', type=int, default=5, help='measured runs of each command')
    p.add_argument('--gradus', default=os.path.join(here, '..', 'target', 'release', 'gradus'))
    p.add_argument('--peer', default=shutil.which('mlir-opt') or shutil.which('mlir-opt-22'))
    args = p.parse_args()
    if not args.peer:
        print('no mlir-opt on PATH: figures without a ratio', file=sys.stderr)
    for kind in ['flat', 'nested', 'nn', 'dense']:
        compare(kind, args.mib if kind == 'dense' else args.ops, args)


if __name__ == '__main__':
    main()
