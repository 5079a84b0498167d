#!/usr/bin/env python3
"""How many ops a second `gradus run` executes in loops of scalar ops.

  cargo build --release && python3 benches/run.py [--trips 3000000] [-n 5] [--gradus PATH]

Each program runs as given, and with a single trip; the difference of processor seconds is divided by the ops that were
executed in between. The entry of a loop's body counts as one op, its terminator as none, as the interpreter counts fuel.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # Leaves no __pycache__ in the tree.
from parse_print import measure  # noqa: E402

FIVE = '''
    %a = arith.addi %x, %i : i64
    %b = arith.muli %a, %k : i64
    %c = arith.shrui %b, %s : i64
    %d = arith.xori %c, %a : i64
    %y = arith.subi %d, %k : i64
'''

# Name, ops of a trip, program with the number of trips left open.
PROGRAMS = [
    ('scf.for, integers', 6, '''
func.func @main() -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 7 : i64
  %k = arith.constant 12345 : i64
  %n = arith.constant TRIPS : i64
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %one) -> (i64) : i64 {FIVE
    scf.yield %y : i64
  }
  return %r : i64
}
'''),
    ('cf branches, integers', 8, '''
func.func @main() -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 7 : i64
  %k = arith.constant 12345 : i64
  %n = arith.constant TRIPS : i64
  cf.br ^body(%zero, %one : i64, i64)
^body(%i: i64, %x: i64):FIVE
    %j = arith.addi %i, %one : i64
    %again = arith.cmpi slt, %j, %n : i64
    cf.cond_br %again, ^body(%j, %y : i64, i64), ^end
^end:
  return %y : i64
}
'''),
    ('scf.for, f32', 4, '''
func.func @main() -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %k = arith.constant 0.5 : f32
  %n = arith.constant TRIPS : index
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %k) -> (f32) {
    %a = arith.mulf %x, %k : f32
    %b = arith.addf %a, %k : f32
    %y = arith.subf %b, %a : f32
    scf.yield %y : f32
  }
  return %r : f32
}
'''),
    ('affine.for, memory', 4, '''
func.func @main() -> i64 {
  %k = arith.constant 12345 : i64
  %m = memref.alloc() : memref<1024xi64>
  affine.for %i = 0 to 1024 {
    affine.store %k, %m[%i] : memref<1024xi64>
  }
  affine.for %t = 0 to TRIPS {
    %x = affine.load %m[%t mod 1024] : memref<1024xi64>
    %y = arith.addi %x, %k : i64
    affine.store %y, %m[%t mod 1024] : memref<1024xi64>
  }
  %r = affine.load %m[3] : memref<1024xi64>
  return %r : i64
}
'''),
    ('scf.for, memory', 4, '''
func.func @main() -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant TRIPS : index
  %k = arith.constant 12345 : i64
  %m = memref.alloc() : memref<1xi64>
  memref.store %k, %m[%zero] : memref<1xi64>
  scf.for %i = %zero to %n step %one {
    %x = memref.load %m[%zero] : memref<1xi64>
    %y = arith.addi %x, %k : i64
    memref.store %y, %m[%zero] : memref<1xi64>
  }
  %r = memref.load %m[%zero] : memref<1xi64>
  return %r : i64
}
'''),
    ('scf.if and select', 6, '''
func.func @main() -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant TRIPS : i64
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %one) -> (i64) : i64 {
    %c = arith.cmpi slt, %x, %i : i64
    %y = scf.if %c -> (i64) {
      %p = arith.addi %x, %i : i64
      scf.yield %p : i64
    } else {
      %q = arith.subi %x, %i : i64
      scf.yield %q : i64
    }
    %z = arith.select %c, %y, %x : i64
    scf.yield %z : i64
  }
  return %r : i64
}
'''),
]


def seconds(gradus, program, trips, n):
    with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
        f.write(program.replace('FIVE', FIVE).replace('TRIPS', str(trips)))
        f.flush()
        return min(measure([gradus, 'run', f.name])[0] for _ in range(n))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--trips', type=int, default=3_000_000)
    p.add_argument('-n', type=int, default=5, help='runs of each program, of which the quickest counts')
    p.add_argument('--gradus', default=os.path.join(here, '..', 'target', 'release', 'gradus'))
    args = p.parse_args()
    subprocess.run([args.gradus, '--version'], check=True, stdout=subprocess.DEVNULL)
    for name, ops, program in PROGRAMS:
        took = seconds(args.gradus, program, args.trips, args.n) - seconds(args.gradus, program, 1, args.n)
        print(f'{name:25} {ops * (args.trips - 1) / took / 1e6:7.1f} million ops a second', flush=True)


if __name__ == '__main__':
    main()
