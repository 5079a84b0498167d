//! Ops that move channels, as parts of features: nothing is copied where a producer can write its part, or a consumer read it.

use super::super::network::{ChannelSlice, FeatureId, FeatureInfo, Layer, Role};
use super::{NOT_DECLARED, Reader, feature_type, is_channels_last};
use crate::operands::integers;
use gradus_ir::{Module, Op, OpDecl, Refusal, Value};
use gradus_networks::graph::{ConcatOp, ReshapeOp, SliceOp, TransposeOp};

/// The rule of ops that move elements along other axes.
const OTHER_AXIS: &str = "another axis than that of the channels";
/// The rule of reshapes of features.
const OTHER_FEATURE: &str = "a reshape to other rows, columns and channels";

/// The reshape, transpose and reshape of a channel shuffle.
struct Shuffle {
    x: Value,
    ops: [Op; 3],
    groups: u32,
}

/// Returns the shuffle that ends with a reshape: `[1, G*N, H, W]` as `[1, G, N, H, W]`, with `G` and `N` exchanged.
fn shuffle_at(m: &Module, last: Op) -> Option<Shuffle> {
    ReshapeOp::cast(m, last)?;
    let y = m.result(last, 0);
    let transposed = *m.operands(last).first()?;
    let transpose = m.defining_op(transposed).filter(|&op| TransposeOp::cast(m, op).is_some())?;
    let split = *m.operands(transpose).first()?;
    let first = m.defining_op(split).filter(|&op| ReshapeOp::cast(m, op).is_some())?;
    let x = *m.operands(first).first()?;
    let perm = m.args(transpose)?.ints("perm")?;
    let parts = m.ctx.static_shape(m.value_type(split))?;
    let is_swap = perm[..] == [0, 2, 1, 3, 4][..perm.len().min(5)] && matches!(perm.len(), 4 | 5);
    let (from, to) = (feature_type(m, x).ok()?, feature_type(m, y).ok()?);
    let (same, extents) = (from == to && !is_channels_last(m, x) && !is_channels_last(m, y), from.0);
    let is_split = is_swap
        && parts.len() == perm.len()
        && parts[0] == 1
        && parts[1] * parts[2] == i64::from(extents[2])
        && parts[3..].iter().product::<i64>() == i64::from(extents[0] * extents[1]);
    let is_private = m.has_one_use(transposed) && m.has_one_use(split);
    (same && is_split && is_private).then(|| Shuffle { x, ops: [first, transpose, last], groups: parts[1] as u32 })
}

/// Whether an op is one of the three of a channel shuffle.
pub fn is_in_shuffle(m: &Module, op: Op) -> bool {
    shuffle_of(m, op).is_some()
}

fn shuffle_of(m: &Module, op: Op) -> Option<Shuffle> {
    let mut last = op;
    for _ in 0..3 {
        if let Some(found) = shuffle_at(m, last).filter(|found| found.ops.contains(&op)) {
            return Some(found);
        }
        let result = m.results(last).next().filter(|_| m.num_results(last) == 1)?;
        last = m.uses(result).next().filter(|_| m.has_one_use(result))?.0;
    }
    None
}

impl Reader<'_> {
    /// Reads an op that joins channels or takes some: features become ranges of one another, and nothing is copied.
    pub(super) fn channels(&mut self, op: Op) -> Result<(), Refusal> {
        match ConcatOp::cast(self.m, op) {
            Some(concat) => self.concat(concat),
            None => self.parts(op),
        }
    }

    /// Checks that the attribute `axis` names the channels of a value.
    pub(super) fn check_axis(&self, op: Op, value: Value) -> Result<(), Refusal> {
        let m = self.m;
        let rank = m.ctx.shape(m.value_type(value)).map_or(1, <[i64]>::len) as i64;
        let axis = m.args(op).and_then(|args| args.int("axis")).map(|axis| axis.rem_euclid(rank));
        (axis == Some(1)).then_some(()).ok_or(Refusal::of_attr("axis", OTHER_AXIS))
    }

    fn concat(&mut self, op: ConcatOp) -> Result<(), Refusal> {
        let m = self.m;
        let y = m.result(op.0, 0);
        self.check_axis(op.0, y)?;
        let values: Vec<Value> = m.operands(op.0).to_vec();
        let whole = self.feature(y, Role::Inner)?;
        let ids = values.iter().map(|&v| self.known(v)).collect::<Result<Vec<_>, _>>()?;
        let (mut i, mut first) = (0, 0);
        while i < ids.len() {
            let part = ChannelSlice { whole, first, step: 1 };
            let (count, id) = match self.whole_of(&ids[i..]) {
                Some((count, outer)) if self.can_be_part(outer) => (count, outer),
                _ => (1, ids[i]),
            };
            let channels = self.net.features[id].extents[2];
            let is_free = self.can_be_part(id) && ids.iter().filter(|&&other| other == id).count() <= 1;
            let is_kept = values[i..i + count].iter().any(|&v| (self.kept)(v));
            if is_free && !is_kept {
                self.net.features[id].part_of = Some(part);
            } else {
                let output = self.part(part, channels);
                let layer = Layer { output, ..self.copy(op.0, id) };
                self.net.layers.push(layer);
            }
            first += channels;
            i += count;
        }
        self.features.insert(y, whole);
        Ok(())
    }

    /// A feature whose parts, in order, are the first of a list, with their number.
    fn whole_of(&self, ids: &[FeatureId]) -> Option<(usize, FeatureId)> {
        let whole = self.net.features[*ids.first()?].part_of?.whole;
        let channels = self.net.features[whole].extents[2];
        let mut first = 0;
        for (i, &id) in ids.iter().enumerate() {
            if self.net.features[id].part_of != Some(ChannelSlice { whole, first, step: 1 }) {
                return None;
            }
            first += self.net.features[id].extents[2];
            if first == channels {
                return Some((i + 1, whole));
            }
        }
        None
    }

    /// Whether a feature can become a part of another.
    fn can_be_part(&self, id: FeatureId) -> bool {
        let info = &self.net.features[id];
        self.settings.in_place && info.part_of.is_none() && info.role == Role::Inner
    }

    /// Reads a split or a slice: its results are parts.
    fn parts(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let x = m.operands(op)[0];
        let id = self.known(x)?;
        let mut first = match SliceOp::cast(m, op) {
            Some(slice) => self.slice_start(slice, x)?,
            None => {
                self.check_axis(op, x)?;
                0
            }
        };
        for value in m.results(op).collect::<Vec<_>>() {
            let channels = feature_type(m, value)?.0[2];
            let part = self.part(ChannelSlice { whole: id, first, step: 1 }, channels);
            self.features.insert(value, part);
            first += channels;
        }
        Ok(())
    }

    /// The first channel of a slice of channels.
    fn slice_start(&self, slice: SliceOp, x: Value) -> Result<u32, Refusal> {
        let m = self.m;
        let list = |value: Value| integers(m, value);
        let starts = list(slice.starts(m))?;
        let axes = slice.axes(m).map_or(Ok((0..starts.len() as i64).collect()), list)?;
        let steps = slice.steps(m).map_or(Ok(vec![1; starts.len()]), list)?;
        let (from, to) = (feature_type(m, x)?.0, feature_type(m, m.result(slice.0, 0))?.0);
        let rank = m.ctx.shape(m.value_type(x)).map_or(1, <[i64]>::len) as i64;
        let at = axes.iter().position(|axis| axis.rem_euclid(rank) == 1).ok_or(OTHER_AXIS)?;
        let is_rest_whole = from[..2] == to[..2] && steps.iter().all(|&s| s == 1);
        let channels = i64::from(from[2]);
        let start = if starts[at] < 0 { starts[at] + channels } else { starts[at] }.clamp(0, channels);
        // A slice of other extents than its type is poison.
        let is_known = is_rest_whole && start + i64::from(to[2]) <= channels;
        is_known.then_some(start as u32).ok_or("a slice of rows or columns, or with steps".into())
    }

    /// Reads a reshape whose operand and result are the same feature, or one as a vector.
    pub(super) fn view(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let (x, y) = (m.operands(op)[0], m.result(op, 0));
        (m.num_results(op) == 1).then_some(()).ok_or("a second result")?;
        let (to, _) = feature_type(m, y)?;
        if let Some(&id) = self.flat.get(&x) {
            (to == feature_type(m, x)?.0).then_some(()).ok_or(Refusal::of(x, OTHER_FEATURE))?;
            self.flat.insert(y, id);
            return Ok(());
        }
        let (id, from) = (self.known(x)?, feature_type(m, x)?.0);
        if is_channels_last(m, x) != is_channels_last(m, y) {
            return Err(Refusal::of(y, OTHER_FEATURE));
        }
        if from == to {
            self.features.insert(y, id);
            return Ok(());
        }
        // A vector of several rows or columns is read by products only.
        let products = [gradus_networks::graph::GemmOp::INFO, gradus_networks::graph::MatMulOp::INFO];
        let is_read = !(self.kept)(y) && m.uses(y).all(|(user, i)| i == 0 && m.is_one_of(user, &products));
        if to != [1, 1, from[0] * from[1] * from[2]] {
            return Err(Refusal::of(y, OTHER_FEATURE));
        }
        is_read.then_some(()).ok_or(Refusal::of(y, "a vector of an image that not only products read"))?;
        self.flat.insert(y, id);
        Ok(())
    }

    /// Reads a channel shuffle: each group is a part of the result with channels at a distance. The last op does it.
    pub(super) fn shuffle(&mut self, op: Op) -> Result<(), Refusal> {
        let shuffle = shuffle_of(self.m, op).ok_or(NOT_DECLARED)?;
        if op != shuffle.ops[2] {
            return Ok(());
        }
        let m = self.m;
        let (y, id) = (m.result(op, 0), self.known(shuffle.x)?);
        let FeatureInfo { extents, elem, channels_last, .. } = self.net.features[id];
        let whole = self.new_feature(FeatureInfo { extents, elem, part_of: None, role: Role::Inner, channels_last });
        let group = extents[2] / shuffle.groups;
        let is_private = m.has_one_use(shuffle.x) && !(self.kept)(shuffle.x) && self.can_be_part(id);
        for i in 0..shuffle.groups {
            let to = ChannelSlice { whole, first: i, step: shuffle.groups };
            let written = (0..self.net.features.len()).find(|&part| {
                let info = &self.net.features[part];
                info.part_of == Some(ChannelSlice { whole: id, first: i * group, step: 1 }) && info.extents[2] == group
            });
            // A producer writes the channels of a group at their distance, if nothing else reads the concatenation.
            match written.filter(|_| is_private && !self.is_read(id)) {
                Some(part) => self.net.features[part].part_of = Some(to),
                None => {
                    let from = self.part(ChannelSlice { whole: id, first: i * group, step: 1 }, group);
                    let output = self.part(to, group);
                    let layer = Layer { output, ..self.copy(op, from) };
                    self.net.layers.push(layer);
                }
            }
        }
        self.features.insert(y, whole);
        Ok(())
    }

    /// Whether a layer reads a feature, which is no part of another, or one of its parts.
    fn is_read(&self, id: FeatureId) -> bool {
        self.net.layers.iter().any(|layer| layer.reads().any(|read| self.net.root(read).whole == id))
    }
}
