//! Drawing of values and memory contents.

use crate::input::Input;
use crate::options::Floats;
use gradus_ir::eval::{Datum, PoisonTensor, floats_to_tensor, ints_to_tensor};
use gradus_ir::float::{from_f64, to_f64};
use gradus_ir::layout::StridedLayout;
use gradus_ir::memory::MemRef;
use gradus_ir::random::Random;
use gradus_ir::{Context, DType, DYNAMIC, ParamArgs, Tensor, Type, TypeData, TypeInfo};

/// Maximum number of elements of a buffer.
pub(crate) const MAX_ELEMENTS: i64 = 1 << 18;

/// Maximum number of elements of a tensor.
const MAX_TENSOR: usize = 1 << 20;

/// Extents of dynamic dimensions.
pub(crate) const EXTENTS: [i64; 6] = [1, 2, 3, 0, 5, 8];

/// Ranks of unranked tensors and memrefs are less than this.
const MAX_RANK: u64 = 3;

/// Percentage of memrefs that alias an earlier argument, if possible.
const ALIASED: u64 = 25;

/// Percentage of poison elements of a vector, in inputs with poison.
const POISON_ELEMENTS: u64 = 20;

/// Percentage of buffers with uninitialized contents.
const UNWRITTEN: u64 = 10;

/// Draws a value as a single argument, with its memory if it is a memref.
pub(crate) fn value(ctx: &Context, ty: Type, floats: Floats, random: &mut Random) -> Option<Input> {
    let mut draw = Draw { ctx, extent: None, small: false, poison: false, input: Input::new(0, floats), random };
    let value = draw.value(ty, &|_| false)?;
    draw.input.args.push(value);
    Some(draw.input)
}

/// Draws the elements of a buffer.
pub(crate) fn contents(ctx: &Context, dtype: DType, length: usize, floats: Floats, random: &mut Random) -> Vec<Datum> {
    Draw { ctx, extent: None, small: false, poison: false, input: Input::new(0, floats), random }
        .contents(dtype, length)
}

pub(crate) struct Draw<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) extent: Option<i64>,
    /// Whether all indices are positions in small memory.
    pub(crate) small: bool,
    pub(crate) poison: bool,
    pub(crate) input: Input,
    pub(crate) random: &'a mut Random,
}

impl Draw<'_> {
    pub(crate) fn extent(&mut self) -> i64 {
        self.extent.unwrap_or_else(|| self.random.pick(&EXTENTS))
    }

    /// Draws a value; `shares` selects the earlier arguments with which it may share memory.
    pub(crate) fn value(&mut self, ty: Type, shares: &dyn Fn(usize) -> bool) -> Option<Datum> {
        if let Some((info, params)) = self.ctx.declared(ty) {
            return self.declared(info, &params, shares);
        }
        // The shape of a tensor is never poison.
        let is_tensor = matches!(self.ctx.type_data(ty), TypeData::Tensor { .. } | TypeData::UnrankedTensor { .. });
        if self.poison && !is_tensor && self.random.percent(30) {
            return Some(self.ctx.poison_of(ty));
        }
        let open = |draw: &mut Self, d: i64| if d == DYNAMIC { draw.extent() } else { d };
        let sizes: Vec<i64> = match self.ctx.type_data(ty) {
            TypeData::MemRef { shape, .. } => shape.iter().map(|&d| open(self, d)).collect(),
            TypeData::UnrankedMemRef { .. } => (0..self.random.below(MAX_RANK)).map(|_| self.extent()).collect(),
            // Indices are often positions in memory, hence small.
            TypeData::Index if self.small || self.random.percent(50) => {
                return Some(Datum::Int(self.random.next() as i64 & 3));
            }
            _ => return self.plain(ty),
        };
        self.memory(ty, &sizes, shares)
    }

    /// Draws a value of a declared type, by its declaration or as a value of the type that represents it.
    fn declared(&mut self, info: &TypeInfo, params: &ParamArgs<'_>, shares: &dyn Fn(usize) -> bool) -> Option<Datum> {
        let Some(draw) = info.draw else { return self.value(info.repr?(params), shares) };
        if self.poison && self.random.percent(30) {
            return Some(Datum::Poison);
        }
        Some(draw(params, self.random))
    }

    /// Draws a memref.
    pub(crate) fn memory(&mut self, ty: Type, sizes: &[i64], shares: &dyn Fn(usize) -> bool) -> Option<Datum> {
        let dtype = self.ctx.dtype(self.ctx.element_type(ty))?;
        let layout = layout(self.ctx, ty, sizes, self.random);
        let last = sizes.iter().zip(&layout.strides).try_fold(layout.offset, |sum, (size, stride)| {
            sum.checked_add((size - 1).max(0).checked_mul(*stride).filter(|&n| n >= 0)?)
        })?;
        let length = usize::try_from(last).ok().filter(|_| last < MAX_ELEMENTS)? + 1;
        let buffer = match self.shared(dtype, length, shares) {
            Some(buffer) => buffer,
            None => {
                let contents = match self.random.percent(UNWRITTEN) {
                    true => vec![Datum::Poison; length],
                    false => self.contents(dtype, length),
                };
                self.input.buffers.push(contents);
                self.input.buffers.len() as u32 - 1
            }
        };
        Some(Datum::MemRef(Box::new(MemRef::strided(buffer, sizes, layout))))
    }

    pub(crate) fn contents(&mut self, dtype: DType, length: usize) -> Vec<Datum> {
        Datum::Tensor(self.tensor(dtype, &[length])).elements().unwrap_or_else(|| vec![Datum::Poison; length])
    }

    /// Picks a buffer of an earlier argument with the element type and enough elements, at random.
    pub(crate) fn shared(&mut self, dtype: DType, length: usize, shares: &dyn Fn(usize) -> bool) -> Option<u32> {
        if !self.random.percent(ALIASED) {
            return None;
        }
        let fits = |contents: &Vec<Datum>| {
            let known = contents.iter().find(|d| **d != Datum::Poison);
            contents.len() >= length && known.is_none_or(|d| matches!(d, Datum::Float(_)) == dtype.is_float())
        };
        let args = self.input.args.iter().enumerate();
        let found: Vec<u32> = args
            .filter_map(|(i, arg)| match arg {
                Datum::MemRef(view) if shares(i) && fits(self.input.buffers.get(view.buffer as usize)?) => {
                    Some(view.buffer)
                }
                _ => None,
            })
            .collect();
        (!found.is_empty()).then(|| self.random.pick(&found))
    }

    /// Draws a scalar, tensor or vector.
    pub(crate) fn plain(&mut self, ty: Type) -> Option<Datum> {
        let ctx = self.ctx;
        if let Some(width) = ctx.int_width(ty) {
            let known = (1..=64).contains(&width);
            return known.then(|| Datum::Int(wrap(self.random.int(width), width, ctx.is_unsigned(ty))));
        }
        if let Some(kind) = ctx.float_kind(ty) {
            return Some(Datum::Float(to_f64(kind, from_f64(kind, self.input.floats.draw(self.random)))));
        }
        let extents = match ctx.type_data(ty) {
            TypeData::Tensor { .. } | TypeData::Vector { .. } => ctx.executed_shape(ty)?.to_vec(),
            TypeData::UnrankedTensor(_) => vec![DYNAMIC; self.random.below(MAX_RANK) as usize],
            _ => return None,
        };
        let dtype = ctx.dtype(ctx.element_type(ty))?;
        let size = |&d: &i64| usize::try_from(if d == DYNAMIC { self.extent() } else { d }).ok();
        let shape: Vec<usize> = extents.iter().map(size).collect::<Option<_>>()?;
        let elements = gradus_ir::tensor::checked_len(&shape)?;
        if elements > MAX_TENSOR {
            return None;
        }
        let tensor = self.tensor(dtype, &shape);
        // Many ops on tensors say for a poison element only that all results are poison, which is no more defined than
        // the elementwise ops that they replace. So tensors from outside have none.
        if !self.poison || !matches!(ctx.type_data(ty), TypeData::Vector { .. }) {
            return Some(Datum::Tensor(tensor));
        }
        let mask = (0..elements).map(|_| self.random.percent(POISON_ELEMENTS)).collect();
        Some(PoisonTensor::datum(tensor, mask))
    }

    pub(crate) fn tensor(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let n = shape.iter().product();
        let (floats, random) = (self.input.floats, &mut *self.random);
        if dtype.is_float() {
            return floats_to_tensor(dtype, shape, (0..n).map(|_| floats.draw(random)).collect());
        }
        // Integer tensors are often shapes, axes and indices, hence small.
        let small = random.percent(67);
        let width = dtype.bits();
        let mut int = || if small { random.next() as i64 & 3 } else { random.int(width) };
        let values: Vec<i64> = (0..n).map(|_| int()).collect();
        ints_to_tensor(dtype, shape, &values)
    }
}

/// Draws a layout that a memref type allows, with gaps where strides are dynamic.
pub(crate) fn layout(ctx: &Context, ty: Type, sizes: &[i64], random: &mut Random) -> StridedLayout {
    let Some(mut layout) = ctx.strided_layout(ty) else { return StridedLayout::row_major(sizes) };
    if ctx.has_identity_layout(ty) {
        return StridedLayout::row_major(sizes);
    }
    if layout.offset == DYNAMIC {
        layout.offset = random.next() as i64 & 3;
    }
    let mut next = 1;
    for (stride, &size) in layout.strides.iter_mut().zip(sizes).rev() {
        if *stride == DYNAMIC {
            *stride = next + (random.next() as i64 & 1);
        }
        next = next.max(stride.saturating_mul(size));
    }
    layout
}

/// Wraps to the low `width` bits.
pub(crate) fn wrap(v: i64, width: u32, unsigned: bool) -> i64 {
    let shift = 64 - width;
    if unsigned { ((v as u64) << shift >> shift) as i64 } else { v << shift >> shift }
}

impl Floats {
    pub(crate) fn draw(self, random: &mut Random) -> f64 {
        match self {
            Floats::Declared | Floats::Bits => random.float(),
            Floats::Exact => random.below(7) as f64 - 3.0,
            Floats::Algebra
            | Floats::Reordered
            | Floats::Rounding
            | Floats::Quantized
            | Floats::Approximate
            | Floats::Requantized => {
                // 24 bits, which f32 represents exactly.
                let part = random.next() >> 40;
                let mut size = 0.25 + (part >> 1) as f64 / f64::from(1 << 22);
                // Some are quarters, which are often in the middle of two steps where they are rounded.
                if (part >> 1) & 7 == 0 {
                    size = (4.0 * size).round() / 4.0;
                }
                if part & 1 == 0 { size } else { -size }
            }
        }
    }
}
