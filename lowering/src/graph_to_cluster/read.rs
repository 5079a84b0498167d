//! Ops as layers.
//!
//! | file | contents |
//! |---|---|
//! | `product.rs` | convolutions, matrix products, pools |
//! | `elementwise.rs` | functions of one element, sums, products: stages |
//! | `movement.rs` | concatenations, slices, channel shuffles, reshapes: parts of features |

mod affine_tables;
mod elementwise;
mod movement;
mod product;

use super::compile::Settings;
use super::network::{ChannelSlice, FeatureId, FeatureInfo, Layer, LayerKind, Network, Role, StageInfo};
use crate::emit::source_name;
use gradus_dialects::graph::{
    AddOp, AveragePoolOp, BatchNormalizationOp, CastOp, ClipOp, ConcatOp, ConvOp, DequantizeLinearOp, DropoutOp,
    FlattenOp, GemmOp, GlobalAveragePoolOp, GlobalMaxPoolOp, HardSigmoidOp, HardSwishOp, IdentityOp, LeakyReluOp,
    LrnOp, MatMulOp, MaxPoolOp, MulOp, QLinearAddOp, QLinearConvOp, QLinearMulOp, QuantizeLinearOp, ReluOp, ReshapeOp,
    SigmoidOp, SliceOp, SoftmaxOp, SplitOp, SqueezeOp, TableOp, UnsqueezeOp,
};
use gradus_ir::{DType, Module, Op, OpDecl, OpInfo, Tensor, Value};
use gradus_simulators::cluster::{Elem, MAX_STAGES};
use rustc_hash::FxHashMap;

/// The ops that the clusters compute, if their operands allow it.
pub const OPS: &[&OpInfo] = &[
    AddOp::INFO,
    AveragePoolOp::INFO,
    BatchNormalizationOp::INFO,
    CastOp::INFO,
    ClipOp::INFO,
    ConcatOp::INFO,
    ConvOp::INFO,
    DequantizeLinearOp::INFO,
    DropoutOp::INFO,
    FlattenOp::INFO,
    GemmOp::INFO,
    GlobalAveragePoolOp::INFO,
    GlobalMaxPoolOp::INFO,
    HardSigmoidOp::INFO,
    HardSwishOp::INFO,
    IdentityOp::INFO,
    LeakyReluOp::INFO,
    LrnOp::INFO,
    MatMulOp::INFO,
    MaxPoolOp::INFO,
    MulOp::INFO,
    QLinearAddOp::INFO,
    QLinearConvOp::INFO,
    QLinearMulOp::INFO,
    QuantizeLinearOp::INFO,
    ReluOp::INFO,
    ReshapeOp::INFO,
    SigmoidOp::INFO,
    SliceOp::INFO,
    SoftmaxOp::INFO,
    SplitOp::INFO,
    SqueezeOp::INFO,
    TableOp::INFO,
    UnsqueezeOp::INFO,
];

/// Largest extent of a feature.
const MAX_EXTENT: i64 = 1 << 16;

/// The extents `[rows, cols, channels]` of a tensor of one image, `[1, C, H, W]`, `[1, C, W]` or `[1, C]`, and its element type.
pub fn feature_type(m: &Module, value: Value) -> Option<([u32; 3], Elem)> {
    let ty = m.value_type(value);
    let elem = match m.ctx.dtype(m.ctx.element_type(ty))? {
        DType::F32 => Elem::F32,
        DType::F16 => Elem::F16,
        DType::I8 => Elem::I8,
        DType::U8 => Elem::U8,
        _ => return None,
    };
    let dims = m.ctx.static_shape(ty)?;
    if dims.iter().any(|d| !(1..=MAX_EXTENT).contains(d)) {
        return None;
    }
    let dims: Vec<u32> = dims.iter().map(|&d| d as u32).collect();
    let extents = match dims[..] {
        [1, c, h, w] => [h, w, c],
        [1, c, w] => [1, w, c],
        [1, c] => [1, 1, c],
        _ => return None,
    };
    Some((extents, elem))
}

/// Whether an op could run on the clusters.
pub fn is_candidate(m: &Module, op: Op) -> bool {
    movement::is_in_shuffle(m, op)
        || m.is_one_of(op, OPS) && m.num_results(op) > 0 && m.results(op).all(|v| feature_type(m, v).is_some())
}

/// A reader of ops.
pub struct Reader<'m> {
    m: &'m Module,
    /// The network so far.
    pub net: Network,
    /// The features of values.
    pub features: FxHashMap<Value, FeatureId>,
    /// Vectors `[1, C*H*W]` of features `[H, W, C]`.
    flat: FxHashMap<Value, FeatureId>,
    /// Number of ops so far.
    source: usize,
    settings: Settings,
    /// Values that are read outside of the program, so that they must exist.
    kept: &'m dyn Fn(Value) -> bool,
}

impl<'m> Reader<'m> {
    /// Creates a reader of ops.
    pub fn new(m: &'m Module, settings: Settings, kept: &'m dyn Fn(Value) -> bool) -> Reader<'m> {
        Reader {
            m,
            net: Network::default(),
            features: FxHashMap::default(),
            flat: FxHashMap::default(),
            source: 0,
            settings,
            kept,
        }
    }

    /// Adds the feature of a value.
    pub fn feature(&mut self, value: Value, role: Role) -> Option<FeatureId> {
        let (extents, elem) = feature_type(self.m, value)?;
        Some(self.new_feature(FeatureInfo { extents, elem, part_of: None, role }))
    }

    fn new_feature(&mut self, info: FeatureInfo) -> FeatureId {
        self.net.features.push(info);
        self.net.features.len() - 1
    }

    /// Adds a part of a feature: `channels` channels.
    fn part(&mut self, part: ChannelSlice, channels: u32) -> FeatureId {
        let whole = &self.net.features[part.whole];
        let extents = [whole.extents[0], whole.extents[1], channels];
        self.new_feature(FeatureInfo { extents, part_of: Some(part), role: Role::Inner, elem: whole.elem })
    }

    fn known(&self, value: Value) -> Option<FeatureId> {
        self.features.get(&value).copied()
    }

    /// Reads an op. `None` if the clusters do not compute it; the reader is useless then.
    pub fn read(&mut self, op: Op) -> Option<()> {
        self.layers_of(op)?;
        self.source += 1;
        Some(())
    }

    fn layers_of(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        if movement::is_in_shuffle(m, op) {
            return self.shuffle(op);
        }
        if m.is_one_of(op, &[ConvOp::INFO, QLinearConvOp::INFO, GemmOp::INFO, MatMulOp::INFO]) {
            return self.product(op);
        }
        if m.is_one_of(op, &[MaxPoolOp::INFO, AveragePoolOp::INFO, GlobalAveragePoolOp::INFO, GlobalMaxPoolOp::INFO]) {
            return self.pool(op);
        }
        if m.is_one_of(op, &[SoftmaxOp::INFO, LrnOp::INFO]) {
            return self.across_channels(op);
        }
        if m.is_one_of(op, &[ConcatOp::INFO, SplitOp::INFO, SliceOp::INFO]) {
            return self.channels(op);
        }
        // Canonicalization removes the ones that are known not to train.
        if DropoutOp::cast(m, op).is_some_and(|dropout| dropout.training_mode(m).is_some()) {
            return None;
        }
        if m.is_one_of(
            op,
            &[ReshapeOp::INFO, FlattenOp::INFO, SqueezeOp::INFO, UnsqueezeOp::INFO, IdentityOp::INFO, DropoutOp::INFO],
        ) {
            return self.view(op);
        }
        self.elementwise(op)
    }

    fn constant(&self, value: Value) -> Option<Tensor> {
        self.m.ctx.dense_tensor(self.m.constant(value)?)
    }

    /// The name of the op in its source, or its own.
    fn name(&self, op: Op) -> String {
        source_name(self.m, op).unwrap_or(self.m.name_text(op)).to_owned()
    }

    /// Adds a layer that computes a value.
    fn add(&mut self, mut layer: Layer, value: Value) -> Option<()> {
        layer.output = self.feature(value, Role::Inner)?;
        self.features.insert(value, layer.output);
        self.net.layers.push(layer);
        Some(())
    }

    /// A layer that copies a feature, without an output.
    fn copy(&self, op: Op, input: FeatureId) -> Layer {
        Layer { name: self.name(op), source: self.source, input, output: 0, kind: LayerKind::Map, stages: Vec::new() }
    }

    /// Applies a stage to a value, in the layer that computes it if that is possible.
    fn stage(&mut self, op: Op, x: Value, stages: &[StageInfo]) -> Option<()> {
        let y = self.m.result(op, 0);
        let fused = self.fusible(x, op).filter(|&l| self.net.layers[l].stages.len() + stages.len() <= MAX_STAGES);
        match fused {
            Some(layer) => {
                self.net.layers[layer].stages.extend_from_slice(stages);
                self.replace(layer, y)
            }
            None => {
                let mut layer = self.copy(op, self.known(x)?);
                layer.stages = stages.to_vec();
                self.add(layer, y)
            }
        }
    }

    /// The layer that computes a value for `user` alone.
    fn fusible(&self, value: Value, user: Op) -> Option<usize> {
        self.settings.fusion.then_some(())?;
        let id = self.known(value)?;
        let info = &self.net.features[id];
        let layer = self.net.layers.iter().rposition(|layer| layer.output == id)?;
        let is_only = self.m.has_one_use(value) && self.m.uses(value).all(|(op, _)| op == user) && !(self.kept)(value);
        let is_read = self.net.layers.iter().any(|l| l.reads().any(|read| read == id));
        // Other values may be views of the same feature.
        let is_viewed = self.features.values().chain(self.flat.values()).filter(|&&other| other == id).count() > 1;
        let is_whole = info.part_of.is_none() && !self.net.has_parts(id);
        let takes_stages = !matches!(self.net.layers[layer].kind, LayerKind::Softmax | LayerKind::Lrn { .. });
        (is_only && !is_read && !is_viewed && is_whole && takes_stages).then_some(layer)
    }

    /// Lets a layer compute another value of the same extents.
    fn replace(&mut self, layer: usize, value: Value) -> Option<()> {
        let id = self.net.layers[layer].output;
        self.net.features[id].elem = feature_type(self.m, value)?.1;
        self.features.retain(|_, known| *known != id);
        self.features.insert(value, id);
        // Operands of stages may have been computed after the layer: the layer moves behind them.
        let layer = self.net.layers.remove(layer);
        self.net.layers.push(layer);
        Some(())
    }

    /// Makes a value of the op of number `source` result `i`, by a copy if its feature cannot be one.
    pub fn result(&mut self, value: Value, i: usize, source: usize) -> Option<FeatureId> {
        let id = self.known(value)?;
        let info = &self.net.features[id];
        if info.role == Role::Inner && info.part_of.is_none() && !self.net.has_parts(id) {
            self.net.features[id].role = Role::Result(i);
            return Some(id);
        }
        let output = self.feature(value, Role::Result(i))?;
        let layer = Layer { output, source, ..self.copy(self.m.defining_op(value)?, id) };
        self.net.layers.push(layer);
        Some(output)
    }

    /// Returns the network.
    pub fn finish(self) -> Network {
        self.net
    }
}
