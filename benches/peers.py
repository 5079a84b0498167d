"""The peers of the cpu target, on one thread unless another number is given: onnxruntime, oneDNN, OpenVINO, MKL; and what one core can do at most.

A work is a function of how often it is done, that gives the median time in milliseconds. Only onnxruntime is required: another
peer that is not installed is left out, after one line that says how to install it.
"""
import os

for name in ['OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS']:
    os.environ[name] = '1'
os.environ['MKL_THREADING_LAYER'] = 'SEQUENTIAL'

import ctypes
import functools
import importlib.metadata
import math
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnxruntime

ROUNDS = 3
WARM_UP = 0.05


def timed(call):
    """The work of calling something; as in `gradus bench`, calls of the first 50 ms, one at least, are not counted."""
    def once():
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e3

    def work(repeat):
        begin = time.perf_counter()
        once()
        while time.perf_counter() < begin + WARM_UP:
            once()
        return statistics.median(once() for _ in range(repeat))
    return work


def in_turn(works, repeat):
    """The time of each work: the median of rounds in which they take turns. What is no work is left out."""
    times = {name: [] for name, work in works.items() if work}
    for _ in range(ROUNDS):
        for name, some in times.items():
            some.append(works[name](repeat))
    return {name: statistics.median(some) for name, some in times.items()}


@functools.cache
def left_out(peer, package):
    """Says once that a peer is missing."""
    print(f'{peer} is left out; to have it: pip install {package}', flush=True)


@functools.cache
def library(peer, package, name):
    """The shared library of a package, or nothing."""
    try:
        files = importlib.metadata.files(package) or []
        return ctypes.CDLL(str(next(file for file in files if file.name.startswith(name)).locate()))
    except (importlib.metadata.PackageNotFoundError, StopIteration, OSError):
        left_out(peer, package)
        return None


def aligned(shape):
    """Random floats that begin at a cache line."""
    size = math.prod(shape)
    raw = np.empty(size * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    made = raw[start:start + size * 4].view(np.float32).reshape(shape)
    made[...] = np.random.rand(*shape)
    return made


def close(name, got, want):
    """Fails if a peer does not compute what it should."""
    off = np.abs(got - want).max() / np.abs(want).max()
    assert off < 1e-3, f'{name} is off by {off:.1e} of the largest result'


def session_of(model, threads=1):
    """A model in onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=['CPUExecutionProvider'])


def runtime(session):
    """The work of a model in onnxruntime."""
    inputs = {i.name: np.random.rand(*i.shape).astype(np.float32) for i in session.get_inputs()}
    return timed(lambda: session.run(None, inputs))


def request_of(model, image, want, threads=1, precision='f32'):
    """A model in OpenVINO as what runs it, checked on an image in f32, or nothing. Its default on machines with bf16 is that."""
    try:
        import openvino
    except ImportError:
        left_out('OpenVINO', 'openvino')
        return None
    compiled = openvino.Core().compile_model(model, 'CPU', {
        'INFERENCE_NUM_THREADS': threads, 'NUM_STREAMS': 1, 'PERFORMANCE_HINT': 'LATENCY', 'INFERENCE_PRECISION_HINT': precision,
        'ENABLE_CPU_PINNING': False})
    request = compiled.create_infer_request()
    if precision == 'f32':
        close('OpenVINO', request.infer({0: image})[0], want)
    return request


class Product:
    """A dense product of matrices in MKL. `plain` calls `sgemm`, `packed` has its second factor packed beforehand."""
    ROWS, PLAIN, PACKED, SECOND = 101, 111, 151, 162

    def __init__(self, mkl, m, k, n):
        self.mkl, self.sizes = mkl, (m, n, k)
        self.a, self.b, self.c = aligned((m, k)), aligned((k, n)), aligned((m, n))
        mkl.cblas_sgemm_pack_get_size.restype = ctypes.c_size_t
        self.kept = aligned((mkl.cblas_sgemm_pack_get_size(self.SECOND, m, n, k) // 4 + 1,))
        mkl.cblas_sgemm_pack(self.ROWS, self.SECOND, self.PLAIN, m, n, k, ctypes.c_float(1), pointer(self.b), n, pointer(self.kept))

    def plain(self):
        m, n, k = self.sizes
        self.mkl.cblas_sgemm(self.ROWS, self.PLAIN, self.PLAIN, m, n, k, ctypes.c_float(1), pointer(self.a), k,
                             pointer(self.b), n, ctypes.c_float(0), pointer(self.c), n)

    def packed(self):
        m, n, k = self.sizes
        self.mkl.cblas_sgemm_compute(self.ROWS, self.PLAIN, self.PACKED, m, n, k, pointer(self.a), k,
                                     pointer(self.kept), n, ctypes.c_float(0), pointer(self.c), n)

    def check(self):
        """Fails if a form of it does not give the product."""
        for form in [self.plain, self.packed]:
            self.c[...] = np.nan
            form()
            close('MKL', self.c, self.a @ self.b)


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def product_of(m, k, n):
    """A product in MKL, checked, or nothing."""
    mkl = library('MKL', 'mkl', 'libmkl_rt.so')
    made = mkl and Product(mkl, m, k, n)
    if made:
        made.check()
    return made


class Argument(ctypes.Structure):
    _fields_ = [('arg', ctypes.c_int), ('memory', ctypes.c_void_p)]


class OneDnn:
    """What is called of oneDNN, by the numbers of its version 3."""
    CPU, IN_ORDER, F32, INFERENCE, DIRECT, WEIGHTS_QUERY = 1, 1, 3, 96, 1, 131
    ANY, ABCD, ABCDE, ACDB = 1, 5, 6, 22
    SOURCE, RESULT, WEIGHTS = 1, 17, 33

    def __init__(self, library):
        self.library = library
        library.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        library.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
        self.engine = self.made('engine', self.CPU, ctypes.c_size_t(0))
        self.stream = self.made('stream', self.engine, self.IN_ORDER)

    def succeed(self, name, *args):
        status = getattr(self.library, f'dnnl_{name}')(*args)
        assert status == 0, f'dnnl_{name} returned {status}'

    def made(self, kind, *args, how='create'):
        handle = ctypes.c_void_p()
        self.succeed(f'{kind}_{how}', ctypes.byref(handle), *args)
        return handle

    def type(self, dims, tag):
        return self.made('memory_desc', len(dims), sizes(dims), self.F32, tag, how='create_with_tag')

    def memory(self, type, array):
        return self.made('memory', type, self.engine, pointer(array))

    def run(self, primitive, arguments):
        self.succeed('primitive_execute', primitive, self.stream, len(arguments), arguments)
        self.succeed('stream_wait', self.stream)


def sizes(some):
    return (ctypes.c_int64 * 12)(*some)


def arguments(memories):
    return (Argument * len(memories))(*(Argument(arg, memory) for arg, memory in memories.items()))


class Convolution:
    """A convolution in oneDNN, image and result with channels last, weights in the order that it asks for."""

    def __init__(self, dnn, conv, weights):
        image, result = (1, conv.c, conv.size, conv.size), (1, conv.o, conv.out, conv.out)
        self.dnn, self.weights = dnn, weights
        self.image, self.result = aligned((1, conv.size, conv.size, conv.c)), aligned((1, conv.out, conv.out, conv.o))
        types = dnn.type(image, dnn.ACDB), dnn.type(result, dnn.ACDB)
        dims, tag = weights.shape, dnn.ABCD
        if conv.groups != 1:
            dims, tag = (conv.groups, conv.o // conv.groups, *dims[1:]), dnn.ABCDE
        pads = sizes([conv.pad] * 2)
        plan = dnn.made('convolution_forward_primitive_desc', dnn.engine, dnn.INFERENCE, dnn.DIRECT, types[0],
                        dnn.type(dims, dnn.ANY), None, types[1], sizes([conv.stride] * 2), sizes([0] * 2), pads, pads, None)
        asked = ctypes.c_void_p(dnn.library.dnnl_primitive_desc_query_md(plan, dnn.WEIGHTS_QUERY, 0))
        self.kept = aligned((dnn.library.dnnl_memory_desc_get_size(asked) // 4,))
        kept = dnn.memory(asked, self.kept)
        self.reorder(dnn.type(dims, tag), asked, kept)
        self.primitive = dnn.made('primitive', plan)
        self.arguments = arguments({dnn.SOURCE: dnn.memory(types[0], self.image), dnn.WEIGHTS: kept,
                                    dnn.RESULT: dnn.memory(types[1], self.result)})

    def reorder(self, given, asked, kept):
        """Brings the weights into the order asked for."""
        dnn = self.dnn
        plan = dnn.made('reorder_primitive_desc', given, dnn.engine, asked, dnn.engine, None)
        dnn.run(dnn.made('primitive', plan), arguments({dnn.SOURCE: dnn.memory(given, self.weights), dnn.RESULT: kept}))

    def __call__(self):
        self.dnn.run(self.primitive, self.arguments)

    def check(self, session):
        """Fails if the result is not that of the same layer in onnxruntime."""
        self()
        want = session.run(None, {'x': np.ascontiguousarray(self.image.transpose(0, 3, 1, 2))})[0]
        close('oneDNN', self.result, want.transpose(0, 2, 3, 1))


@functools.cache
def dnn():
    found = library('oneDNN', 'onednn-cpu-gomp', 'libdnnl.so.3')
    return found and OneDnn(found)


def convolution_of(conv, weights, session):
    """A convolution in oneDNN, checked against onnxruntime, or nothing."""
    made = dnn() and Convolution(dnn(), conv, weights)
    if made:
        made.check(session)
    return made


PEAK = '''
#include <stdio.h>
#include <time.h>
#if defined __AVX512F__
#define BYTES 64
#elif defined __AVX__
#define BYTES 32
#else
#define BYTES 16
#endif
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
typedef float vector __attribute__((vector_size(BYTES)));
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
int main(int argc, char **argv) {
  vector x = (vector){0} + 0.5f * argc, y = (vector){0} + 0.25f * argc;
#define FIRST(I) vector a##I = y + (float)I;
#define STEP(I) a##I = a##I * x + y;
#define SUM(I) x += a##I;
#define COUNT(I) +1
  EACH(FIRST)
  double begin = now(), best = 0, last = begin;
  while (last - begin < 0.2) {
    for (int i = 0; i < 500000; i++) { EACH(STEP) }
    double end = now(), rate = 500000.0 * (0 EACH(COUNT)) * (BYTES / 4) * 2 / (end - last) / 1e9;
    if (rate > best) best = rate;
    last = end;
  }
  EACH(SUM)
  printf("%f\\n", best);
  return x[0] == 1e9f;
}
'''


@functools.cache
def fma_peak():
    """The most GFLOP/s of one core: of sixteen multiplications and additions that do not wait for one another. None without cc."""
    with tempfile.TemporaryDirectory() as home:
        program = os.path.join(home, 'peak')
        command = ['cc', '-O2', '-march=native', '-ffp-contract=fast', '-x', 'c', '-', '-o', program]
        if not shutil.which('cc') or subprocess.run(command, input=PEAK, text=True, capture_output=True).returncode:
            return None
        return float(subprocess.run([program], check=True, capture_output=True).stdout)
