//! Comparison of the results of a pipeline on one thread and on several.
//!
//! Small programs are not divided among threads, so functions of many programs are collected into a large one.

use gradus_ir::pass::{Pipeline, RunOptions, Watch};
use gradus_ir::symbols::SymbolRefs;
use gradus_ir::{Module, Op, PrintOptions, Traits, ValueMap, symbol_name};

/// Number of ops of a compared program, above the least number that is divided.
const OPS: usize = 3000;
/// Number of threads.
const THREADS: usize = 3;

/// Functions that refer to no symbols, collected until they are enough.
#[derive(Default)]
pub(crate) struct Collected {
    module: Option<Module>,
}

impl Collected {
    /// Adds the functions of a program. Returns the large program once it is large enough.
    pub(crate) fn add(&mut self, m: &Module) -> Option<Module> {
        let all = self.module.get_or_insert_with(|| Module::new(m.ctx.clone()));
        let mut refs = SymbolRefs::default();
        let mut is_alone = |op: Op| m.ops_under(op).into_iter().skip(1).all(|inner| refs.of_op(m, inner).is_empty());
        for op in m.block_ops(m.body()) {
            if m.has_trait(op, Traits::FUNCTION) && symbol_name(m, op).is_some() && is_alone(op) {
                let copy = all.clone_op_of(m, op, &mut ValueMap::default());
                let name = all.ctx.string_attr(&format!("part{}", all.num_ops()));
                all.set_attr(copy, "sym_name", Some(name));
                let body = all.body();
                all.append_op(body, copy);
            }
        }
        if all.num_ops() < OPS { None } else { self.module.take() }
    }
}

/// Runs a pipeline on one and on several threads. The error shows both results.
pub(crate) fn compare(m: &Module, pipeline: &dyn Fn() -> Option<Pipeline>) -> Result<(), String> {
    let run = |threads: usize| {
        let mut m = m.clone();
        let how = RunOptions { threads, ..RunOptions::default() };
        let done = pipeline()?.run(&mut m, &how, &mut Watch::default()).is_ok();
        Some((done, if done { m.to_text(PrintOptions::default()) } else { String::new() }))
    };
    let (one, several) = (run(1), run(THREADS));
    if one == several {
        return Ok(());
    }
    let show =
        |result: Option<(bool, String)>| result.map_or_else(String::new, |(done, text)| format!("{done}\n{text}"));
    Err(format!("the result depends on the number of threads\non one: {}on {THREADS}: {}", show(one), show(several)))
}
