//! Calls of what the program has no body of: external functions, and ops that nobody declared.
//!
//! Who is called may do anything to the memory that it is given and to globals that are not private, so a call is an
//! event with its name, its arguments and the contents of that memory. What it returns and writes depends on nothing but
//! the input, its name, and how many events there were before, so that it is the same before and after a transformation
//! that keeps the events.

use crate::draw;
use crate::global::Globals;
use crate::options::{Floats, Options};
use crate::random::Random;
use crate::seen::Seen;
use gradus_ir::effects::is_memory;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{MemRef, Memory, Storage};
use gradus_ir::{Module, Op, Traits, Type};

/// A call of something outside the program.
#[derive(Clone, Debug)]
pub struct Event {
    /// The function, or the op that nobody declared with its attributes.
    pub name: String,
    /// What it is given.
    pub args: Vec<Seen>,
    /// What the globals hold that it may know, by name.
    pub globals: Vec<(String, Vec<Datum>)>,
}

/// Calls of one run.
pub(crate) struct Events<'m> {
    pub(crate) list: Vec<Event>,
    pub(crate) globals: Globals<'m>,
    /// What decides what comes from outside.
    pub(crate) seed: u64,
    pub(crate) options: Options,
}

impl Events<'_> {
    /// Notes a call, and does what the callee does.
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
            return Err(Trap::Ub("what is outside may access memory that it is given, which is poison".into()));
        }
        // What one thing becomes does not depend on how much the others took.
        let (seed, key, number, mut things) = (self.seed, name.clone(), self.list.len(), 0..);
        let mut next = move || Random::of((seed, &key, number, things.next().unwrap_or(0usize)));
        let args = operands.iter().map(|datum| Seen::of(memory, datum)).collect();
        self.list.push(Event { name, args, globals: self.globals.contents(memory) });
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

/// What is called, as both programs name it.
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

/// A value that comes from outside.
fn result(m: &Module, ty: Type, memory: &mut Memory, floats: Floats, random: &mut Random) -> Result<Datum, Trap> {
    let unknown = || Trap::unsupported(format!("a value of type {} from outside", m.ctx.display_type(ty)));
    let mut drawn = draw::value(&m.ctx, ty, floats, random).ok_or_else(unknown)?;
    let mut value = drawn.args.pop().ok_or_else(unknown)?;
    if let (Datum::MemRef(view), Some(contents)) = (&mut value, drawn.buffers.pop()) {
        view.buffer = memory.insert(contents, Storage::Heap)?;
    }
    Ok(value)
}

/// Writes all elements of a view. Constants stay.
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
