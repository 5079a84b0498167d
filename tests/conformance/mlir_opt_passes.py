#!/usr/bin/env python3
"""How many ops a pass leaves, ours beside mlir-opt's, over the valid programs of the MLIR corpus.

    mlir_opt_passes.py GRADUS MLIR_OPT CORPUS [--pass NAME]... [--dialects A,B,...] [-v] [--check]

GRADUS and MLIR_OPT are the two commands, CORPUS is the unpacked `mlir-dev.tar.gz`. Without --pass: all passes that both
have. A program counts when all its dialects are in the list. -v names the programs with more ops than mlir-opt leaves, and
those that fail here and not there, with what is more and what is less. Exits with 1 when there are any.

--check runs the passes in mlir-opt only, pipelines such as 'func.func(affine-loop-unroll)' too, and compares each program
with mlir-opt's output by `gradus check`; it names the programs whose meaning differs."""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

DIALECTS = "affine,arith,builtin,cf,func,graph,math,memref,scf,tensor,ub"
PASSES = [
    "canonicalize", "cse", "sccp", "inline", "symbol-dce", "loop-invariant-code-motion", "control-flow-sink", "mem2reg",
    "convert-scf-to-cf", "lower-affine", "strip-debuginfo",
]
OP = re.compile(rb'(?:^|[\s=(])"([a-zA-Z_0-9]+\.[a-zA-Z_0-9.]+)"\(')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gradus")
    parser.add_argument("mlir_opt")
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--pass", dest="passes", action="append")
    parser.add_argument("--dialects", default=DIALECTS)
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    cases = programs(args.corpus, set(args.dialects.split(",")))
    print(f"{len(cases)} programs")
    worse = 0
    how = check if args.check else compare
    for name in args.passes or PASSES:
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda case: how(args, name, case), cases))
        counts = collections.Counter(kind for kind, _ in results)
        print(f"{name}:", ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())), flush=True)
        bad = [(case.stem, text) for case, (kind, text) in zip(cases, results) if kind in ("more ops", "fails here", "wrong")]
        worse += len(bad)
        for case, text in bad if args.verbose or args.check else []:
            print(f"  {case}: {text}")
    sys.exit(1 if worse else 0)


def programs(corpus, dialects):
    """The generic forms of the valid programs that use no other dialects."""
    rows = [line.split("\t") for line in (corpus / "index.tsv").read_text().splitlines()[1:]]
    names = [row[0] for row in rows if row[1] == "valid" and set(row[7].split(",")) <= dialects]
    return [corpus / "generic" / f"{name}.mlir" for name in names]


def compare(args, name, case):
    """What kind of difference there is, and what it is."""
    flags = ["--allow-unregistered-dialect", "--mlir-print-op-generic", f"--{name}", str(case)]
    theirs, _ = run([args.mlir_opt, *flags])
    ours, error = run([args.gradus, "opt", *flags])
    if theirs is None:
        return ("fails in both" if ours is None else "fails in mlir-opt"), ""
    if ours is None:
        return "fails here", error
    if ours.strip() == theirs.strip():
        return "byte-equal", ""
    have, want = (collections.Counter(OP.findall(text)) for text in (ours, theirs))
    more, less = have.total(), want.total()
    kind = "more ops" if more > less else "fewer ops" if more < less else "same number of ops"
    names = lambda counter: {op.decode(): n for op, n in counter.items()}
    return kind, f"{more} instead of {less}: more {names(have - want)}, less {names(want - have)}"


def check(args, name, case):
    """Whether mlir-opt's output has the meaning of the program, and the function whose meaning differs."""
    flags = ["--allow-unregistered-dialect", "--mlir-print-op-generic", f"--pass-pipeline=builtin.module({name})"]
    output, _ = run([args.mlir_opt, *flags, str(case)])
    if output is None:
        return "fails in mlir-opt", ""
    with tempfile.NamedTemporaryFile(suffix=".mlir") as after:
        after.write(output)
        after.flush()
        told, error = run([args.gradus, "check", "--allow-unregistered-dialect", str(case), after.name])
    if told is not None:
        return "not different", ""
    return ("wrong", error) if "different meaning" in error else ("not checked", error)


def run(command):
    """The output, or nothing and the first line of the error."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None, "takes more than two minutes"
    lines = done.stderr.decode(errors="replace").splitlines()
    return (done.stdout, "") if done.returncode == 0 else (None, lines[0] if lines else "")


if __name__ == "__main__":
    main()
