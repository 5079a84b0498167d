//! Calls without a body in the program: of external functions, and of ops of unregistered dialects.
//!
//! The callee may change the memory that it is passed and public globals, so a call is an event with its name, its
//! arguments and the contents of that memory. Its results and writes depend only on the input, its name and the number
//! of earlier events, so that they are equal before and after a transformation that preserves the events.

use crate::draw;
use crate::global::Globals;
use crate::options::{Floats, Options};
use crate::seen::Seen;
use gradus_ir::effects::is_memory;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{MemRef, Memory, Storage};
use gradus_ir::random::Random;
use gradus_ir::{Module, Op, Traits, Type};

/// An external call.
#[derive(Clone, Debug)]
pub struct ExternalCall {
    /// The function, or the unregistered op with its attributes.
    pub name: String,
    /// The arguments.
    pub args: Vec<Seen>,
    /// The contents of the globals that the callee can access, by name.
    pub globals: Vec<(String, Vec<Datum>)>,
}

/// The external calls of one run.
pub(crate) struct Events<'m> {
    pub(crate) list: Vec<ExternalCall>,
    pub(crate) globals: Globals<'m>,
    /// The seed of results and writes.
    pub(crate) seed: u64,
    pub(crate) options: Options,
}

impl Events<'_> {
    /// Records a call and simulates the callee.
    pub(crate) fn call(
        &mut self,
        m: &Module,
        op: Op,
        operands: &[Datum],
        memory: &mut Memory,
    ) -> Result<Vec<Datum>, Trap> {
        if m.info(op).is_none() && !self.options.opaque {
            return Err(Trap::unsupported("the op is not registered"));
        }
        let name = name(m, op);
        let floats = self.options.floats;
        let all_known = operands.iter().zip(m.operands(op)).all(|(d, &v)| *d != Datum::Poison || !is_memory(m, v));
        if !all_known {
            return Err(Trap::Ub("an external callee may access its memref argument, which is poison".into()));
        }
        // Each value has a random sequence of its own, independent of the other values.
        let (seed, key, number, mut things) = (self.seed, name.clone(), self.list.len(), 0..);
        let mut next = move || Random::of((seed, &key, number, things.next().unwrap_or(0usize)));
        let args = operands.iter().map(|datum| Seen::of(memory, datum)).collect();
        self.list.push(ExternalCall { name, args, globals: self.globals.contents(memory) });
        if m.has_trait(op, Traits::OBSERVABLE) {
            return Ok(Vec::new());
        }
        self.globals.overwrite(memory, floats, &mut next())?;
        for (datum, &value) in operands.iter().zip(m.operands(op)) {
            let mut random = next();
            if let Datum::MemRef(view) = datum {
                overwrite(m, m.value_type(value), view, memory, floats, &mut random)?;
            }
        }
        m.results(op).map(|v| result(m, m.value_type(v), memory, floats, &mut next())).collect()
    }
}

/// Returns the name of the callee, which is the same in both programs.
fn name(m: &Module, op: Op) -> String {
    let ctx = &m.ctx;
    if m.has_trait(op, Traits::CALL)
        && let Some(callee) = m.inherent_attr(op, "callee")
    {
        return ctx.display_attr(callee).to_string();
    }
    let attrs = [m.props(op), m.attrs(op)].map(|dict| ctx.display_attr(dict).to_string());
    format!("\"{}\" {}", m.name_text(op), attrs.join(" "))
}

/// Draws a result.
fn result(m: &Module, ty: Type, memory: &mut Memory, floats: Floats, random: &mut Random) -> Result<Datum, Trap> {
    let unknown = || Trap::unsupported(format!("a value of type {} from outside", m.ctx.display_type(ty)));
    let mut drawn = draw::value(&m.ctx, ty, floats, random).ok_or_else(unknown)?;
    let mut value = drawn.args.pop().ok_or_else(unknown)?;
    if let (Datum::MemRef(view), Some(contents)) = (&mut value, drawn.buffers.pop()) {
        view.buffer = memory.insert(contents, Storage::Heap)?;
    }
    Ok(value)
}

/// Overwrites all elements of a view, except those of constants.
fn overwrite(
    m: &Module,
    ty: Type,
    view: &MemRef,
    memory: &mut Memory,
    floats: Floats,
    random: &mut Random,
) -> Result<(), Trap> {
    if memory.is_constant(view.buffer) {
        return Ok(());
    }
    let elem = m.ctx.element_type(ty);
    view.for_each_index(|index| {
        let drawn = draw::value(&m.ctx, elem, floats, random).and_then(|mut drawn| drawn.args.pop());
        memory.store(drawn.ok_or_else(|| Trap::unsupported("memory of this element type"))?, view, index)
    })
}
