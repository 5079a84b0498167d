//! Offsets, sizes and strides of slices.

use super::mixed::{Mixed, add_mixed, fold_entries, is_constant, mixed_entries, runtime_entries};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Context, DYNAMIC, Module, OpArgs, OpState, Type, Violation};

/// A strided slice: the operand groups `offsets`, `sizes` and `strides` with the attributes `static_offsets`,
/// `static_sizes` and `static_strides`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// Start index per dimension.
    pub offsets: Vec<Mixed>,
    /// Number of elements per dimension.
    pub sizes: Vec<Mixed>,
    /// Step per dimension.
    pub strides: Vec<Mixed>,
}

const LISTS: [(&str, &str, &str); 3] = [
    ("offset", "offsets", "static_offsets"),
    ("size", "sizes", "static_sizes"),
    ("stride", "strides", "static_strides"),
];

impl Slice {
    /// Returns the slice of an op.
    pub fn of(args: &OpArgs<'_>) -> Slice {
        let [offsets, sizes, strides] = LISTS.map(|(_, group, statics)| mixed_entries(args, group, statics));
        Slice { offsets, sizes, strides }
    }

    /// Returns offsets, sizes and strides when the op is executed on `data`.
    pub fn evaluate(args: &OpArgs<'_>, data: &[Datum]) -> Result<[Vec<i64>; 3], Trap> {
        let list = |i: usize| runtime_entries(args, data, LISTS[i].1, LISTS[i].2);
        Ok([list(0)?, list(1)?, list(2)?])
    }

    /// Adds the operand groups and attributes to an op.
    pub fn add_to(&self, ctx: &Context, state: &mut OpState) {
        for ((_, _, statics), list) in LISTS.iter().zip([&self.offsets, &self.sizes, &self.strides]) {
            add_mixed(ctx, state, statics, list);
        }
    }

    /// Returns offsets, sizes and strides with placeholders.
    pub fn statics(&self) -> [Vec<i64>; 3] {
        [&self.offsets, &self.sizes, &self.strides].map(|list| list.iter().map(|e| e.or_placeholder()).collect())
    }

    /// Makes constant operands static, list by list, unless the slice would then exceed `shape`. Returns whether any
    /// changed.
    pub fn fold_constants(&mut self, m: &Module, shape: &[i64]) -> bool {
        let folds: [fn(&mut Slice, &Module) -> bool; 3] = [
            |slice, m| fold_entries(m, &mut slice.offsets, false),
            |slice, m| fold_entries(m, &mut slice.sizes, false),
            |slice, m| fold_entries(m, &mut slice.strides, true),
        ];
        let mut changed = false;
        for fold in folds {
            let mut folded = self.clone();
            if fold(&mut folded, m) && folded.verify_in_bounds(shape).is_ok() {
                *self = folded;
                changed = true;
            }
        }
        changed
    }

    /// Whether all offsets are 0 and all strides 1.
    pub fn is_prefix(&self, m: &Module) -> bool {
        is_constant(m, &self.offsets, 0) && is_constant(m, &self.strides, 1)
    }

    /// Verifies the lengths of the lists and that every placeholder has an operand.
    pub fn verify(args: &OpArgs<'_>, ranks: [usize; 3]) -> Result<(), Violation> {
        let lists = LISTS.map(|(_, _, statics)| args.ints(statics).unwrap_or_default());
        let [offsets, sizes, strides] = [&lists[0], &lists[1], &lists[2]].map(Vec::len);
        if !(offsets == 1 && ranks[0] == 1) && offsets != sizes {
            return Err(format!(
                "expected mixed offsets rank to match mixed sizes rank ({offsets} vs {sizes}) so the rank of the result type is well-formed."
            ).into());
        }
        if sizes != strides {
            return Err(format!(
                "expected mixed sizes rank to match mixed strides rank ({sizes} vs {strides}) so the rank of the result type is well-formed."
            ).into());
        }
        for ((list, rank), (name, group, statics)) in lists.iter().zip(ranks).zip(LISTS) {
            if list.len() != rank {
                return Err(format!("expected {rank} {name} values, got {}", list.len()).into());
            }
            let (given, needed) = (args.operand(group).len(), list.iter().filter(|&&n| n == DYNAMIC).count());
            if given != needed {
                return Err(format!(
                    "expected the number of '{group}' to match the number of dynamic entries in '{statics}' ({given} vs {needed})"
                ).into());
            }
        }
        for (list, (_, group, _)) in lists.iter().zip(LISTS).take(2) {
            if let Some(n) = list.iter().find(|&&n| n < 0 && n != DYNAMIC) {
                return Err(format!("expected {group} to be non-negative, but got {n}").into());
            }
        }
        Ok(())
    }

    /// Verifies static entries against `shape`.
    pub fn verify_in_bounds(&self, shape: &[i64]) -> Result<(), Violation> {
        let [offsets, sizes, strides] = self.statics();
        for (i, (((&dim, offset), size), stride)) in shape.iter().zip(offsets).zip(sizes).zip(strides).enumerate() {
            if dim == DYNAMIC || offset == DYNAMIC {
                continue;
            }
            if offset >= dim {
                return Err(format!("offset {i} is out-of-bounds: {offset} >= {dim}").into());
            }
            if size == DYNAMIC || stride == DYNAMIC {
                continue;
            }
            let last = offset.wrapping_add(size.wrapping_sub(1).wrapping_mul(stride));
            if last >= dim {
                return Err(format!("slice along dimension {i} runs out-of-bounds: {last} >= {dim}").into());
            }
        }
        Ok(())
    }
}

/// A violated rank-reduction rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankError {
    /// The reduced type has more dimensions.
    Rank,
    /// A kept dimension differs.
    Size,
    /// The element types differ.
    Element,
}

/// Returns which unit dimensions of `shape` to drop to get `reduced`; the leftmost candidates are kept.
pub fn dropped_dims(shape: &[i64], reduced: &[i64]) -> Option<Vec<bool>> {
    let mut left = reduced.iter().peekable();
    let mut dropped = vec![false; shape.len()];
    for (dropped, size) in dropped.iter_mut().zip(shape) {
        if left.next_if_eq(&size).is_some() {
            continue;
        }
        if *size != 1 {
            return None;
        }
        *dropped = true;
    }
    left.peek().is_none().then_some(dropped)
}

/// Checks that `reduced` is `full` without some unit dimensions. Layouts are ignored.
pub fn rank_reduced(ctx: &Context, full: Type, reduced: Type) -> Result<(), RankError> {
    let (shape, want) = (ctx.shape(full).unwrap_or(&[]), ctx.shape(reduced).unwrap_or(&[]));
    if want.len() > shape.len() {
        return Err(RankError::Rank);
    }
    if dropped_dims(shape, want).is_none() {
        return Err(RankError::Size);
    }
    if ctx.element_type(full) != ctx.element_type(reduced) {
        return Err(RankError::Element);
    }
    Ok(())
}
