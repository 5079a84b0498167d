#!/usr/bin/env python3
"""Random nodes of the domain `ai.onnx.ml`, against onnxruntime.

  cargo build --release && python3 tests/conformance/machine_learning.py [--count 200] [--seed 1] [--target cpu] [--gradus PATH]

Ensembles of trees (all modes, missing values, several targets, one of two classes), linear models with all functions after the scores, scalers,
normalizers, encoders. Labels must be equal, and scores agree within 1e-4 of the largest one. A model that differs is kept in the folder
`machine-learning`. Needs pip packages onnx, onnxruntime and numpy.
"""
import sys

import numpy as np
from against_onnxruntime import main, run_gradus, session_of
from onnx import TensorProto, helper

MODES = ['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ']
TRANSFORMS = ['NONE', 'LOGISTIC', 'SOFTMAX', 'SOFTMAX_ZERO']
FLOATS, INTS = TensorProto.FLOAT, TensorProto.INT64


class Drawn:
    """A node while it is drawn: its attributes, outputs and input."""

    def __init__(self, random):
        self.random = random
        self.features = int(random.integers(1, 6))
        self.type, self.outputs, self.version = FLOATS, [FLOATS], 3
        self.kind, self.attributes = self.pick(KINDS)(self)

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def chance(self, percent):
        return int(self.random.integers(100)) < percent

    def numbers(self, count):
        return np.round(self.random.normal(size=count), 2).astype(np.float32)

    def trees(self):
        """Returns the attributes of nodes, and their leaves as tree and node."""
        nodes = {name: [] for name in ['treeids', 'nodeids', 'featureids', 'values', 'modes', 'truenodeids', 'falsenodeids',
                                       'missing_value_tracks_true']}
        modes = self.pick([MODES[:1], MODES[1:2], MODES[:4], MODES])
        leaves, missing = [], self.chance(30)
        for tree in range(int(self.random.integers(1, 5))):
            pending, count = [(0, int(self.random.integers(0, 5)))], 1
            while pending:
                node, depth = pending.pop(0)
                is_leaf = depth == 0 or (node and self.chance(20))
                if is_leaf:
                    leaves.append((tree, node))
                    # The features of leaves are not read.
                    row = [tree, node, self.pick([0, -2, 99]), 0.0, 'LEAF', 0, 0, 0]
                else:
                    row = [tree, node, int(self.random.integers(self.features)), float(self.numbers(1)[0]), self.pick(modes), count,
                           count + 1, int(missing and self.chance(50))]
                    pending += [(count, depth - 1), (count + 1, depth - 1)]
                    count += 2
                for name, value in zip(nodes, row):
                    nodes[name].append(value)
        return {f'nodes_{name}': values for name, values in nodes.items()}, leaves

    def weights(self, kind, leaves, targets, is_positive):
        rows = []
        for tree, node in leaves:
            # As exporters do, each leaf has a weight for each target.
            for target in range(targets):
                weight = float(self.numbers(1)[0])
                rows.append((tree, node, int(target), abs(weight) if is_positive else weight))
        names = ['treeids', 'nodeids', 'ids', 'weights']
        return {f'{kind}_{name}': [row[i] for row in rows] for i, name in enumerate(names)}

    def regressor(self):
        nodes, leaves = self.trees()
        targets = int(self.random.integers(1, 4))
        weights = self.weights('target', leaves, targets, False)
        if self.chance(20):
            self.type = TensorProto.DOUBLE
        base = {'base_values': self.numbers(targets)} if self.chance(30) else {}
        aggregate = self.pick(['SUM', 'AVERAGE', 'MIN', 'MAX'])
        return 'TreeEnsembleRegressor', {**nodes, **weights, **base, 'n_targets': targets, 'aggregate_function': aggregate,
                                         'post_transform': self.pick(TRANSFORMS)}

    def classifier(self):
        nodes, leaves = self.trees()
        if self.chance(20):
            self.type = self.pick([TensorProto.DOUBLE, INTS])
        self.outputs = [INTS, FLOATS]
        classes = int(self.random.integers(2, 5))
        one = classes == 2
        weights = self.weights('class', leaves, 1 if one else classes, self.chance(50))
        second = one and self.chance(30)
        if second:
            weights['class_ids'] = [1] * len(leaves)
        transform = self.pick(TRANSFORMS)
        base = {'base_values': self.numbers(1 if one else classes)} if not second and self.chance(30) else {}
        return 'TreeEnsembleClassifier', {**nodes, **weights, **base, 'classlabels_int64s': [7 * i + 1 for i in range(classes)],
                                          'post_transform': transform}

    def linear_regressor(self):
        targets = int(self.random.integers(1, 4))
        return 'LinearRegressor', {'coefficients': self.numbers(targets * self.features), 'intercepts': self.numbers(targets),
                                   'targets': targets, 'post_transform': self.pick(TRANSFORMS)}

    def linear_classifier(self):
        classes = int(self.random.integers(1, 5))
        self.outputs = [INTS, FLOATS]
        labels = [3, 5] if classes == 1 else list(range(2, 2 + classes))
        return 'LinearClassifier', {'coefficients': self.numbers(classes * self.features), 'intercepts': self.numbers(classes),
                                    'classlabels_ints': labels, 'post_transform': self.pick(TRANSFORMS)}

    def scaler(self):
        width = self.pick([1, self.features])
        return 'Scaler', {'offset': self.numbers(width), 'scale': self.numbers(width)}

    def normalizer(self):
        return 'Normalizer', {'norm': self.pick(['L1', 'L2', 'MAX'])}

    def binarizer(self):
        return 'Binarizer', {'threshold': float(self.numbers(1)[0])}

    def imputer(self):
        return 'Imputer', {'imputed_value_floats': self.numbers(self.pick([1, self.features])),
                           'replaced_value_float': self.pick([float('nan'), 1.0])}

    def encoder(self):
        self.type = self.outputs[0] = INTS
        if self.chance(50):
            return 'LabelEncoder', {'keys_int64s': [0, 2, -1, 3], 'values_int64s': [5, 6, 7, 8], 'default_int64': 9}
        self.outputs = [FLOATS]
        return 'LabelEncoder', {'keys_int64s': [0, 2, -1], 'values_floats': [0.5, 0.25, -3.0], 'default_float': 1.5}

    def one_hot(self):
        self.type, self.version = INTS, 1
        return 'OneHotEncoder', {'cats_int64s': [0, 1, -2], 'zeros': 1}

    def model(self):
        outputs = [helper.make_tensor_value_info(f'y{i}', kind, None) for i, kind in enumerate(self.outputs)]
        node = helper.make_node(self.kind, ['x'], [o.name for o in outputs], domain='ai.onnx.ml', **self.attributes)
        inputs = [helper.make_tensor_value_info('x', self.type, ['N', self.features])]
        graph = helper.make_graph([node], 'one', inputs, outputs)
        opsets = [helper.make_opsetid('', 17), helper.make_opsetid('ai.onnx.ml', self.version)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)

    def input(self):
        x = np.round(self.random.normal(size=(int(self.random.integers(1, 8)), self.features)), 1)
        if self.type == INTS:
            return np.round(x).astype(np.int64)
        x = x.astype(np.float64 if self.type == TensorProto.DOUBLE else np.float32)
        x[self.random.random(x.shape) < 0.05] = 1.0
        if self.kind.startswith('Tree') and self.chance(30) or self.kind == 'Imputer':
            x[self.random.random(x.shape) < 0.2] = np.nan
        return x


KINDS = [Drawn.regressor, Drawn.regressor, Drawn.classifier, Drawn.classifier, Drawn.classifier, Drawn.linear_regressor,
         Drawn.linear_classifier, Drawn.scaler, Drawn.normalizer, Drawn.binarizer, Drawn.imputer, Drawn.encoder, Drawn.one_hot]


def difference(have, want):
    """Returns what differs, or None."""
    if have.shape != want.shape:
        return f'shape {have.shape} for {want.shape}'
    if want.dtype == np.int64:
        return None if np.array_equal(have, want) else f'labels {have.tolist()} for {want.tolist()}'
    if not np.array_equal(np.isnan(have), np.isnan(want)):
        return f'{have.tolist()} for {want.tolist()}'
    have, want = np.nan_to_num(have), np.nan_to_num(want)
    error = np.abs(have - want).max(initial=0.0)
    most = np.abs(want).max(initial=0.0)
    return None if error <= 1e-4 * max(most, 1e-3) else f'{have.tolist()} for {want.tolist()}'


def compare(options, folder, drawn, model):
    x = drawn.input()
    try:
        want = session_of(model, folder).run(None, {'x': x})
    except Exception:
        return None
    have = run_gradus(options, folder, {'x': x}, [f'y{i}' for i in range(len(want))])
    if isinstance(have, str):
        return have
    for (name, have), want in zip(have.items(), want):
        if wrong := difference(have, np.asarray(want)):
            return f'{drawn.kind} {name}: {wrong}'
    return ''


def draw(random):
    drawn = Drawn(random)
    model = drawn.model()
    return model, lambda options, folder: compare(options, folder, drawn, model)


if __name__ == '__main__':
    sys.exit(main(__doc__, 'machine-learning', 200, draw))
