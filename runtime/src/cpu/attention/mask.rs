//! Which keys a query sees: by its position, by the number of valid keys, and by a mask, which is added to the scores.

use super::super::narrow::{Narrow, WidenedFloats};
use super::super::{dtype, extents};
use gradus_ir::{DType, OpArgs};
use gradus_reference_kernels::AttentionAttrs;
use std::ops::Range;

/// The keys that queries see, and what is added to scores.
#[derive(Debug)]
pub(super) struct Mask {
    /// The mask's place among the operands that are read.
    operand: Option<usize>,
    /// The type of its elements; `None` if they are booleans.
    kind: Option<Narrow>,
    /// Its extents as a tensor of rank 4. The last axis may be too short: keys beyond it are hidden.
    shape: [usize; 4],
    /// The place of the numbers of valid keys.
    lengths: Option<usize>,
    is_causal: bool,
    /// Number of visible keys before and after a query; -1 for all.
    window: [i64; 2],
    past: i64,
    queries: i64,
    keys: usize,
    /// Whether the output of a query without visible keys is NaN.
    is_nan: bool,
}

impl Mask {
    /// Reads the mask of an attention of these extents B, H, S, T with `past` past keys. A mask has its place among the operands
    /// that are read, and its number.
    pub(super) fn of(
        args: &OpArgs<'_>,
        attrs: &AttentionAttrs,
        mask: Option<(usize, usize)>,
        lengths: Option<(usize, usize)>,
        [b, h, s, keys]: [usize; 4],
        past: usize,
    ) -> Option<Mask> {
        let m = args.module;
        let (mut shape, mut kind) = ([1; 4], None);
        if let Some((_, number)) = mask {
            let own = extents(m, args.operand_type(number))?;
            shape[4_usize.checked_sub(own.len()).filter(|&ones| ones < 4)?..].copy_from_slice(&own);
            let fits = shape[..3].iter().zip([b, h, s]).all(|(&own, extent)| own == 1 || own == extent);
            (fits && shape[3] <= keys).then_some(())?;
            if dtype(m, args.operand_type(number))? != DType::Bool {
                // Other types are rounded to that of the queries, where a large number may become infinite.
                kind = Some(Narrow::of(args, number).filter(|&kind| Some(kind) == Narrow::of(args, 0))?);
            }
        }
        if let Some((_, number)) = lengths {
            let ty = args.operand_type(number);
            (extents(m, ty)?.iter().product::<usize>() == b && dtype(m, ty) == Some(DType::I64)).then_some(())?;
        }
        let (is_causal, window, is_nan) = (attrs.is_causal, attrs.window, attrs.masked_is_nan);
        let [operand, lengths] = [mask, lengths].map(|place| place.map(|place| place.0));
        let (past, queries) = (i64::try_from(past).ok()?, i64::try_from(s).ok()?);
        Some(Mask { operand, kind, shape, lengths, is_causal, window, past, queries, keys, is_nan })
    }

    /// Converts a mask of floats.
    pub(super) fn floats<'a>(&self, data: &[&'a [u8]]) -> Option<WidenedFloats<'a>> {
        Some(self.kind?.floats(data[self.operand?]))
    }

    /// Whether keys may be hidden by position whose scores need not be computed, if all numbers are finite: nothing else is added to
    /// them.
    pub(super) fn hides_only(&self) -> bool {
        let is_hidden = self.is_causal || self.lengths.is_some() || self.window.iter().any(|&side| side >= 0);
        is_hidden && self.kind.is_none()
    }

    /// Returns the mask of a query.
    pub(super) fn row<'a>(&self, data: &[&'a [u8]], floats: Option<&'a [f32]>, [b, h, s]: [usize; 3]) -> RowMask<'a> {
        let at = [b, h, s].iter().zip(&self.shape).fold(0, |at, (&i, &extent)| at * extent + i.min(extent - 1));
        let part = at * self.shape[3]..(at + 1) * self.shape[3];
        let added = match (self.operand, floats) {
            (None, _) => Added::Nothing,
            (Some(_), Some(floats)) => Added::Floats(&floats[part]),
            (Some(operand), None) => Added::Visible(&data[operand][part]),
        };
        let length = self.lengths.map(|place| bytemuck::cast_slice::<u8, i64>(data[place])[b]);
        RowMask { added, seen: self.seen(length, s), keys: self.keys, is_nan: self.is_nan }
    }

    /// Returns the keys that a query sees by its position, where `length` keys are valid.
    fn seen(&self, length: Option<i64>, query: usize) -> Range<usize> {
        let at = length.map_or(self.past, |length| length.saturating_sub(self.queries)).saturating_add(query as i64);
        let [left, right] = self.window;
        let first = if left < 0 { 0 } else { at.saturating_sub(left) };
        let ends = [
            length,
            self.is_causal.then_some(at.saturating_add(1)),
            (right >= 0).then_some(at.saturating_add(right).saturating_add(1)),
        ];
        let end = ends.into_iter().flatten().fold(i64::MAX, i64::min);
        let [first, end] = [first, end].map(|key| usize::try_from(key.max(0)).unwrap_or(usize::MAX).min(self.keys));
        first.min(end)..end
    }
}

/// What is added to the scores of a query.
#[derive(Clone, Copy, Debug)]
enum Added<'a> {
    Nothing,
    Floats(&'a [f32]),
    /// Minus infinity where a byte is 0.
    Visible(&'a [u8]),
}

/// The mask of a query.
#[derive(Clone, Debug)]
pub(super) struct RowMask<'a> {
    added: Added<'a>,
    /// The keys that are visible by position.
    pub(super) seen: Range<usize>,
    keys: usize,
    is_nan: bool,
}

impl RowMask<'_> {
    /// Adds the mask to the scores from key `first` on. Scores of keys that do not exist become minus infinity.
    #[inline(always)]
    pub(super) fn add(&self, scores: &mut [f32], first: usize) {
        let (scores, none) = scores.split_at_mut((self.keys - first).min(scores.len()));
        none.fill(f32::NEG_INFINITY);
        match self.added {
            Added::Nothing => {}
            Added::Floats(mask) => {
                let mask = &mask[first.min(mask.len())..];
                for (x, &bias) in scores.iter_mut().zip(mask) {
                    *x += bias;
                }
                let there = mask.len().min(scores.len());
                hide(&mut scores[there..]);
            }
            Added::Visible(mask) => {
                let mask = &mask[first.min(mask.len())..];
                for (x, &is_visible) in scores.iter_mut().zip(mask) {
                    *x += if is_visible == 0 { f32::NEG_INFINITY } else { 0.0 };
                }
                let there = mask.len().min(scores.len());
                hide(&mut scores[there..]);
            }
        }
        let [begin, end] = [self.seen.start, self.seen.end].map(|key| key.saturating_sub(first).min(scores.len()));
        hide(&mut scores[..begin]);
        hide(&mut scores[end.max(begin)..]);
    }

    /// Returns the divisor of a query whose scores are all minus infinity: 1 if all keys are masked, otherwise NaN.
    pub(super) fn without_keys(&self) -> f32 {
        let is_masked = |key: usize| {
            let added = match self.added {
                Added::Nothing => 0.0,
                Added::Floats(mask) => mask.get(key).copied().unwrap_or(f32::NEG_INFINITY),
                Added::Visible(mask) if mask.get(key).is_some_and(|&is_visible| is_visible != 0) => 0.0,
                Added::Visible(_) => f32::NEG_INFINITY,
            };
            added == f32::NEG_INFINITY || !self.seen.contains(&key) && added < f32::INFINITY
        };
        if !self.is_nan && (0..self.keys).all(is_masked) { 1.0 } else { f32::NAN }
    }
}

/// Adds minus infinity.
#[inline(always)]
fn hide(scores: &mut [f32]) {
    for x in scores {
        *x += f32::NEG_INFINITY;
    }
}
