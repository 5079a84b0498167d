//! What a function is called with: values, and memory for its memrefs.

use crate::floats::Floats;
use crate::global::{self, Global};
use crate::random::Random;
use gradus_ir::effects::is_noalias;
use gradus_ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus_ir::float::{from_f64, to_f64};
use gradus_ir::layout::StridedLayout;
use gradus_ir::memory::MemRef;
use gradus_ir::{Context, DType, DYNAMIC, Module, Op, Tensor, Type, TypeData, Value};

/// Memory of more elements is not made.
pub(crate) const MAX_ELEMENTS: i64 = 4096;

/// Tensors of more elements are not made.
const MAX_TENSOR: usize = 1 << 20;

/// Extents of dimensions that the type leaves open.
const EXTENTS: [i64; 6] = [1, 2, 3, 0, 5, 8];

/// Of so many of a hundred inputs, some values are poison.
const POISON: u64 = 10;
/// So many of a hundred memrefs name memory that an argument before them names, if that is possible.
const ALIASED: u64 = 25;
/// The contents of so many of a hundred buffers are not defined.
const UNWRITTEN: u64 = 10;
/// So many of a hundred globals were written by others before.
const WRITTEN_BEFORE: u64 = 50;

/// The arguments of a call.
#[derive(Clone, Debug)]
pub struct Input {
    /// The contents of the memory that memrefs are given: buffer number `i` of the program's memory is number `i` here.
    pub buffers: Vec<Vec<Datum>>,
    /// The arguments.
    pub args: Vec<Datum>,
    /// What those outside have written to globals before, by name. Others hold what the program says.
    pub globals: Vec<(String, Vec<Datum>)>,
    /// What decides what functions outside the program return and write.
    pub outside: u64,
}

impl Input {
    /// The input with each float replaced.
    pub(crate) fn map_floats(&self, f: &mut dyn FnMut(f64) -> f64, dtype: impl Fn(DType) -> DType) -> Input {
        let mut map = |datum: &Datum| match datum {
            Datum::Float(value) => Datum::Float(f(*value)),
            Datum::Tensor(tensor) if tensor.dtype().is_float() => {
                let values = tensor.to_f64().into_iter().map(&mut *f).collect();
                Datum::Tensor(floats_to_tensor(dtype(tensor.dtype()), tensor.shape(), values))
            }
            other => other.clone(),
        };
        let args = self.args.iter().map(&mut map).collect();
        let buffers = self.buffers.iter().map(|held| held.iter().map(&mut map).collect()).collect();
        let global = |(name, held): &(String, Vec<Datum>)| (name.clone(), held.iter().map(&mut map).collect());
        let globals = self.globals.iter().map(global).collect();
        Input { args, buffers, globals, outside: self.outside }
    }

    fn new(outside: u64) -> Input {
        Input { buffers: Vec::new(), args: Vec::new(), globals: Vec::new(), outside }
    }
}

/// Draws inputs of one function.
pub struct Inputs<'m> {
    ctx: &'m Context,
    types: Vec<Type>,
    /// Of so many of a hundred inputs, some values are poison.
    poison: u64,
    /// Which arguments promise to be the only name of their memory.
    alone: Vec<bool>,
    /// What else those outside may have written.
    globals: Vec<Global<'m>>,
    floats: Floats,
}

impl<'m> Inputs<'m> {
    /// `None` if the function has no body.
    pub fn of(m: &'m Module, function: Op) -> Option<Inputs<'m>> {
        let entry = m.entry(*m.regions(function).first()?)?;
        let args: &[Value] = m.block_args(entry);
        let alone = (0..args.len()).map(|i| is_noalias(m, function, i)).collect();
        let types = args.iter().map(|&v| m.value_type(v)).collect();
        Some(Inputs { ctx: &m.ctx, types, poison: POISON, alone, globals: global::of(m), floats: Floats::Bits })
    }

    /// The same, with no argument that is poison.
    pub fn without_poison(self) -> Inputs<'m> {
        Inputs { poison: 0, ..self }
    }

    /// The same, with floats for such comparisons.
    pub fn with_floats(self, floats: Floats) -> Inputs<'m> {
        Inputs { floats, ..self }
    }

    /// Whether there are inputs of a type.
    pub fn has_values(ctx: &Context, ty: Type) -> bool {
        value(ctx, ty, Floats::Bits, &mut Random::of(0)).is_some()
    }

    /// A value of a type that needs no memory.
    pub fn draw_value(ctx: &Context, ty: Type, random: &mut Random) -> Option<Datum> {
        value(ctx, ty, Floats::Bits, random).filter(|drawn| drawn.buffers.is_empty())?.args.pop()
    }

    /// A value of a type, whose memory is elsewhere.
    pub fn draw_view(ctx: &Context, ty: Type, random: &mut Random) -> Option<Datum> {
        value(ctx, ty, Floats::Bits, random)?.args.pop()
    }

    /// How many inputs there are, if all arguments are integers and there are not more than `most`.
    pub(crate) fn count(&self, most: u64) -> Option<u64> {
        if !self.globals.is_empty() {
            return None;
        }
        let bits = self.types.iter().try_fold(0u32, |sum, &ty| match self.ctx.type_data(ty) {
            TypeData::Integer { width, .. } if *width > 0 => sum.checked_add(*width),
            _ => None,
        })?;
        1u64.checked_shl(bits).filter(|&count| count <= most)
    }

    /// Input number `number` of all that there are.
    pub(crate) fn nth(&self, mut number: u64) -> Input {
        let next = |&ty: &Type| {
            let width = self.ctx.int_width(ty).unwrap_or(0);
            let value = wrap(number as i64, width, self.ctx.is_unsigned(ty));
            number >>= width;
            Datum::Int(value)
        };
        Input { args: self.types.iter().map(next).collect(), ..Input::new(0) }
    }

    /// An input. The error names a type of which there are no values here.
    pub fn draw(&self, random: &mut Random) -> Result<Input, String> {
        let mut draw = Draw {
            ctx: self.ctx,
            // One extent for all open dimensions of most calls: operands of different extents would rarely mean anything.
            extent: if random.percent(90) { Some(random.pick(&EXTENTS)) } else { None },
            poison: random.percent(self.poison),
            input: Input::new(random.next()),
            floats: self.floats,
            random,
        };
        for (i, &ty) in self.types.iter().enumerate() {
            let elem = |i: usize| self.ctx.element_type(self.types[i]);
            let shares = |other: usize| !self.alone[i] && !self.alone[other] && elem(i) == elem(other);
            let value = draw.value(ty, &shares).ok_or_else(|| self.ctx.display_type(ty).to_string())?;
            draw.input.args.push(value);
        }
        for global in &self.globals {
            if global.is_external() || draw.random.percent(WRITTEN_BEFORE) {
                let contents = draw.contents(global.dtype, global.length);
                draw.input.globals.push((global.name.to_owned(), contents));
            }
        }
        Ok(draw.input)
    }
}

/// A value of a type, as the only argument, with its memory if it is a memref.
pub(crate) fn value(ctx: &Context, ty: Type, floats: Floats, random: &mut Random) -> Option<Input> {
    let mut draw = Draw { ctx, extent: None, poison: false, input: Input::new(0), floats, random };
    let value = draw.value(ty, &|_| false)?;
    draw.input.args.push(value);
    Some(draw.input)
}

/// Elements of memory.
pub(crate) fn contents(ctx: &Context, dtype: DType, length: usize, floats: Floats, random: &mut Random) -> Vec<Datum> {
    Draw { ctx, extent: None, poison: false, input: Input::new(0), floats, random }.contents(dtype, length)
}

struct Draw<'a> {
    ctx: &'a Context,
    extent: Option<i64>,
    poison: bool,
    input: Input,
    floats: Floats,
    random: &'a mut Random,
}

impl Draw<'_> {
    fn extent(&mut self) -> i64 {
        self.extent.unwrap_or_else(|| self.random.pick(&EXTENTS))
    }

    /// `shares` says with which arguments before it the next may share memory.
    fn value(&mut self, ty: Type, shares: &dyn Fn(usize) -> bool) -> Option<Datum> {
        // Of a tensor, elements may be poison, which have no form here; the whole tensor, with its shape, is never.
        let is_tensor = matches!(self.ctx.type_data(ty), TypeData::Tensor { .. } | TypeData::UnrankedTensor { .. });
        if self.poison && !is_tensor && self.random.percent(30) {
            return Some(Datum::Poison);
        }
        let open = |draw: &mut Self, d: i64| if d == DYNAMIC { draw.extent() } else { d };
        let sizes: Vec<i64> = match self.ctx.type_data(ty) {
            TypeData::MemRef { shape, .. } => shape.iter().map(|&d| open(self, d)).collect(),
            TypeData::UnrankedMemRef { .. } => (0..self.random.below(3)).map(|_| self.extent()).collect(),
            // Indices are often those of memory: mostly small.
            TypeData::Index if self.random.percent(50) => return Some(Datum::Int(self.random.next() as i64 & 3)),
            _ => return self.plain(ty),
        };
        self.memory(ty, &sizes, shares)
    }

    /// A memref.
    fn memory(&mut self, ty: Type, sizes: &[i64], shares: &dyn Fn(usize) -> bool) -> Option<Datum> {
        let dtype = self.ctx.dtype(self.ctx.element_type(ty))?;
        let layout = self.layout(ty, sizes);
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

    fn contents(&mut self, dtype: DType, length: usize) -> Vec<Datum> {
        Datum::Tensor(self.tensor(dtype, &[length])).elements().unwrap_or_else(|| vec![Datum::Poison; length])
    }

    /// A buffer of an argument before, with elements of the same kind and enough of them, by chance.
    fn shared(&mut self, dtype: DType, length: usize, shares: &dyn Fn(usize) -> bool) -> Option<u32> {
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

    /// A layout that the type allows, with gaps where it leaves them open.
    fn layout(&mut self, ty: Type, sizes: &[i64]) -> StridedLayout {
        let Some(mut layout) = self.ctx.strided_layout(ty) else { return StridedLayout::row_major(sizes) };
        if self.ctx.has_identity_layout(ty) {
            return StridedLayout::row_major(sizes);
        }
        if layout.offset == DYNAMIC {
            layout.offset = self.random.next() as i64 & 3;
        }
        let mut next = 1;
        for (stride, &size) in layout.strides.iter_mut().zip(sizes).rev() {
            if *stride == DYNAMIC {
                *stride = next + (self.random.next() as i64 & 1);
            }
            next = next.max(stride.saturating_mul(size));
        }
        layout
    }

    /// A scalar, a tensor or a vector.
    fn plain(&mut self, ty: Type) -> Option<Datum> {
        let ctx = self.ctx;
        if let Some(width) = ctx.int_width(ty) {
            let known = (1..=64).contains(&width);
            return known.then(|| Datum::Int(wrap(self.random.int(width), width, ctx.is_unsigned(ty))));
        }
        if let Some(kind) = ctx.float_kind(ty) {
            return Some(Datum::Float(to_f64(kind, from_f64(kind, self.floats.draw(self.random)))));
        }
        if !matches!(ctx.type_data(ty), TypeData::Tensor { .. } | TypeData::Vector { .. }) {
            return None;
        }
        let dtype = ctx.dtype(ctx.element_type(ty))?;
        let size = |&d: &i64| usize::try_from(if d == DYNAMIC { self.extent() } else { d }).ok();
        let shape: Vec<usize> = ctx.shape(ty)?.iter().map(size).collect::<Option<_>>()?;
        let elements = gradus_ir::tensor::checked_len(&shape)?;
        (elements <= MAX_TENSOR).then(|| Datum::Tensor(self.tensor(dtype, &shape)))
    }

    fn tensor(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let n = shape.iter().product();
        let (floats, random) = (self.floats, &mut *self.random);
        if dtype.is_float() {
            return floats_to_tensor(dtype, shape, (0..n).map(|_| floats.draw(random)).collect());
        }
        // Tensors of integers are often shapes, axes and indices: mostly small.
        let small = random.percent(67);
        let width = dtype.bits();
        let mut int = || if small { random.next() as i64 & 3 } else { random.int(width) };
        let values: Vec<i64> = (0..n).map(|_| int()).collect();
        ints_to_tensor(dtype, shape, &values)
    }
}

/// The low bits of a number as an integer of that width.
fn wrap(v: i64, width: u32, unsigned: bool) -> i64 {
    let shift = 64 - width;
    if unsigned { ((v as u64) << shift >> shift) as i64 } else { v << shift >> shift }
}
