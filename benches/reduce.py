#!/usr/bin/env python3
"""Makes programs smaller with `gradus reduce` and with mlir-reduce, by the same test scripts, and prints a table.

    benches/reduce.py target/release/gradus [--mlir-reduce mlir-reduce-22] [--mlir-opt mlir-opt-22] [--only NAME]

Each program is drawn from a seed, so the table can be made again. A test script is interesting with status 1, as
mlir-reduce wants it. mlir-reduce gets the reduction tree between its optimization passes with symbol-dce and canonicalize;
what is counted are the ops that are left in bodies (all but modules and functions), the runs of the test, and the wall time;
also the time after which gradus reduce had a program as small as that of mlir-reduce.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import tempfile
import time

INT_OPS = ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui"]


class Program:
    """Lines of IR, and the values of each type that may be used."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.count = [], 0

    def emit(self, depth, text):
        self.lines.append("  " * depth + text)

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def pick(self, values):
        return self.random.choice(values[-8:])

    def arith(self, depth, values, n, special=None):
        """So many ops on i32, one of which is special."""
        at = self.random.randrange(n) if special else None
        for i in range(n):
            op = special if i == at else "arith." + self.random.choice(INT_OPS)
            name = self.name()
            self.emit(depth, f"{name} = {op} {self.pick(values)}, {self.pick(values)} : i32")
            values.append(name)

    def text(self):
        return "\n".join(self.lines) + "\n"


def straight(p):
    values = ["%a", "%b"]
    p.emit(0, "func.func @f(%a: i32, %b: i32) -> i32 {")
    p.arith(1, values, 150)
    p.arith(1, values, 50, "arith.divsi")
    p.arith(1, values, 150, "arith.remui")
    p.emit(1, f"return {values[-1]} : i32")
    p.emit(0, "}")


def loops(p):
    p.emit(0, "func.func @f(%n: index, %a: i32, %c: i1) -> i32 {")
    p.emit(1, "%c0 = arith.constant 0 : index")
    p.emit(1, "%c1 = arith.constant 1 : index")
    values = ["%a"]
    for k in range(12):
        p.arith(1, values, 4)
        outer, inner, x, y = p.name(), p.name(), p.name(), p.name()
        p.emit(1, f"{outer} = scf.for %i{k} = %c0 to %n step %c1 iter_args({x} = {p.pick(values)}) -> (i32) {{")
        p.emit(2, f"{inner} = scf.if %c -> (i32) {{")
        there = values + [x]
        p.arith(3, there, 6, "arith.shrsi" if k == 7 else None)
        p.emit(3, f"scf.yield {there[-1]} : i32")
        p.emit(2, "} else {")
        p.emit(3, f"scf.yield {x} : i32")
        p.emit(2, "}")
        p.emit(2, f"{y} = arith.addi {inner}, {x} : i32")
        p.emit(2, f"scf.yield {y} : i32")
        p.emit(1, "}")
        values.append(outer)
    p.emit(1, f"return {values[-1]} : i32")
    p.emit(0, "}")


def branches(p):
    n = 40
    p.emit(0, "func.func @f(%c: i1, %a: i32, %b: i32) -> i32 {")
    p.emit(1, "cf.br ^b0(%a : i32)")
    for k in range(n):
        p.emit(0, f"^b{k}(%x{k}: i32):")
        values = ["%a", "%b", f"%x{k}"]
        p.arith(1, values, 5, "arith.divui" if k == 23 else None)
        to = [k + 1, min(n, k + 1 + p.random.randrange(4))]
        p.emit(1, f"cf.cond_br %c, ^b{to[0]}({values[-1]} : i32), ^b{to[1]}({p.pick(values)} : i32)")
    p.emit(0, f"^b{n}(%end: i32):")
    p.emit(1, "return %end : i32")
    p.emit(0, "}")


def memory(p):
    p.emit(0, "func.func @f(%m: memref<16xi32>, %n: memref<16xi32>, %a: i32) -> i32 {")
    for i in range(8):
        p.emit(1, f"%c{i} = arith.constant {i} : index")
    values = ["%a"]
    for k in range(90):
        buffer, index = p.random.choice(["%m", "%n"]), p.random.randrange(8)
        if k == 50:
            p.emit(1, "memref.copy %m, %n : memref<16xi32> to memref<16xi32>")
        p.arith(1, values, 2)
        p.emit(1, f"memref.store {p.pick(values)}, {buffer}[%c{index}] : memref<16xi32>")
        name = p.name()
        p.emit(1, f"{name} = memref.load {buffer}[%c{p.random.randrange(8)}] : memref<16xi32>")
        values.append(name)
    p.emit(1, f"return {values[-1]} : i32")
    p.emit(0, "}")


def functions(p):
    for k in range(50):
        p.emit(0, f"func.func @f{k}(%a: i32, %b: i32) -> i32 {{")
        values = ["%a", "%b"]
        p.arith(1, values, 4, "arith.ceildivsi" if k == 31 else None)
        if k:
            name = p.name()
            callee = p.random.randrange(k)
            p.emit(1, f"{name} = call @f{callee}({p.pick(values)}, {p.pick(values)}) : (i32, i32) -> i32")
            values.append(name)
        p.arith(1, values, 2)
        p.emit(1, f"return {values[-1]} : i32")
        p.emit(0, "}")


def calls(p):
    p.emit(0, "func.func private @g(i32, i32) -> (i32, i32)")
    p.emit(0, "func.func private @h(i32)")
    p.emit(0, "func.func @f(%a: i32, %b: i32) -> i32 {")
    values = ["%a", "%b"]
    for _ in range(60):
        p.arith(1, values, 2)
        name = p.name()
        p.emit(1, f"{name}:2 = call @g({p.pick(values)}, {p.pick(values)}) : (i32, i32) -> (i32, i32)")
        values += [f"{name}#0", f"{name}#1"]
        p.emit(1, f"call @h({p.pick(values)}) : (i32) -> ()")
    p.emit(1, f"return {values[-1]} : i32")
    p.emit(0, "}")


def affine(p):
    p.emit(0, "func.func @f(%m: memref<32x32xf32>, %n: memref<32x32xf32>, %x: f32) {")
    for k in range(14):
        p.emit(1, f"affine.for %i{k} = 0 to {p.random.randrange(8, 32)} {{")
        p.emit(2, f"affine.for %j{k} = 0 to 32 {{")
        values = ["%x"]
        for _ in range(5):
            a, b = p.name(), p.name()
            p.emit(3, f"{a} = affine.load %m[%i{k}, %j{k}] : memref<32x32xf32>")
            p.emit(3, f"{b} = arith.{p.random.choice(['addf', 'mulf'])} {a}, {p.pick(values)} : f32")
            values += [a, b]
        if k == 9:
            a = p.name()
            p.emit(3, f"{a} = arith.divf {p.pick(values)}, {p.pick(values)} : f32")
            values.append(a)
        p.emit(3, f"affine.store {values[-1]}, %n[%i{k}, %j{k}] : memref<32x32xf32>")
        p.emit(2, "}")
        p.emit(1, "}")
    p.emit(1, "return")
    p.emit(0, "}")


def unregistered(p):
    p.emit(0, "func.func @f(%a: !foo.t) {")
    values = ["%a"]
    for k in range(240):
        name = p.name()
        op = {100: "foo.key", 170: "foo.lock"}.get(k, f"foo.op{p.random.randrange(9)}")
        p.emit(1, f'{name} = "{op}"({p.pick(values)}, {p.pick(values)}) {{n = {k}}} : (!foo.t, !foo.t) -> !foo.t')
        values.append(name)
    p.emit(1, "return")
    p.emit(0, "}")


def folded(p):
    """mlir-opt's canonicalization makes a 42 of something."""
    values = ["%a", "%b"]
    p.emit(0, "func.func @f(%a: i32, %b: i32) -> i32 {")
    p.arith(1, values, 120)
    p.emit(1, "%six = arith.constant 6 : i32")
    p.emit(1, "%seven = arith.constant 7 : i32")
    p.emit(1, "%product = arith.muli %six, %seven : i32")
    values.append("%product")
    p.arith(1, values, 120)
    name = p.name()
    p.emit(1, f"{name} = arith.addi {values[-1]}, %product : i32")
    p.emit(1, f"return {name} : i32")
    p.emit(0, "}")


def ceildiv(p):
    """mlir-opt's lowering of a division that rounds up is wrong for the least integer."""
    p.emit(0, "func.func @f(%n: index, %m: index) -> index {")
    values = ["%n", "%m"]
    for k in range(120):
        name = p.name()
        if k == 117:
            p.emit(1, f"{name} = affine.apply affine_map<(d0) -> (d0 ceildiv 7)>(%n)")
        else:
            op = p.random.choice(["addi", "xori", "andi", "maxsi"])
            p.emit(1, f"{name} = arith.{op} {p.pick(values)}, {p.pick(values)} : index")
        values.append(name)
    last = p.name()
    p.emit(1, f"{last} = arith.xori {values[-1]}, {values[-3]} : index")
    p.emit(1, f"return {last} : index")
    p.emit(0, "}")


def has(*words):
    return " && ".join(f"grep -q '{word}' \"$1\"" for word in words)


# Name, seed, generator, and what is interesting.
CASES = [
    ("straight line", 1, straight, has(r"arith\.divsi", r"arith\.remui")),
    ("loops and ifs", 2, loops, has(r"scf\.for", r"arith\.shrsi")),
    ("branches", 3, branches, has(r"cf\.cond_br", r"arith\.divui")),
    ("memory", 4, memory, has(r"memref\.copy", r"memref\.load")),
    ("functions", 5, functions, has("call @f", r"arith\.ceildivsi")),
    ("calls", 6, calls, has("call @g", "call @h")),
    ("affine loops", 7, affine, has(r"affine\.for", r"arith\.divf", r"affine\.store")),
    ("unregistered ops", 8, unregistered, has(r"foo\.key", r"foo\.lock")),
    ("a fold of mlir-opt", 9, folded, "$MLIR_OPT --canonicalize \"$1\" | grep -q 'constant 42 '"),
    ("a wrong lowering", 10, ceildiv,
     "$MLIR_OPT --lower-affine \"$1\" -o \"$1.low\" && $GRADUS check \"$1\" \"$1.low\" 2>&1 | grep -q 'has a different meaning'"),
]


def ops_in_bodies(gradus, file):
    command = [gradus, "opt", file, "--mlir-print-op-generic", "--allow-unregistered-dialect"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = re.findall(r'^\s*(?:%[^=]*= )?"([\w.]+)"\(', text, re.MULTILINE)
    return sum(name not in ("builtin.module", "func.func") for name in names)


def measure(command, folder, output, gradus, goal=None):
    """Ops left, test runs and seconds, and the seconds until no more than `goal` ops were left in the output file, which
    changes as the search goes on; `None` for what there is not."""
    count = os.path.join(folder, "count")
    open(count, "w").close()
    start, seen, snapshots = time.time(), None, []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and time.time() < start + 600:
        time.sleep(0.005)
        if goal is not None and os.path.exists(output) and os.stat(output).st_ino != seen:
            seen = os.stat(output).st_ino
            copy = f"{output}.{len(snapshots)}"
            shutil.copyfile(output, copy)
            snapshots.append((time.time() - start, copy))
    seconds = time.time() - start
    runs = sum(1 for _ in open(count))
    if process.poll() != 0 or not os.path.exists(output):
        process.kill()
        return None, runs, seconds, None
    soon = (at for at, copy in snapshots if ops_in_bodies(gradus, copy) <= goal)
    return ops_in_bodies(gradus, output), runs, seconds, next(soon, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gradus")
    parser.add_argument("--mlir-reduce", default="mlir-reduce-22")
    parser.add_argument("--mlir-opt", default="mlir-opt-22")
    parser.add_argument("--only")
    parser.add_argument("--keep", help="a folder for the programs")
    args = parser.parse_args()
    gradus = os.path.abspath(args.gradus)
    os.environ.update(GRADUS=gradus, MLIR_OPT=args.mlir_opt)
    print("| program | ops | mlir-reduce: ops | tests | s | gradus reduce: as small after | ops | tests | s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, seed, generate, interesting in CASES:
        if args.only and args.only not in name:
            continue
        program = Program(seed)
        generate(program)
        with tempfile.TemporaryDirectory() as scratch:
            folder = args.keep or scratch
            path = lambda file: os.path.join(folder, file)
            with open(path("input.mlir"), "w") as file:
                file.write(program.text())
            with open(path("test.sh"), "w") as file:
                file.write(f"#!/bin/sh\necho >> '{path('count')}'\nif {interesting}; then exit 1; fi\nexit 0\n")
            os.chmod(path("test.sh"), 0o755)
            test, flag = path("test.sh"), "--allow-unregistered-dialect"
            optimize = lambda name: f"--opt-reduction-pass=opt-pass={name} test={test}"
            theirs = [args.mlir_reduce, path("input.mlir"), flag, optimize("symbol-dce"), optimize("canonicalize"),
                      f"--reduction-tree=traversal-mode=0 test={test}", optimize("canonicalize"), "-o", path("theirs.mlir")]
            ours = [gradus, "reduce", path("input.mlir"), flag, f"--test={test}", "-o", path("ours.mlir")]
            cells = [name, ops_in_bodies(gradus, path("input.mlir"))]
            ops, runs, seconds, _ = measure(theirs, folder, path("theirs.mlir"), gradus)
            cells += ["fails" if ops is None else ops, runs, f"{seconds:.2f}"]
            ops, runs, seconds, soon = measure(ours, folder, path("ours.mlir"), gradus, cells[1] if ops is None else ops)
            cells += ["-" if soon is None else f"{soon:.2f} s", "fails" if ops is None else ops, runs, f"{seconds:.2f}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
