//! 16-bit floats: operands are converted to f32 once, and results are rounded once.

use super::{dtype, floats, floats_mut};
use crate::vector::{Loops, MultiplyAdd, run_widest};
pub(super) use crate::vector::{rounded, widened};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs, Type};
use half::f16;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Deref;

/// The float type of a kernel's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Narrow {
    /// f32, without conversion.
    No,
    F16,
    BF16,
}

impl Narrow {
    /// Returns the float type of an operand.
    pub(super) fn of(args: &OpArgs<'_>, operand: usize) -> Option<Narrow> {
        Narrow::of_type(args.module, args.operand_type(operand))
    }

    /// Returns the float type of a tensor's elements.
    pub(super) fn of_type(m: &Module, ty: Type) -> Option<Narrow> {
        match dtype(m, ty)? {
            DType::F32 => Some(Narrow::No),
            DType::F16 => Some(Narrow::F16),
            DType::BF16 => Some(Narrow::BF16),
            _ => None,
        }
    }

    /// Converts bytes to f32.
    pub(super) fn floats(self, bytes: &[u8]) -> WidenedFloats<'_> {
        if self == Narrow::No {
            return WidenedFloats(Cow::Borrowed(floats(bytes)));
        }
        let (from, mut wide) = (bits(bytes), scratch(bytes.len() / 2));
        match self {
            Narrow::BF16 => run_widest(Widen { from, to: &mut wide }),
            _ => from.reinterpret_cast::<f16>().convert_to_f32_slice(&mut wide),
        }
        WidenedFloats(Cow::Owned(wide))
    }

    /// Writes the f32 results of `compute`, rounded half to even.
    pub(super) fn write(
        self,
        out: &mut [u8],
        compute: impl FnOnce(&mut [f32]) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        if self == Narrow::No {
            return compute(floats_mut(out));
        }
        let mut wide = scratch(out.len() / 2);
        compute(&mut wide)?;
        let to: &mut [u16] = bytemuck::cast_slice_mut(out);
        match self {
            Narrow::BF16 => run_widest(Round { from: &wide, to }),
            _ => to.reinterpret_cast_mut::<f16>().convert_from_f32_slice(&wide),
        }
        keep(wide);
        Ok(())
    }
}

impl Narrow {
    /// Passes the place of a result that is computed in f32, if it is needed.
    pub(super) fn write_needed(
        self,
        out: Option<&mut [u8]>,
        compute: impl FnOnce(Option<&mut [f32]>) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        match out {
            Some(out) => self.write(out, |out| compute(Some(out))),
            None => compute(None),
        }
    }
}

/// Data in f32; converted data is in scratch memory, which is used again.
pub(super) struct WidenedFloats<'a>(Cow<'a, [f32]>);

impl WidenedFloats<'_> {
    pub(super) fn into_owned(mut self) -> Vec<f32> {
        std::mem::take(&mut self.0).into_owned()
    }
}

impl Deref for WidenedFloats<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl Drop for WidenedFloats<'_> {
    fn drop(&mut self) {
        if let Cow::Owned(wide) = std::mem::take(&mut self.0) {
            keep(wide);
        }
    }
}

thread_local! {
    /// Memory of earlier conversions.
    static SCRATCH: Cell<Vec<Vec<f32>>> = const { Cell::new(Vec::new()) };
}

/// Returns `len` floats of any value.
fn scratch(len: usize) -> Vec<f32> {
    let mut all = SCRATCH.take();
    let mut wide = all.pop().unwrap_or_default();
    SCRATCH.set(all);
    wide.resize(len, 0.0);
    wide
}

/// Keeps memory for later conversions, a few pieces per thread.
fn keep(wide: Vec<f32>) {
    let mut all = SCRATCH.take();
    if all.len() < 4 && wide.capacity() > 0 {
        all.push(wide);
    }
    SCRATCH.set(all);
}

/// An element that is computed in f32.
pub(super) trait Element: bytemuck::Pod + Send + Sync {
    /// Whether elements are narrower than f32.
    const IS_NARROW: bool;

    /// Converts an element to f32.
    fn wide(self) -> f32;

    /// Rounds to an element.
    fn narrow(x: f32) -> Self;

    /// Returns elements that are f32.
    fn floats(elements: &[Self]) -> Option<&[f32]>;

    /// Returns the place of results that are computed in f32: `wide` if elements are narrower. [`Element::finish`] follows.
    fn place<'a>(out: &'a mut [Self], wide: &'a mut [f32]) -> &'a mut [f32];

    /// Rounds results from `wide` if elements are narrower.
    fn finish(out: &mut [Self], wide: &[f32]);

    /// Converts elements to f32.
    #[inline(always)]
    fn widen(from: &[Self], to: &mut [f32]) {
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = x.wide());
    }
}

impl Element for f32 {
    const IS_NARROW: bool = false;

    #[inline(always)]
    fn wide(self) -> f32 {
        self
    }

    #[inline(always)]
    fn narrow(x: f32) -> f32 {
        x
    }

    #[inline(always)]
    fn floats(elements: &[f32]) -> Option<&[f32]> {
        Some(elements)
    }

    #[inline(always)]
    fn place<'a>(out: &'a mut [f32], _: &'a mut [f32]) -> &'a mut [f32] {
        out
    }

    #[inline(always)]
    fn finish(_: &mut [f32], _: &[f32]) {}
}

/// The bits of bf16.
impl Element for u16 {
    const IS_NARROW: bool = true;

    #[inline(always)]
    fn wide(self) -> f32 {
        widened(self)
    }

    #[inline(always)]
    fn narrow(x: f32) -> u16 {
        rounded(x)
    }

    #[inline(always)]
    fn floats(_: &[u16]) -> Option<&[f32]> {
        None
    }

    #[inline(always)]
    fn place<'a>(out: &'a mut [u16], wide: &'a mut [f32]) -> &'a mut [f32] {
        &mut wide[..out.len()]
    }

    #[inline(always)]
    fn finish(out: &mut [u16], wide: &[f32]) {
        round(wide, out);
    }
}

impl Element for f16 {
    const IS_NARROW: bool = true;

    #[inline(always)]
    fn wide(self) -> f32 {
        self.to_f32()
    }

    #[inline(always)]
    fn narrow(x: f32) -> f16 {
        f16::from_f32(x)
    }

    #[inline(always)]
    fn floats(_: &[f16]) -> Option<&[f32]> {
        None
    }

    #[inline(always)]
    fn place<'a>(out: &'a mut [f16], wide: &'a mut [f32]) -> &'a mut [f32] {
        &mut wide[..out.len()]
    }

    #[inline(always)]
    fn finish(out: &mut [f16], wide: &[f32]) {
        out.convert_from_f32_slice(&wide[..out.len()]);
    }

    #[inline(always)]
    fn widen(from: &[f16], to: &mut [f32]) {
        from.convert_to_f32_slice(&mut to[..from.len()]);
    }
}

/// Rounds f32 to bf16.
#[inline(always)]
fn round(from: &[f32], to: &mut [u16]) {
    to.iter_mut().zip(from).for_each(|(to, &x)| *to = rounded(x));
}

/// [`Element::widen`] of bf16 on the widest vectors.
struct Widen<'a> {
    from: &'a [u16],
    to: &'a mut [f32],
}

impl Loops for Widen<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        u16::widen(self.from, self.to);
    }
}

/// [`round`] on the widest vectors.
struct Round<'a> {
    from: &'a [f32],
    to: &'a mut [u16],
}

impl Loops for Round<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        round(self.from, self.to);
    }
}

/// Views aligned bytes as 16-bit integers.
fn bits(bytes: &[u8]) -> &[u16] {
    bytemuck::cast_slice(bytes)
}
