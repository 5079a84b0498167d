//! Public mutable globals of a program.

use crate::draw::{MAX_ELEMENTS, contents};
use crate::input::Input;
use crate::options::Floats;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{Memory, Storage};
use gradus_ir::random::Random;
use gradus_ir::symbols::is_public;
use gradus_ir::{DType, Module, Op, symbol_name};

/// A global that external functions can read and write.
pub(crate) struct Global<'m> {
    pub(crate) name: &'m str,
    pub(crate) dtype: DType,
    /// The number of elements.
    pub(crate) length: usize,
    op: Op,
    /// The declared contents; `None` for an external global.
    contents: Option<Vec<Datum>>,
}

impl Global<'_> {
    /// Whether it is defined elsewhere.
    pub(crate) fn is_external(&self) -> bool {
        self.contents.is_none()
    }
}

/// Returns the public mutable globals of a program.
pub(crate) fn of(m: &Module) -> Vec<Global<'_>> {
    m.block_ops(m.body()).filter(|&op| is_public(m, op)).filter_map(|op| global(m, op)).collect()
}

fn global(m: &Module, op: Op) -> Option<Global<'_>> {
    let ctx = &m.ctx;
    let memory =
        (m.info(op)?.global?)(m, op).filter(|memory| !memory.constant && ctx.has_identity_layout(memory.ty))?;
    let length = ctx.static_shape(memory.ty)?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let length = usize::try_from(length).ok().filter(|_| length <= MAX_ELEMENTS)?;
    let contents = match memory.contents {
        Some(Datum::Poison) => Some(vec![Datum::Poison; length]),
        Some(datum) => Some(datum.elements().filter(|elements| elements.len() == length)?),
        None => None,
    };
    let dtype = ctx.dtype(ctx.element_type(memory.ty))?;
    Some(Global { name: ctx.text(symbol_name(m, op)?), dtype, length, op, contents })
}

/// The globals of a run.
pub(crate) struct Globals<'m> {
    m: &'m Module,
    /// The globals with their buffers.
    list: Vec<(Global<'m>, u32)>,
}

impl<'m> Globals<'m> {
    /// Collects the globals of a program, without memory yet.
    pub(crate) fn new(m: &'m Module) -> Globals<'m> {
        Globals { m, list: of(m).into_iter().map(|global| (global, 0)).collect() }
    }

    /// Allocates them, with the contents of the input.
    pub(crate) fn prepare(&mut self, input: &Input, memory: &mut Memory) -> Result<(), Trap> {
        for (global, buffer) in &mut self.list {
            let given = input.globals.iter().find(|(name, _)| name == global.name).map(|(_, contents)| contents);
            let given = given.or(global.contents.as_ref()).cloned();
            let first = given.unwrap_or_else(|| vec![Datum::Poison; global.length]);
            *buffer = memory.global(global.op, |memory| memory.insert(first, Storage::Global))?;
        }
        Ok(())
    }

    /// Returns the current contents, by name.
    pub(crate) fn contents(&self, memory: &Memory) -> Vec<(String, Vec<Datum>)> {
        let contents = |buffer| memory.elements(buffer).unwrap_or_default();
        self.list.iter().map(|(global, buffer)| (global.name.to_owned(), contents(*buffer))).collect()
    }

    /// Overwrites all of them, as an external function may.
    pub(crate) fn overwrite(&self, memory: &mut Memory, floats: Floats, random: &mut Random) -> Result<(), Trap> {
        for (global, buffer) in &self.list {
            let drawn = contents(&self.m.ctx, global.dtype, global.length, floats, random);
            memory.overwrite(*buffer, &drawn)?;
        }
        Ok(())
    }
}
