//! Generation of programs.

use crate::coverage::InsertionStatistics;
use crate::function::GrowingFunction;
use crate::library::{Library, named};
use crate::program_builder::ProgramBuilder;
use gradus_ir::random::Random;
use gradus_ir::{Module, Op, Traits, symbol_name};

/// Size limits of programs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of ops, not counting constants.
    pub ops: usize,
    /// Number of sample inputs on which a program is executed during generation.
    pub inputs: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { ops: 50, inputs: 2 }
    }
}

/// Percentages of programs that begin as a program of a family or a kept one: without passes under test, with passes,
/// and with passes that apply rules, whose left sides are planted in other programs.
const STARTED: u64 = 25;
const DIRECTED: u64 = 75;
const PLANTED: u64 = 40;

/// A generated program.
pub struct Grown {
    /// The program, which is valid.
    pub module: Module,
    /// The choices that determine the program.
    pub tape: Vec<u64>,
}

/// Generates a program.
pub fn grow(library: &Library, mut random: Random, limits: Limits, statistics: &mut InsertionStatistics) -> Grown {
    random.record();
    let started = match (library.focus.is_directed(), library.focus.has_rules()) {
        (true, false) => DIRECTED,
        (true, true) => PLANTED,
        (false, _) => STARTED,
    };
    let start = if random.percent(started) { library.start(&mut random) } else { None };
    let mut program = ProgramBuilder::new(library, &mut random, statistics);
    if let Some(m) = start {
        start_from(&mut program, m, limits);
        let module = program.module;
        return Grown { module, tape: random.into_tape() };
    }
    let functions = 1 + program.random.below(3) / 2;
    if program.random.percent(40) {
        program.declare_outside();
    }
    for number in 0..functions {
        GrowingFunction::run(&mut program, number, limits.ops / functions as usize, limits.inputs);
    }
    let module = program.module;
    Grown { module, tape: random.into_tape() }
}

/// Grows the functions of a program that exists.
fn start_from(program: &mut ProgramBuilder<'_>, m: Module, limits: Limits) {
    program.module = m;
    let m = &program.module;
    let functions: Vec<Op> = m.block_ops(m.body()).filter(|&op| m.has_trait(op, Traits::FUNCTION)).collect();
    let named = named(m, &mut Default::default());
    // Their names are taken.
    let taken = m.block_ops(m.body()).filter_map(|op| Some((symbol_name(m, op)?, (usize::MAX, op))));
    program.symbols.extend(taken);
    let ops = program.random.below(1 + limits.ops as u64 / 3) as usize / functions.len().max(1);
    for function in functions {
        let m = &program.module;
        if m.regions(function).first().is_some_and(|&r| m.entry(r).is_some()) {
            GrowingFunction::resume(program, function, named.contains(&function), ops, limits.inputs);
        }
        // Later functions may call it.
        program.functions.push(function);
    }
}
