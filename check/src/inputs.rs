//! Inputs of a function.

use crate::draw::{Draw, EXTENTS, value, wrap};
use crate::global::{self, Global};
use crate::input::Input;
use crate::options::Floats;
use gradus_ir::effects::is_noalias;
use gradus_ir::eval::Datum;
use gradus_ir::random::Random;
use gradus_ir::{Context, Module, Op, Type, TypeData, Value};

/// Percentage of inputs with poison values.
const POISON: u64 = 10;

/// Percentage of inputs with small indices only.
const SMALL: u64 = 20;

/// Percentage of globals that were written before the call.
const WRITTEN_BEFORE: u64 = 50;

/// A generator of inputs for one function.
pub struct Inputs<'m> {
    ctx: &'m Context,
    types: Vec<Type>,
    /// Percentage of inputs with poison values.
    poison: u64,
    /// Whether each argument must not alias others.
    alone: Vec<bool>,
    /// The globals that may be written before the call.
    globals: Vec<Global<'m>>,
    floats: Floats,
}

impl<'m> Inputs<'m> {
    /// Creates a generator. `None` if the function has no body.
    pub fn of(m: &'m Module, function: Op) -> Option<Inputs<'m>> {
        let entry = m.entry(*m.regions(function).first()?)?;
        let args: &[Value] = m.block_args(entry);
        let alone = (0..args.len()).map(|i| is_noalias(m, function, i)).collect();
        let types = args.iter().map(|&v| m.value_type(v)).collect();
        Some(Inputs { ctx: &m.ctx, types, poison: POISON, alone, globals: global::of(m), floats: Floats::Bits })
    }

    /// Excludes poison arguments.
    pub fn without_poison(self) -> Inputs<'m> {
        Inputs { poison: 0, ..self }
    }

    /// Sets the float mode.
    pub fn with_floats(self, floats: Floats) -> Inputs<'m> {
        Inputs { floats, ..self }
    }

    /// Draws values of other types, which the parameters have too.
    pub(crate) fn with_types(self, types: Vec<Type>) -> Inputs<'m> {
        Inputs { types, ..self }
    }

    /// Returns the types of a function's parameters.
    pub(crate) fn types(&self) -> &[Type] {
        &self.types
    }

    /// Whether values of a type can be drawn.
    pub fn has_values(ctx: &Context, ty: Type) -> bool {
        value(ctx, ty, Floats::Bits, &mut Random::of(0)).is_some()
    }

    /// Draws a value of a type without memory.
    pub fn draw_value(ctx: &Context, ty: Type, random: &mut Random) -> Option<Datum> {
        value(ctx, ty, Floats::Bits, random).filter(|drawn| drawn.buffers.is_empty())?.args.pop()
    }

    /// Draws a value of a type; a memref is a view of external memory.
    pub fn draw_view(ctx: &Context, ty: Type, random: &mut Random) -> Option<Datum> {
        value(ctx, ty, Floats::Bits, random)?.args.pop()
    }

    /// Returns the number of all inputs, if the arguments are integers and there are at most `most`.
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

    /// Returns the input with a number, in the enumeration of all inputs.
    pub(crate) fn nth(&self, mut index: u64) -> Input {
        let next = |&ty: &Type| {
            let width = self.ctx.int_width(ty).unwrap_or(0);
            let value = wrap(index as i64, width, self.ctx.is_unsigned(ty));
            index >>= width;
            Datum::Int(value)
        };
        Input { args: self.types.iter().map(next).collect(), ..Input::new(0, self.floats) }
    }

    /// Draws an input. The error names a type without values.
    pub fn draw(&self, random: &mut Random) -> Result<Input, String> {
        // Most calls use one extent for all dynamic dimensions, since operands of different extents are rarely valid.
        let extent = if random.percent(90) { Some(random.pick(&EXTENTS)) } else { None };
        let (poison, seed) = (random.percent(self.poison), random.next());
        let mut draw = Draw {
            ctx: self.ctx,
            extent,
            small: (seed >> 32) % 100 < SMALL,
            poison,
            input: Input::new(seed, self.floats.of_input(random)),
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
