//! The structure of a rule: its variables, its normal form, and the checks that make it applicable.

use super::compiled::{MAX_TERMS, SEGMENT_SIZES};
use super::{ArgKind, AttrTerm, Call, CompiledRule, OpTerm, RuleError, Term, Var};
use crate::context::Context;
use crate::intern::{Attr, OpName, Str};
use crate::op_info::{Arity, OpInfo, ValueSpec};
use crate::traits::Traits;

/// An occurrence of a variable.
enum Occurrence<'a> {
    /// A required variable.
    Required(&'a mut Var),
    /// An optional variable.
    Optional(&'a mut Option<Var>),
}

/// A visitor of variable occurrences: the occurrence, its kind if known there, and whether it binds the variable.
type Visit<'v> = dyn FnMut(Occurrence<'_>, Option<ArgKind>, bool) + 'v;

/// Returns the default sizes of an op's operand groups. Optional and variadic groups are filled from first to last.
fn default_segment_sizes(info: &OpInfo, operands: usize) -> Vec<i32> {
    let mut left = operands.saturating_sub(info.operands.iter().filter(|group| group.arity == Arity::One).count());
    let mut size = |group: &ValueSpec| {
        let most = match group.arity {
            Arity::One => return 1,
            Arity::Optional => 1,
            Arity::Variadic => usize::MAX,
        };
        let here = left.min(most);
        left -= here;
        here as i32
    };
    info.operands.iter().map(&mut size).collect()
}

impl OpTerm {
    /// Creates an op term with these attributes, operands and result types.
    pub fn new(
        ctx: &Context,
        name: OpName,
        mut attrs: Vec<(Str, AttrTerm)>,
        operands: Vec<Term>,
        types: Vec<Option<Var>>,
    ) -> OpTerm {
        let sized = ctx.op_info(name).filter(|info| info.traits.has(Traits::OPERAND_SEGMENTS));
        let key = ctx.str(SEGMENT_SIZES);
        if let Some(info) = sized.filter(|_| !attrs.iter().any(|(known, _)| *known == key)) {
            attrs.push((key, AttrTerm::Is(ctx.i32_array_attr(&default_segment_sizes(info, operands.len())))));
        }
        attrs.sort_by_key(|(key, _)| ctx.text(*key));
        let swaps = ctx.op_info(name).is_some_and(|info| info.traits.has(Traits::COMMUTATIVE));
        let results = vec![None; types.len()];
        OpTerm { name, commutative: swaps && operands.len() == 2, attrs, operands, types, results }
    }

    /// Returns the variable for the attributes that the term does not mention.
    pub fn others(&self) -> Option<Var> {
        self.attrs.iter().find_map(|(_, attr)| if let AttrTerm::Others(var) = attr { Some(*var) } else { None })
    }

    /// Returns the declared group of each operand; `None` if a variable stands for the sizes of the groups.
    pub fn operand_specs(&self, ctx: &Context) -> Option<Vec<&'static ValueSpec>> {
        let info = ctx.op_info(self.name)?;
        let is_open =
            |(key, attr): &(Str, AttrTerm)| ctx.text(*key) == SEGMENT_SIZES && !matches!(attr, AttrTerm::Is(_));
        if self.attrs.iter().any(is_open) {
            return None;
        }
        let sizes = default_segment_sizes(info, self.operands.len());
        Some(info.operands.iter().zip(sizes).flat_map(|(spec, size)| vec![spec; size.max(0) as usize]).collect())
    }

    /// Returns the attributes of a dictionary that the term does not mention.
    pub fn not_mentioned(&self, ctx: &Context, dict: Attr) -> Attr {
        let mentioned = |key: Str| self.attrs.iter().any(|(known, _)| *known == key);
        ctx.dict_attr(ctx.dict_entries(dict).iter().copied().filter(|(key, _)| !mentioned(*key)).collect())
    }

    /// Returns the attributes of a new op under the bindings `attr_of`; `None` if a variable is unbound.
    pub fn props(&self, ctx: &Context, attr_of: impl Fn(Var) -> Option<Attr>) -> Option<Vec<(Str, Attr)>> {
        let mut props = Vec::new();
        for (key, attr) in &self.attrs {
            match attr {
                AttrTerm::Is(attr) => props.push((*key, *attr)),
                AttrTerm::Var(var) => props.push((*key, attr_of(*var)?)),
                AttrTerm::Others(var) => props.extend(ctx.dict_entries(self.not_mentioned(ctx, attr_of(*var)?))),
            }
        }
        Some(props)
    }

    fn visit(&mut self, left: bool, f: &mut Visit<'_>) {
        for (_, attr) in &mut self.attrs {
            if let AttrTerm::Var(var) | AttrTerm::Others(var) = attr {
                f(Occurrence::Required(var), Some(ArgKind::Attr), left);
            }
        }
        self.operands.iter_mut().for_each(|term| term.visit(left, f));
        self.types.iter_mut().for_each(|ty| f(Occurrence::Optional(ty), Some(ArgKind::Type), left));
        self.results.iter_mut().for_each(|var| f(Occurrence::Optional(var), Some(ArgKind::Value), true));
    }

    /// Calls `f` with the op and all ops that define its operands.
    pub(crate) fn for_each_op(&self, f: &mut dyn FnMut(&OpTerm)) {
        f(self);
        for term in &self.operands {
            if let Term::Op { op, .. } = term {
                op.for_each_op(f);
            }
        }
    }

    /// Whether the op uses or defines one of the values.
    fn shares(&self, known: &[bool]) -> bool {
        let is_known = |var: &Option<Var>| var.is_some_and(|var| known[var]);
        let used = |term: &Term| matches!(term, Term::Value { var, .. } if known[*var]);
        self.results.iter().any(is_known) || self.operands.iter().any(used)
    }
}

impl Term {
    fn visit(&mut self, left: bool, f: &mut Visit<'_>) {
        match self {
            Term::Value { var, ty } => {
                f(Occurrence::Required(var), Some(ArgKind::Value), left);
                f(Occurrence::Optional(ty), Some(ArgKind::Type), left);
            }
            Term::Constant { var, ty } => {
                f(Occurrence::Required(var), Some(ArgKind::Attr), left);
                f(Occurrence::Optional(ty), Some(ArgKind::Type), left);
            }
            Term::Number { ty, .. } => f(Occurrence::Optional(ty), Some(ArgKind::Type), left),
            Term::Op { op, .. } => op.visit(left, f),
        }
    }

    fn for_each_leaf(&mut self, f: &mut dyn FnMut(Var, &mut Option<Var>)) {
        match self {
            Term::Value { var, ty } | Term::Constant { var, ty } => f(*var, ty),
            Term::Number { .. } => {}
            Term::Op { op, .. } => op.operands.iter_mut().for_each(|term| term.for_each_leaf(f)),
        }
    }

    fn count(&self) -> usize {
        match self {
            Term::Op { op, .. } => op.count(),
            _ => 1,
        }
    }
}

impl OpTerm {
    fn count(&self) -> usize {
        1 + self.operands.iter().map(Term::count).sum::<usize>()
    }
}

impl CompiledRule {
    /// Brings the rule into normal form, in which equal rules are identical: variables are numbered in order of
    /// appearance, and redundant ones dropped.
    ///
    /// # Errors
    /// The rule cannot be applied to any program.
    pub fn finish(mut self) -> Result<CompiledRule, RuleError> {
        let terms =
            self.roots.iter().map(OpTerm::count).sum::<usize>() + self.right.iter().map(Term::count).sum::<usize>();
        if terms > MAX_TERMS {
            return Err(RuleError::TooLarge(terms));
        }
        self.keep_first_types();
        self.drop_unused();
        self.number();
        self.check()?;
        Ok(self)
    }

    /// Returns the kind of each variable.
    pub fn kinds(&self) -> Vec<Option<ArgKind>> {
        let mut kinds = vec![None; self.variables];
        self.clone().visit(&mut |occurrence, kind, _| {
            if let (Some(var), Some(kind)) = (occurrence.var(), kind) {
                kinds[var] = Some(kind);
            }
        });
        kinds
    }

    /// Returns the number of results of all roots.
    pub fn num_results(&self) -> usize {
        self.roots.iter().map(|root| root.results.len()).sum()
    }

    /// Whether a root is replaced by itself.
    pub fn keeps(&self, root: usize) -> bool {
        let before = self.roots[..root].iter().map(|root| root.results.len()).sum();
        let new = self.right.iter().skip(before);
        let same = |(old, new): (&Option<Var>, &Term)| matches!(new, Term::Value { var, .. } if *old == Some(*var));
        self.roots[root].results.iter().zip(new).all(same)
    }

    /// Returns the rule without condition `i`.
    #[must_use]
    pub fn without_condition(&self, i: usize) -> CompiledRule {
        let mut rule = self.clone();
        rule.conditions.remove(i);
        rule
    }

    fn visit(&mut self, f: &mut Visit<'_>) {
        self.roots.iter_mut().for_each(|root| root.visit(true, f));
        self.fixed.iter_mut().for_each(|(var, _)| f(Occurrence::Required(var), Some(ArgKind::Type), true));
        for call in &mut self.conditions {
            call.args.iter_mut().for_each(|var| f(Occurrence::Required(var), None, false));
        }
        for (var, call) in &mut self.computed {
            call.args.iter_mut().for_each(|var| f(Occurrence::Required(var), None, false));
            f(Occurrence::Required(var), Some(ArgKind::Attr), true);
        }
        self.right.iter_mut().for_each(|term| term.visit(false, f));
    }

    /// Keeps the type of each variable at its first occurrence only.
    fn keep_first_types(&mut self) {
        let mut known: Vec<Option<Var>> = vec![None; self.variables];
        self.for_each_leaf(&mut |var, ty| known[var] = known[var].or(*ty));
        let mut seen = vec![false; self.variables];
        self.for_each_leaf(&mut |var, ty| {
            let first = !std::mem::replace(&mut seen[var], true);
            if first {
                *ty = known[var];
            } else if *ty == known[var] {
                *ty = None;
            }
        });
    }

    /// Calls `f` with each value and constant variable and its type.
    fn for_each_leaf(&mut self, f: &mut dyn FnMut(Var, &mut Option<Var>)) {
        self.roots.iter_mut().flat_map(|root| &mut root.operands).for_each(|term| term.for_each_leaf(f));
        self.right.iter_mut().for_each(|term| term.for_each_leaf(f));
    }

    /// Drops type and result variables that occur only once.
    fn drop_unused(&mut self) {
        let mut counts = vec![0u32; self.variables];
        self.visit(&mut |occurrence, _, _| occurrence.var().into_iter().for_each(|var| counts[var] += 1));
        self.fixed.retain(|(var, _)| counts[*var] > 1);
        self.visit(&mut |occurrence, _, _| {
            if let Occurrence::Optional(var) = occurrence
                && var.is_some_and(|var| counts[var] == 1)
            {
                *var = None;
            }
        });
    }

    fn number(&mut self) {
        let (mut numbers, mut next) = (vec![None; self.variables], 0);
        let mut renumber = |var: &mut Var| {
            *var = *numbers[*var].get_or_insert_with(|| {
                next += 1;
                next - 1
            });
        };
        self.visit(&mut |occurrence, _, _| match occurrence {
            Occurrence::Required(var) => renumber(var),
            Occurrence::Optional(var) => var.iter_mut().for_each(&mut renumber),
        });
        self.variables = next;
        self.fixed.sort_unstable_by_key(|(var, _)| *var);
    }

    fn check(&self) -> Result<(), RuleError> {
        let (roots, results) = (self.roots.len(), self.num_results());
        if roots == 0 || results != self.right.len() {
            return Err(RuleError::Replacements { values: self.right.len(), results, roots });
        }
        let (kinds, mut bound) = (self.kinds(), vec![false; self.variables]);
        let mut unbound = false;
        self.clone().visit(&mut |occurrence, _, defines| {
            if let Some(var) = occurrence.var() {
                unbound |= !defines && !bound[var];
                bound[var] |= defines;
            }
        });
        if unbound {
            return Err(RuleError::Unbound);
        }
        let calls = self.conditions.iter().map(|call| (call, true));
        for (call, is_test) in calls.chain(self.computed.iter().map(|(_, call)| (call, false))) {
            check_call(call, is_test, &kinds)?;
        }
        self.check_roots()
    }

    /// Checks that roots are connected, and that their replacements do not use them.
    fn check_roots(&self) -> Result<(), RuleError> {
        let mut known = vec![false; self.variables];
        for (i, root) in self.roots.iter().enumerate() {
            if i > 0 && !root.shares(&known) {
                return Err(RuleError::Disconnected);
            }
            let mut note = root.clone();
            note.visit(true, &mut |occurrence, kind, _| {
                if let (Some(var), Some(ArgKind::Value)) = (occurrence.var(), kind) {
                    known[var] = true;
                }
            });
        }
        let gone = (0..self.roots.len()).filter(|&i| self.roots.len() == 1 || !self.keeps(i));
        let replaced: Vec<Var> = gone.flat_map(|i| self.roots[i].results.iter().flatten().copied()).collect();
        let mut used = false;
        for term in &self.right {
            term.clone().visit(false, &mut |occurrence, _, _| {
                used |= occurrence.var().is_some_and(|var| replaced.contains(&var));
            });
        }
        if used { Err(RuleError::UsesReplaced) } else { Ok(()) }
    }
}

impl Occurrence<'_> {
    fn var(&self) -> Option<Var> {
        match self {
            Occurrence::Required(var) => Some(**var),
            Occurrence::Optional(var) => **var,
        }
    }
}

/// Checks the signature of a call to a condition or computation.
fn check_call(call: &Call, is_test: bool, kinds: &[Option<ArgKind>]) -> Result<(), RuleError> {
    let function = call.function;
    if function.is_test() != is_test {
        return Err(RuleError::Role { function: function.name, is_test: function.is_test() });
    }
    let fits = |(&var, want): (&Var, &ArgKind)| kinds[var].is_some_and(|kind| want.takes(kind));
    let right = call.args.len() == function.args.len() && call.args.iter().zip(function.args).all(fits);
    if !right || call.params.len() != function.params.len() {
        let wanted = function.args.iter().map(|kind| kind.word()).chain(function.params.iter().copied()).collect();
        return Err(RuleError::Arguments { function: function.name, wanted });
    }
    Ok(())
}
