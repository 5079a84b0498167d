"""Quantization by onnxruntime's own quantizer, in QDQ form."""
import numpy as np
from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static


class Images(CalibrationDataReader):
    """Seeded images."""

    def __init__(self, name, shape, count=2):
        rng = np.random.default_rng(0)
        self.rest = iter([{name: rng.standard_normal(shape).astype(np.float32)} for _ in range(count)])

    def get_next(self):
        return next(self.rest, None)


def session(path, options=None):
    return InferenceSession(path, options or SessionOptions(), providers=['CPUExecutionProvider'])


def fold(path, to):
    """Folds normalizations into convolutions, as the quantizer expects it."""
    options = SessionOptions()
    options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = to
    options.log_severity_level = 3
    session(path, options)


def quantize(path, to, per_channel=True, inputs=None):
    """Quantizes a model: activations without sign, weights with sign and symmetric.

    It is calibrated on `inputs`, a `CalibrationDataReader`, or on seeded images.
    """
    if inputs is None:
        image = session(path).get_inputs()[0]
        inputs = Images(image.name, image.shape)
    quantize_static(path, to, inputs, quant_format=QuantFormat.QDQ, per_channel=per_channel,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
