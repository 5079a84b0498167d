//! Ops on bytes as layers.

use super::network::{FeatureId, FeatureInfo, Layer, Network, Requantization, Role, Sum, Weights};
use super::scale::{self, Bytes, Fit, MAX_SUM};
use super::shape::TABLE;
use crate::emit::source_name;
use gradus_dialects::graph::{
    ConcatOp, FlattenOp, QLinearAddOp, QLinearConvOp, QLinearMulOp, ReshapeOp, SqueezeOp, TableOp, UnsqueezeOp,
    convolution,
};
use gradus_ir::{DType, Module, Op, OpDecl, OpInfo, Tensor, Value};
use gradus_simulators::npu::Machine;
use rustc_hash::FxHashMap;

/// The ops that the machine computes, if their operands allow it.
pub const OPS: &[&OpInfo] = &[
    QLinearConvOp::INFO,
    QLinearAddOp::INFO,
    QLinearMulOp::INFO,
    TableOp::INFO,
    ConcatOp::INFO,
    ReshapeOp::INFO,
    FlattenOp::INFO,
    SqueezeOp::INFO,
    UnsqueezeOp::INFO,
];

/// Largest extent of a feature.
const MAX_EXTENT: i64 = 1 << 15;

/// The extents `[H, W, C]` of a tensor of bytes of one image: `[1, C, H, W]`, `[1, C, W]` or `[1, C]`.
pub fn feature_extents(m: &Module, value: Value) -> Option<[usize; 3]> {
    let ty = m.value_type(value);
    let (bytes, extents) = (m.ctx.dtype(m.ctx.element_type(ty))?, m.ctx.static_shape(ty)?);
    if !matches!(bytes, DType::I8 | DType::U8) || extents.iter().any(|d| !(1..=MAX_EXTENT).contains(d)) {
        return None;
    }
    let extents: Vec<usize> = extents.iter().map(|&d| d as usize).collect();
    match extents[..] {
        [1, c, h, w] => Some([h, w, c]),
        [1, c, w] => Some([1, w, c]),
        [1, c] => Some([1, 1, c]),
        _ => None,
    }
}

/// Whether an op could run on the machine.
pub fn is_candidate(m: &Module, op: Op) -> bool {
    m.is_one_of(op, OPS) && m.results(op).all(|v| feature_extents(m, v).is_some())
}

/// Whether bytes of a tensor are signed.
fn is_signed(m: &Module, value: Value) -> bool {
    m.ctx.dtype(m.ctx.element_type(m.value_type(value))) == Some(DType::I8)
}

/// How the host lays out an operand of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Rows of blocks of channels.
    Blocks,
    /// Rows of columns of all channels, with columns of padding before and after and their value.
    Rows {
        /// Columns before and after.
        pads: [usize; 2],
        /// Their value.
        zero: i16,
    },
}

/// A reader of ops.
pub struct Reader<'m> {
    m: &'m Module,
    machine: &'m Machine,
    /// The network so far.
    pub net: Network,
    /// The features of values.
    pub features: FxHashMap<Value, FeatureId>,
    /// Operands that are not laid out in blocks.
    pub packings: FxHashMap<Value, Packing>,
    /// Whether sums and products may be a step from the reference for some pairs of bytes.
    allow_steps: bool,
    /// Ops for which this is so, with the number of pairs.
    pub steps: Vec<(Op, usize)>,
    /// Values that are read outside of the program, so that they must exist.
    kept: &'m dyn Fn(Value) -> bool,
}

impl<'m> Reader<'m> {
    /// Creates a reader of ops for a machine.
    pub fn new(m: &'m Module, machine: &'m Machine, allow_steps: bool, kept: &'m dyn Fn(Value) -> bool) -> Reader<'m> {
        Reader {
            m,
            machine,
            net: Network::default(),
            features: FxHashMap::default(),
            packings: FxHashMap::default(),
            allow_steps,
            steps: Vec::new(),
            kept,
        }
    }

    /// Adds the feature of a value.
    pub fn feature(&mut self, value: Value, role: Role) -> Option<FeatureId> {
        let [height, width, channels] = feature_extents(self.m, value)?;
        let tile = [1, self.machine.depth as usize];
        let signed = is_signed(self.m, value);
        self.net.features.push(FeatureInfo { height, width, channels, tile, signed, part_of: None, role });
        Some(self.net.features.len() - 1)
    }

    fn known(&self, value: Value) -> Option<FeatureId> {
        self.features.get(&value).copied()
    }

    /// Reads an op. `None` if the machine does not compute it; nothing has changed then.
    pub fn read(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        if let Some(conv) = QLinearConvOp::cast(m, op) {
            return self.conv(conv);
        }
        if m.is_one_of(op, &[QLinearAddOp::INFO, QLinearMulOp::INFO]) {
            return self.binary(op);
        }
        if let Some(table) = TableOp::cast(m, op) {
            return self.table(table);
        }
        if let Some(concat) = ConcatOp::cast(m, op) {
            return self.concat(concat);
        }
        self.view(op)
    }

    fn constant(&self, value: Value) -> Option<Tensor> {
        self.m.ctx.dense_tensor(self.m.constant(value)?)
    }

    /// The quantization of a tensor with one scale.
    fn bytes(&self, scale: Value, zero: Value, signed: bool) -> Option<Bytes> {
        let (scale, zero) = (self.constant(scale)?, self.constant(zero)?);
        let is_single = scale.dtype() == DType::F32 && scale.len() == 1 && zero.len() == 1;
        is_single.then_some(Bytes { scale: scale.as_slice::<f32>()[0], zero: zero.to_i64()?[0] as i16, signed })
    }

    fn conv(&mut self, conv: QLinearConvOp) -> Option<()> {
        let m = self.m;
        let (group, window) = convolution(m, conv.0).ok()?;
        let (x, y) = (conv.x(m), m.result(conv.0, 0));
        let weights = self.constant(conv.w(m))?;
        let [_, _, channels] = feature_extents(m, x)?;
        let [height, width, kernels] = feature_extents(m, y)?;
        let depthwise = group > 1 && group == channels && kernels == channels;
        if group != 1 && !depthwise || height * width == 0 {
            return None;
        }
        let w_zero = self.constant(conv.w_zero_point(m))?.to_i64()?;
        if w_zero.iter().any(|&z| z != w_zero[0]) || (w_zero[0] != 0 && self.machine.weight_bits < 9) {
            return None;
        }
        // Instructions have fields of 16 bits for these.
        let two = |list: &[usize], default| match list {
            _ if list.iter().any(|&n| n > MAX_EXTENT as usize) => None,
            [w] => Some([default, *w]),
            [h, w] => Some([*h, *w]),
            _ => None,
        };
        let input = self.bytes(conv.x_scale(m), conv.x_zero_point(m), is_signed(m, x))?;
        let to = self.bytes(conv.y_scale(m), conv.y_zero_point(m), is_signed(m, y))?;
        let bias = conv.b(m).map(|b| self.constant(b)).map_or(Some(Vec::new()), |b| b?.to_i64())?;
        let requantization =
            self.requantization(&weights, w_zero[0], &self.constant(conv.w_scale(m))?, &bias, (&input, &to))?;
        let layer = Layer {
            name: self.name(conv.0),
            input: self.known(x)?,
            output: 0,
            depthwise,
            signed_weights: weights.dtype() == DType::I8,
            zeros: [input.zero, w_zero[0] as i16],
            depth: if depthwise { 1 } else { channels },
            kernels,
            kernel: two(&window.kernel, 1)?,
            stride: two(&window.strides, 1)?,
            dilation: two(&window.dilations, 1)?,
            pad: two(&window.pads_begin, 0)?,
            folded: 0,
            weights: Weights::Constant(taps_before_depth(&weights, window.kernel.iter().product())),
            requantization,
            zero: to.zero,
            signed: to.signed,
            sum: None,
            table: Vec::new(),
        };
        let layer = self.fold(layer, x, width);
        self.add(layer, y)
    }

    /// Folds the columns of a kernel into its depth, if the layer alone reads an operand whose channels do not fill the array: the
    /// bytes of neighbouring columns are consecutive in a layout of rows.
    fn fold(&mut self, layer: Layer, x: Value, width: usize) -> Layer {
        let info = &self.net.features[layer.input];
        let [columns, channels] = [info.width, info.channels];
        let is_alone = matches!(info.role, Role::Operand(_)) && self.m.has_one_use(x);
        let few = channels < self.machine.depth as usize && layer.kernel[1] > 1 && layer.dilation[1] == 1;
        if !is_alone || !few || layer.depthwise {
            return layer;
        }
        let before = layer.pad[1];
        let all = (before + columns).max((width - 1) * layer.stride[1] + layer.kernel[1]);
        let pads = [before, all - before - columns];
        self.packings.insert(x, Packing::Rows { pads, zero: layer.zeros[0] });
        let info = &mut self.net.features[layer.input];
        (info.width, info.channels, info.tile) = (1, all * channels, [1, 1]);
        Layer {
            depth: layer.kernel[1] * channels,
            folded: layer.stride[1] * channels,
            kernel: [layer.kernel[0], 1],
            stride: [layer.stride[0], 1],
            dilation: [layer.dilation[0], 1],
            pad: [layer.pad[0], 0],
            ..layer
        }
    }

    /// The requantizations of all kernels, if they are exact.
    fn requantization(
        &self,
        weights: &Tensor,
        zero: i64,
        scales: &Tensor,
        bias: &[i64],
        (from, to): (&Bytes, &Bytes),
    ) -> Option<Vec<Requantization>> {
        let kernels = *weights.shape().first()?;
        let values = weights.to_i64()?;
        let is_fit = scales.dtype() == DType::F32 && (scales.len() == 1 || scales.len() == kernels);
        let scales = is_fit.then(|| scales.as_slice::<f32>().into_owned())?;
        let one = |k: usize| {
            let scale = scales[if scales.len() == 1 { 0 } else { k }] * from.scale / to.scale;
            let bias = bias.get(k).copied().unwrap_or(0);
            let row = &values[k * values.len() / kernels..(k + 1) * values.len() / kernels];
            let most = row.iter().map(|w| (w - zero).abs() * 255).sum::<i64>() + bias.abs();
            (most < MAX_SUM).then_some(())?;
            scale::requantization(i32::try_from(bias).ok()?, f64::from(scale))
        };
        let all: Vec<Requantization> = (0..kernels).map(one).collect::<Option<_>>()?;
        Some(if all.iter().all(|one| *one == all[0]) { vec![all[0]] } else { all })
    }

    /// Returns factors, if they give the bytes of the reference or may be a step from them.
    fn fit<T>(&mut self, op: Op, fit: Fit<T>) -> Option<T> {
        if fit.steps > 0 && self.allow_steps {
            self.steps.push((op, fit.steps));
        }
        (fit.steps == 0 || self.allow_steps).then_some(fit.factors)
    }

    fn binary(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        let &[a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero] = m.operands(op) else { return None };
        let y = m.result(op, 0);
        let parameters = [(a, a_scale, a_zero), (b, b_scale, b_zero), (y, c_scale, c_zero)];
        let [qa, qb, qy] = parameters.map(|(value, scale, zero)| self.bytes(scale, zero, is_signed(m, value)));
        let (qa, qb, qy) = (qa?, qb?, qy?);
        let [ea, eb, ey] = [feature_extents(m, a)?, feature_extents(m, b)?, feature_extents(m, y)?];
        if QLinearMulOp::cast(m, op).is_some() {
            let is_channels = |e: [usize; 3]| e == [1, 1, ey[2]];
            let requantization = self.fit(op, scale::product(&qa, &qb, &qy)?)?;
            let (x, zeros, w) = match () {
                () if ea == ey && is_channels(eb) => (a, [qa.zero, qb.zero], Some(b)),
                () if eb == ey && is_channels(ea) => (b, [qb.zero, qa.zero], Some(a)),
                () if ea == ey && eb == ey => (a, [qa.zero, qb.zero], None),
                () => return None,
            };
            let weights = match w {
                Some(w) if self.known(w).is_none() => Weights::Constant(self.constant(w)?.bytes().to_vec()),
                Some(w) => Weights::Channels(self.known(w)?),
                None => Weights::Elements(self.known(b)?),
            };
            if zeros[1] != 0 && self.machine.weight_bits < 9 {
                return None;
            }
            let signed_weights = if x == a { qb.signed } else { qa.signed };
            let layer = Layer {
                weights,
                signed_weights,
                zeros,
                requantization: vec![requantization],
                zero: qy.zero,
                signed: qy.signed,
                ..self.identity(op, x)?
            };
            return self.add(layer, y);
        }
        if ea != ey || eb != ey {
            return None;
        }
        // The sum is at the store of the operand that is computed last, or of the other one if that has other readers.
        let mut order = [(a, qa, b, qb), (b, qb, a, qa)];
        if self.last_layer(b) > self.last_layer(a) {
            order.reverse();
        }
        let is_free = |l: &usize| self.net.layers[*l].table.is_empty() && self.net.layers[*l].sum.is_none();
        let fused = order.iter().find_map(|&sum| Some((self.fusible(sum.0, op).filter(is_free)?, sum)));
        let (x, qx, other, qo) = fused.map_or(order[0], |(_, sum)| sum);
        let (scales, shift) = self.fit(op, scale::sum(&qx, &qo, &qy)?)?;
        let (feature, zeros) = (self.known(other)?, [qx.zero, qo.zero]);
        let sum = Some(Sum { feature, zeros, scales, shift, zero: qy.zero, signed: qy.signed });
        match fused {
            Some((layer, _)) => {
                self.net.layers[layer].sum = sum;
                self.replace(layer, y)
            }
            None => {
                let layer = Layer { sum, ..self.identity(op, x)? };
                self.add(layer, y)
            }
        }
    }

    fn table(&mut self, op: TableOp) -> Option<()> {
        let m = self.m;
        let (x, y) = (op.x(m), m.result(op.0, 0));
        let values = self.constant(op.table(m))?;
        let by_channel = values.rank() == 2;
        if by_channel && m.args(op.0)?.int("axis") != Some(1) {
            return None;
        }
        feature_extents(m, y)?;
        // Entries begin with the least integer, those of the machine with 0.
        let flip = if is_signed(m, x) { TABLE / 2 } else { 0 };
        let bytes = values.bytes();
        let entry = |i: usize| bytes[i / TABLE * TABLE + ((i % TABLE) ^ flip)];
        let table: Vec<u8> = (0..bytes.len()).map(entry).collect();
        match self.fusible(x, op.0).filter(|&layer| !by_channel || !self.is_elements(layer)) {
            Some(layer) if self.net.layers[layer].table.is_empty() => {
                self.net.layers[layer].table = table;
                self.replace(layer, y)
            }
            _ => {
                let layer = Layer { table, ..self.identity(op.0, x)? };
                self.add(layer, y)
            }
        }
    }

    fn is_elements(&self, layer: usize) -> bool {
        matches!(self.net.layers[layer].weights, Weights::Elements(_))
    }

    fn concat(&mut self, op: ConcatOp) -> Option<()> {
        let m = self.m;
        let y = m.result(op.0, 0);
        let rank = m.ctx.shape(m.value_type(y))?.len() as i64;
        let axis = m.args(op.0)?.int("axis")?;
        feature_extents(m, y)?;
        if axis.rem_euclid(rank) != 1 {
            return None;
        }
        let parts: Vec<Value> = m.operands(op.0).to_vec();
        let extents = parts.iter().map(|&v| feature_extents(m, v)).collect::<Option<Vec<_>>>()?;
        let ids = parts.iter().map(|&v| self.known(v)).collect::<Option<Vec<_>>>()?;
        let whole = self.feature(y, Role::Inner)?;
        let block = extents.iter().fold(self.machine.depth as usize, |n, e| gcd(n, e[2]));
        self.net.features[whole].tile[1] = block;
        let mut first = 0;
        for (i, &id) in ids.iter().enumerate() {
            let info = &self.net.features[id];
            let is_written_once = self.net.layers.iter().filter(|l| l.output == id).count() == 1;
            let is_part = ids.iter().filter(|&&other| other == id).count() == 1
                && info.part_of.is_none()
                && info.role == Role::Inner
                && is_written_once
                && !self.net.features.iter().any(|f| f.part_of.is_some_and(|(w, _)| w == id))
                && !(self.kept)(parts[i]);
            let part = if is_part { id } else { self.feature(parts[i], Role::Inner)? };
            let info = &mut self.net.features[part];
            (info.part_of, info.tile[1]) = (Some((whole, first)), block);
            if !is_part {
                let layer = Layer { output: part, ..self.identity(op.0, parts[i])? };
                self.net.layers.push(layer);
            }
            first += extents[i][2];
        }
        self.features.insert(y, whole);
        Some(())
    }

    /// A reshape whose operand and result are the same feature.
    fn view(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        m.is_one_of(op, &[ReshapeOp::INFO, FlattenOp::INFO, SqueezeOp::INFO, UnsqueezeOp::INFO]).then_some(())?;
        let (x, y) = (*m.operands(op).first()?, m.result(op, 0));
        let is_same = feature_extents(m, x)? == feature_extents(m, y)?;
        let id = self.known(x).filter(|_| is_same)?;
        self.features.insert(y, id);
        Some(())
    }

    /// Copies a feature into one of its own, which is result `i`.
    pub fn result(&mut self, value: Value, i: usize) -> Option<FeatureId> {
        let id = self.known(value)?;
        let info = &self.net.features[id];
        let is_whole = !self.net.features.iter().any(|f| f.part_of.is_some_and(|(w, _)| w == id));
        if info.role == Role::Inner && info.part_of.is_none() && is_whole {
            self.net.features[id].role = Role::Result(i);
            return Some(id);
        }
        let copy = self.feature(value, Role::Result(i))?;
        let op = self.m.defining_op(value)?;
        let layer = Layer { output: copy, ..self.identity(op, value)? };
        self.net.layers.push(layer);
        Some(copy)
    }

    /// A layer that copies a feature, without an output.
    fn identity(&self, op: Op, x: Value) -> Option<Layer> {
        let [_, _, channels] = feature_extents(self.m, x)?;
        Some(Layer::copy(self.name(op), self.known(x)?, 0, channels, is_signed(self.m, x)))
    }

    /// The name of the op in its source, or its own.
    fn name(&self, op: Op) -> String {
        source_name(self.m, op).unwrap_or(self.m.name_text(op)).to_owned()
    }

    /// The layer that writes a value, or the last one that writes a part of it.
    fn last_layer(&self, value: Value) -> Option<usize> {
        let root = self.net.root(self.known(value)?).0;
        self.net.layers.iter().rposition(|layer| self.net.root(layer.output).0 == root)
    }

    /// The layer that computes a value for `user` alone.
    fn fusible(&self, value: Value, user: Op) -> Option<usize> {
        let id = self.known(value)?;
        let layer = self.net.layers.iter().rposition(|layer| layer.output == id)?;
        let is_only = self.m.has_one_use(value) && self.m.uses(value).all(|(op, _)| op == user) && !(self.kept)(value);
        // Other values may be views of the same feature.
        let is_read = self.net.layers.iter().any(|l| l.reads().any(|read| read == id));
        let is_viewed = self.features.values().filter(|&&other| other == id).count() > 1;
        (is_only && !is_read && !is_viewed && self.net.features[id].part_of.is_none()).then_some(layer)
    }

    /// Lets a layer compute another value.
    fn replace(&mut self, layer: usize, value: Value) -> Option<()> {
        let id = self.net.layers[layer].output;
        self.net.features[id].signed = is_signed(self.m, value);
        self.features.retain(|_, known| *known != id);
        self.features.insert(value, id);
        // The sum's other operand may have been computed after the layer: the layer moves behind it.
        let layer = self.net.layers.remove(layer);
        self.net.layers.push(layer);
        Some(())
    }

    /// Returns the network, with each layer that computes the other operand of a sum as early as possible, so that the layers
    /// before the sum follow each other.
    pub fn finish(mut self) -> Network {
        let roots: Vec<FeatureId> = (0..self.net.features.len()).map(|id| self.net.root(id).0).collect();
        let layers = &mut self.net.layers;
        for i in 0..layers.len() {
            let output = layers[i].output;
            let is_read = |l: &Layer| {
                l.input == output || matches!(l.weights, Weights::Elements(w) | Weights::Channels(w) if w == output)
            };
            let is_other =
                layers.iter().any(|l| l.sum.is_some_and(|s| s.feature == output)) && !layers.iter().any(is_read);
            if !is_other || self.net.features[output].part_of.is_some() {
                continue;
            }
            let reads: Vec<FeatureId> = layers[i].reads().map(|id| roots[id]).collect();
            let writes = |l: &Layer| reads.contains(&roots[l.output]);
            let first = layers[..i].iter().rposition(writes).map_or(0, |last| last + 1);
            layers[first..=i].rotate_right(1);
        }
        self.net
    }

    fn add(&mut self, mut layer: Layer, value: Value) -> Option<()> {
        layer.output = self.feature(value, Role::Inner)?;
        self.features.insert(value, layer.output);
        self.net.layers.push(layer);
        Some(())
    }
}

/// The weights `[K, D, taps]` as `[K, taps, D]`.
fn taps_before_depth(weights: &Tensor, taps: usize) -> Vec<u8> {
    let (bytes, kernels) = (weights.bytes(), weights.shape()[0]);
    let depth = bytes.len() / kernels.max(1) / taps.max(1);
    let row = |k: usize| (0..taps).flat_map(move |tap| (0..depth).map(move |d| (k * depth + d) * taps + tap));
    (0..kernels).flat_map(row).map(|i| bytes[i]).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
