#!/usr/bin/env python3
"""Checks passes of mlir-opt by execution: makes programs, runs mlir-opt on them, and compares before and after.

    tests/subjects/mlir_opt.py --gradus target/release/gradus --count 500 -o found

needs mlir-opt 22 (apt-get install mlir-22-tools). Each program that has a different meaning afterwards is written to the
folder, before and after, with what `gradus check` says. Exit status 0: nothing was found.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

DIALECTS = "affine,arith,builtin,cf,func,math,memref,scf,tensor,ub,vector"
# Passes that run on functions, with their options.
PASSES = [
    "canonicalize",
    "cse",
    "sccp",
    "int-range-optimizations",
    "loop-invariant-code-motion",
    "control-flow-sink",
    "mem2reg",
    "lower-affine",
    "affine-loop-tile{tile-size=2}",
    "affine-loop-unroll{unroll-factor=3}",
    "affine-scalrep",
    "affine-loop-fusion",
    "affine-loop-invariant-code-motion",
    "scf-for-loop-canonicalization",
    "scf-for-loop-peeling",
    "scf-for-loop-range-folding",
    "scf-for-to-while",
    "scf-parallel-loop-fusion",
    "scf-parallel-loop-tiling",
    "convert-scf-to-cf",
    "arith-expand",
    "arith-int-range-narrowing{int-bitwidths-supported=8,16,32}",
    "arith-unsigned-when-equivalent",
    "math-uplift-to-fma",
    "math-expand-ops",
    "math-extend-to-supported-types",
    "memref-expand",
    "fold-memref-alias-ops",
    "expand-strided-metadata",
    "resolve-shaped-type-result-dims",
    "fold-tensor-subset-ops",
    "lift-cf-to-scf",
    "lower-vector-mask",
]
# Passes that run on modules.
MODULE_PASSES = ["inline", "normalize-memrefs", "remove-dead-values"]
SPLIT = "// -----\n"


def run(*args, **more):
    return subprocess.run(args, capture_output=True, text=True, timeout=60, **more)


def flag(name):
    return f"--pass-pipeline=builtin.module({name if name in MODULE_PASSES else f'func.func({name})'})"


def transformed(mlir_opt, name, programs):
    """What mlir-opt makes of each program; None where it fails."""
    out = run(mlir_opt, flag(name), "--split-input-file", "-", input=SPLIT.join(programs))
    parts = out.stdout.split(SPLIT)
    if out.returncode == 0 and len(parts) == len(programs):
        return parts
    single = (run(mlir_opt, flag(name), "-", input=program) for program in programs)
    return [out.stdout if out.returncode == 0 else None for out in single]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gradus", default="gradus")
    parser.add_argument("--mlir-opt", default="mlir-opt-22")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--ops", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dialects", default=DIALECTS)
    parser.add_argument("--pass", action="append", dest="passes", help="a pass, with options in braces; may come again")
    parser.add_argument("--learn", action="append", default=[], help="files to make programs of")
    parser.add_argument("-o", "--output", help="folder for what is found")
    args = parser.parse_args()
    passes = args.passes or PASSES + MODULE_PASSES
    made = run(args.gradus, "fuzz", "--print", f"--seed={args.seed}", f"--from={args.first}", f"--count={args.count}",
               f"--ops={args.ops}", f"--dialects={args.dialects}", *(f"--learn={path}" for path in args.learn))
    if made.returncode:
        sys.exit(made.stderr)
    programs = made.stdout.split(SPLIT)
    start, found = time.time(), 0
    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "before.mlir"), os.path.join(folder, "after.mlir")
        for name in passes:
            counts = {"same": 0, "inconclusive": 0, "differ": 0, "refused": 0}
            for number, (program, result) in enumerate(zip(programs, transformed(args.mlir_opt, name, programs))):
                if result is None:
                    counts["refused"] += 1
                    continue
                open(before, "w").write(program)
                open(after, "w").write(result)
                try:
                    check = run(args.gradus, "check", "--inputs=32", before, after)
                except subprocess.TimeoutExpired:
                    counts["inconclusive"] += 1
                    continue
                if "has a different meaning" in check.stderr:
                    counts["differ"] += 1
                    if args.output:
                        os.makedirs(args.output, exist_ok=True)
                        stem = os.path.join(args.output, f"{name.partition('{')[0]}-{args.seed}-{args.first + number}")
                        open(stem + ".before.mlir", "w").write(f"// RUN: mlir-opt '{flag(name)}' %s\n" + program)
                        open(stem + ".after.mlir", "w").write(result)
                        open(stem + ".txt", "w").write(check.stderr)
                else:
                    counts["same" if check.returncode == 0 else "inconclusive"] += 1
            found += counts["differ"]
            print(f"{name:32}", *(f"{n:5} {what}" for what, n in counts.items()), flush=True)
    print(f"{len(programs)} programs, {len(passes)} passes, {found} found in {time.time() - start:.0f} s")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
