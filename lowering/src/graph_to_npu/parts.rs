//! Ops that move rows, columns and channels: features become boxes of others, and nothing is copied where one layer writes a box, or
//! reads it.

use super::network::{FeatureId, FeatureInfo, Layer, PartOf, Role, Weights, gcd};
use super::read::{NO_AXIS, OTHER_AXES, Reader, check_extents, extents, is_signed};
use super::view::{CHANNELS, COLUMNS, ChannelOrder, Digit, ROWS, View};
use crate::operands::{constant_padding, integers, nearest_sources};
use gradus_ir::{Op, OpDecl, Refusal, Value};
use gradus_networks::graph::{ConcatOp, PadOp, ResizeOp, SliceOp};

/// The rule of ops that take a part of an axis which is itself a part of one of a feature.
const PART_OF_AXIS: &str = "an axis that is a part of the rows, columns or channels of its feature";
/// The rule of ops that move channels apart.
const CHANNELS_APART: &str = "channels at a distance";

/// An axis of views of features: one of the feature, and the elements of that for each index.
#[derive(Clone, Copy, Debug)]
struct OuterAxis {
    axis: usize,
    stride: usize,
}

impl OuterAxis {
    /// The digits of an extent.
    fn digits(self, extent: usize) -> Vec<Digit> {
        if extent == 1 { Vec::new() } else { vec![Digit { axis: self.axis, extent, stride: self.stride }] }
    }
}

impl Reader<'_> {
    /// A box of a feature as a feature. Blocks of the whole become as small as its parts need.
    pub(super) fn boxed(&mut self, part: PartOf, [height, width, channels]: [usize; 3]) -> FeatureId {
        let info = &self.out.net.features[part.whole];
        if part == PartOf::all(part.whole) && [info.height, info.width, info.channels] == [height, width, channels] {
            return part.whole;
        }
        let tile = info.tile[1];
        let tile = if info.channels == channels { tile } else { gcd(gcd(tile, channels), part.channel) };
        self.out.net.retile(part.whole, tile);
        let info = &self.out.net.features[part.whole];
        let info = FeatureInfo { height, width, channels, part_of: Some(part), role: Role::Inner, ..info.clone() };
        self.out.net.features.push(info);
        self.out.net.features.len() - 1
    }

    /// Makes features that layers of this op alone write the rows of one, in order.
    pub(super) fn joined_rows(&mut self, parts: &[FeatureId], signed: bool) -> FeatureId {
        if let [only] = parts {
            return *only;
        }
        let rows: Vec<usize> = parts.iter().map(|&id| self.out.net.features[id].height).collect();
        let info = &self.out.net.features[parts[0]];
        let (extents, tile) = ([rows.iter().sum(), info.width, info.channels], info.tile);
        let whole = self.feature(extents, signed, Role::Inner);
        self.out.net.features[whole].tile = tile;
        let mut row = 0;
        for (&id, rows) in parts.iter().zip(rows) {
            self.out.net.features[id].part_of = Some(PartOf { row, ..PartOf::all(whole) });
            row += rows;
        }
        whole
    }

    pub(super) fn concat(&mut self, op: ConcatOp) -> Result<(), Refusal> {
        let (m, y) = (self.m, self.m.result(op.0, 0));
        let shape = extents(m, y)?;
        let axis = m.args(op.0).and_then(|args| args.int("axis")).ok_or(NO_AXIS)?;
        let axis = axis.rem_euclid(shape.len() as i64) as usize;
        let parts: Vec<Value> = m.operands(op.0).to_vec();
        let views = parts.iter().map(|&v| self.view_of(v, None)).collect::<Result<Vec<_>, _>>()?;
        let counts = parts.iter().map(|&v| Ok(extents(m, v)?[axis])).collect::<Result<Vec<_>, Refusal>>()?;
        let natural = views.first().and_then(|view| view.natural_axes(&extents(m, parts[0]).ok()?));
        if let Some(inner) = interleaved_axis(&views, &counts, axis).filter(|_| natural.is_none()) {
            return self.interleave(op, &views, (axis, inner));
        }
        let natural = natural.and_then(|axes| axes.get(axis).copied());
        let outer = self.joined_axis(&parts, (&views, &counts), axis, natural)?;
        let mut all = self.extents_of(&views[0]);
        all[outer.axis] = shape[axis] * outer.stride;
        check_extents(y, all)?;
        let whole = self.feature(all, is_signed(m, y), Role::Inner);
        let blocks = views.iter().zip(&counts).map(|(view, &count)| {
            let block = self.out.net.features[view.feature].tile[1];
            if outer.axis == CHANNELS { gcd(block, count * outer.stride) } else { block }
        });
        let block = blocks.fold(self.setting.machine.depth as usize, gcd);
        let mut first = 0;
        for (i, view) in views.iter().enumerate() {
            let mut place = PartOf::all(whole);
            *[&mut place.row, &mut place.column, &mut place.channel][outer.axis] = first;
            let is_only = views.iter().filter(|other| other.feature == view.feature).count() == 1;
            self.write_part(op.0, (parts[i], view), place, is_only);
            first += counts[i] * outer.stride;
        }
        self.out.net.retile(whole, block);
        let mut axes = views[0].axes.clone();
        axes[axis] = outer.digits(shape[axis]);
        self.views.insert(y, View { feature: whole, axes });
        Ok(())
    }

    /// Makes the layer that computes a value write a box of another feature, or adds one that copies it there.
    fn write_part(&mut self, op: Op, (value, view): (Value, &View), place: PartOf, is_only: bool) {
        if is_only && self.may_be_part(view.feature, value, op) {
            self.out.net.features[view.feature].part_of = Some(place);
            return;
        }
        let part = self.feature(self.extents_of(view), self.out.net.features[place.whole].signed, Role::Inner);
        self.out.net.features[part].part_of = Some(place);
        let layer = Layer { output: part, ..self.identity(op, view) };
        self.out.net.layers.push(layer);
    }

    /// Joins features along a new axis of a tensor, which follows one of the rows or columns: these are at a distance in the result.
    fn interleave(&mut self, op: ConcatOp, views: &[View], (axis, inner): (usize, usize)) -> Result<(), Refusal> {
        let (m, y) = (self.m, self.m.result(op.0, 0));
        let (count, mut all) = (views.len(), self.extents_of(&views[0]));
        all[inner] *= count;
        check_extents(y, all)?;
        for (view, &value) in views.iter().zip(m.operands(op.0)) {
            let is_same = view.axes == views[0].axes && self.extents_of(view) == self.extents_of(&views[0]);
            is_same.then_some(()).ok_or(Refusal::of(value, OTHER_AXES))?;
        }
        let whole = self.feature(all, is_signed(m, y), Role::Inner);
        for (i, (view, &value)) in views.iter().zip(m.operands(op.0)).enumerate() {
            let mut place = PartOf::all(whole);
            *[&mut place.row, &mut place.column][inner] = i;
            place.step[inner] = count;
            let is_only = views.iter().filter(|other| other.feature == view.feature).count() == 1;
            self.write_part(op.0, (value, view), place, is_only);
        }
        let blocks = views.iter().map(|view| self.out.net.features[view.feature].tile[1]);
        let block = blocks.fold(self.setting.machine.depth as usize, gcd);
        self.out.net.retile(whole, block);
        let mut axes = views[0].axes.clone();
        axes.iter_mut().flatten().filter(|digit| digit.axis == inner).for_each(|digit| digit.stride *= count);
        axes[axis] = vec![Digit { axis: inner, extent: count, stride: 1 }];
        self.views.insert(y, View { feature: whole, axes });
        Ok(())
    }

    /// The axis of features along which views are joined: that which the axis has in images or tokens, or any other.
    fn joined_axis(
        &self,
        parts: &[Value],
        (views, counts): (&[View], &[usize]),
        axis: usize,
        natural: Option<usize>,
    ) -> Result<OuterAxis, Refusal> {
        let first = views.first().ok_or("no operands")?;
        let others = |axes: &[Vec<Digit>]| [&axes[..axis], &axes[axis + 1..]].concat();
        let mut refused = Refusal::from(PART_OF_AXIS);
        for joined in natural.into_iter().chain([CHANNELS, ROWS, COLUMNS]) {
            let outer = OuterAxis { axis: joined, stride: self.extents_of(first)[joined] / counts[0] };
            let differs = views.iter().zip(counts).zip(parts).find_map(|((view, &count), &value)| {
                let (mut extents, like) = (self.extents_of(view), self.extents_of(first));
                let is_outer = extents[joined] == count * outer.stride && view.axes[axis] == outer.digits(count);
                extents[joined] = like[joined];
                let is_same = extents == like && others(&view.axes) == others(&first.axes);
                match (is_same, is_outer) {
                    (false, _) => Some(Refusal::of(value, OTHER_AXES)),
                    (true, false) => Some(Refusal::of_attr("axis", PART_OF_AXIS)),
                    _ => None,
                }
            });
            match differs {
                None => return Ok(outer),
                Some(why) => refused = why,
            }
        }
        Err(refused)
    }

    /// Whether a feature may be a part of another one: no program reads it, one layer writes all of it, and none takes its bytes as
    /// a line of elements.
    fn may_be_part(&self, id: FeatureId, value: Value, user: Op) -> bool {
        let net = &self.out.net;
        let info = &net.features[id];
        let is_line = |l: &Layer| match l.weights {
            Weights::Elements(other) => {
                [l.input, l.output, other].contains(&id) || l.sum.is_some_and(|s| s.feature == id)
            }
            _ => false,
        };
        net.layers.iter().filter(|l| l.output == id).count() == 1
            && info.part_of.is_none()
            && info.role == Role::Inner
            && !net.layers.iter().any(is_line)
            && !net.features.iter().any(|f| f.part_of.is_some_and(|p| p.whole == id))
            && self.m.uses(value).all(|(op, _)| op == user || self.holds(op))
    }

    /// A slice, or a division into parts: the results are boxes.
    pub(super) fn slices(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let x = m.operands(op)[0];
        let (view, shape) = (self.view_of(x, None)?, extents(m, x)?);
        if let Some(slice) = SliceOp::cast(m, op) {
            let list = |value: Option<Value>, otherwise: Vec<i64>| value.map_or(Ok(otherwise), |v| integers(m, v));
            let starts = integers(m, slice.starts(m))?;
            let axes = list(slice.axes(m), (0..starts.len() as i64).collect())?;
            let steps = list(slice.steps(m), vec![1; starts.len()])?;
            let (y, mut part) = (m.result(op, 0), view);
            let to = extents(m, y)?;
            for ((&start, axis), &step) in starts.iter().zip(axes).zip(&steps) {
                let axis = axis.rem_euclid(shape.len() as i64) as usize;
                let n = shape[axis] as i64;
                let start = if start < 0 { start + n } else { start }.clamp(0, n) as usize;
                let step = usize::try_from(step).ok().filter(|&step| step > 0);
                let step = step.ok_or("elements from the last to the first")?;
                part = self.slice(part, axis, [start, step, to[axis]], shape[axis])?;
            }
            self.views.insert(y, part);
            return Ok(());
        }
        let axis = m.args(op).and_then(|args| args.int("axis")).ok_or(NO_AXIS)?.rem_euclid(shape.len() as i64) as usize;
        let mut first = 0;
        for y in m.results(op).collect::<Vec<_>>() {
            let count = extents(m, y)?[axis];
            let part = self.slice(view.clone(), axis, [first, 1, count], shape[axis])?;
            self.views.insert(y, part);
            first += count;
        }
        Ok(())
    }

    /// The view of indices at a distance along an axis of an extent: the first, their distance, and their number.
    fn slice(
        &mut self,
        view: View,
        axis: usize,
        [first, step, count]: [usize; 3],
        extent: usize,
    ) -> Result<View, Refusal> {
        if count == extent {
            return Ok(view);
        }
        // A slice of other extents than its type is poison.
        let is_inside = first + (count - 1) * step < extent;
        is_inside.then_some(()).ok_or("a slice beyond the end of its operand")?;
        let [digit] = view.axes[axis][..] else { return Err(PART_OF_AXIS.into()) };
        let outer = OuterAxis { axis: digit.axis, stride: digit.stride };
        let mut extents = self.extents_of(&view);
        if digit.extent * digit.stride != extents[digit.axis] || step != 1 && digit.stride != 1 {
            return Err(PART_OF_AXIS.into());
        }
        let mut part = PartOf::all(view.feature);
        *[&mut part.row, &mut part.column, &mut part.channel][digit.axis] = first * digit.stride;
        extents[digit.axis] = count * digit.stride;
        match digit.axis {
            CHANNELS if step != 1 => return Err(CHANNELS_APART.into()),
            CHANNELS => {}
            axis => part.step[axis] = step,
        }
        let feature = self.boxed(part, extents);
        let mut axes = view.axes;
        axes[axis] = outer.digits(count);
        Ok(View { feature, axes })
    }

    /// A padding of rows and columns by a constant: a copy with padding.
    pub(super) fn pad(&mut self, op: PadOp) -> Result<(), Refusal> {
        let m = self.m;
        let (x, y) = (op.x(m), m.result(op.0, 0));
        let value = match op.constant_value(m) {
            Some(value) => integers(m, value)?.first().copied().ok_or(Refusal::of(value, "no number"))? as i16,
            None => 0,
        };
        let (pads, view, shape) = (constant_padding(m, op)?, self.view_of(x, None)?, extents(m, x)?);
        let order = view.natural_axes(&shape).ok_or(OTHER_AXES)?;
        let (mut extents, mut pad, mut axes) = (self.extents_of(&view), [0; 2], view.axes.clone());
        for (axis, &[before, after]) in pads.iter().enumerate().filter(|(_, pads)| **pads != [0; 2]) {
            let of = order[axis];
            if of == CHANNELS || extents[of] != shape[axis] {
                return Err(Refusal::of(op.pads(m), "padding of other axes than rows and columns"));
            }
            pad[of] = before;
            extents[of] += before + after;
            axes[axis] = OuterAxis { axis: of, stride: 1 }.digits(extents[of]);
        }
        let layer = Layer { zeros: [value, 0], zero: value, pad, ..self.identity(op.0, &view) };
        self.add(layer, y, extents, axes)
    }

    /// A resampling each of whose elements is one of the operand: interleaved copies.
    pub(super) fn resize(&mut self, op: ResizeOp) -> Result<(), Refusal> {
        let m = self.m;
        let (x, y) = (op.x(m), m.result(op.0, 0));
        let sampled = nearest_sources(m, op)?;
        let view = self.ordered(x, ChannelOrder::ChannelsFirst)?;
        let (to, axes) = self.ordered_extents(y, ChannelOrder::ChannelsFirst)?;
        let (shape, from) = (extents(m, x)?, self.extents_of(&view));
        if shape.len() == 4 && shape[0] > 1 {
            return Err(Refusal::of(x, "a batch of {} images").with([shape[0]]));
        }
        let mut runs = [vec![Run::all(from[0])], vec![Run::all(from[1])]];
        let of_axes = ChannelOrder::ChannelsFirst.axes(&shape).ok_or(OTHER_AXES)?;
        for (axis, sources) in sampled {
            *runs.get_mut(of_axes[axis]).ok_or("other channels than those of x")? = Run::of(&sources);
        }
        let signed = is_signed(m, y);
        let whole = self.feature(to, signed, Role::Inner);
        self.out.net.features[whole].tile = self.out.net.features[view.feature].tile;
        for (rows, columns) in runs[0].iter().flat_map(|&rows| runs[1].iter().map(move |&columns| (rows, columns))) {
            let place = |whole: FeatureId, of: fn(&Run) -> [usize; 2]| {
                let [row, column] = [of(&rows), of(&columns)];
                PartOf { row: row[0], column: column[0], step: [row[1], column[1]], ..PartOf::all(whole) }
            };
            let extents = [rows.count, columns.count, to[2]];
            let input = self.boxed(place(view.feature, |run| run.from), extents);
            let output = self.boxed(place(whole, |run| run.to), extents);
            self.out.net.layers.push(Layer::copy(vec![op.0], input, output, to[2], signed));
        }
        self.views.insert(y, View { feature: whole, axes });
        Ok(())
    }
}

/// The rows or columns that an axis of extent 1 follows.
fn interleaved_axis(views: &[View], counts: &[usize], axis: usize) -> Option<usize> {
    let first = views.first().filter(|_| counts.iter().all(|&count| count == 1))?;
    let before = first.axes.get(axis.checked_sub(1)?)?.last()?;
    (views.len() > 1 && before.axis != CHANNELS && before.stride == 1).then_some(before.axis)
}

/// Indices at a distance that are those of another axis at a distance: first index and distance of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    from: [usize; 2],
    to: [usize; 2],
    count: usize,
}

impl Run {
    /// All indices of an axis.
    fn all(count: usize) -> Run {
        Run { from: [0, 1], to: [0, 1], count }
    }

    /// The fewest runs of the same period that give each index its source.
    fn of(sources: &[usize]) -> Vec<Run> {
        let is_run = |first: usize, period: usize| {
            let all = sources[first..].iter().step_by(period);
            let distance = match all.clone().nth(1) {
                Some(next) => next.checked_sub(sources[first]).filter(|&distance| distance > 0)?,
                None => 1,
            };
            let is_regular = all.clone().zip(all.skip(1)).all(|(a, b)| *b == a + distance);
            let count = (sources.len() - first).div_ceil(period);
            is_regular.then_some(Run { from: [sources[first], distance], to: [first, period], count })
        };
        let by_period = |period: usize| (0..period).map(|first| is_run(first, period)).collect::<Option<Vec<_>>>();
        (1..=sources.len()).find_map(by_period).unwrap_or_default()
    }
}
