//! Successor operands of branches.

use crate::module::{Module, Op, Value};
use crate::op_info::{Arity, segment};
use crate::traits::Traits;
use smallvec::SmallVec;
use std::ops::Range;

/// Returns the index of the operand group that a branch forwards to successor `i`: the last declared groups belong to
/// the successors, in order. Successors may share the last group; an attribute then holds the size of each one's part.
/// `None` if the op declares no successor operands.
pub fn carried_group(m: &Module, branch: Op, i: usize) -> Option<usize> {
    let info = m.info(branch).filter(|info| info.successor_operands.is_some())?;
    let declared = info.successors.len();
    let one_each = info.successors.iter().all(|s| s.arity == Arity::One) && i < declared;
    let last = declared.checked_sub(1)?;
    (one_each || info.successor_sizes.is_some()).then(|| info.operands.len() - declared + i.min(last))
}

/// Returns the operands that a branch forwards to each of its successors; empty if the op declares none. Linear in the
/// number of successors, unlike one call of `successor_operands` for each.
pub fn carried_ranges(m: &Module, branch: Op) -> SmallVec<[Range<usize>; 2]> {
    let n = m.successors(branch).len();
    let Some((info, carried)) = m.info(branch).and_then(|info| Some((info, info.successor_operands?))) else {
        return SmallVec::new();
    };
    let sizes = info.successor_sizes.and_then(|name| m.ctx.as_ints(m.attr(branch, m.ctx.str(name))?));
    let shared = info.successors.len().saturating_sub(1);
    let Some(sizes) = sizes.filter(|sizes| shared + sizes.len() == n && n > shared) else {
        return (0..n).map(|i| carried(m, branch, i)).collect();
    };
    // The successors that share the last group have consecutive parts of it.
    let mut ranges: SmallVec<[Range<usize>; 2]> = (0..=shared).map(|i| carried(m, branch, i)).collect();
    for &size in &sizes[1..] {
        let start = ranges[ranges.len() - 1].end;
        ranges.push(start..start.saturating_add(usize::try_from(size).unwrap_or(0)));
    }
    ranges
}

/// Returns the attribute with the operand counts of successors that share a group, and these counts restricted to the
/// operands that `keep` accepts.
pub(crate) fn successor_sizes(
    m: &Module,
    branch: Op,
    keep: impl Fn(usize) -> bool,
) -> Option<(&'static str, Vec<i32>)> {
    let info = m.info(branch)?;
    let (name, before) = (info.successor_sizes?, info.successors.len().checked_sub(1)?);
    let ranges = carried_ranges(m, branch).into_iter().skip(before);
    Some((name, ranges.map(|range| range.filter(|&k| keep(k)).count() as i32).collect()))
}

impl Module {
    /// Drops the operands whose indices `keep` rejects, and updates `operandSegmentSizes`.
    pub fn retain_operands(&mut self, op: Op, keep: impl Fn(usize) -> bool) {
        let n = self.operands(op).len();
        if (0..n).all(&keep) {
            return;
        }
        let shared = successor_sizes(self, op, |i| i < n && keep(i));
        if let Some(info) = self.info(op).filter(|info| info.traits.has(Traits::OPERAND_SEGMENTS)) {
            let kept = |group: usize| {
                let range = segment(&self.ctx, info, self.props(op), n, group);
                range.filter(|&i| keep(i)).count() as i32
            };
            let sizes: Vec<i32> = (0..info.operands.len()).map(kept).collect();
            let sizes = self.ctx.i32_array_attr(&sizes);
            self.set_attr(op, "operandSegmentSizes", Some(sizes));
        }
        if let Some((name, sizes)) = shared {
            let sizes = self.ctx.i32_array_attr(&sizes);
            self.set_attr(op, name, Some(sizes));
        }
        let kept: SmallVec<[Value; 4]> = (0..n).filter(|&i| keep(i)).map(|i| self.operands(op)[i]).collect();
        self.set_operands(op, &kept);
    }
}

/// Appends operands for successor `i` to a branch. Panics without a [`carried_group`]: a caller's bug.
pub fn carry_also(m: &mut Module, branch: Op, i: usize, values: &[Value]) {
    if values.is_empty() {
        return;
    }
    let group = carried_group(m, branch, i).expect("the caller checked that the branch can carry more");
    let info = m.info(branch).expect("the op is registered");
    let sizes: SmallVec<[usize; 4]> = (0..info.operands.len()).map(|g| m.operand_group(branch, g).len()).collect();
    let at = info.successor_operands.map_or(0, |carried| carried(m, branch, i).end);
    let shared = successor_sizes(m, branch, |_| true);
    let mut operands = m.operands(branch).to_vec();
    operands.splice(at..at, values.iter().copied());
    m.set_operands(branch, &operands);
    if info.traits.has(Traits::OPERAND_SEGMENTS) {
        let more = |g: usize| if g == group { values.len() } else { 0 };
        let sizes: Vec<i32> = sizes.iter().enumerate().map(|(g, &n)| (n + more(g)) as i32).collect();
        let attr = m.ctx.i32_array_attr(&sizes);
        m.set_attr(branch, "operandSegmentSizes", Some(attr));
    }
    if let Some((name, mut sizes)) = shared
        && let Some(size) = (i + 1).checked_sub(info.successors.len()).and_then(|k| sizes.get_mut(k))
    {
        *size += values.len() as i32;
        let attr = m.ctx.i32_array_attr(&sizes);
        m.set_attr(branch, name, Some(attr));
    }
}
