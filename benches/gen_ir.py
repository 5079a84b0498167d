#!/usr/bin/env python3
"""Writes large programs in generic form, the same for the same arguments.

  gen_ir.py flat   N   N ops of straight-line arithmetic in functions of 500
  gen_ir.py kept   N   the same, with an op at the end of each function that uses every value that nobody else does
  gen_ir.py nested N   N ops in regions eight deep
  gen_ir.py loops  N   N ops in loops and conditions of functions of 500, five deep
  gen_ir.py nn     N   N ops of a network of foreign ops: tensors, dictionaries, small constants
  gen_ir.py dense  N   eight constants of N MiB together, as hexadecimal
"""
import random
import sys


def flat(n, rng, keep=False):
    yield '"builtin.module"() ({'
    for f in range(max(n // 500, 1)):
        yield f'  "func.func"() <{{function_type = (i32, f32) -> i32, sym_name = "f{f}"}}> ({{'
        yield '  ^bb0(%i: i32, %x: f32):'
        ints, floats, used = ['%i'], ['%x'], set()

        def recent(known):
            value = known[-1 - int(len(known) * rng.random() ** 3)]
            used.add(value)
            return value

        for v in range(497):
            kind = rng.random()
            if kind < 0.2:
                value = rng.randrange(-1000, 1000)
                yield f'    %{v} = "arith.constant"() <{{value = {value} : i32}}> : () -> i32'
                ints.append(f'%{v}')
            elif kind < 0.7:
                op = rng.choice(['addi', 'subi', 'muli'])
                flags = rng.choice(['none', 'none', 'nsw'])
                yield (f'    %{v} = "arith.{op}"({recent(ints)}, {recent(ints)}) '
                       f'<{{overflowFlags = #arith.overflow<{flags}>}}> : (i32, i32) -> i32')
                ints.append(f'%{v}')
            elif kind < 0.8:
                note = f'note = "n{rng.randrange(50)}", weights = [{rng.randrange(9)}, {rng.randrange(9)}]'
                yield f'    %{v} = "arith.xori"({recent(ints)}, {recent(ints)}) {{{note}}} : (i32, i32) -> i32'
                ints.append(f'%{v}')
            else:
                op = rng.choice(['addf', 'mulf'])
                yield (f'    %{v} = "arith.{op}"({recent(floats)}, {recent(floats)}) '
                       '<{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32')
                floats.append(f'%{v}')
        if keep:
            dead = [(value, ty) for known, ty in [(ints, 'i32'), (floats, 'f32')] for value in known if value not in used]
            yield f'    "t.sink"({", ".join(d[0] for d in dead)}) : ({", ".join(d[1] for d in dead)}) -> ()'
        yield f'    "func.return"({ints[-1]}) : (i32) -> ()'
        yield '  }) : () -> ()'
    yield '}) : () -> ()'


def kept(n, rng):
    return flat(n, rng, keep=True)


def loops(n, rng):
    """Each level computes a few values, and goes deeper in a loop or, in a loop, under a condition."""
    names = iter(())

    def level(depth, acc, i):
        pad = '  ' * (8 - depth)
        for _ in range(rng.randrange(1, 5)):
            name = f'%{next(names)}'
            yield f'{pad}{name} = "arith.{rng.choice(["addf", "mulf"])}"({acc}, %x) <{{fastmath = #arith.fastmath<none>}}> : (f32, f32) -> f32'
            acc = name
        for _ in range(2 if depth else 0):
            name, a, j, c = (f'%{next(names)}' for _ in range(4))
            if i and rng.random() < 0.4:
                yield f'{pad}{c} = "arith.cmpi"({i}, %n) <{{predicate = 2 : i64}}> : (index, index) -> i1'
                yield f'{pad}{name} = "scf.if"({c}) ({{'
                yield from level(depth - 1, acc, i)
                yield f'{pad}}}, {{'
                yield f'{pad}  "scf.yield"({acc}) : (f32) -> ()'
                yield f'{pad}}}) : (i1) -> f32'
            else:
                yield f'{pad}{name} = "scf.for"(%n, %m, %n, {acc}) ({{'
                yield f'{pad}^bb0({j}: index, {a}: f32):'
                yield from level(depth - 1, a, j)
                yield f'{pad}}}) : (index, index, index, f32) -> f32'
            acc = name
        if depth < 5:
            yield f'{pad}"scf.yield"({acc}) : (f32) -> ()'
        else:
            yield f'{pad}"func.return"({acc}) : (f32) -> ()'

    yield '"builtin.module"() ({'
    ops, f = 0, 0
    while ops < n:
        names = iter(range(10**9))
        yield f'  "func.func"() <{{function_type = (index, index, f32) -> f32, sym_name = "g{f}"}}> ({{'
        yield '  ^bb0(%n: index, %m: index, %x: f32):'
        for line in level(5, '%x', None):
            ops += '"(' in line
            yield line
        yield '  }) : () -> ()'
        ops, f = ops + 1, f + 1
    yield '}) : () -> ()'


def nested(n, rng):
    def level(depth):
        pad = '  ' * (10 - depth)
        yield f'{pad}%{depth} = "t.value"() {{depth = {depth} : i64, seed = {rng.randrange(100)} : i64}} : () -> i32'
        yield f'{pad}"t.use"(%{depth}, %{depth}) : (i32, i32) -> ()'
        if depth:
            for _ in range(2):
                yield f'{pad}"t.region"() ({{'
                yield from level(depth - 1)
                yield f'{pad}}}) : () -> ()'

    yield '"builtin.module"() ({'
    per_tree = 3 * 2**9 - 4
    for _ in range(max(n // per_tree, 1)):
        yield ' "t.region"() ({'
        yield from level(8)
        yield ' }) : () -> ()'
    yield '}) : () -> ()'


def nn(n, rng):
    yield '"builtin.module"() ({'
    for f in range(max(n // 502, 1)):
        c = rng.choice([16, 32, 64])
        act, bias = f'tensor<1x28x28x{c}xf32>', f'tensor<{c}xf32>'
        yield f'  "func.func"() <{{function_type = ({act}) -> {act}, sym_name = "net{f}"}}> ({{'
        yield f'  ^bb0(%x0: {act}):'
        for v in range(100):
            values = ', '.join(f'{rng.uniform(-1, 1):.6e}' for _ in range(c))
            yield f'    %w{v} = "net.constant"() {{value = dense<{rng.random():.6e}> : tensor<{c}x3x3x{c}xf32>}} : () -> tensor<{c}x3x3x{c}xf32>'
            yield f'    %b{v} = "net.constant"() {{value = dense<[{values}]> : {bias}}} : () -> {bias}'
            yield (f'    %c{v} = "net.conv"(%x{v}, %w{v}, %b{v}) {{layout = "NHWC", name = "conv{f}.{v}", '
                   f'window = {{pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}}}} : ({act}, tensor<{c}x3x3x{c}xf32>, {bias}) -> {act}')
            yield f'    %r{v} = "net.clip"(%c{v}) {{max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}} : ({act}) -> {act}'
            yield f'    %x{v + 1} = "net.view"(%r{v}) {{map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>}} : ({act}) -> {act}'
        yield f'    "func.return"(%x100) : ({act}) -> ()'
        yield '  }) : () -> ()'
    yield '}) : () -> ()'


def dense(mib, rng):
    yield '"builtin.module"() ({'
    elements = mib * 2**20 // 8 // 4
    for v in range(8):
        payload = rng.randbytes(4 * elements).hex().upper()
        yield f'  %{v} = "arith.constant"() <{{value = dense<"0x{payload}"> : tensor<{elements}xf32>}}> : () -> tensor<{elements}xf32>'
    yield '}) : () -> ()'


KINDS = {'flat': flat, 'kept': kept, 'nested': nested, 'loops': loops, 'nn': nn, 'dense': dense}


def write(kind, n, out):
    """Writes a program to an open file of text."""
    for line in KINDS[kind](n, random.Random(f'{kind} {n}')):
        out.write(line + '\n')


if __name__ == '__main__':
    if len(sys.argv) != 3 or sys.argv[1] not in KINDS or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]), sys.stdout)
