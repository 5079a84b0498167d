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
use gradus_ir::{Module, Op, OpArgs, OpDecl, OpInfo, Refusal, Value};
use gradus_networks::graph::{
    AddOp, AveragePoolOp, BatchNormalizationOp, CastOp, ClipOp, ConcatOp, ConvOp, DequantizeLinearOp, DropoutOp,
    FlattenOp, GemmOp, GlobalAveragePoolOp, GlobalMaxPoolOp, HardSigmoidOp, HardSwishOp, IdentityOp, LeakyReluOp,
    LrnOp, MatMulOp, MaxPoolOp, MulOp, POOLS, PadOp, QLinearAddOp, QLinearConvOp, QLinearMulOp, QuantizeLinearOp,
    ReduceMeanOp, ReluOp, ReshapeOp, ResizeOp, SigmoidOp, SliceOp, SoftmaxOp, SplitOp, SqueezeOp, TableOp, UnsqueezeOp,
};
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
    PadOp::INFO,
    QLinearAddOp::INFO,
    QLinearConvOp::INFO,
    QLinearMulOp::INFO,
    QuantizeLinearOp::INFO,
    ReduceMeanOp::INFO,
    ReluOp::INFO,
    ReshapeOp::INFO,
    ResizeOp::INFO,
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

/// The rule of ops without the operands or attributes of their declaration.
const NOT_DECLARED: &str = "an op that is not as it is declared";
/// The rule of functions of floats.
const OTHER_ELEMENTS: &str = "elements other than f32 and f16";

/// Returns a number that is an attribute.
fn float(args: &OpArgs<'_>, name: &'static str) -> Result<f64, Refusal> {
    args.float(name).ok_or(Refusal::of_attr(name, "no number"))
}

/// The extents `[rows, cols, channels]` of a tensor of one image, `[1, C, H, W]` or `[1, C, W]`, or of a matrix, whose rows are columns of
/// the image, and its element type. A batch of images of one pixel, `[N, C, 1, 1]` or `[N, C, 1]`, is a matrix.
pub fn feature_type(m: &Module, value: Value) -> Result<([u32; 3], Elem), Refusal> {
    let ty = m.value_type(value);
    let elem = m.ctx.dtype(m.ctx.element_type(ty)).and_then(product::elem_of);
    let elem = elem.ok_or(Refusal::of(value, "elements other than f32, f16 and bytes"))?;
    let dims = m.ctx.static_shape(ty).ok_or(Refusal::of(value, "an unknown extent"))?;
    if dims.iter().any(|d| !(1..=MAX_EXTENT).contains(d)) {
        return Err(Refusal::of(value, "an extent outside of 1 to {}").with([MAX_EXTENT as usize]));
    }
    let extents = match *dims {
        [1, c, h, w] => [h, w, c],
        [1, c, w] => [1, w, c],
        [rows, c] => [1, rows, c],
        [images, c, 1] | [images, c, 1, 1] => [1, images, c],
        [images, _, _] | [images, _, _, _] => {
            return Err(Refusal::of(value, "a batch of {} images").with([images as usize]));
        }
        _ => return Err(Refusal::of(value, "{} axes").with([dims.len()])),
    };
    Ok((extents.map(|d| d as u32), elem))
}

/// Whether the channels of a value are the inner dimension of its tensor: it is a matrix of several rows and columns.
pub fn is_channels_last(m: &Module, value: Value) -> bool {
    let is_matrix = |dims: &[i64]| matches!(*dims, [rows, c] | [rows, c, 1] | [rows, c, 1, 1] if rows > 1 && c > 1);
    m.ctx.static_shape(m.value_type(value)).is_some_and(is_matrix)
}

/// Checks that a window on a value is one of rows and columns, not of the images of a batch.
fn check_image(m: &Module, value: Value) -> Result<(), Refusal> {
    match m.ctx.static_shape(m.value_type(value)) {
        Some(&[images, _, 1] | &[images, _, 1, 1]) if images > 1 => {
            Err(Refusal::of(value, "a window on a batch of {} images of one pixel").with([images as usize]))
        }
        _ => Ok(()),
    }
}

/// Checks that an op could run on the clusters, whatever the others are.
pub fn check(m: &Module, op: Op) -> Result<(), Refusal> {
    if movement::is_in_shuffle(m, op) {
        return Ok(());
    }
    m.is_one_of(op, OPS).then_some(()).ok_or("not an op of the clusters")?;
    m.results(op).next().ok_or("no result")?;
    m.results(op).try_for_each(|value| feature_type(m, value).map(drop))
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
    /// Whether two ops, by number, may be in one layer.
    may_fuse: &'m dyn Fn(usize, usize) -> bool,
}

impl<'m> Reader<'m> {
    /// Creates a reader of ops.
    pub fn new(
        m: &'m Module,
        settings: Settings,
        kept: &'m dyn Fn(Value) -> bool,
        may_fuse: &'m dyn Fn(usize, usize) -> bool,
    ) -> Reader<'m> {
        Reader {
            m,
            net: Network::default(),
            features: FxHashMap::default(),
            flat: FxHashMap::default(),
            source: 0,
            settings,
            kept,
            may_fuse,
        }
    }

    /// Adds the feature of a value.
    pub fn feature(&mut self, value: Value, role: Role) -> Result<FeatureId, Refusal> {
        let (extents, elem) = feature_type(self.m, value)?;
        let channels_last = is_channels_last(self.m, value);
        Ok(self.new_feature(FeatureInfo { extents, elem, part_of: None, role, channels_last }))
    }

    fn new_feature(&mut self, info: FeatureInfo) -> FeatureId {
        self.net.features.push(info);
        self.net.features.len() - 1
    }

    /// Adds a part of a feature: `channels` channels.
    fn part(&mut self, part: ChannelSlice, channels: u32) -> FeatureId {
        let whole = &self.net.features[part.whole];
        let extents = [whole.extents[0], whole.extents[1], channels];
        let channels_last = whole.channels_last;
        let elem = whole.elem;
        self.new_feature(FeatureInfo { extents, part_of: Some(part), role: Role::Inner, elem, channels_last })
    }

    fn known(&self, value: Value) -> Result<FeatureId, Refusal> {
        let rule = if self.m.constant(value).is_some() {
            "a constant instead of a feature"
        } else {
            "a value that is no feature"
        };
        self.features.get(&value).copied().ok_or(Refusal::of(value, rule))
    }

    /// Reads an op.
    ///
    /// # Errors
    /// The reason why the clusters do not compute it. The reader is useless then.
    pub fn read(&mut self, op: Op) -> Result<(), Refusal> {
        self.layers_of(op)?;
        self.source += 1;
        Ok(())
    }

    fn layers_of(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        if movement::is_in_shuffle(m, op) {
            return self.shuffle(op);
        }
        if m.is_one_of(op, &[ConvOp::INFO, QLinearConvOp::INFO, GemmOp::INFO, MatMulOp::INFO]) {
            return self.product(op);
        }
        if m.is_one_of(op, POOLS) || ReduceMeanOp::cast(m, op).is_some() {
            return self.pool(op);
        }
        if let Some(pad) = PadOp::cast(m, op) {
            return self.pad(pad);
        }
        if let Some(resize) = ResizeOp::cast(m, op) {
            return self.resize(resize);
        }
        if m.is_one_of(op, &[SoftmaxOp::INFO, LrnOp::INFO]) {
            return self.across_channels(op);
        }
        if m.is_one_of(op, &[ConcatOp::INFO, SplitOp::INFO, SliceOp::INFO]) {
            return self.channels(op);
        }
        // Canonicalization removes the ones that are known not to train.
        if let Some(mode) = DropoutOp::cast(m, op).and_then(|dropout| dropout.training_mode(m)) {
            return Err(Refusal::of(mode, "a dropout that may train"));
        }
        if m.is_one_of(
            op,
            &[ReshapeOp::INFO, FlattenOp::INFO, SqueezeOp::INFO, UnsqueezeOp::INFO, IdentityOp::INFO, DropoutOp::INFO],
        ) {
            return self.view(op);
        }
        self.elementwise(op)
    }

    /// The name of the op in its source, or its own.
    fn name(&self, op: Op) -> String {
        source_name(self.m, op).unwrap_or(self.m.name_text(op)).to_owned()
    }

    /// Adds a layer that computes a value.
    fn add(&mut self, mut layer: Layer, value: Value) -> Result<(), Refusal> {
        layer.output = self.feature(value, Role::Inner)?;
        self.features.insert(value, layer.output);
        self.net.layers.push(layer);
        Ok(())
    }

    /// A layer that copies a feature, without an output.
    fn copy(&self, op: Op, input: FeatureId) -> Layer {
        let (name, sources) = (self.name(op), vec![self.source]);
        Layer { name, sources, input, output: 0, kind: LayerKind::Map, stages: Vec::new() }
    }

    /// Applies a stage to a value, in the layer that computes it if that is possible.
    fn stage(&mut self, op: Op, x: Value, stages: &[StageInfo]) -> Result<(), Refusal> {
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
        let id = *self.features.get(&value)?;
        let info = &self.net.features[id];
        let layer = self.net.layers.iter().rposition(|layer| layer.output == id)?;
        let is_only = self.m.has_one_use(value) && self.m.uses(value).all(|(op, _)| op == user) && !(self.kept)(value);
        let may_fuse = self.net.layers[layer].sources.iter().all(|&source| (self.may_fuse)(source, self.source));
        let is_read = self.net.layers.iter().any(|l| l.reads().any(|read| read == id));
        // Other values may be views of the same feature.
        let is_viewed = self.features.values().chain(self.flat.values()).filter(|&&other| other == id).count() > 1;
        let is_whole = info.part_of.is_none() && !self.net.has_parts(id);
        let kind = &self.net.layers[layer].kind;
        let takes_stages = !matches!(kind, LayerKind::Softmax | LayerKind::Lrn { .. } | LayerKind::Upsample { .. });
        (is_only && may_fuse && !is_read && !is_viewed && is_whole && takes_stages).then_some(layer)
    }

    /// Lets a layer compute another value of the same extents.
    fn replace(&mut self, layer: usize, value: Value) -> Result<(), Refusal> {
        let id = self.net.layers[layer].output;
        self.net.features[id].elem = feature_type(self.m, value)?.1;
        self.features.retain(|_, known| *known != id);
        self.features.insert(value, id);
        // Operands of stages may have been computed after the layer: the layer moves behind them.
        let mut layer = self.net.layers.remove(layer);
        layer.sources.push(self.source);
        self.net.layers.push(layer);
        Ok(())
    }

    /// Makes a value of an op, of number `source`, result `i`, by a copy if its feature cannot be one.
    pub fn result(&mut self, value: Value, i: usize, (source, op): (usize, Op)) -> Result<(), Refusal> {
        let id = self.known(value)?;
        let info = &self.net.features[id];
        if info.role == Role::Inner && info.part_of.is_none() && !self.net.has_parts(id) {
            self.net.features[id].role = Role::Result(i);
            return Ok(());
        }
        let output = self.feature(value, Role::Result(i))?;
        let layer = Layer { output, sources: vec![source], ..self.copy(op, id) };
        self.net.layers.push(layer);
        Ok(())
    }

    /// Returns the network.
    pub fn finish(self) -> Network {
        self.net
    }
}
