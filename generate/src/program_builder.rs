//! The program under construction, to which functions and the symbols of fragments are added.

use crate::coverage::InsertionStatistics;
use crate::library::{Fragment, Library};
use gradus_ir::random::Random;
use gradus_ir::{Builder, Loc, Module, Op, OpInfo, OpName, OpState, Str, Traits, Type, ValueMap, symbol_name};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// Percentage of fragments that are root ops of the passes under test.
const FOCUSED: u64 = 60;

/// State shared by all functions of a program.
pub(crate) struct ProgramBuilder<'a> {
    pub(crate) library: &'a Library,
    pub(crate) random: &'a mut Random,
    pub(crate) statistics: &'a mut InsertionStatistics,
    pub(crate) module: Module,
    /// The dialects that most ops are drawn from.
    pub(crate) dialects: Vec<&'static str>,
    /// Whether function results may be poison.
    pub(crate) keeps_poison: bool,
    /// Symbols that came with fragments: the source program and the op.
    pub(crate) symbols: FxHashMap<Str, (usize, Op)>,
    /// The functions generated so far, which later ones may call.
    pub(crate) functions: Vec<Op>,
}

impl<'a> ProgramBuilder<'a> {
    pub(crate) fn new(
        library: &'a Library,
        random: &'a mut Random,
        statistics: &'a mut InsertionStatistics,
    ) -> ProgramBuilder<'a> {
        let all: Vec<&'static str> = library.by_dialect.keys().copied().collect();
        let dialects = (0..2 + random.below(3)).map(|_| random.pick(&all)).collect();
        ProgramBuilder {
            library,
            statistics,
            module: Module::new(library.ctx.clone()),
            dialects,
            keeps_poison: random.percent(10),
            symbols: FxHashMap::default(),
            functions: Vec::new(),
            random,
        }
    }

    /// Returns the only declared op with these traits.
    pub(crate) fn op_with(&self, traits: Traits) -> Option<&'static OpInfo> {
        self.library.ctx.dialects().iter().flat_map(|d| d.ops).find(|info| info.traits.has(traits)).copied()
    }

    /// Appends a function to the program, with an empty entry block if `has_body`.
    pub(crate) fn function(&mut self, name: &str, inputs: &[Type], results: &[Type], has_body: bool) -> Option<Op> {
        let info = self.op_with(Traits::FUNCTION)?;
        let ctx = self.module.ctx.clone();
        let mut state = OpState::new(&ctx, info.name, Loc::UNKNOWN);
        state.inherent(&ctx, "sym_name", Some(ctx.string_attr(name)));
        state.inherent(&ctx, "function_type", Some(ctx.type_attr(ctx.function_type(inputs, results))));
        if !has_body {
            state.inherent(&ctx, "sym_visibility", Some(ctx.string_attr("private")));
        }
        state.regions = 1;
        let body = self.module.body();
        let op = Builder::at_end(&mut self.module, body).try_create(state).ok()?;
        if has_body {
            let block = self.module.add_block(self.module.regions(op)[0]);
            for &ty in inputs {
                self.module.add_block_arg(block, ty, Loc::UNKNOWN);
            }
        }
        Some(op)
    }

    /// Declares external functions.
    pub(crate) fn declare_outside(&mut self) {
        let types = &self.library.types;
        let drawn = |random: &mut Random| (0..random.below(3)).map(|_| random.pick(types)).collect::<Vec<_>>();
        for number in 0..1 + self.random.below(2) {
            let (inputs, results) = (drawn(self.random), drawn(self.random));
            let function = self.function(&format!("outside{number}"), &inputs, &results, false);
            self.functions.extend(function);
        }
    }

    /// Copies the symbols that a fragment refers to. Returns `false` if one of the names is taken.
    pub(crate) fn bring_symbols(&mut self, part: &Fragment) -> bool {
        let source = &self.library.sources[part.source];
        let named = |op: Op| symbol_name(source, op).map(|name| (name, (part.source, op)));
        let all: Vec<_> = part.symbols.iter().filter_map(|&op| named(op)).collect();
        let free = |(name, origin): &(Str, (usize, Op))| self.symbols.get(name).is_none_or(|known| known == origin);
        if !all.iter().all(free) {
            return false;
        }
        for (name, origin) in all {
            if self.symbols.insert(name, origin).is_none() {
                let copy = self.module.clone_op_of(source, origin.1, &mut ValueMap::default());
                let body = self.module.body();
                self.module.append_op(body, copy);
            }
        }
        true
    }

    /// Returns the number of symbols that came with fragments.
    pub(crate) fn num_symbols(&self) -> usize {
        self.symbols.len()
    }

    /// Reserves the name of a library function. Returns `false` if it is taken.
    pub(crate) fn claim(&mut self, part: &Fragment) -> bool {
        let source = &self.library.sources[part.source];
        let name = symbol_name(source, part.op);
        name.is_some_and(|name| self.symbols.insert(name, (part.source, part.op)).is_none())
    }

    /// Picks a fragment, usually of the program's dialects.
    pub(crate) fn pick_part(&mut self) -> usize {
        if self.random.percent(FOCUSED)
            && let Some(op) = self.library.focus.op(self.random)
            && let Some(part) = Some(self.parts_of(op)).filter(|parts| !parts.is_empty())
        {
            return self.random.pick(part);
        }
        let dialect = match self.random.percent(90) {
            true => self.random.pick(&self.dialects),
            false => {
                let all: Vec<&'static str> = self.library.by_dialect.keys().copied().collect();
                self.random.pick(&all)
            }
        };
        self.pick_of(&self.library.by_dialect[dialect])
    }

    /// Picks a fragment whose operands are defined by other fragments, if there is one.
    pub(crate) fn pick_chain(&mut self) -> Option<usize> {
        let chains = &self.library.chains;
        let at = self.random.below(chains.len().max(1) as u64) as usize;
        chains.get_index(at).map(|(_, ops)| self.pick_of(ops))
    }

    fn pick_of(&mut self, ops: &IndexMap<OpName, Vec<usize>>) -> usize {
        let parts = &ops[self.random.below(ops.len() as u64) as usize];
        self.random.pick(parts)
    }

    /// Returns the fragments of an op.
    pub(crate) fn parts_of(&self, name: OpName) -> &'a [usize] {
        let dialect = self.library.ctx.op_dialect(name);
        let ops = self.library.by_dialect.get(dialect).and_then(|ops| ops.get(&name));
        ops.map_or(&[], Vec::as_slice)
    }
}
