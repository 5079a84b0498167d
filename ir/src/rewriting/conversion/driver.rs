//! The conversion driver: visits ops in order and legalizes each.

use super::casts::Direction;
use super::journal::JournalEntry;
use super::matching::MatchFailure;
use super::plan::ConversionPlan;
use super::reconcile::reconcile_casts;
use super::report::{Attempt, AttemptFailure, ConversionErrors, ConversionReport, Illegal};
use super::rewriter::ConversionRewriter;
use super::target::Legality;
use super::{ConversionConfig, ConversionMode, VisitOrder};
use crate::builder::{Builder, make_constant};
use crate::dominance::reverse_postorder;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::op_info::{FoldResult, Folded};
use crate::pass::{ActionUnit, Actions, PATTERN};
use crate::rewriting::pattern_rewriter::{Change, PatternRewriter};
use crate::rewriting::rewrite::fold;
use crate::text::diag::Diagnostic;
use crate::traits::Traits;
use smallvec::SmallVec;

/// Maximum number of errors, and of remaining ops, in a report.
const MAX_REPORTED: usize = 20;

/// Maximum depth of nested pattern applications, each to the result of the one around it.
const MAX_DEPTH: usize = 64;

/// Maximum number of patterns tried to legalize one op of the program. The number grows exponentially with the depth if
/// every generated op has several failing patterns.
const MAX_ATTEMPTS: u32 = 1 << 14;

pub(super) struct Driver<'a> {
    rewriter: ConversionRewriter<'a>,
    plan: ConversionPlan<'a>,
    config: ConversionConfig,
    actions: Option<&'a mut Actions>,
    /// Whether a pattern for the current op was skipped.
    skipped: bool,
    /// Indices of the patterns whose results are being legalized.
    applying: Vec<u32>,
    /// Number of patterns that may still be tried for the current op.
    budget: u32,
    report: ConversionReport,
    errors: Vec<Diagnostic>,
    more_errors: u64,
}

/// The reason why an op was not legalized.
struct LegalizationFailure {
    legality: Legality,
    attempts: Vec<Attempt>,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        m: &'a mut Module,
        plan: ConversionPlan<'a>,
        config: ConversionConfig,
        actions: Option<&'a mut Actions>,
    ) -> Driver<'a> {
        Driver {
            rewriter: ConversionRewriter::new(m),
            plan,
            config,
            actions,
            skipped: false,
            applying: Vec::new(),
            budget: 0,
            report: ConversionReport::default(),
            errors: Vec::new(),
            more_errors: 0,
        }
    }

    /// Converts all ops under `root`, and `root` itself unless it is the root of the program.
    pub(super) fn run(mut self, root: Op) -> Result<ConversionReport, ConversionErrors> {
        let ops = self.ops_in_order(root);
        for &op in &ops {
            self.rewriter.pending[op] = true;
        }
        for op in ops {
            if std::mem::take(&mut self.rewriter.pending[op]) {
                self.visit(op);
            }
        }
        if self.errors.is_empty() {
            self.materialize();
        }
        if self.errors.is_empty() {
            return Ok(self.report);
        }
        if self.more_errors > 0
            && let Some(last) = self.errors.last_mut()
        {
            last.notes.push((last.loc, format!("and {} more errors", self.more_errors)));
        }
        Err(ConversionErrors(self.errors))
    }

    /// Returns the ops of the program in visit order, without those in regions of recursively legal ops. In forward
    /// order, each op precedes the ops in its regions, and each block the blocks that it dominates.
    fn ops_in_order(&mut self, root: Op) -> Vec<Op> {
        let (mut out, mut stack) = (Vec::new(), vec![root]);
        while let Some(op) = stack.pop() {
            let m = &*self.rewriter.module;
            if m.parent_block(op).is_some() {
                out.push(op);
            }
            if m.regions(op).is_empty() {
                continue;
            }
            let plan = self.plan.of(&m.ctx, m.name(op));
            if self.plan.get(plan).recursive && matches!(self.legality(op), Legality::Legal { .. }) {
                continue;
            }
            let m = &*self.rewriter.module;
            let at = stack.len();
            for &region in m.regions(op) {
                blocks_in_order(m, region, |block| stack.extend(m.block_ops(block)));
            }
            stack[at..].reverse();
        }
        if self.config.order == VisitOrder::Backward {
            out.reverse();
        }
        out
    }

    /// Legalizes one op of the program, or reports it.
    fn visit(&mut self, op: Op) {
        self.budget = MAX_ATTEMPTS;
        self.skipped = false;
        let Err(failed) = self.legalize(op) else { return self.rewriter.commit() };
        if self.skipped {
            return;
        }
        if failed.legality == Legality::Unknown && self.config.mode == ConversionMode::Partial {
            self.report.left += 1;
            if self.report.first_left.len() < MAX_REPORTED {
                let illegal = self.illegal(op, failed);
                self.report.first_left.push(illegal);
            }
            return;
        }
        if self.errors.len() == MAX_REPORTED {
            self.more_errors += 1;
            return;
        }
        let illegal = self.illegal(op, failed);
        let explicitly = self.config.mode == ConversionMode::Partial;
        let error = illegal.error(&self.rewriter.module.ctx, explicitly);
        self.errors.push(error);
    }

    fn illegal(&mut self, op: Op, failed: LegalizationFailure) -> Illegal {
        let m = &*self.rewriter.module;
        let plan = self.plan.of(&m.ctx, m.name(op));
        let plan = self.plan.get(plan);
        let skipped = plan.skipped.iter().map(|&(i, made)| Attempt {
            pattern: self.plan.patterns[i as usize].name,
            why: AttemptFailure::Skipped(made),
        });
        Illegal {
            op: m.name(op),
            loc: m.loc(op),
            objection: self.plan.target.objection(plan.rule, &failed.legality),
            attempts: failed.attempts.into_iter().chain(skipped).collect(),
        }
    }

    fn legality(&mut self, op: Op) -> Legality {
        let m = &*self.rewriter.module;
        let plan = self.plan.of(&m.ctx, m.name(op));
        self.plan.target.judge(self.plan.get(plan).rule, m, op)
    }

    /// Legalizes an op and all ops that its patterns generate. The changes of failed patterns are rolled back.
    fn legalize(&mut self, op: Op) -> Result<(), LegalizationFailure> {
        let legality = self.legality(op);
        if let Legality::Legal { recursively } = legality {
            if recursively {
                for inner in self.rewriter.module.ops_under(op) {
                    self.rewriter.pending[inner] = false;
                }
            }
            return Ok(());
        }
        if self.config.fold && self.fold(op) {
            self.report.converted += u64::from(self.applying.is_empty());
            return Ok(());
        }
        let name = self.rewriter.module.name(op);
        let plan = self.plan.of(&self.rewriter.module.ctx, name);
        let mut attempts = Vec::new();
        for i in 0..self.plan.get(plan).patterns.len() {
            let pattern = self.plan.get(plan).patterns[i];
            match self.apply(pattern, op) {
                Ok(()) => {
                    self.report.converted += u64::from(self.applying.is_empty());
                    return Ok(());
                }
                Err(why) => attempts.push(Attempt { pattern: self.plan.patterns[pattern as usize].name, why }),
            }
        }
        Err(LegalizationFailure { legality, attempts })
    }

    /// Applies a pattern to an op and legalizes the ops that it generates. On failure, all changes are rolled back.
    fn apply(&mut self, index: u32, op: Op) -> Result<(), AttemptFailure> {
        let start = self.rewriter.journal.entries.len();
        let is_counted = self.applying.is_empty();
        if is_counted && let Some(actions) = &mut self.actions {
            let name = self.plan.patterns[index as usize].name;
            if !actions.begin(PATTERN, name, ActionUnit::Op(op), self.rewriter.module) {
                self.skipped = true;
                return Err(AttemptFailure::NoMatch("it is skipped by a debug counter".into()));
            }
        }
        let result = self.try_apply(index, op, start);
        if result.is_err() {
            self.rewriter.rollback(start);
        }
        if is_counted && let Some(actions) = &mut self.actions {
            actions.end(PATTERN, result.is_ok());
        }
        result
    }

    fn try_apply(&mut self, index: u32, op: Op, start: usize) -> Result<(), AttemptFailure> {
        let no_match = |why: MatchFailure| AttemptFailure::NoMatch(why);
        let pattern = &self.plan.patterns[index as usize];
        if !pattern.bounded && self.applying.contains(&index) {
            return Err(no_match("it is already being applied, and its recursion is not bounded".into()));
        }
        if self.applying.len() == MAX_DEPTH {
            return Err(no_match(format!("more than {MAX_DEPTH} nested pattern applications").into()));
        }
        let Some(budget) = self.budget.checked_sub(1) else {
            return Err(no_match(format!("limit of {MAX_ATTEMPTS} pattern applications per op").into()));
        };
        self.budget = budget;
        let operands = self.rewriter.operands(op, pattern.types).map_err(no_match)?;
        self.rewriter.types = pattern.types;
        (pattern.run)(&mut self.rewriter, op, &operands).map_err(no_match)?;
        let end = self.rewriter.journal.entries.len();
        let touches = |e: &JournalEntry| matches!(e, JournalEntry::Modified(snapshot) if snapshot.op == op);
        if !self.rewriter.is_erased(op) && !self.rewriter.journal.entries[start..].iter().any(touches) {
            return Err(no_match("it neither replaced nor modified the op".into()));
        }
        self.applying.push(index);
        let result = (start..end).try_for_each(|i| self.legalize_entry(i));
        self.applying.pop();
        result
    }

    /// Legalizes the op that journal entry `i` created or modified.
    fn legalize_entry(&mut self, i: usize) -> Result<(), AttemptFailure> {
        match &self.rewriter.journal.entries[i] {
            JournalEntry::Modified(snapshot) => self.legalize_generated(snapshot.op),
            &JournalEntry::Change(Change::Created(op)) => self.legalize_generated(op),
            &JournalEntry::Change(Change::Cloned { copy, .. }) => {
                let ops = self.rewriter.module.ops_under(copy);
                ops.into_iter().try_for_each(|op| self.legalize_generated(op))
            }
            _ => Ok(()),
        }
    }

    fn legalize_generated(&mut self, op: Op) -> Result<(), AttemptFailure> {
        if self.rewriter.is_erased(op) || self.rewriter.is_cast(op) {
            return Ok(());
        }
        self.legalize(op).map_err(|failed| AttemptFailure::Generated(Box::new(self.illegal(op, failed))))
    }

    /// Folds an op, if the resulting ops are legal.
    fn fold(&mut self, op: Op) -> bool {
        let m = &*self.rewriter.module;
        if m.num_results(op) == 0 || m.has_trait(op, Traits::CONSTANT_LIKE) {
            return false;
        }
        let Some(Folded::Results(results)) = fold(m, op) else { return false };
        let start = self.rewriter.journal.entries.len();
        let done = self.replace_folded(op, &results).is_some();
        if !done {
            self.rewriter.rollback(start);
        }
        done
    }

    fn replace_folded(&mut self, op: Op, results: &[FoldResult]) -> Option<()> {
        let mut made: SmallVec<[Op; 2]> = SmallVec::new();
        let mut values = ValueList::new();
        for (i, result) in results.iter().enumerate() {
            let m = &mut *self.rewriter.module;
            let ty = m.value_type(m.result(op, i));
            let value = match *result {
                FoldResult::Value(value) => value,
                FoldResult::Attr(attr) => {
                    let dialect = m.ctx.op_dialect(m.name(op)).to_owned();
                    let constant = make_constant(m, attr, ty, &dialect, m.loc(op))?;
                    Builder::before(m, op).insert(constant);
                    self.rewriter.note(Change::Created(constant));
                    made.push(constant);
                    self.rewriter.module.result(constant, 0)
                }
            };
            if self.rewriter.module.value_type(value) != ty {
                return None;
            }
            values.push(value);
        }
        self.rewriter.types = None;
        self.rewriter.replace(op, &values);
        made.into_iter().try_for_each(|op| self.legalize_generated(op)).ok()
    }

    /// Reconciles the casts and materializes the remaining ones.
    fn materialize(&mut self) {
        let alive = self.rewriter.casts.alive();
        for cast in reconcile_casts(self.rewriter.module, &alive) {
            if let Err(error) = self.resolve(cast) {
                match self.errors.len() < MAX_REPORTED {
                    true => self.errors.push(error),
                    false => self.more_errors += 1,
                }
            }
        }
    }

    fn resolve(&mut self, cast: Op) -> Result<(), Diagnostic> {
        let m = &mut *self.rewriter.module;
        let Some(info) = self.rewriter.casts.get(cast) else { return Ok(()) };
        let (inputs, results): (ValueList, ValueList) = (m.operands(cast).into(), m.results(cast).collect());
        let types: SmallVec<[crate::Type; 2]> = results.iter().map(|&v| m.value_type(v)).collect();
        let loc = m.loc(cast);
        let made = info.types.and_then(|converter| {
            let b = &mut Builder::before(m, cast);
            match info.direction {
                Direction::Source => Some([converter.to_source(b, types[0], &inputs, loc)?].into_iter().collect()),
                Direction::Target(original) => converter.to_target(b, &types, &inputs, loc, original),
            }
        });
        let fits = |values: &ValueList| values.iter().map(|&v| m.value_type(v)).eq(types.iter().copied());
        if let Some(values) = made.filter(fits) {
            for (&result, value) in results.iter().zip(values) {
                m.replace_all_uses(result, value);
            }
            m.erase_op(cast);
            return Ok(());
        }
        if info.types.is_some_and(super::TypeConverter::keeps_casts) {
            return Ok(());
        }
        Err(unresolved(m, cast))
    }
}

fn blocks_in_order(m: &Module, region: Region, mut visit: impl FnMut(Block)) {
    let Some(entry) = m.entry(region) else { return };
    if m.has_one_block(region) {
        return visit(entry);
    }
    let order = reverse_postorder(m, region);
    let mut seen: rustc_hash::FxHashSet<Block> = rustc_hash::FxHashSet::default();
    for block in order.into_iter().chain(m.region_blocks(region)) {
        if seen.insert(block) {
            visit(block);
        }
    }
}

/// Returns the error for a cast with users and without a materialization.
fn unresolved(m: &Module, cast: Op) -> Diagnostic {
    let list = |values: &mut dyn Iterator<Item = Value>| {
        let texts: Vec<String> = values.map(|v| format!("'{}'", m.ctx.display_type(m.value_type(v)))).collect();
        texts.join(", ")
    };
    let (from, to) = (list(&mut m.operands(cast).iter().copied()), list(&mut m.results(cast)));
    let message = format!(
        "failed to legalize unresolved materialization from ({from}) to ({to}) that remained live after conversion"
    );
    let error = Diagnostic::error(m.loc(cast), message);
    match m.results(cast).find_map(|v| m.uses(v).next()) {
        Some((user, _)) => error.note(m.loc(user), format!("see existing live user here: '{}'", m.name_text(user))),
        None => error,
    }
}
