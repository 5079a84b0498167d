//! Inputs of a function.

use crate::draw::{Draw, EXTENTS, value, wrap};
use crate::global::{self, Global};
use crate::input::Input;
use crate::options::Floats;
use crate::random::Random;
use gradus_ir::effects::is_noalias;
use gradus_ir::eval::Datum;
use gradus_ir::{Context, Module, Op, Type, TypeData, Value};

/// Of so many of a hundred inputs, some values are poison.
const POISON: u64 = 10;

/// So many of a hundred globals were written by others before.
const WRITTEN_BEFORE: u64 = 50;

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
