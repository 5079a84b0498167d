#!/usr/bin/env python3
"""How much cheaper networks become: by the best single steps, and by saturation.

  cargo build --release && python3 benches/networks.py [--networks nasrnn,bert,...] [--target cpu] [--machine FILE] [--gradus PATH]

The seven networks that TASO and Tensat were measured on, after their papers: the layers are those, the weights are one
number each, all different. Costs are those of the target's model, before, after `apply-rules` (each rule where it pays at
once) and after `saturate`, with the same rules; the bound is what `saturate` proves that nothing costs less than.

  python3 benches/networks.py --print bert     writes a network to the standard output
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time


class Network:
    """A function in the making. Values are names; their extents are in `dims`."""

    def __init__(self, **inputs):
        self.dims, self.lines, self.weights = {}, [], 0
        self.inputs = [self.named(f'%{name}', dims) for name, dims in inputs.items()]

    def named(self, name, dims):
        self.dims[name] = tuple(dims)
        return name

    def ty(self, value):
        return f'tensor<{"x".join(map(str, self.dims[value]))}xf32>'

    def constant(self, text, ty, dims):
        value = self.named(f'%w{len(self.lines)}', dims)
        self.lines.append(f'{value} = graph.constant dense<{text}> : {ty}')
        return value

    def weight(self, *dims):
        self.weights += 1
        return self.constant(f'{self.weights * 2.0 ** -12:.6e}', f'tensor<{"x".join(map(str, dims))}xf32>', dims)

    def op(self, name, operands, dims, attributes=''):
        value = self.named(f'%{len(self.lines)}', dims)
        types = ', '.join(map(self.ty, operands))
        self.lines.append(f'{value} = "graph.{name}"({", ".join(operands)}) <{{{attributes}}}> : ({types}) -> {self.ty(value)}')
        return value

    def unary(self, name, x):
        return self.op(name, [x], self.dims[x])

    def relu(self, x):
        return self.unary('relu', x)

    def binary(self, name, x, y):
        return self.op(name, [x, y], self.dims[x])

    def add(self, x, y):
        return self.binary('add', x, y)

    def matmul(self, x, y):
        (*stacked, rows, _), columns = self.dims[x], self.dims[y][-1]
        return self.op('matmul', [x, y], [*stacked, rows, columns])

    def linear(self, x, columns):
        return self.matmul(x, self.weight(self.dims[x][-1], columns))

    def reshape(self, x, *dims):
        extents = self.constant(list(dims), f'tensor<{len(dims)}xi64>', [len(dims)])
        ty = f'tensor<{len(dims)}xi64>'
        value = self.named(f'%{len(self.lines)}', dims)
        self.lines.append(f'{value} = "graph.reshape"({x}, {extents}) : ({self.ty(x)}, {ty}) -> {self.ty(value)}')
        return value

    def transpose(self, x, *perm):
        dims = [self.dims[x][axis] for axis in perm]
        return self.op('transpose', [x], dims, f'perm = array<i64: {", ".join(map(str, perm))}>')

    def window(self, x, kernel, stride, pad):
        """The extents of what windows become, and the attributes that say how they lie."""
        (kh, kw), (ph, pw), (_, _, h, w) = kernel, pad, self.dims[x]
        text = f'kernel_shape = array<i64: {kh}, {kw}>, strides = array<i64: {stride}, {stride}>, ' \
               f'pads = array<i64: {ph}, {pw}, {ph}, {pw}>'
        return [(h + 2 * ph - kh) // stride + 1, (w + 2 * pw - kw) // stride + 1], text

    def conv(self, x, filters, kernel=(1, 1), stride=1, groups=1, pad=None):
        """Padded such that extents stay, unless `pad` says otherwise."""
        pad = pad or tuple(k // 2 for k in kernel)
        (images, channels, _, _), (extents, text) = self.dims[x], self.window(x, kernel, stride, pad)
        w = self.weight(filters, channels // groups, *kernel)
        return self.op('conv', [x, w], [images, filters, *extents], f'group = {groups} : i64, {text}')

    def conv_relu(self, *args, **named):
        return self.relu(self.conv(*args, **named))

    def pool(self, name, x, kernel=3, stride=2, pad=0):
        extents, text = self.window(x, (kernel, kernel), stride, (pad, pad))
        return self.op(f'{name}_pool', [x], [*self.dims[x][:2], *extents], text)

    def concat(self, *parts):
        images, _, *rest = self.dims[parts[0]]
        return self.op('concat', parts, [images, sum(self.dims[p][1] for p in parts), *rest], 'axis = 1 : i64')

    def text(self, result):
        arguments = ', '.join(f'{name}: {self.ty(name)}' for name in self.inputs)
        body = ''.join(f'  {line}\n' for line in self.lines)
        return f'func.func @main({arguments}) -> {self.ty(result)} {{\n{body}  return {result} : {self.ty(result)}\n}}\n'


def image():
    n = Network(image=(1, 3, 224, 224))
    return n, n.inputs[0]


def nasrnn(hidden=512, length=5):
    """The recurrent cell that neural architecture search found (Zoph and Le, 2017), unrolled."""
    n = Network(**{f'x{i}': (1, hidden) for i in range(length)}, state=(1, hidden))
    *xs, state = n.inputs
    f = n.unary
    for x in xs:
        t = [n.add(n.linear(x, hidden), n.linear(state, hidden)) for _ in range(8)]
        a = n.add(f('relu', t[0]), f('sigmoid', t[3]))
        b = n.add(f('sigmoid', t[1]), f('tanh', t[2]))
        c = n.binary('mul', f('sigmoid', t[4]), f('tanh', t[5]))
        d = n.binary('mul', f('sigmoid', t[6]), f('relu', t[7]))
        e = n.add(f('sigmoid', b), f('tanh', c))
        g = n.binary('mul', f('tanh', a), f('tanh', d))
        state = f('tanh', n.binary('mul', f('tanh', e), f('tanh', g)))
    return n.text(state)


def bert(layers=8, tokens=64, hidden=1024, heads=16):
    """The encoder of BERT (Devlin et al., 2019) without normalization, as the two papers have it."""
    n = Network(tokens=(tokens, hidden))
    x, size = n.inputs[0], hidden // heads
    for _ in range(layers):
        parts = [n.reshape(n.linear(x, hidden), tokens, heads, size) for _ in range(3)]
        query, key, value = (n.transpose(part, *perm) for part, perm in zip(parts, [(1, 0, 2), (1, 2, 0), (1, 0, 2)]))
        seen = n.transpose(n.matmul(n.matmul(query, key), value), 1, 0, 2)
        x = n.add(n.linear(n.reshape(seen, tokens, hidden), hidden), x)
        x = n.add(n.linear(n.relu(n.linear(x, 4 * hidden)), hidden), x)
    return n.text(x)


def resnext():
    """ResNeXt-50 32x4d (Xie et al., 2017), normalization folded."""
    n, x = image()
    x = n.pool('max', n.conv_relu(x, 64, (7, 7), 2), pad=1)
    for stage, blocks in enumerate([3, 4, 6, 3]):
        width = 128 << stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = n.conv_relu(n.conv_relu(x, width), width, (3, 3), stride, groups=32)
            short = x if block > 0 else n.conv(x, 2 * width, stride=stride)
            x = n.relu(n.add(n.conv(y, 2 * width), short))
    return n.text(x)


def squeezenet():
    """SqueezeNet (Iandola et al., 2016)."""
    n, x = image()
    x = n.pool('max', n.conv_relu(x, 64, (3, 3), 2, pad=(1, 1)))
    for i, squeeze in enumerate([16, 16, 32, 32, 48, 48, 64, 64]):
        s = n.conv_relu(x, squeeze)
        x = n.concat(n.conv_relu(s, 4 * squeeze), n.conv_relu(s, 4 * squeeze, (3, 3)))
        x = n.pool('max', x) if i in (1, 3) else x
    return n.text(n.pool('average', n.conv_relu(x, 1000), kernel=n.dims[x][2], stride=1))


def vgg():
    """VGG-19 (Simonyan and Zisserman, 2015)."""
    n, x = image()
    for filters, layers in [(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]:
        for _ in range(layers):
            x = n.conv_relu(x, filters, (3, 3))
        x = n.pool('max', x, kernel=2)
    x = n.reshape(x, 1, 25088)
    return n.text(n.linear(n.relu(n.linear(n.relu(n.linear(x, 4096)), 4096)), 1000))


def inception():
    """Inception-v3 (Szegedy et al., 2016)."""
    n = Network(image=(1, 3, 299, 299))
    x, c = n.inputs[0], n.conv_relu
    x = c(c(c(x, 32, (3, 3), 2), 32, (3, 3)), 64, (3, 3))
    x = n.pool('max', x)
    x = n.pool('max', c(c(x, 80), 192, (3, 3)))
    for pool in (32, 64, 64):
        x = n.concat(c(x, 64), c(c(x, 48), 64, (5, 5)), c(c(c(x, 64), 96, (3, 3)), 96, (3, 3)),
                     c(n.pool('average', x, stride=1, pad=1), pool))
    x = n.concat(c(x, 384, (3, 3), 2), c(c(c(x, 64), 96, (3, 3)), 96, (3, 3), 2), n.pool('max', x, pad=1))
    for f in (128, 160, 160, 192):
        x = n.concat(c(x, 192), c(c(c(x, f), f, (1, 7)), 192, (7, 1)),
                     c(c(c(c(c(x, f), f, (7, 1)), f, (1, 7)), f, (7, 1)), 192, (1, 7)),
                     c(n.pool('average', x, stride=1, pad=1), 192))
    x = n.concat(c(c(x, 192), 320, (3, 3), 2), c(c(c(c(x, 192), 192, (1, 7)), 192, (7, 1)), 192, (3, 3), 2),
                 n.pool('max', x, pad=1))
    for _ in range(2):
        a, b = c(x, 384), c(c(x, 448), 384, (3, 3))
        x = n.concat(c(x, 320), c(a, 384, (1, 3)), c(a, 384, (3, 1)), c(b, 384, (1, 3)), c(b, 384, (3, 1)),
                     c(n.pool('average', x, stride=1, pad=1), 192))
    return n.text(x)


def nasnet(cells=5):
    """NasNet-A (Zoph et al., 2018)."""
    n, x = image()
    x = n.pool('max', n.conv_relu(x, 64, (7, 7), 2), pad=1)

    def separable(x, filters, kernel, stride=1):
        channels = n.dims[x][1]
        return n.conv(n.conv(x, channels, (kernel, kernel), stride, groups=channels), filters)

    def same(x, filters):
        return n.conv_relu(x, filters)

    def average(x):
        return n.pool('average', x, stride=1, pad=1)

    def normal(before, now, f):
        stride = n.dims[before][2] // n.dims[now][2]
        a, b = same(now, f), n.conv_relu(before, f, stride=stride)
        sums = [(separable(a, f, 3), a), (separable(b, f, 3), separable(a, f, 5)), (average(a), b),
                (average(b), average(b)), (separable(b, f, 5), separable(b, f, 3))]
        return n.concat(*(n.add(x, y) for x, y in sums))

    def reduction(before, now, f):
        stride = n.dims[before][2] // n.dims[now][2]
        a, b = same(now, f), n.conv_relu(before, f, stride=stride)
        pooled = [n.pool(name, a, pad=1) for name in ('max', 'average')]
        one = n.add(separable(b, f, 7, 2), separable(a, f, 5, 2))
        two = n.add(pooled[0], separable(b, f, 7, 2))
        three = n.add(pooled[1], separable(b, f, 5, 2))
        four = n.add(pooled[0], separable(one, f, 3))
        five = n.add(average(one), two)
        return n.concat(two, three, four, five)

    before, filters = x, 128
    for stage in range(3):
        for _ in range(cells):
            before, x = x, normal(before, x, filters)
        if stage < 2:
            filters *= 2
            before, x = x, reduction(before, x, filters)
    return n.text(x)


NETWORKS = {f.__name__: f for f in (nasrnn, bert, resnext, nasnet, inception, squeezenet, vgg)}


def run(gradus, path, *flags):
    start = time.monotonic()
    done = subprocess.run([gradus, 'opt', path, *flags], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[:2000])
    return done, time.monotonic() - start


def costs(said):
    """Cost before, after, and the lower bound, in what `saturate` says."""
    before, after = map(int, re.search(r'cost (\d+), then (\d+)', said).groups())
    bound = re.search(r'at least (\d+)', said)
    return before, after, int(bound.group(1)) if bound else after


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--networks', default=','.join(NETWORKS))
    p.add_argument('--target', default='cpu')
    p.add_argument('--machine', help='a machine description of the target, so that costs do not depend on this machine')
    p.add_argument('--options', default='', help='more options of saturate')
    p.add_argument('--gradus', default=os.path.join(here, '..', 'target', 'release', 'gradus'))
    p.add_argument('--print', dest='name', choices=NETWORKS)
    args = p.parse_args()
    if args.name:
        return sys.stdout.write(NETWORKS[args.name]())
    machine = ['--machine', args.machine] if args.machine else []
    print(f'{"network":<12} {"before":>12} {"greedy":>12} {"saturated":>12} {"bound":>12}  seconds')
    for name in args.networks.split(','):
        with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f, tempfile.NamedTemporaryFile('r') as greedy:
            f.write(NETWORKS[name]())
            f.flush()
            run(args.gradus, f.name, f'--apply-rules=target={args.target}', *machine, '-o', greedy.name)
            only = f'--saturate=target={args.target} max-iterations=0 associate=false report'
            after_greedy = costs(run(args.gradus, greedy.name, only, *machine)[0].stderr)[0]
            saturate = f'--saturate=target={args.target} report {args.options}'
            done, seconds = run(args.gradus, f.name, saturate, *machine, '-o', os.devnull)
            before, after, bound = costs(done.stderr)
            print(f'{name:<12} {before:>12} {after_greedy:>12} {after:>12} {bound:>12}  {seconds:.1f}', flush=True)
    return None


if __name__ == '__main__':
    main()
