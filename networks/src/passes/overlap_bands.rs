//! `overlap-bands`: computes bands of images apart, each with the rows around it.

use super::propagate_layouts::is_elementwise;
use crate::graph::{ClipOp, ConcatOp, ConvOp, ReluOp, SliceOp, convolution};
use crate::layout::{self, IMAGES, RESULTS, TiledLayout, image_layout, result_layout};
use crate::sparse;
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::{
    Builder, Diagnostic, Loc, Module, Op, OpDecl, OpState, Pass, PassContext, PassInfo, Refusal, Tensor, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "overlap-bands",
    doc: "Compute bands of images apart, each with the rows around it

# Before / After

```mlir
%1 = sparse.conv %0, %w {layout.results = #layout.tiled<\"NHC8hW\">} : (...) -> tensor<1x8x16x16xf32>
%2 = graph.conv %1, %v {group = 8 : i64, pads = array<i64: 1, 1, 1, 1>, layout.images = #layout.tiled<\"NHC8hW\">, layout.results = #layout.tiled<\"NHC8hW\">} : ...
%3 = sparse.conv %2, %u {layout.images = #layout.tiled<\"NHC8hW\">} : (...) -> tensor<1x8x16x16xf32>   // becomes:

%a = graph.slice %0, ... : (...) -> tensor<1x8x9x16xf32>   // rows 0 to 8
%b = graph.slice %0, ... : (...) -> tensor<1x8x9x16xf32>   // rows 7 to 15
%1a = sparse.conv %a, %w : (...) -> tensor<1x8x9x16xf32>
%1b = sparse.conv %b, %w : (...) -> tensor<1x8x9x16xf32>
%2a = graph.conv %1a, %v {group = 8 : i64, pads = array<i64: 1, 1, 0, 1>, layout.images = #layout.tiled<\"NCHW\">} : (...) -> tensor<1x8x8x16xf32>
%2b = graph.conv %1b, %v {group = 8 : i64, pads = array<i64: 0, 1, 1, 1>, layout.images = #layout.tiled<\"NCHW\">} : (...) -> tensor<1x8x8x16xf32>
%2 = graph.concat %2a, %2b {axis = 2 : i64} : (...) -> tensor<1x8x16x16xf32>
%3 = sparse.conv %2, %u {layout.images = #layout.tiled<\"NHC8hW\">} : (...) -> tensor<1x8x16x16xf32>
```

# Does

The windows of a depthwise convolution at the edge of a band read rows of the next band, which another thread has just written. Such lines
move between the caches of the threads when they are read, and again when they are written in the next run: writing half of an image then takes
as long as writing all of it. Where depthwise convolutions between two `sparse.conv` with 1x1 filters have images in bands, each band of the first image is computed with the
rows around it that their windows read, from an image that leaves its bands. So few rows are computed twice, and threads exchange rows of the small
images only. Clamps around the depthwise convolutions are divided with them. Bands begin at cache lines and end there, if few more rows do.
Channels are divided into groups, so that bands of them stay in the L2 cache of a thread until they are read.

# Refuses

Images that something else reads, images read by the first product that a depthwise convolution writes or reads as well, and windows whose
bands would need different numbers of rows. A remark says why the images of a depthwise convolution stay in bands.

# Cost

Linear in the number of ops.",
    options: &[PassOption {
        name: "band-elements",
        doc: "Maximum number of elements of a band of a group of channels, which stay in the L2 cache of a thread until they are read",
        kind: OptionKind::Int(1 << 17),
    }],
    statistics: &[("num-images", "Number of images whose bands are computed apart")],
    stays: "in bands",
    rewrites: Rewrites::Tags(&["overlap"]),
    samples: &[("band-elements", |_| ["64", "500"].map(str::to_owned).into())],
    make: |options| match options.int("band-elements") {
        elements @ 1.. => Ok(Box::new(OverlapBands { elements })),
        _ => Err("band-elements: a positive number".to_owned()),
    },
    ..PassInfo::DEFAULT
};

struct OverlapBands {
    /// Maximum number of elements of a band.
    elements: i64,
}

impl Pass for OverlapBands {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let convolutions: Vec<Op> = m.ops_under(root).into_iter().filter(|&op| ConvOp::cast(m, op).is_some()).collect();
        let (mut images, mut erased) = (Images::default(), FxHashSet::default());
        for op in convolutions {
            if erased.contains(&op) || bands_of(m, op).is_none() {
                continue;
            }
            let joined = Chain::of(m, op, self.elements).and_then(|chain| {
                let joined = images.joined(m, m.operands(chain.ops[0])[0]);
                Ok((
                    chain,
                    joined.ok_or("an image of the first product that a depthwise convolution writes or reads too")?,
                ))
            });
            match joined {
                Ok((chain, joined)) if cx.allows("overlap", m, op) => {
                    std::mem::take(joined).leave_bands(m);
                    cx.count("num-images", chain.divide(m).map_or(0, |()| 1));
                    erased.extend(chain.ops);
                }
                Ok(_) => {}
                Err(refusal) => cx.refuse(m, op, &refusal),
            }
        }
        Ok(())
    }
}

/// Depthwise convolutions between two products.
struct Chain {
    /// The product before, the depthwise convolutions and the clamps around them, in order. Each uses the result of the one before.
    ops: Vec<Op>,
    /// The first depthwise convolution.
    depthwise: Op,
    /// The product that reads the image in bands.
    last: Op,
    /// Rows of the first image that are computed for each band.
    computed: Vec<Range<i64>>,
    /// The windows of each depthwise convolution, by bands.
    windows: Windows,
    /// Number of groups into which the channels are divided.
    groups: i64,
}

/// The windows of each depthwise convolution, by bands.
type Windows = FxHashMap<Op, Vec<Band>>;

/// The windows of a depthwise convolution for a band.
struct Band {
    /// Rows of its image that they read.
    read: Range<i64>,
    /// Padding: above, left, below, right.
    pads: [i64; 4],
}

/// Returns the number of bands of a depthwise convolution, whose image and result have several.
fn bands_of(m: &Module, depthwise: Op) -> Option<i64> {
    let (image, result) = (m.operands(depthwise)[0], m.result(depthwise, 0));
    let extents = |value| m.ctx.static_shape(m.value_type(value));
    let number = |layout: Option<TiledLayout>, value| layout::bands(&layout?, extents(value)?);
    let count = number(result_layout(m, depthwise), result).filter(|n| (2..=MAX_BANDS).contains(n))?;
    let (group, _) = convolution(m, depthwise).ok()?;
    let has_group = |value| extents(value).is_some_and(|all| all.get(1) == i64::try_from(group).ok().as_ref());
    let is_depthwise = has_group(image) && has_group(result);
    (is_depthwise && number(image_layout(m, depthwise), image)? > 1).then_some(count)
}

/// The rule of images between the ops of a chain.
const OTHER_READERS: &str = "an image that something else computes or reads";

/// Elements of a cache line.
const LINE: i64 = 16;
/// Maximum number of rows for whose sake a band begins earlier.
const MAX_ROWS: i64 = 4;
/// Maximum number of groups of channels.
const MAX_GROUPS: i64 = 16;
/// Maximum number of bands, of which each has ops of its own.
const MAX_BANDS: i64 = 64;

impl Chain {
    /// Reads the chain from its first depthwise convolution. Channels are divided so that a band has at most `most` elements.
    fn of(m: &Module, depthwise: Op, most: i64) -> Result<Chain, Refusal> {
        let image = m.operands(depthwise)[0];
        let mut ops = vec![depthwise];
        let first = loop {
            let value = m.operands(ops[0])[0];
            let before = m.defining_op(value).filter(|&op| m.has_one_use(m.result(op, 0)));
            let before = before.ok_or(Refusal::of(image, OTHER_READERS))?;
            if !is_clamp(m, before) {
                break before;
            }
            ops.insert(0, before);
        };
        ops.insert(0, first);
        let last = loop {
            let value = m.result(ops[ops.len() - 1], 0);
            let user = m.uses(value).next().filter(|&(_, operand)| operand == 0 && m.has_one_use(value));
            let (user, _) = user.ok_or(Refusal::of(m.result(depthwise, 0), OTHER_READERS))?;
            let is_in_bands = user != depthwise && ConvOp::cast(m, user).is_some() && bands_of(m, user).is_some();
            if !is_in_bands && !is_clamp(m, user) {
                break user;
            }
            ops.push(user);
        };
        let is_product = |op| {
            let is_pointwise = convolution(m, op).is_ok_and(|(group, window)| group == 1 && window.is_pointwise());
            sparse::ConvOp::cast(m, op).is_some() && is_pointwise
        };
        let are_together = m.parent_block(first) == m.parent_block(last);
        if !are_together || !is_product(first) || !is_product(last) {
            return Err("a neighbour that is no sparse product with 1x1 filters".into());
        }
        let extents = m.ctx.static_shape(m.value_type(image)).unwrap_or_default();
        let (computed, windows) = bands(m, &ops).ok_or("windows whose bands need different numbers of rows")?;
        let count = computed.len() as i64;
        let elements = extents.iter().fold(1_i64, |n, &d| n.saturating_mul(d)) / count;
        let least = elements / most + i64::from(elements % most > 0);
        let groups = (least.max(1)..=MAX_GROUPS).find(|groups| extents[1] % groups == 0);
        let groups = groups
            .ok_or(Refusal::of(image, "channels that at most {} groups do not divide").with([MAX_GROUPS as usize]))?;
        let mut parameters = ops.iter().filter(|&&op| !is_clamp(m, op)).flat_map(|&op| &m.operands(op)[1..]);
        let are_constant = parameters.all(|&v| m.constant(v).is_some());
        let chain = Chain { ops, depthwise, last, computed, windows, groups };
        (groups == 1 || are_constant).then_some(chain).ok_or("filters that are not constant".into())
    }

    /// Replaces the ops by those of each band and group of channels, and their concatenation.
    fn divide(&self, m: &mut Module) -> Option<()> {
        let image = m.operands(self.ops[0])[0];
        let images = self.computed.iter().map(|rows| self.rows(m, image, rows)).collect::<Option<Vec<Value>>>()?;
        let mut results = vec![Vec::new(); images.len()];
        for group in 0..self.groups {
            let mut values = images.clone();
            for &op in &self.ops {
                let operands = self.operands(m, op, group)?;
                for (i, (value, computed)) in values.iter_mut().zip(&self.computed).enumerate() {
                    let band = self.windows.get(&op).map(|bands| &bands[i]);
                    // Later depthwise convolutions read all rows that are computed.
                    if let Some(Band { read, .. }) = band.filter(|b| op == self.depthwise && b.read != *computed) {
                        *value = self.rows(m, *value, &(read.start - computed.start..read.end - computed.start))?;
                    }
                    *value = self.apart(m, op, [&[*value], &operands[..]].concat(), band)?;
                }
            }
            results.iter_mut().zip(values).for_each(|(all, value)| all.push(value));
        }
        let bands = results.into_iter().map(|groups| self.concat(m, &groups, 1)).collect::<Option<Vec<Value>>>()?;
        let whole = self.concat(m, &bands, 2)?;
        m.set_operand(self.last, 0, whole);
        self.ops.iter().rev().for_each(|&op| m.erase_op(op));
        Some(())
    }

    /// The operands of an op other than its image, for a group of channels.
    fn operands(&self, m: &mut Module, op: Op, group: i64) -> Option<Vec<Value>> {
        let operands = m.operands(op)[1..].to_vec();
        if self.groups == 1 || is_clamp(m, op) {
            return Some(operands);
        }
        operands.into_iter().map(|value| self.channels(m, value, group)).collect()
    }

    /// Creates the constant of a group of channels, the first axis of a constant.
    fn channels(&self, m: &mut Module, value: Value, group: i64) -> Option<Value> {
        let tensor = m.ctx.dense_tensor(m.constant(value)?)?;
        let (groups, group) = (usize::try_from(self.groups).ok()?, usize::try_from(group).ok()?);
        let mut shape = tensor.shape().to_vec();
        *shape.first_mut()? /= groups;
        let size = tensor.bytes().len() / groups;
        let part = Tensor::new(tensor.dtype(), shape, tensor.bytes().slice(group * size..(group + 1) * size)).ok()?;
        let extents: Vec<i64> = part.shape().iter().map(|&d| d as i64).collect();
        let ty = m.ctx.tensor_type(&extents, m.ctx.element_type(m.value_type(value)));
        let (attr, loc) = (m.ctx.dense_attr(ty, &part), m.loc(self.depthwise));
        Builder::before(m, self.last).constant(attr, ty, "graph", loc)
    }

    /// Creates the concatenation of tensors.
    fn concat(&self, m: &mut Module, parts: &[Value], axis: i64) -> Option<Value> {
        if let [one] = parts {
            return Some(*one);
        }
        let mut state = OpState::new(&m.ctx, ConcatOp::INFO.name, m.loc(self.depthwise));
        state.operand_group(parts);
        state.inherent(&m.ctx, "axis", Some(m.ctx.int_attr(Type::I64, axis)));
        self.build(m, |b| b.try_create(state).ok())
    }

    /// Creates the slice of some rows of an image.
    fn rows(&self, m: &mut Module, image: Value, rows: &Range<i64>) -> Option<Value> {
        let loc = m.loc(self.depthwise);
        self.build(m, |b| slice(b, loc, image, rows))
    }

    /// Creates an op of one result before the last product.
    fn build(&self, m: &mut Module, create: impl FnOnce(&mut Builder<'_>) -> Option<Op>) -> Option<Value> {
        let op = create(&mut Builder::before(m, self.last))?;
        Some(m.result(op, 0))
    }

    /// Creates an op for a band of its image and a group of channels.
    fn apart(&self, m: &mut Module, op: Op, operands: Vec<Value>, band: Option<&Band>) -> Option<Value> {
        let mut state = OpState::with_operands_of(m, op);
        state.operands = operands.into();
        if let Some(band) = band {
            let channels = m.ctx.static_shape(m.value_type(state.operands[0]))?[1];
            state.set_inherent(&m.ctx, "pads", Some(m.ctx.i64_array_attr(&band.pads)));
            state.set_inherent(&m.ctx, "auto_pad", None);
            state.set_inherent(&m.ctx, "group", Some(m.ctx.int_attr(Type::I64, channels)));
        }
        let value = self.build(m, |b| b.try_create(state).ok())?;
        let made = m.defining_op(value)?;
        let letters = layout::plane_letters(4)?.parse::<TiledLayout>().ok()?.to_attr(&m.ctx);
        m.set_attr(made, IMAGES, band.map(|_| letters));
        m.set_attr(made, RESULTS, None);
        Some(value)
    }
}

/// The images before first products, and all that elementwise ops join with them.
#[derive(Default)]
struct Images {
    /// The index of the products around each image.
    known: FxHashMap<Value, usize>,
    /// `None` where a depthwise convolution writes or reads one of the images in bands.
    joined: Vec<Option<Joined>>,
}

/// The products that write or read images which elementwise ops join.
#[derive(Default)]
struct Joined {
    writers: Vec<Op>,
    readers: Vec<Op>,
}

impl Images {
    /// The products around an image; `None` if it stays in bands. Each image is visited once.
    fn joined(&mut self, m: &Module, image: Value) -> Option<&mut Joined> {
        let index = self.known.get(&image).copied().unwrap_or_else(|| self.collect(m, image));
        self.joined[index].as_mut()
    }

    fn collect(&mut self, m: &Module, image: Value) -> usize {
        let (index, mut open, mut stays) = (self.joined.len(), vec![image], false);
        let mut joined = Joined::default();
        while let Some(value) = open.pop() {
            if m.value_type(value) != m.value_type(image) || self.known.insert(value, index).is_some() {
                continue;
            }
            let (writer, readers) = (m.defining_op(value), || m.uses(value).map(|(user, _)| user));
            stays |= writer.into_iter().chain(readers()).any(|op| ConvOp::cast(m, op).is_some());
            let is_product = |op: &Op| sparse::ConvOp::cast(m, *op).is_some();
            joined.writers.extend(writer.filter(is_product));
            joined.readers.extend(readers().filter(is_product));
            let around = readers().chain(writer).filter(|&op| is_elementwise(m, op));
            around.for_each(|op| open.extend(m.operands(op).iter().copied().chain(m.results(op))));
        }
        self.joined.push((!stays).then_some(joined));
        index
    }
}

impl Joined {
    /// The images are in the row-major layout.
    fn leave_bands(self, m: &mut Module) {
        self.writers.into_iter().for_each(|op| m.set_attr(op, RESULTS, None));
        self.readers.into_iter().for_each(|op| m.set_attr(op, IMAGES, None));
    }
}

/// Whether an op bounds the numbers of its first operand.
fn is_clamp(m: &Module, op: Op) -> bool {
    ReluOp::cast(m, op).is_some() || ClipOp::cast(m, op).is_some()
}

/// Returns the rows of the first image that are computed for each band of the result of a chain, and the windows of its depthwise
/// convolutions; `None` if bands need different numbers of rows.
fn bands(m: &Module, ops: &[Op]) -> Option<(Vec<Range<i64>>, Windows)> {
    let mut depthwise = ops[1..].iter().rev().copied().filter(|&op| !is_clamp(m, op)).peekable();
    let last = *depthwise.peek()?;
    let (count, result) = (bands_of(m, last)?, m.value_type(m.result(last, 0)));
    let rows = m.ctx.static_shape(result)?.get(2)? / count;
    let mut ranges: Vec<Range<i64>> = (0..count).map(|band| band * rows..(band + 1) * rows).collect();
    let mut windows = FxHashMap::default();
    for op in depthwise {
        let bands = windows_of(m, op, &ranges)?;
        ranges = bands.iter().map(|band| band.read.clone()).collect();
        windows.insert(op, bands);
    }
    let &[.., height, width] = m.ctx.static_shape(m.value_type(m.result(ops[0], 0)))? else { return None };
    // Rows that begin at cache lines, and are a multiple of those.
    let granule = (1..=MAX_ROWS).find(|rows| rows * width % LINE == 0).unwrap_or(1);
    let start = |read: &Range<i64>| read.start / granule * granule;
    let most = ranges.iter().map(|read| read.end - start(read)).max()?;
    let most = (most + granule - 1) / granule * granule;
    let computed = |read: &Range<i64>| {
        let start = start(read).min(height - most);
        (start >= 0).then_some(start..start + most)
    };
    Some((ranges.iter().map(computed).collect::<Option<_>>()?, windows))
}

/// Returns the windows of a depthwise convolution for ranges of equally many rows of its result.
fn windows_of(m: &Module, depthwise: Op, results: &[Range<i64>]) -> Option<Vec<Band>> {
    let (_, window) = convolution(m, depthwise).ok()?;
    let signed = |n: usize| i64::try_from(n).ok();
    let at = |of: &[usize]| signed(*of.first()?);
    let (input, stride, above) = (at(&window.input)?, at(&window.strides)?, at(&window.pads_begin)?);
    let reach = (at(&window.kernel)? - 1).checked_mul(at(&window.dilations)?)?;
    let (&[_, left], &[_, right]) = (&window.pads_begin[..], &window.pads_end[..]) else { return None };
    let (left, right) = (signed(left)?, signed(right)?);
    // Rows of the padded image.
    let read = |rows: &Range<i64>| rows.start * stride - above..(rows.end - 1) * stride - above + reach + 1;
    let num_read = results.iter().map(read).map(|read| read.end.min(input) - read.start.max(0)).max()?;
    let band = |result: &Range<i64>| {
        let (read, first) = (read(result), read(result).start.max(0));
        let (before, after) = (first - read.start, (read.end - first - num_read).max(0));
        let has_rows = (num_read + before + after - reach - 1) / stride + 1 == result.end - result.start;
        let read = first..first + num_read;
        (has_rows && read.end <= input).then_some(Band { read, pads: [before, left, after, right] })
    };
    results.iter().map(band).collect()
}

/// Creates the slice of some rows of an image.
fn slice(b: &mut Builder<'_>, loc: Loc, image: Value, rows: &Range<i64>) -> Option<Op> {
    let ty = b.module.ctx.tensor_type(&[1], Type::I64);
    let mut list = |n: i64| {
        let attr = b.module.ctx.dense_attr(ty, &Tensor::from_vec(&[1], vec![n]));
        b.constant(attr, ty, "graph", loc)
    };
    let [start, end, axis] = [list(rows.start)?, list(rows.end)?, list(2)?];
    let mut state = OpState::new(&b.module.ctx, SliceOp::INFO.name, loc);
    [&[image][..], &[start], &[end], &[axis], &[]].into_iter().for_each(|group| state.operand_group(group));
    b.try_create(state).ok()
}
