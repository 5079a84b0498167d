//! Transposed convolutions: each phase of the result is a convolution by the taps that reach it, and the phases are interleaved.

use super::product::{Bias, Convolution};
use super::quantization::{Quantization, Quantized};
use crate::emit::Emitter;
use gradus_ir::{Module, Refusal, Tensor, Type, Value};
use gradus_networks::graph::{ConvTransposeOp, transposed_convolution};
use gradus_reference_kernels::shape::Window;

/// The positions of a result at one remainder of the stride along an axis.
struct AxisPhase {
    /// The taps that reach them, the last first.
    taps: Vec<usize>,
    /// Distance of the elements that they read.
    dilation: usize,
    /// The elements that are read, from the first to the last.
    read: [i64; 2],
    /// Padding before and after them.
    pads: [i64; 2],
}

impl AxisPhase {
    fn of(window: &Window, axis: usize, phase: usize) -> Result<AxisPhase, Refusal> {
        let (stride, distance) = (window.strides[axis] as i64, window.dilations[axis] as i64);
        let at = (phase + window.pads_begin[axis]) as i64;
        let reaches = |tap: &usize| (at - *tap as i64 * distance).rem_euclid(stride) == 0;
        let mut taps: Vec<usize> = (0..window.kernel[axis]).filter(reaches).collect();
        let first_tap = *taps.first().ok_or("a stride that leaves positions which no tap reaches")? as i64;
        let dilation = taps.get(1).map_or(1, |&next| (next as i64 - first_tap) * distance / stride);
        let (extent, count) = (window.input[axis] as i64, window.output[axis].div_ceil(stride as usize) as i64);
        // Position `phase + stride * q` reads element `q + last` by the first tap, and those before it by the others.
        let last = (at - first_tap * distance) / stride;
        let first = last - (taps.len() as i64 - 1) * dilation;
        let read = [first.max(0), extent.min(count + last)];
        (read[0] < read[1]).then_some(()).ok_or("padding that exceeds the reach of filters")?;
        taps.reverse();
        let pads = [(-first).max(0), (count + last - extent).max(0)];
        Ok(AxisPhase { taps, dilation: dilation as usize, read, pads })
    }
}

/// A quantized transposed convolution.
pub(super) struct Transposed {
    /// The convolutions of the phases, those of the last axis next to each other, with the first and the last element along each axis of the
    /// image that they read.
    phases: Vec<(Convolution, Vec<[i64; 2]>)>,
    window: Window,
    kernels: usize,
}

impl Transposed {
    /// Returns the convolutions of a transposed one whose result is quantized.
    pub(super) fn of(m: &Module, op: ConvTransposeOp, to: &Quantization) -> Result<Transposed, Refusal> {
        let (group, window) = transposed_convolution(m, op.0).map_err(|_| "an image of unknown extents")?;
        let x = Quantized::per_tensor(m, op.x(m))?;
        let (tensor, q) = Quantized::constant(m, op.w(m), 1)?;
        if q.axis.is_some() && group != 1 {
            return Err(Refusal::of(op.w(m), "scales of the filters of several groups"));
        }
        let q = Quantization { axis: q.axis.map(|_| 0), ..q };
        let [channels, of_group] = [tensor.shape()[0], tensor.shape()[1]];
        let kernels = of_group * group;
        let bias = match op.b(m) {
            Some(bias) => Some(Bias { x: &x.q, w: &q, to, columns: kernels }.of(m, bias)?),
            None => None,
        };
        let axes = window.input.len();
        let mut phases = vec![Vec::new()];
        for axis in 0..axes {
            let stride = window.strides[axis];
            let longer =
                |phases: &Vec<usize>| (0..stride).map(|phase| [&phases[..], &[phase]].concat()).collect::<Vec<_>>();
            phases = phases.iter().flat_map(longer).collect();
        }
        let of_phase = |phase: Vec<usize>| {
            let of_axis = |(axis, &phase): (usize, &usize)| AxisPhase::of(&window, axis, phase);
            let along = phase.iter().enumerate().map(of_axis).collect::<Result<Vec<_>, _>>()?;
            let bytes = filters(&tensor, [channels / group, of_group, group], &window.kernel, &along);
            let shape: Vec<usize> =
                [kernels, channels / group].into_iter().chain(along.iter().map(|axis| axis.taps.len())).collect();
            let weights = Tensor::new(tensor.dtype(), shape, bytes.into()).map_err(|_| "filters of another shape")?;
            let list = |of: &dyn Fn(&AxisPhase) -> i64| along.iter().map(of).collect::<Vec<i64>>();
            let pads = [list(&|axis| axis.pads[0]), list(&|axis| axis.pads[1])].concat();
            let attrs = vec![
                ("dilations", m.ctx.i64_array_attr(&list(&|axis| axis.dilation as i64))),
                ("group", m.ctx.int_attr(Type::I64, group as i64)),
                ("pads", m.ctx.i64_array_attr(&pads)),
            ];
            let (x, to) = (Quantized { x: x.x, q: x.q.clone() }, to.clone());
            let conv = Convolution { x, reshaped: None, weights: (weights, q.clone()), bias: bias.clone(), attrs, to };
            Ok((conv.checked()?, along.iter().map(|axis| axis.read).collect()))
        };
        let phases = phases.into_iter().map(of_phase).collect::<Result<Vec<_>, Refusal>>()?;
        Ok(Transposed { phases, window, kernels })
    }

    /// Creates the convolutions and the interleaved result, of type `ty`.
    pub(super) fn emit(self, e: &mut Emitter<'_, '_>, ty: Type) -> Option<Value> {
        let extents = e.m().ctx.shape(ty)?.to_vec();
        let axes = self.window.input.len();
        let counts = (0..axes).map(|axis| self.window.output[axis].div_ceil(self.window.strides[axis]) as i64);
        let mut shape: Vec<i64> = [extents[0], self.kernels as i64].into_iter().chain(counts).collect();
        let of_phase = e.m().ctx.tensor_type(&shape, e.m().ctx.element_type(ty));
        let mut values = Vec::with_capacity(self.phases.len());
        for (mut conv, read) in self.phases {
            for (axis, [first, end]) in read.into_iter().enumerate() {
                conv.x.x = e.part(conv.x.x, 2 + axis, first as usize..end as usize)?;
            }
            values.push(conv.emit(e, of_phase)?);
        }
        for axis in (0..axes).rev().filter(|&axis| self.window.strides[axis] > 1) {
            let stride = self.window.strides[axis];
            let apart = [&shape[..3 + axis], &[1], &shape[3 + axis..]].concat();
            shape[2 + axis] *= stride as i64;
            let mut joined = Vec::with_capacity(values.len() / stride);
            for phases in values.chunks(stride) {
                let parts = phases.iter().map(|&value| e.reshape(value, &apart)).collect::<Option<Vec<_>>>()?;
                let all = e.concat(&parts, 3 + axis as i64)?;
                joined.push(e.reshape(all, &shape)?);
            }
            values = joined;
        }
        let mut y = *values.first()?;
        for (axis, &extent) in extents.iter().enumerate().skip(2) {
            y = e.part(y, axis, 0..extent as usize)?;
        }
        Some(y)
    }
}

/// Returns the filters `[M, C / G, T...]` of the taps of a phase, of `[C, M / G, K...]`.
fn filters(tensor: &Tensor, [depth, of_group, group]: [usize; 3], kernel: &[usize], along: &[AxisPhase]) -> Vec<u8> {
    let taps = kernel.iter().product::<usize>();
    let mut places = vec![0];
    for (axis, &extent) in along.iter().zip(kernel) {
        places = places.iter().flat_map(|&at| axis.taps.iter().map(move |&tap| at * extent + tap)).collect();
    }
    let bytes = tensor.bytes();
    let mut all = Vec::with_capacity(group * of_group * depth * places.len());
    for kernel in 0..group * of_group {
        for channel in 0..depth {
            let first = ((kernel / of_group * depth + channel) * of_group + kernel % of_group) * taps;
            all.extend(places.iter().map(|&place| bytes[first + place]));
        }
    }
    all
}
