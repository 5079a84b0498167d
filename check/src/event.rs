//! Calls without a body in the program: of external functions, and of ops of unregistered dialects.
//!
//! The callee may change the memory that it is passed and public globals, so a call is an event with its name, its
//! arguments and the contents of that memory. Its results and writes depend only on the input, its name and the number
//! of earlier events, so that they are equal before and after a transformation that preserves the events.

use crate::draw;
use crate::global::Globals;
use crate::options::{Floats, Options};
use crate::representing::is_memref;
use crate::seen::Seen;
use crate::translation::Translation;
use gradus_ir::effects::is_memory;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{MemRef, Memory, Storage};
use gradus_ir::random::Random;
use gradus_ir::{Module, Op, Traits, Type};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::sync::Arc;

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

/// The types of the arguments and results of external calls.
type CallTypes = (Vec<Type>, Vec<Type>);

/// The external calls of one run.
pub(crate) struct Events<'m> {
    pub(crate) list: Vec<ExternalCall>,
    pub(crate) globals: Globals<'m>,
    /// The seed of results and writes.
    pub(crate) seed: u64,
    /// The mode in which their floats are drawn.
    pub(crate) floats: Floats,
    pub(crate) options: Options,
    /// The original program, as whose calls those of a lowered one are read.
    pub(crate) original: Option<&'m Module>,
    /// The types of the original's calls, by name.
    types: OnceCell<FxHashMap<String, Vec<CallTypes>>>,
    /// The relation of each call of the lowered program to the original's.
    translations: FxHashMap<Op, Option<Arc<Translation>>>,
}

impl<'m> Events<'m> {
    pub(crate) fn new(m: &'m Module, options: Options) -> Events<'m> {
        Events {
            list: Vec::new(),
            globals: Globals::new(m),
            seed: 0,
            floats: options.floats,
            options,
            original: None,
            types: OnceCell::new(),
            translations: FxHashMap::default(),
        }
    }

    /// Records a call and simulates the callee.
    pub(crate) fn call(
        &mut self,
        m: &Module,
        op: Op,
        operands: &[Datum],
        memory: &mut Memory,
    ) -> Result<Vec<Datum>, Trap> {
        if m.info(op).is_none() && !self.options.opaque {
            return Err(Trap::unknown("the op is not registered"));
        }
        let name = name(m, op);
        let all_known = operands.iter().zip(m.operands(op)).all(|(d, &v)| *d != Datum::Poison || !is_memory(m, v));
        if !all_known {
            return Err(Trap::Ub("an external callee may access its memref argument, which is poison".into()));
        }
        let translation = self.translation(m, op, &name)?;
        // Each value has a random sequence of its own, independent of the other values.
        let (seed, key, number, mut draws) = (self.seed, name.clone(), self.list.len(), 0..);
        let mut next = move || Random::of((seed, &key, number, draws.next().unwrap_or(0usize)));
        let seen: Vec<Seen> = operands.iter().map(|datum| Seen::of(memory, datum)).collect();
        let args = translation.as_ref().map_or(seen.clone(), |translation| translation.args(&m.ctx, &seen));
        self.list.push(ExternalCall { name, args, globals: self.globals.contents(memory) });
        if m.has_trait(op, Traits::OBSERVABLE) {
            return Ok(Vec::new());
        }
        let floats = self.floats;
        self.globals.overwrite(memory, floats, &mut next())?;
        let types: Vec<(Type, usize)> = match &translation {
            Some(translation) => translation.arg_types().collect(),
            None => m.operands(op).iter().map(|&v| m.value_type(v)).zip(0..).collect(),
        };
        for (ty, at) in types {
            let mut random = next();
            if let Some(Datum::MemRef(view)) = operands.get(at).filter(|_| is_memref(&m.ctx, ty)) {
                overwrite(m, ty, view, memory, floats, &mut random)?;
            }
        }
        let types: Vec<Type> = m.results(op).map(|v| m.value_type(v)).collect();
        let types = translation.as_ref().map_or(types, |translation| translation.result_types());
        let results: Result<Vec<Datum>, Trap> =
            types.into_iter().map(|ty| result(m, ty, memory, floats, &mut next())).collect();
        match translation {
            Some(translation) => lowered(m, &translation, (operands, &results?), memory, &mut next()),
            None => results,
        }
    }

    /// Returns the relation of a call to the original's calls of that name; `None` if one of them has its types, or there are none.
    fn translation(&mut self, m: &Module, op: Op, name: &str) -> Result<Option<Arc<Translation>>, Trap> {
        if let Some(known) = self.translations.get(&op) {
            return Ok(known.clone());
        }
        let Some(original) = self.original else { return Ok(None) };
        let types = self.types.get_or_init(|| call_types(original));
        let (args, results) = types_of(m, op);
        let candidates = types.get(name).map_or(&[][..], Vec::as_slice);
        let is_same = candidates.is_empty() || candidates.iter().any(|(a, r)| (a, r) == (&args, &results));
        let translated = || {
            let mut all = candidates.iter().map(|(a, r)| Translation::new(&m.ctx, (a, r), (&args, &results)));
            let first = all.next().expect("there is a candidate");
            first.or_else(|why| all.find_map(Result::ok).ok_or(why)).map(Arc::new)
        };
        let found = if is_same { None } else { Some(translated().map_err(Trap::unknown)?) };
        self.translations.insert(op, found.clone());
        Ok(found)
    }
}

/// Returns the types of the calls that may be external, by name.
fn call_types(m: &Module) -> FxHashMap<String, Vec<CallTypes>> {
    let mut types: FxHashMap<String, Vec<CallTypes>> = FxHashMap::default();
    for op in m.ops_under(m.root()) {
        if m.info(op).is_none() || m.has_trait(op, Traits::CALL) || m.has_trait(op, Traits::OBSERVABLE) {
            let (all, of_op) = (types.entry(name(m, op)).or_default(), types_of(m, op));
            if !all.contains(&of_op) {
                all.push(of_op);
            }
        }
    }
    types
}

fn types_of(m: &Module, op: Op) -> CallTypes {
    let operands = m.operands(op).iter().map(|&v| m.value_type(v)).collect();
    (operands, m.results(op).map(|v| m.value_type(v)).collect())
}

/// Returns the results of a lowered call in place of the original's, and writes those that it returns in memory.
fn lowered(
    m: &Module,
    translation: &Translation,
    (operands, results): (&[Datum], &[Datum]),
    memory: &mut Memory,
    random: &mut Random,
) -> Result<Vec<Datum>, Trap> {
    let mut allocate = |contents| memory.insert(contents, Storage::Heap).ok();
    let lowered = translation.results(&m.ctx, results, random, &mut allocate);
    let (values, writes) = lowered.ok_or_else(|| Trap::unknown("a result from outside has no representation"))?;
    for (at, elements) in writes {
        let (Some(Datum::MemRef(view)), mut elements) = (operands.get(at), elements.into_iter()) else { continue };
        view.for_each_index(|index| memory.store(elements.next().unwrap_or(Datum::Poison), view, index))?;
    }
    Ok(values)
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
    let unknown = || Trap::unknown(format!("a value of type {} from outside", m.ctx.display_type(ty)));
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
        memory.store(drawn.ok_or_else(|| Trap::unknown("memory of this element type"))?, view, index)
    })
}
