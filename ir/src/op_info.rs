//! The declaration tables of ops and dialects, read by the parser, printer, builder, verifier, passes, documentation
//! and generators.

use crate::Violation;
use crate::constraint::{AttrKind, AttrSpec, TypeConstraint};
use crate::context::Context;
use crate::control::{Counted, Edge, Event, Next};
use crate::declaration_error::SourceLine;
use crate::effects::Effects;
use crate::extension::Extension;
use crate::intern::{Attr, Type};
use crate::module::{Module, Op, Value, ValueList};
use crate::parametric::{AttrInfo, TypeInfo};
use crate::representation::Representation;
use crate::rewriting::rewrite::Pattern;
use crate::rewriting::rules::{Rule, RuleFunction, RuleGroup};
use crate::symbols::SymbolTables;
use crate::text::Directive;
use crate::traits::Traits;
use crate::values::access::ElementAccess;
use crate::values::datum::Datum;
use crate::values::memory::Memory;
use crate::values::scalar::Scalar;
use crate::values::trap::Trap;
use smallvec::SmallVec;
use std::any::Any;
use std::ops::Range;

/// The number of values, regions or successors in a declared group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// Zero or one.
    Optional,
    /// Any number.
    Variadic,
}

/// A declared group of operands or results.
pub struct ValueSpec {
    /// The name in formats, documentation and accessors.
    pub name: &'static str,
    /// The documentation.
    pub doc: &'static str,
    /// The number of values.
    pub arity: Arity,
    /// The type constraint.
    pub ty: &'static TypeConstraint,
}

/// A relation between the types of declared groups.
pub enum TypeRelation {
    /// All values of these groups have the same type.
    Same(&'static [&'static str]),
    /// All operands have the same type.
    SameOperands,
    /// The type of `to` is a function of the type of `from`.
    Derived {
        /// The group with the derived type.
        to: &'static str,
        /// The group it is derived from.
        from: &'static str,
        /// The function; `None` if the type of `from` violates its constraint.
        of: fn(&Context, Type) -> Option<Type>,
        /// The summary in messages: "failed to verify that *summary*".
        summary: &'static str,
    },
}

/// A declared group of regions or successors.
pub struct GroupSpec {
    /// The name in formats and accessors.
    pub name: &'static str,
    /// The documentation.
    pub doc: &'static str,
    /// The number of regions or successors.
    pub arity: Arity,
}

/// The view of an op, existing or under construction, that a declaration's functions get: operands, inherent attributes
/// and types.
#[derive(Clone, Copy)]
pub struct OpArgs<'a> {
    /// The module that holds the operands.
    pub module: &'a Module,
    /// The declaration.
    pub info: &'static OpInfo,
    /// The op, if it exists.
    pub op: Option<Op>,
    /// All operands.
    pub operands: &'a [Value],
    /// The dictionary of inherent attributes.
    pub props: Attr,
    /// The result types; empty during inference.
    pub result_types: &'a [Type],
}

impl<'a> OpArgs<'a> {
    /// Returns the context.
    pub fn ctx(&self) -> &'a Context {
        &self.module.ctx
    }

    /// Returns the type of operand `i`.
    pub fn operand_type(&self, i: usize) -> Type {
        self.module.value_type(self.operands[i])
    }

    /// Returns the operands of the declared group `name`; empty for an absent optional.
    pub fn operand(&self, name: &str) -> &'a [Value] {
        self.operands.get(self.operand_range(name)).unwrap_or(&[])
    }

    /// Returns the range of the declared group `name` among all operands.
    pub fn operand_range(&self, name: &str) -> Range<usize> {
        let Some(i) = self.info.operands.iter().position(|s| s.name == name) else { return 0..0 };
        segment(self.ctx(), self.info, self.props, self.operands.len(), i)
    }

    /// Returns the first operand of the declared group `name`, if any.
    pub fn opt_operand(&self, name: &str) -> Option<Value> {
        self.operand(name).first().copied()
    }

    /// Returns the inherent attribute `name`, or its default.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        let ctx = self.ctx();
        ctx.dict_entries(self.props).iter().find(|e| ctx.text(e.0) == name).map(|e| e.1).or_else(|| {
            let default = self.info.attrs.iter().find(|a| a.name == name)?.default?;
            Some(ctx.default_attr(default))
        })
    }

    /// Returns the integer attribute `name`.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.ctx().as_int(self.attr(name)?)
    }

    /// Returns the float attribute `name`.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.ctx().as_float(self.attr(name)?)
    }

    /// Returns the integer list attribute `name`.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.ctx().as_ints(self.attr(name)?)
    }

    /// Whether the boolean or unit attribute `name` is set; an absent one is not.
    pub fn flag(&self, name: &str) -> bool {
        self.attr(name).is_some_and(|a| a != Attr::FALSE && self.ctx().as_int(a) != Some(0))
    }
}

impl Module {
    /// Returns the op's declaration, if it is registered.
    #[inline]
    pub fn info(&self, op: Op) -> Option<&'static OpInfo> {
        self.ctx.op_info(self.ops[op].name)
    }

    /// Whether an op is one of those declared.
    pub fn is_one_of(&self, op: Op, declared: &[&OpInfo]) -> bool {
        self.info(op).is_some_and(|info| declared.iter().any(|other| std::ptr::eq(*other, info)))
    }

    /// Whether an op is of the same dialect as a declared one.
    pub fn shares_dialect(&self, op: Op, other: &OpInfo) -> bool {
        let dialect = |info: &OpInfo| info.name.split_once('.').map(|(dialect, _)| dialect);
        self.info(op).is_some_and(|info| dialect(info) == dialect(other))
    }

    /// Returns the operands of declared group `i`.
    pub fn operand_group(&self, op: Op, i: usize) -> ValueList {
        let operands = self.operands(op);
        let Some(info) = self.info(op) else { return ValueList::new() };
        let range = segment(&self.ctx, info, self.props(op), operands.len(), i);
        operands.get(range).unwrap_or(&[]).into()
    }

    /// Returns the results of declared group `i`.
    pub fn result_group(&self, op: Op, i: usize) -> ValueList {
        let Some(info) = self.info(op) else { return ValueList::new() };
        let sized = info.traits.has(Traits::RESULT_SEGMENTS);
        let sizes = if sized { segment_sizes(&self.ctx, self.props(op), "resultSegmentSizes") } else { None };
        let range = group_range(info.results, sizes.as_deref(), self.num_results(op), i);
        self.results(op).skip(range.start).take(range.len()).collect()
    }

    /// Returns the inherent attribute with this name, or its declared default.
    pub fn inherent_attr(&self, op: Op, name: &str) -> Option<Attr> {
        self.args(op)?.attr(name)
    }

    /// Whether the results of an op follow from its operands by evaluation, without memory, regions or successors.
    pub fn only_evaluates(&self, op: Op) -> bool {
        let evaluates = |info: &OpInfo| (info.eval.is_some() || info.scalar.is_some()) && info.exec.is_none();
        self.regions(op).is_empty() && self.successors(op).is_empty() && self.info(op).is_some_and(evaluates)
    }

    /// Returns the view of a registered op for its declaration's functions, without `result_types`; see
    /// [`Module::with_args`] for the full view.
    pub fn args(&self, op: Op) -> Option<OpArgs<'_>> {
        let info = self.info(op)?;
        Some(OpArgs {
            module: self,
            info,
            op: Some(op),
            operands: self.operands(op),
            props: self.props(op),
            result_types: &[],
        })
    }

    /// Calls `f` with the full view of a registered op.
    pub fn with_args<R>(&self, op: Op, f: impl FnOnce(&OpArgs<'_>) -> R) -> Option<R> {
        let result_types: SmallVec<[Type; 2]> = self.results(op).map(|v| self.value_type(v)).collect();
        Some(f(&OpArgs { result_types: &result_types, ..self.args(op)? }))
    }
}

/// Returns the range of declared group `i` among `total` operands.
pub(crate) fn segment(ctx: &Context, info: &OpInfo, props: Attr, total: usize, i: usize) -> Range<usize> {
    let sized = info.traits.has(Traits::OPERAND_SEGMENTS);
    let sizes = if sized { segment_sizes(ctx, props, "operandSegmentSizes") } else { None };
    group_range(info.operands, sizes.as_deref(), total, i)
}

/// The number of values in each group of operands or results.
pub(crate) type SegmentSizes = SmallVec<[i64; 8]>;

/// Returns the segment sizes in attribute `name` of `props`.
pub(crate) fn segment_sizes(ctx: &Context, props: Attr, name: &str) -> Option<SegmentSizes> {
    ctx.dict_get(props, ctx.str(name)).and_then(|a| ctx.collect_ints(a))
}

/// Returns the range of group `i` of `specs` among `total` values. Without explicit sizes, the optional and variadic
/// groups have equal shares of the values that the single ones leave; there is only one such group, or all have one
/// size.
pub(crate) fn group_range(specs: &[ValueSpec], sizes: Option<&[i64]>, total: usize, i: usize) -> Range<usize> {
    let fixed = specs.iter().filter(|s| s.arity == Arity::One).count();
    let loose = total.saturating_sub(fixed) / (specs.len() - fixed).max(1);
    let size = |j: usize| match sizes {
        Some(sizes) => sizes.get(j).map_or(0, |&n| usize::try_from(n).unwrap_or(0)),
        None if specs[j].arity == Arity::One => 1,
        None => loose,
    };
    let start = (0..i).map(size).sum();
    start..start + size(i)
}

/// The outcome of folding.
pub enum Folded {
    /// A replacement for each result.
    Results(Vec<FoldResult>),
    /// The op was simplified in place.
    InPlace,
}

/// The replacement of a folded result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldResult {
    /// A constant.
    Attr(Attr),
    /// An existing value.
    Value(Value),
}

impl From<Attr> for Folded {
    fn from(attr: Attr) -> Self {
        Folded::Results(vec![FoldResult::Attr(attr)])
    }
}

impl From<Value> for Folded {
    fn from(value: Value) -> Self {
        Folded::Results(vec![FoldResult::Value(value)])
    }
}

/// Evaluates an op on operands; see [`Datum`] for the values. Errors are undefined behavior of the program or limits of
/// the evaluator; it never panics.
pub type EvalFn = fn(&OpArgs<'_>, &[Datum]) -> Result<Vec<Datum>, Trap>;

/// Executes an op on operands and memory. Poison operands are passed on to it.
pub type ExecFn = fn(&OpArgs<'_>, &[Datum], &mut Memory) -> Result<Vec<Datum>, Trap>;

/// Returns the scalar function of an op with these attributes and types.
pub type ScalarFn = fn(&OpArgs<'_>) -> Result<Scalar, Trap>;

/// Returns the element access of an op with these attributes.
pub type ElementAccessFn = fn(&OpArgs<'_>) -> Result<ElementAccess, Trap>;

/// Executes an op with regions stepwise: from its operands and the last event to the next action. It is stateless; the
/// region's arguments carry the loop state.
pub type ControlFn = fn(&OpArgs<'_>, &[Datum], Event<'_>) -> Result<Next, Trap>;

/// A [`ControlFn`] for ops that access memory before or after their regions.
pub type ControlMemoryFn = fn(&OpArgs<'_>, &[Datum], Event<'_>, &mut Memory) -> Result<Next, Trap>;

/// Returns the iteration space of a counted loop, from its operands.
pub type CountedFn = fn(&OpArgs<'_>, &[Datum]) -> Result<Counted, Trap>;

/// Returns the index of the successor that a branch takes.
pub type JumpFn = fn(&OpArgs<'_>, &[Datum]) -> Result<usize, Trap>;

/// Returns the control-flow edges between an op and its regions.
pub type EdgesFn = fn(&Module, Op) -> SmallVec<[Edge; 4]>;

/// Returns the range of a branch's operands that are forwarded to successor `i`.
pub type SuccessorOperandsFn = fn(&Module, Op, usize) -> Range<usize>;

/// Verifies an op.
pub type VerifyFn = fn(&Module, Op) -> Result<(), Violation>;

/// Verifies an op's symbol references, with symbol tables shared by a verifier run. Errors are those of [`VerifyFn`].
pub type VerifySymbolsFn = fn(&Module, Op, &mut SymbolTables) -> Result<(), Violation>;

/// Infers the result types from operands and attributes. Parsers give the error a location, builders return it as an
/// [`InferError`](crate::InferError).
pub type InferFn = fn(&OpArgs<'_>) -> Result<Vec<Type>, Violation>;

/// Returns names for printed results: the index of the first result with the name, and the name.
pub type ResultNamesFn = fn(&Module, Op) -> Vec<(usize, String)>;

/// Folds an op, given the operands that are constant.
pub type FoldFn = fn(&OpArgs<'_>, &[Option<Attr>]) -> Option<Folded>;

/// A global variable.
pub struct Global {
    /// Its memref type, of static shape.
    pub ty: Type,
    /// Its initial value: a tensor, or poison if uninitialized. `None` for an external definition.
    pub contents: Option<Datum>,
    /// Whether the global is read-only.
    pub constant: bool,
}

/// Returns the global that a symbol op defines; `None` if the evaluator does not support its elements.
pub type GlobalFn = fn(&Module, Op) -> Option<Global>;

/// The role of an op for a memory slot: a single-element memref whose lifetime ends with its function. Passes such as
/// mem2reg promote slots to values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotRole {
    /// Allocates the slot, the single result, if the memref has a single element.
    Alloc,
    /// Loads the slot in the first operand; the single result is the value. Other operands are indices.
    Load,
    /// Stores the first operand to the slot in the second one. Other operands are indices.
    Store,
}

/// An op's declaration as data, generated by [`op`](crate::op).
pub struct OpInfo {
    /// `arith.addi`
    pub name: &'static str,
    /// The doc comment; the first line is the summary.
    pub doc: &'static str,
    /// The place of the declaration in its source.
    pub declared_at: Option<SourceLine>,
    /// Operand groups.
    pub operands: &'static [ValueSpec],
    /// Result groups.
    pub results: &'static [ValueSpec],
    /// Inherent attributes.
    pub attrs: &'static [AttrSpec],
    /// Region groups.
    pub regions: &'static [GroupSpec],
    /// Successor groups.
    pub successors: &'static [GroupSpec],
    /// The traits.
    pub traits: Traits,
    /// The side effects.
    pub effects: Effects,
    /// Whether a particular op is defined for all operands, for ops with [`Effects::MayUb`], or with regions whose
    /// execution depends on operands.
    pub speculatable: Option<fn(&Module, Op) -> bool>,
    /// The permitted parent ops; empty for any.
    pub parents: &'static [&'static str],
    /// The custom assembly format; `None` for ops printed in generic form only.
    pub format: Option<&'static str>,
    /// Custom directives: the hand-written parts of the format.
    pub directives: &'static [&'static Directive],
    /// The implicit terminator of single-block regions, which the text may omit; empty for none.
    pub implicit_terminator: &'static str,
    /// The default dialect in this op's regions, whose prefix may be omitted; empty for none.
    pub default_dialect: &'static str,
    /// Verifies constraints beyond declared types and traits.
    pub verify: Option<VerifyFn>,
    /// Verifies constraints on regions, after the ops inside.
    pub verify_regions: Option<VerifyFn>,
    /// Verifies symbol references.
    pub verify_symbols: Option<VerifySymbolsFn>,
    /// Relations between the types of operands and results.
    pub relations: &'static [TypeRelation],
    /// Infers result types from operands and attributes.
    pub infer: Option<InferFn>,
    /// Folds identities that hold for all operands; `&[Option<Attr>]` are the constant operands. Constant folding is
    /// derived from `eval`.
    pub fold: Option<FoldFn>,
    /// Semantics of pure ops.
    pub eval: Option<EvalFn>,
    /// The operand groups whose elements the op moves unchanged into its results; its other operands only select
    /// them. A poison element moves like any other.
    pub moves: &'static [&'static str],
    /// Whether a poison operand is undefined behavior, whatever its value; for ops with [`Effects::MayUb`]. Other poison
    /// operands of theirs are so if some value of them is.
    pub poison_is_ub: Option<fn(&OpArgs<'_>, usize) -> bool>,
    /// Semantics of ops that access memory.
    pub exec: Option<ExecFn>,
    /// Semantics of scalar and elementwise ops: `eval` is derived from it.
    pub scalar: Option<ScalarFn>,
    /// Semantics of scalar loads and stores: `exec` is derived from it.
    pub access: Option<ElementAccessFn>,
    /// Semantics of ops with regions.
    pub control: Option<ControlFn>,
    /// Semantics of ops with regions that access memory themselves.
    pub control_memory: Option<ControlMemoryFn>,
    /// Semantics of counted loops.
    pub counted: Option<CountedFn>,
    /// Semantics of branches.
    pub jump: Option<JumpFn>,
    /// The operands that a branch forwards to its successors.
    pub successor_operands: Option<SuccessorOperandsFn>,
    /// The attribute with each successor's operand count, for successors that share an operand group.
    pub successor_sizes: Option<&'static str>,
    /// The control-flow edges between the op and its regions.
    pub edges: Option<EdgesFn>,
    /// The global that a symbol op defines.
    pub global: Option<GlobalFn>,
    /// The role for a memory slot.
    pub slot: Option<SlotRole>,
    /// Names of results in printed text, such as `c0_i32`: the index of the first result with the name, and the name.
    pub result_names: Option<ResultNamesFn>,
    /// Canonicalization patterns rooted at this op.
    pub patterns: &'static [Pattern],
    /// Data for analyses and machines, at most one value of a type; see [`OpInfo::extension`].
    pub extensions: &'static [&'static dyn Extension],
}

impl OpInfo {
    /// The empty declaration, for struct update syntax (`..`).
    pub const DEFAULT: OpInfo = OpInfo {
        name: "",
        doc: "",
        declared_at: None,
        operands: &[],
        results: &[],
        attrs: &[],
        regions: &[],
        successors: &[],
        traits: Traits::NONE,
        effects: Effects::Pure,
        speculatable: None,
        parents: &[],
        format: None,
        directives: &[],
        implicit_terminator: "",
        default_dialect: "",
        verify: None,
        verify_regions: None,
        verify_symbols: None,
        relations: &[],
        infer: None,
        fold: None,
        eval: None,
        moves: &[],
        poison_is_ub: None,
        exec: None,
        scalar: None,
        access: None,
        control: None,
        control_memory: None,
        counted: None,
        jump: None,
        successor_operands: None,
        successor_sizes: None,
        edges: None,
        global: None,
        slot: None,
        result_names: None,
        patterns: &[],
        extensions: &[],
    };

    /// Returns the first line of the doc comment.
    pub fn summary(&self) -> &'static str {
        self.doc.lines().next().unwrap_or("").trim_end_matches('.')
    }

    /// Returns the extension of type `T`, in time linear in the number of extensions, of which an op has few.
    pub fn extension<T: Extension>(&self) -> Option<&'static T> {
        self.extensions.iter().find_map(|&extension| (extension as &dyn Any).downcast_ref())
    }

    /// Whether the op declares the execution of its regions.
    pub fn runs_regions(&self) -> bool {
        self.control.is_some() || self.control_memory.is_some() || self.counted.is_some()
    }

    /// Returns the inherent attribute with this name.
    pub fn attr(&self, name: &str) -> Option<&'static AttrSpec> {
        self.attrs.iter().find(|a| a.name == name)
    }

    /// Whether ops of this name have properties.
    pub(crate) fn has_properties(&self) -> bool {
        !self.attrs.is_empty() || self.traits.has(Traits::OPERAND_SEGMENTS) || self.traits.has(Traits::RESULT_SEGMENTS)
    }

    /// Whether `name` is an inherent attribute (a property, `<{...}>`) rather than a discardable one.
    pub fn is_inherent(&self, name: &str) -> bool {
        self.attr(name).is_some()
            || (name == "operandSegmentSizes" && self.traits.has(Traits::OPERAND_SEGMENTS))
            || (name == "resultSegmentSizes" && self.traits.has(Traits::RESULT_SEGMENTS))
    }
}

/// A typed handle of an op, declared with [`op`](crate::op).
pub trait OpDecl: Copy {
    /// The declaration.
    const INFO: &'static OpInfo;

    /// Wraps `op` in the handle, without checking its name.
    fn wrap(op: Op) -> Self;

    /// Returns the handle of `op`, if it is an op of this kind.
    fn cast(module: &Module, op: Op) -> Option<Self> {
        module.info(op).is_some_and(|info| std::ptr::eq(info, Self::INFO)).then(|| Self::wrap(op))
    }

    /// Returns the handle of the op that defines `value`, if it is an op of this kind.
    fn defining(module: &Module, value: Value) -> Option<Self> {
        Self::cast(module, module.defining_op(value)?)
    }
}

/// A dialect declaration.
pub struct Dialect {
    /// The prefix of its ops, types and attributes.
    pub name: &'static str,
    /// Its documentation; the first line is the summary.
    pub doc: &'static str,
    /// Its ops.
    pub ops: &'static [&'static OpInfo],
    /// Its declared types.
    pub types: &'static [&'static TypeInfo],
    /// Its declared attributes.
    pub attrs: &'static [&'static AttrInfo],
    /// Its enumerations, such as `#arith.fastmath<...>`.
    pub enums: &'static [&'static AttrKind],
    /// The name of the op that materializes constants, if the dialect has one.
    pub constant: Option<&'static str>,
    /// Canonicalization rules.
    pub rules: &'static [Rule],
    /// Named groups of rewrite rules, enabled on request.
    pub rule_groups: &'static [RuleGroup],
    /// Conditions and functions that rules of any dialect can call.
    pub rule_functions: &'static [&'static RuleFunction],
    /// Representations of values by values of other types, through which checking compares lowered programs.
    pub representations: &'static [&'static Representation],
}

impl Dialect {
    /// The dialect of nothing, for `..` in others.
    pub const DEFAULT: Dialect = Dialect {
        name: "",
        doc: "",
        ops: &[],
        types: &[],
        attrs: &[],
        enums: &[],
        constant: None,
        rules: &[],
        rule_groups: &[],
        rule_functions: &[],
        representations: &[],
    };
}

/// Returns the declared group names as result names; for `result_names`.
pub fn declared_names(module: &Module, op: Op) -> Vec<(usize, String)> {
    let Some(info) = module.info(op) else { return Vec::new() };
    let mut at = 0;
    let mut names = Vec::new();
    for (i, spec) in info.results.iter().enumerate() {
        let len = module.result_group(op, i).len();
        if len > 0 {
            names.push((at, spec.name.to_owned()));
        }
        at += len;
    }
    names
}
