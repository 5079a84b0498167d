"""Writes onnx-node-more.tar.gz: those node tests of the installed `onnx` package that onnx-node-dev.tar.gz does not have.

Left out are operators of other domains than `ai.onnx.ml`, of strings, images and random numbers, and tests that repeat others as functions.
Tier D runs graphs, sequences and optional values, tier E the other operators. A sequence `input_0` is a folder of tensors.
"""
import gzip
import io
import tarfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.model import collect_testcases as collect_models
from onnx.backend.test.case.node import collect_testcases

HERE = Path(__file__).parent
LEARNED = {"ArrayFeatureExtractor", "Binarizer", "LabelEncoder", "TreeEnsemble"}
FLOW = {"If", "Loop", "Scan", "SequenceMap"}
LARGEST = 1 << 16


def operators(graph):
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from operators(attribute.g)


def is_flow(name):
    return name in FLOW or "Sequence" in name or name.startswith("Optional")


def supported():
    rows = [line.split("\t") for line in (HERE / "onnx_operators.tsv").read_text().splitlines()[1:]]
    # The names of activation functions are strings.
    plain = {row[0] for row in rows if row[2] not in ("strings", "random numbers")} | {"RNN", "GRU", "LSTM"}
    return plain - {"ImageDecoder", "TfIdfVectorizer"} | LEARNED


def files(case):
    inputs, outputs = case.data_sets[0]
    yield "model.onnx", case.model.SerializeToString()
    yield "tol.txt", f"{case.rtol} {case.atol}\n".encode()
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            if isinstance(value, list):
                yield f"test_data_set_0/{kind}_{i}/len", str(len(value)).encode()
                for k, tensor in enumerate(value):
                    yield f"test_data_set_0/{kind}_{i}/{k}.pb", numpy_helper.from_array(np.asarray(tensor)).SerializeToString()
            else:
                tensor = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value))
                yield f"test_data_set_0/{kind}_{i}.pb", tensor.SerializeToString()


def values(case):
    for value in (value for values in case.data_sets[0] for value in values):
        yield from value if isinstance(value, list) else [value]


def main():
    with tarfile.open(HERE / "onnx-node-dev.tar.gz") as other:
        have = {member.name.split("/")[1] for member in other if "/" in member.name}
    known, rows, out = supported(), ["test\ttier\tkind\tops"], io.BytesIO()
    archive = tarfile.open(fileobj=out, mode="w")

    def add(name, data):
        info = tarfile.TarInfo(f"onnx-node-more/{name}")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))

    models = [case for case in collect_models() if case.name.startswith("test_sequence_model")]
    for case in sorted([*collect_testcases(None), *models], key=lambda case: case.name):
        if case.name in have or not case.model or not case.data_sets:
            continue
        ops = sorted(set(operators(case.model.graph)))
        flow = any(map(is_flow, ops))
        domains = {opset.domain for opset in case.model.opset_import}
        plain = all(value is not None and not (isinstance(value, np.ndarray) and value.dtype.kind in "OUS") for value in values(case))
        repeats = case.name.endswith("_expanded") and not flow
        if not set(ops) <= known or domains - {"", "ai.onnx", "ai.onnx.ml"} or not plain or repeats:
            continue
        content = list(files(case))
        if sum(len(data) for _, data in content) > LARGEST:
            continue
        for name, data in content:
            add(f"{case.name}/{name}", data)
        rows.append("\t".join([case.name, "D" if flow else "E", "special", " ".join(ops)]))
    add("index.tsv", "\n".join(rows).encode() + b"\n")
    archive.close()
    (HERE / "onnx-node-more.tar.gz").write_bytes(gzip.compress(out.getvalue(), 9, mtime=0))
    print(len(rows) - 1, "tests")


main()
