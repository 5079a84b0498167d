//! Ops on bytes as layers: values as views of features, and the ops that move nothing.

use super::elementwise_layouts::{self, Layout};
use super::network::{BlockOrder, FeatureId, FeatureInfo, Layer, Network, ProductSide, Role};
use super::scale::Fit;
use super::view::{COLUMNS, ChannelOrder, Digit, ROWS, View};
use crate::layers::Fusion;
use crate::operands;
use gradus_ir::{DType, Module, Op, OpDecl, OpInfo, Refusal, Value};
use gradus_machines::npu;
use gradus_networks::graph::{
    ConcatOp, FlattenOp, GlobalMaxPoolOp, MaxPoolOp, PadOp, QLinearAddOp, QLinearConvOp, QLinearMatMulOp, QLinearMulOp,
    ReshapeOp, ResizeOp, SliceOp, SplitOp, SqueezeOp, TableOp, TransposeOp, UnsqueezeOp,
};
use gradus_simulators::npu::NpuMachine;
use rustc_hash::{FxHashMap, FxHashSet};

/// The ops that the machine computes, if their operands allow it.
pub const OPS: &[&OpInfo] = &[
    QLinearConvOp::INFO,
    QLinearMatMulOp::INFO,
    QLinearAddOp::INFO,
    QLinearMulOp::INFO,
    TableOp::INFO,
    MaxPoolOp::INFO,
    GlobalMaxPoolOp::INFO,
    ConcatOp::INFO,
    SliceOp::INFO,
    SplitOp::INFO,
    PadOp::INFO,
    ResizeOp::INFO,
    TransposeOp::INFO,
    ReshapeOp::INFO,
    FlattenOp::INFO,
    SqueezeOp::INFO,
    UnsqueezeOp::INFO,
];

/// Ops that give the same bytes other axes.
const VIEWS: &[&OpInfo] = &[TransposeOp::INFO, ReshapeOp::INFO, FlattenOp::INFO, SqueezeOp::INFO, UnsqueezeOp::INFO];

/// Ops of images, whose channels are second.
const OF_IMAGES: &[&OpInfo] = &[QLinearConvOp::INFO, MaxPoolOp::INFO, GlobalMaxPoolOp::INFO, ResizeOp::INFO];

/// The rule of operands that an op reads element by element, or joins.
pub(super) const OTHER_AXES: &str = "axes that are other rows, columns or channels than those of another operand";
/// The rule of operands whose axes are not in the order of the op.
pub(super) const OTHER_ORDER: &str = "axes that are not its rows, columns and channels in the order of the op";
/// The rule of values that no op of the program makes a feature.
const NO_FEATURE: &str = "a value that is no feature";
/// The rule of ops without an axis.
pub(super) const NO_AXIS: &str = "no axis";

/// Largest extent of a feature.
pub const MAX_EXTENT: usize = 1 << 15;
/// Largest number of axes.
const MAX_AXES: usize = 6;

/// The extents of a tensor of bytes.
pub fn extents(m: &Module, value: Value) -> Result<Vec<usize>, Refusal> {
    let ty = m.value_type(value);
    if !matches!(m.ctx.dtype(m.ctx.element_type(ty)), Some(DType::I8 | DType::U8)) {
        return Err(Refusal::of(value, "elements other than bytes"));
    }
    let extents = operands::extents(m, value)?;
    if extents.len() > MAX_AXES {
        return Err(Refusal::of(value, "{} axes, more than {}").with([extents.len(), MAX_AXES]));
    }
    let fits = extents.iter().all(|&d| d <= MAX_EXTENT);
    fits.then_some(extents).ok_or(Refusal::of(value, "an extent of more than {}").with([MAX_EXTENT]))
}

/// Checks that an op could run on the machine, whatever the others are.
pub fn check(m: &Module, op: Op) -> Result<(), Refusal> {
    m.is_one_of(op, OPS).then_some(()).ok_or("not an op of the npu")?;
    for value in m.results(op) {
        let shape = extents(m, value)?;
        // Tensors of more axes are views between others.
        if shape.len() > 4 && (m.is_one_of(op, VIEWS) || ConcatOp::cast(m, op).is_some()) {
            continue;
        }
        let found = [ChannelOrder::ChannelsFirst, ChannelOrder::ChannelsLast].iter().find_map(|order| order.of(&shape));
        found.ok_or_else(|| without_order(value, &shape))?;
    }
    Ok(())
}

/// The refusal of a tensor that is no image and no matrix.
fn without_order(value: Value, shape: &[usize]) -> Refusal {
    match shape {
        [images, ..] if shape.len() > 2 && *images > 1 => Refusal::of(value, "a batch of {} images").with([*images]),
        _ => Refusal::of(value, "{} axes").with([shape.len()]),
    }
}

/// Whether bytes of a tensor are signed.
pub fn is_signed(m: &Module, value: Value) -> bool {
    m.ctx.dtype(m.ctx.element_type(m.value_type(value))) == Some(DType::I8)
}

/// How the host lays out an operand of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Rows of blocks of channels.
    Blocks(ChannelOrder),
    /// Rows of columns of all channels, with columns of padding before and after and their value.
    Rows {
        /// Columns before and after.
        pads: [usize; 2],
        /// Their value.
        zero: i16,
    },
}

/// The ops of a program as a network.
#[derive(Default)]
pub struct Read {
    /// The network.
    pub net: Network,
    /// The operands of the program and their layouts.
    pub operands: Vec<(Value, FeatureId, Packing)>,
    /// The features that are results of the program.
    pub results: Vec<FeatureId>,
    /// The values that others read, as views of results.
    pub values: Vec<(Value, usize, View)>,
    /// Ops whose results may be a step from the reference, with the number of pairs of bytes.
    pub steps: Vec<(Op, usize)>,
}

/// The machine, and the options of the pass that decide which layers are read.
pub struct Setting<'a> {
    /// The machine.
    pub machine: &'a NpuMachine,
    /// Whether sums and products may be a step from the reference for some pairs of bytes.
    pub allow_steps: bool,
    /// The operand of products that is the weights, `None` for the cheaper one. A choice that an op has comes first.
    pub weights: Option<ProductSide>,
    /// The mode of products of elements, `None` for the cheapest one. A choice that an op has comes first.
    pub mode: Option<Layout>,
    /// Whether rows are padded in SRAM against conflicts of banks.
    pub pads_rows: bool,
}

/// A reader of ops.
pub struct Reader<'m> {
    pub(super) m: &'m Module,
    pub(super) setting: &'m Setting<'m>,
    /// The layers and features read so far.
    pub(super) out: Read,
    /// The values that are features.
    pub(super) views: FxHashMap<Value, View>,
    /// The ops of the program.
    ops: &'m FxHashSet<Op>,
    /// Which of them are one layer, and the choices for them.
    fusion: &'m Fusion,
}

impl<'m> Reader<'m> {
    /// Creates a reader of the ops of a program.
    pub fn new(m: &'m Module, setting: &'m Setting<'m>, ops: &'m FxHashSet<Op>, fusion: &'m Fusion) -> Reader<'m> {
        Reader { m, setting, out: Read::default(), views: FxHashMap::default(), ops, fusion }
    }

    /// The operand of a product that is the weights, if that is given.
    pub(super) fn side_of(&self, op: Op) -> Option<ProductSide> {
        let chosen = self.tiles_of(op).find_map(|tiles| tiles.operand);
        chosen.map(|side| ProductSide::ALL[side]).or(self.setting.weights)
    }

    /// The mode of a product of elements, if that is given.
    fn mode_of(&self, layer: &Layer) -> Option<Layout> {
        let mut tiles = layer.ops.iter().flat_map(|&op| self.tiles_of(op));
        tiles.find_map(|tiles| elementwise_layouts::parse(&tiles.mode)).or(self.setting.mode)
    }

    /// The choices for the layers of an op.
    fn tiles_of(&self, op: Op) -> impl Iterator<Item = npu::LayerTiles> + use<'m> {
        let (fusion, m) = (self.fusion, self.m);
        fusion.choices(op).iter().filter_map(|&attr| npu::LayerTiles::from_attr(&m.ctx, attr))
    }

    /// Whether two ops may be one layer.
    pub(super) fn may_fuse(&self, op: Op, other: Op) -> bool {
        self.fusion.may_fuse(op, other)
    }

    /// Whether an op is one of the program.
    pub(super) fn holds(&self, op: Op) -> bool {
        self.ops.contains(&op)
    }

    /// Reads an op.
    ///
    /// # Errors
    /// The reason why the machine does not compute it. The reader is useless then.
    pub fn read(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        if let Some(conv) = QLinearConvOp::cast(m, op) {
            return self.conv(conv);
        }
        if let Some(product) = QLinearMatMulOp::cast(m, op) {
            return self.matrix_product(product);
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
        if let Some(pad) = PadOp::cast(m, op) {
            return self.pad(pad);
        }
        if let Some(resize) = ResizeOp::cast(m, op) {
            return self.resize(resize);
        }
        if m.is_one_of(op, &[MaxPoolOp::INFO, GlobalMaxPoolOp::INFO]) {
            return self.max_pool(op);
        }
        if m.is_one_of(op, &[SliceOp::INFO, SplitOp::INFO]) {
            return self.slices(op);
        }
        self.view(op)
    }

    /// The extents of the feature of a view.
    pub(super) fn extents_of(&self, view: &View) -> [usize; 3] {
        let info = &self.out.net.features[view.feature];
        [info.height, info.width, info.channels]
    }

    /// Adds a feature.
    pub(super) fn feature(&mut self, [height, width, channels]: [usize; 3], signed: bool, role: Role) -> FeatureId {
        let tile = [1, self.setting.machine.depth as usize];
        self.out.net.features.push(FeatureInfo {
            height,
            width,
            channels,
            tile,
            signed,
            part_of: None,
            role,
            blocks: BlockOrder::default(),
            row_padding: None,
        });
        self.out.net.features.len() - 1
    }

    /// The order of an operand: that of the first op that needs one.
    fn preferred(&self, value: Value) -> ChannelOrder {
        let (mut found, mut seen) = (vec![value], FxHashSet::default());
        while let Some(value) = found.pop() {
            for (user, _) in self.m.uses(value).filter(|(user, _)| self.ops.contains(user)) {
                if self.m.is_one_of(user, OF_IMAGES) {
                    return ChannelOrder::ChannelsFirst;
                }
                if QLinearMatMulOp::cast(self.m, user).is_some() {
                    return ChannelOrder::ChannelsLast;
                }
                found.extend(self.m.results(user).filter(|&result| seen.insert(result)));
            }
        }
        ChannelOrder::ChannelsFirst
    }

    /// Whether a value, or a value computed from it, is an operand of a product of two features.
    fn reaches_product(&self, value: Value) -> bool {
        let (mut found, mut seen) = (vec![value], FxHashSet::default());
        while let Some(value) = found.pop() {
            for (user, _) in self.m.uses(value).filter(|(user, _)| self.ops.contains(user)) {
                if QLinearMatMulOp::cast(self.m, user).is_some_and(|op| self.m.constant(op.b(self.m)).is_none()) {
                    return true;
                }
                found.extend(self.m.results(user).filter(|&result| seen.insert(result)));
            }
        }
        false
    }

    /// Whether tiles of one row of the features of a layer take at most half of SRAM, two of each, so that a layer by tiles of rows is
    /// possible: two features, or three where no product of other layers reads them.
    fn row_fits(&self, value: Value, order: ChannelOrder) -> bool {
        let extents = self.ordered_extents(value, order).map(|(extents, _)| extents);
        let features = if order == ChannelOrder::ChannelsLast { 2 } else { 4 };
        extents.is_ok_and(|[_, width, channels]| {
            2 * features * width * channels <= self.setting.machine.sram_bytes as usize
        })
    }

    /// Whether a value is a batch of pixels that ops read element by element only, so that it may have any rows.
    fn is_line(&self, value: Value) -> bool {
        let of_pixels = |shape: &[usize]| shape.len() > 1 && shape[0] > 1 && shape[2..].iter().all(|&n| n == 1);
        let by_elements = |op: Op| match QLinearConvOp::cast(self.m, op) {
            Some(conv) => self.m.constant(conv.w(self.m)).is_none(),
            None => self.m.is_one_of(op, &[QLinearAddOp::INFO, QLinearMulOp::INFO, TableOp::INFO]),
        };
        let mut users = self.m.uses(value).filter(|(user, _)| self.ops.contains(user));
        extents(self.m, value).is_ok_and(|shape| of_pixels(&shape)) && users.all(|(user, _)| by_elements(user))
    }

    /// The view of a value that is not constant; operands of the program get an order, the preferred one by default.
    pub(super) fn view_of(&mut self, value: Value, order: Option<ChannelOrder>) -> Result<View, Refusal> {
        if let Some(view) = self.views.get(&value) {
            return Ok(view.clone());
        }
        if self.m.constant(value).is_some() {
            return Err(Refusal::of(value, "a constant instead of a feature"));
        }
        let order = order.unwrap_or_else(|| self.preferred(value));
        let is_divided = match order {
            ChannelOrder::ChannelsLast => !self.reaches_product(value) || !self.row_fits(value, order),
            ChannelOrder::ChannelsFirst => self.is_line(value) && !self.row_fits(value, order),
        };
        self.operand(value, order, is_divided)
    }

    /// The view of a value whose elements are those of a known view, or are repeated along rows and columns to be.
    pub(super) fn view_like(&mut self, value: Value, like: &View) -> Result<View, Refusal> {
        if self.views.contains_key(&value) {
            let view = self.view_of(value, None)?;
            let fits = view.repeats_to(like) && self.extents_of(&view)[2] == self.extents_of(like)[2];
            return fits.then_some(view).ok_or(Refusal::of(value, OTHER_AXES));
        }
        let shape = extents(self.m, value)?;
        for (order, is_divided) in [
            (ChannelOrder::ChannelsFirst, false),
            (ChannelOrder::ChannelsLast, false),
            (ChannelOrder::ChannelsLast, true),
        ] {
            let Some((mut extents, mut axes)) = order.of(&shape) else { continue };
            if is_divided {
                divide_columns(&mut extents, &mut axes);
            }
            if extents[2] == self.extents_of(like)[2] && (View { axes, ..*like }).repeats_to(like) {
                return self.operand(value, order, is_divided);
            }
        }
        Err(Refusal::of(value, OTHER_AXES))
    }

    /// Adds an operand of the program. `is_divided`: with its columns in several rows.
    fn operand(&mut self, value: Value, order: ChannelOrder, is_divided: bool) -> Result<View, Refusal> {
        if self.m.defining_op(value).is_some_and(|op| self.ops.contains(&op)) {
            return Err(Refusal::of(value, NO_FEATURE));
        }
        let (mut extents, mut axes) = self.ordered_extents(value, order)?;
        if is_divided {
            divide_columns(&mut extents, &mut axes);
        }
        self.add_operand(value, order, (extents, axes))
    }

    /// The view of kernels `[C, 1, 1, 1]`, a number for each channel, like a tensor `[1, C, 1, 1]`. Kernels that the host has are one pixel.
    pub(super) fn view_of_kernels(&mut self, value: Value) -> Result<View, Refusal> {
        let shape = extents(self.m, value)?;
        if !self.views.contains_key(&value) && self.m.defining_op(value).is_none_or(|op| !self.ops.contains(&op)) {
            let (pixel, mut axes) =
                ChannelOrder::ChannelsLast.of(&shape[..1]).ok_or_else(|| without_order(value, &shape))?;
            axes.resize(shape.len(), Vec::new());
            self.add_operand(value, ChannelOrder::ChannelsLast, (pixel, axes))?;
        }
        let view = self.view_of(value, None)?;
        view.transposed(&[1, 0, 2, 3][..shape.len().min(4)]).ok_or_else(|| without_order(value, &shape))
    }

    /// Adds an operand of the program as a feature.
    fn add_operand(
        &mut self,
        value: Value,
        order: ChannelOrder,
        (extents, axes): ([usize; 3], Vec<Vec<Digit>>),
    ) -> Result<View, Refusal> {
        check_extents(value, extents)?;
        let role = Role::Operand(self.out.operands.len());
        let feature = self.feature(extents, is_signed(self.m, value), role);
        self.out.operands.push((value, feature, Packing::Blocks(order)));
        let view = View { feature, axes };
        self.views.insert(value, view.clone());
        Ok(view)
    }

    /// The extents of the feature of a value in an order, and the digits of its axes.
    pub(super) fn ordered_extents(
        &self,
        value: Value,
        order: ChannelOrder,
    ) -> Result<([usize; 3], Vec<Vec<Digit>>), Refusal> {
        let shape = extents(self.m, value)?;
        order.of(&shape).ok_or_else(|| without_order(value, &shape))
    }

    /// The view of a value whose axes are those of an order. Otherwise the op is blamed that changed them.
    pub(super) fn ordered(&mut self, value: Value, order: ChannelOrder) -> Result<View, Refusal> {
        let view = self.view_of(value, Some(order))?;
        let (_, axes) = self.ordered_extents(value, order)?;
        if view.axes == axes { Ok(view) } else { Err(self.blame(&[value], Refusal::of(value, OTHER_ORDER))) }
    }

    /// The refusal of the op that gave one of these values axes which their reader cannot have; `otherwise`, if none did.
    pub(super) fn blame(&self, values: &[Value], otherwise: Refusal) -> Refusal {
        let is_view = |op: &Op| self.m.is_one_of(*op, VIEWS) && self.ops.contains(op);
        let made = values.iter().find_map(|&value| self.m.defining_op(value).filter(is_view));
        made.map_or(otherwise, |op| Refusal::of_other(op, "axes that a reader of its result cannot have"))
    }

    /// An op that gives the bytes of a feature other axes.
    fn view(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let (x, y) = (m.operands(op)[0], m.result(op, 0));
        let (view, shape) = (self.view_of(x, None)?, extents(m, y)?);
        let view = if TransposeOp::cast(m, op).is_some() {
            let reversed = || (0..view.axes.len() as i64).rev().collect();
            let perm = m.args(op).and_then(|args| args.ints("perm")).filter(|perm| !perm.is_empty());
            let perm: Vec<usize> = perm.unwrap_or_else(reversed).iter().map(|&i| i as usize).collect();
            view.transposed(&perm).ok_or(Refusal::of_attr("perm", "no permutation"))?
        } else {
            view.reshaped(&shape).ok_or(Refusal::of(y, "a reshape that cuts an axis of a feature elsewhere"))?
        };
        // The host moves the bytes of its own tensors.
        let is_plain = |order: ChannelOrder| order.of(&shape).is_some_and(|(_, axes)| axes == view.axes);
        let is_inner = !matches!(self.out.net.features[view.feature].role, Role::Operand(_));
        let is_kept = is_inner || [ChannelOrder::ChannelsFirst, ChannelOrder::ChannelsLast].into_iter().any(is_plain);
        is_kept.then_some(()).ok_or(Refusal::of(x, "bytes of the host in another order"))?;
        self.views.insert(y, view);
        Ok(())
    }

    /// Makes a value that an op computes a result of the program, if need be a copy.
    pub fn result(&mut self, value: Value, op: Op) -> Result<(), Refusal> {
        let mut view = self.views.get(&value).ok_or(Refusal::of(value, NO_FEATURE))?.clone();
        let (id, net) = (view.feature, &self.out.net);
        let is_read = net.layers.iter().flat_map(Layer::reads).any(|read| net.root(read) == id);
        let mut parts = net.features.iter().filter(|f| f.part_of.is_some_and(|p| p.whole == id));
        // In DDR columns apart from each other are slow.
        let is_whole =
            !is_read && parts.clone().all(|part| part.width == net.features[id].width) || parts.next().is_none();
        let i = match net.features[id].role {
            Role::Result(i) => i,
            Role::Inner if net.features[id].part_of.is_none() && is_whole => self.out.results.len(),
            _ => {
                view.feature = self.feature(self.extents_of(&view), is_signed(self.m, value), Role::Inner);
                let copied = View { feature: id, axes: Vec::new() };
                let layer = Layer { output: view.feature, ..self.identity(op, &copied) };
                self.out.net.layers.push(layer);
                self.out.results.len()
            }
        };
        self.out.net.features[view.feature].role = Role::Result(i);
        if i == self.out.results.len() {
            self.out.results.push(view.feature);
        }
        self.out.values.push((value, i, view));
        Ok(())
    }

    /// A layer that copies a feature, without an output.
    pub(super) fn identity(&self, op: Op, x: &View) -> Layer {
        let info = &self.out.net.features[x.feature];
        Layer::copy(vec![op], x.feature, 0, info.channels, info.signed)
    }

    /// Returns factors, if they give the bytes of the reference or may be a step from them.
    pub(super) fn fit<T>(&mut self, op: Op, fit: Fit<T>) -> Result<T, Refusal> {
        if fit.steps > 0 {
            let rule = "factors that are not exact: results are a step from the reference for {} of {} pairs of bytes";
            let refusal = Refusal::from(rule).with([fit.steps, 1 << 16]);
            self.setting.allow_steps.then_some(()).ok_or(refusal)?;
            self.out.steps.push((op, fit.steps));
        }
        Ok(fit.factors)
    }

    /// The layer that writes a value, or the last one that writes a part of it.
    pub(super) fn last_layer(&self, view: &View) -> Option<usize> {
        let net = &self.out.net;
        let root = net.root(view.feature);
        net.layers.iter().rposition(|layer| net.root(layer.output) == root)
    }

    /// The layer that computes a value for `user` alone.
    pub(super) fn fusible(&self, value: Value, user: Op) -> Option<usize> {
        let (net, id) = (&self.out.net, self.views.get(&value)?.feature);
        let layer = net.layers.iter().rposition(|layer| layer.output == id)?;
        let is_only = self.m.has_one_use(value) && self.m.uses(value).all(|(op, _)| op == user);
        // Other values may be views of the same feature.
        let is_read = net.layers.iter().any(|l| l.reads().any(|read| read == id));
        let is_viewed = self.views.values().filter(|view| view.feature == id).count() > 1;
        let may_fuse = net.layers[layer].ops.iter().all(|&op| self.fusion.may_fuse(op, user));
        (is_only && may_fuse && !is_read && !is_viewed && net.features[id].part_of.is_none()).then_some(layer)
    }

    /// Lets a layer compute another value.
    pub(super) fn replace(&mut self, layer: usize, value: Value, axes: Vec<Vec<Digit>>) {
        let feature = self.out.net.layers[layer].output;
        self.out.net.features[feature].signed = is_signed(self.m, value);
        self.views.retain(|_, view| view.feature != feature);
        self.views.insert(value, View { feature, axes });
        // The sum's other operand may have been computed after the layer: the layer moves behind it.
        let mut layer = self.out.net.layers.remove(layer);
        layer.ops.extend(self.m.defining_op(value));
        self.out.net.layers.push(layer);
    }

    /// Adds a layer that computes a value.
    pub(super) fn add(
        &mut self,
        mut layer: Layer,
        value: Value,
        extents: [usize; 3],
        axes: Vec<Vec<Digit>>,
    ) -> Result<(), Refusal> {
        check_extents(value, extents)?;
        layer.output = self.feature(extents, is_signed(self.m, value), Role::Inner);
        if layer.depthwise {
            self.out.net.features[layer.output].tile = self.out.net.features[layer.input].tile;
        }
        self.views.insert(value, View { feature: layer.output, axes });
        self.out.net.layers.push(layer);
        Ok(())
    }

    /// Returns the program.
    pub fn finish(mut self) -> Read {
        let mut net = std::mem::take(&mut self.out.net);
        net.finish(self.setting.machine, &|layer| self.mode_of(layer));
        self.out.net = net;
        if self.setting.pads_rows {
            self.out.net.pad_rows(self.setting.machine);
        }
        self.out
    }
}

/// Checks that the fields of instructions hold the extents of the feature of a value.
pub(super) fn check_extents(value: Value, extents: [usize; 3]) -> Result<(), Refusal> {
    let fits = extents.iter().all(|&n| n <= MAX_EXTENT);
    fits.then_some(()).ok_or(Refusal::of(value, "a feature with an extent of more than {}").with([MAX_EXTENT]))
}

/// The most columns of rows of tokens.
const MAX_COLUMNS: usize = 16;

/// Divides the columns of a feature into rows, so that layers have tiles of some of them.
fn divide_columns(extents: &mut [usize; 3], axes: &mut [Vec<Digit>]) {
    let [height, width, _] = *extents;
    let columns = (4..=MAX_COLUMNS).rev().find(|n| width.is_multiple_of(*n)).filter(|_| width > MAX_COLUMNS);
    let Some(columns) = columns else { return };
    let rows = width / columns;
    for digits in axes {
        digits.iter_mut().filter(|d| d.axis == ROWS).for_each(|d| d.stride *= rows);
        if let Some(at) = digits.iter().position(|d| d.axis == COLUMNS) {
            let row = Digit { axis: ROWS, extent: rows, stride: 1 };
            digits.splice(at..=at, [row, Digit { axis: COLUMNS, extent: columns, stride: 1 }]);
        }
    }
    (extents[0], extents[1]) = (height * rows, columns);
}
