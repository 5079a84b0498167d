#!/usr/bin/env python3
"""Random models with control flow and open extents, against onnxruntime.

  cargo build --release && python3 tests/conformance/control_flow.py [--count 500] [--seed 1] [--target cpu] [--gradus PATH]

Each has one or two inputs with an open first extent, and ops of floats among nested `If`, `Loop` and `Scan`. It runs for two extents. Results must have
the same shapes and agree within 1e-4 of the largest element. A model that differs is kept in the folder `control-flow`. Needs pip packages
onnx, onnxruntime and numpy.
"""
import sys

import numpy as np
from against_onnxruntime import main, run_gradus, session_of
from onnx import TensorProto, helper, numpy_helper

WIDTH = 4


class Program:
    """A model while it is built. Values of floats have the shape [N, 4] with an open N."""

    def __init__(self, random):
        self.random, self.count, self.constants = random, 0, []

    def name(self):
        self.count += 1
        return f'v{self.count}'

    def constant(self, value):
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def pick(self, *choices):
        return choices[int(self.random.integers(len(choices)))]

    def op(self, nodes, kind, *operands, outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        nodes.append(helper.make_node(kind, operands, names, **attributes))
        return names[0] if outputs == 1 else names

    def plain(self, nodes, known):
        """An op of floats on known values."""
        x, y = self.pick(*known), self.pick(*known)
        kind = self.pick('Relu', 'Tanh', 'Sigmoid', 'Add', 'Sub', 'Mul', 'MatMul', 'mean', 'shift', 'halves')
        if kind in ('Relu', 'Tanh', 'Sigmoid'):
            return self.op(nodes, kind, x)
        if kind == 'MatMul':
            return self.op(nodes, kind, x, self.constant((self.random.standard_normal((WIDTH, WIDTH)) / 2).astype(np.float32)))
        if kind == 'mean':
            return self.op(nodes, 'Add', x, self.op(nodes, 'ReduceMean', y, self.constant(np.int64([0])), keepdims=1))
        if kind == 'shift':
            return self.op(nodes, 'Add', x, self.constant(self.random.standard_normal(WIDTH).astype(np.float32)))
        if kind == 'halves':
            halves = self.op(nodes, 'Split', x, outputs=2, axis=1, num_outputs=2)
            return self.op(nodes, 'Concat', halves[1], halves[0], axis=1)
        # Values of control flow may have other numbers of rows than their names say: one row broadcasts.
        return self.op(nodes, kind, x, self.op(nodes, 'ReduceMax', y, self.constant(np.int64([0])), keepdims=1))

    def condition(self, nodes, known):
        total = self.op(nodes, 'ReduceSum', self.pick(*known), keepdims=0)
        return self.op(nodes, self.pick('Greater', 'Less'), total, self.constant(np.float32(self.random.standard_normal())))

    def graph(self, nodes, inputs, outputs):
        kinds = {'b': (TensorProto.BOOL, []), 'i': (TensorProto.INT64, []), 'f': (TensorProto.FLOAT, [None, WIDTH]), 'r': (TensorProto.FLOAT, [WIDTH]),
                 's': (TensorProto.FLOAT, [None, None, WIDTH])}
        info = lambda pair: helper.make_tensor_value_info(pair[0], *kinds[pair[1]])
        return helper.make_graph(nodes, self.name(), [info(p) for p in inputs], [info(p) for p in outputs])

    def body(self, known, depth, steps=None):
        nodes, known = [], list(known)
        for _ in range(steps or int(self.random.integers(1, 4))):
            known.append(self.statement(nodes, known, depth))
        return nodes, known

    def branch(self, nodes, known, depth):
        parts = []
        for _ in range(2):
            inner, values = self.body(known, depth - 1)
            result = self.op(inner, 'Identity', values[-1])
            parts.append(self.graph(inner, [], [(result, 'f')]))
        return self.op(nodes, 'If', self.condition(nodes, known), then_branch=parts[0], else_branch=parts[1])

    def loop(self, nodes, known, depth):
        i, going, state = self.name(), self.name(), self.name()
        inner, values = self.body([*known, state], depth - 1)
        end = self.condition(inner, [values[-1]]) if self.pick(True, False) else self.op(inner, 'Identity', going)
        result = self.op(inner, 'Add', self.op(inner, 'Tanh', values[-1]), state) if self.pick(True, False) else self.op(inner, 'Tanh', values[-1])
        rows = self.op(inner, 'ReduceMean', result, self.constant(np.int64([0])), keepdims=0)
        body = self.graph(inner, [(i, 'i'), (going, 'b'), (state, 'f')], [(end, 'b'), (result, 'f'), (rows, 'r')])
        count = self.constant(np.int64(self.random.integers(0, 5)))
        if self.pick(True, False):
            count = self.op(nodes, 'Squeeze', self.op(nodes, 'Shape', self.pick(*known), start=0, end=1))
        state, rows = self.op(nodes, 'Loop', count, self.constant(np.bool_(True)), self.pick(*known), body=body, outputs=2)
        return state if self.pick(True, True, False) else self.op(nodes, 'Concat', state, self.op(nodes, 'Mul', rows, self.constant(np.float32(0.5))), axis=0)

    def scan(self, nodes, known, depth):
        state, row = self.name(), self.name()
        inner, values = self.body([*known, state], depth - 1, 1)
        mixed = self.op(inner, 'Tanh', self.op(inner, 'Add', values[-1] if self.pick(True, False) else state, row))
        mean = self.op(inner, 'ReduceMean', mixed, self.constant(np.int64([0])), keepdims=1)
        out = self.op(inner, 'ReduceMax', mixed, self.constant(np.int64([0])), keepdims=0)
        body = self.graph(inner, [(state, 'f'), (row, 'r')], [(mean, 'f'), (out, 'r')])
        start = self.op(nodes, 'ReduceMean', self.pick(*known), self.constant(np.int64([0])), keepdims=1)
        backwards = self.pick({}, {'scan_input_directions': [1]})
        state, rows = self.op(nodes, 'Scan', start, self.pick(*known), body=body, num_scan_inputs=1, outputs=2, **backwards)
        return rows if self.pick(True, False) else state

    def statement(self, nodes, known, depth):
        kind = self.pick('plain', 'plain', 'branch', 'loop', 'scan') if depth > 0 else 'plain'
        return {'branch': self.branch, 'loop': self.loop, 'scan': self.scan}[kind](nodes, known, depth) if kind != 'plain' else self.plain(nodes, known)

    def model(self):
        inputs = [f'x{i}' for i in range(self.pick(1, 2))]
        nodes, known = self.body(inputs, 2, int(self.random.integers(2, 6)))
        outputs = [self.op(nodes, 'Identity', value) for value in {known[-1], self.pick(*known)}]
        info = lambda name, rows: helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, WIDTH])
        graph = helper.make_graph(nodes, 'main', [info(x, f'N{i}') for i, x in enumerate(inputs)], [info(y, None) for y in outputs], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9)


def difference(have, want):
    if have.shape != want.shape:
        return f'shape {have.shape} instead of {want.shape}'
    off = np.abs(have - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-30)
    return None if off < 1e-4 or have.size == 0 else f'off by {off:.1e} of the largest element'


def compare(options, folder, model, extents, random):
    session = session_of(model, folder)
    for extent in extents:
        feed = {x.name: random.standard_normal((extent, WIDTH)).astype(np.float32) for x in session.get_inputs()}
        try:
            want = session.run(None, feed)
        except Exception:
            return None
        names = [y.name for y in session.get_outputs()]
        have = run_gradus(options, folder, feed, names)
        if isinstance(have, str):
            return f'{extent} rows: {have}'
        for name, want in zip(names, want):
            if wrong := difference(have[name], want):
                return f'{extent} rows: {name}: {wrong}'
    return ''


def draw(random):
    model = Program(random).model()
    return model, lambda options, folder: compare(options, folder, model, [1 + int(random.integers(6)), 1], random)


if __name__ == '__main__':
    sys.exit(main(__doc__, 'control-flow', 500, draw))
