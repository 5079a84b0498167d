//! The tables that an op's declaration turns into, and that parser, printer, builder, verifier, passes, documentation
//! and generators read.

use crate::access::ElementAccess;
use crate::context::Context;
use crate::control::{Counted, Edge, Event, Next};
use crate::datum::Datum;
use crate::effects::Effects;
use crate::intern::{Attr, Type};
use crate::memory::Memory;
use crate::module::{Module, Op, Value, ValueList};
use crate::op_cost::OpCost;
use crate::rewrite::Pattern;
use crate::rules::{Rule, RuleFunction, RuleGroup};
use crate::scalar::Scalar;
use crate::symbols::SymbolTables;
use crate::text::Directive;
use crate::traits::Traits;
use crate::trap::Trap;
use smallvec::SmallVec;
use std::ops::Range;

/// A set of named types, such as "signless integer or vector of it".
pub struct TypeConstraint {
    /// For messages: "operand #0 must be *summary*".
    pub summary: &'static str,
    /// Whether a type is in the set.
    pub check: fn(&Context, Type) -> bool,
    /// The one type in the set, if there is only one: custom forms need not spell it.
    pub only: Option<Type>,
}

/// A set of attributes, such as "64-bit integer" or the cases of an enumeration.
pub struct AttrKind {
    /// For messages: "attribute 'x' failed to satisfy constraint: *summary*".
    pub summary: &'static str,
    /// Whether an attribute is in the set.
    pub check: fn(&Context, Attr) -> bool,
    /// How custom forms spell it; see [`AttrText`].
    pub text: AttrText,
}

/// How a custom form spells an attribute of a kind.
pub enum AttrText {
    /// As any attribute, with its type.
    Full,
    /// In full by a directive, never by an alias.
    Inlined,
    /// An integer or float without its type, which is always this one.
    Bare(Type),
    /// A symbol's name, `@f`, for a string attribute.
    SymbolName,
    /// Nothing: a unit attribute that the words around it spell.
    Flag,
    /// A type, for a type attribute.
    Type,
    /// `[1, 2]` for a dense array of integers of this type.
    Ints(Type),
    /// A word for an integer of type `i64` or `i32`: (word, value).
    Cases(Type, &'static [(&'static str, i64)]),
    /// The part in angle brackets of a dialect's enumeration: `#arith.fastmath<nnan,contract>` is `<nnan,contract>`.
    Words {
        /// `arith`
        dialect: &'static str,
        /// `fastmath`
        mnemonic: &'static str,
        /// Its words.
        words: &'static [&'static str],
        /// How several are combined; `None` where there is always one.
        flags: Option<Flags>,
    },
    /// The part in angle brackets of a dialect's attribute with a text of its own: `#layout.tiled<"NCHW8c">` is `<"NCHW8c">`.
    Body(&'static AttrBody),
}

/// A dialect's attribute with a text of its own. The text is the attribute: it is brought into one form as it is parsed, so
/// that equal attributes are one, and read again by whoever wants to know what it says.
pub struct AttrBody {
    /// `layout`
    pub dialect: &'static str,
    /// `tiled`
    pub mnemonic: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Some texts between the angle brackets, for documentation and generators.
    pub examples: &'static [&'static str],
    /// From what is between the angle brackets to how that is printed; or where in it and why it is wrong.
    pub parse: fn(&str) -> Result<String, (usize, String)>,
}

/// How words are combined that are flags. The first word of the list stands for none of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// What is between them: a comma, and blanks perhaps.
    pub separator: &'static str,
    /// The word that stands for all of them; empty when there is none.
    pub all: &'static str,
}

impl Flags {
    /// A list of flags, separated by commas, as it is printed: each once, in the order of `words`. `None` when there are
    /// others among them.
    pub(crate) fn in_order(&self, words: &[&str], list: &str) -> Option<String> {
        let given: Vec<&str> = list.split(',').map(str::trim).collect();
        if !given.iter().all(|w| words.contains(w)) {
            return None;
        }
        let flags: Vec<&str> = words.iter().skip(1).copied().filter(|w| *w != self.all).collect();
        if !self.all.is_empty() && (given.contains(&self.all) || flags.iter().all(|w| given.contains(w))) {
            return Some(self.all.to_owned());
        }
        let set: Vec<&str> = flags.into_iter().filter(|w| given.contains(w)).collect();
        Some(if set.is_empty() { words.first()?.to_string() } else { set.join(self.separator) })
    }
}

/// How many values, regions or successors a declared group has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// A declared group of operands or results.
pub struct ValueSpec {
    /// Its name in formats, documentation and accessors.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// How many values.
    pub arity: Arity,
    /// Which types.
    pub ty: &'static TypeConstraint,
}

/// A relation between the types of declared groups.
pub enum TypeRelation {
    /// All values of these groups have one type.
    Same(&'static [&'static str]),
    /// All operands have one type.
    SameOperands,
    /// The type of `to` follows from that of `from`.
    Derived {
        /// The group whose type follows.
        to: &'static str,
        /// The group that it follows from.
        from: &'static str,
        /// How; `None` when `from` has a type that the declaration does not allow.
        of: fn(&Context, Type) -> Option<Type>,
        /// For messages: "failed to verify that *summary*".
        summary: &'static str,
    },
}

/// A declared inherent attribute.
pub struct AttrSpec {
    /// Its name in the text.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Whether it may be absent.
    pub optional: bool,
    /// Which attributes.
    pub kind: &'static AttrKind,
    /// The text of the value that stands for an absent one.
    pub default: Option<&'static str>,
}

/// A declared group of regions or successors.
pub struct GroupSpec {
    /// Its name in formats and accessors.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// How many.
    pub arity: Arity,
}

/// The view that declarations get of an op that exists or is about to: its operands, inherent attributes and types.
#[derive(Clone, Copy)]
pub struct OpArgs<'a> {
    /// Where the operands live.
    pub module: &'a Module,
    /// The declaration.
    pub info: &'static OpInfo,
    /// The op, when it exists.
    pub op: Option<Op>,
    /// All operands.
    pub operands: &'a [Value],
    /// The dictionary of inherent attributes.
    pub props: Attr,
    /// Result types; empty while they are being inferred.
    pub result_types: &'a [Type],
}

impl<'a> OpArgs<'a> {
    /// The context.
    pub fn ctx(&self) -> &'a Context {
        &self.module.ctx
    }

    /// The type of operand `i`.
    pub fn operand_type(&self, i: usize) -> Type {
        self.module.value_type(self.operands[i])
    }

    /// The operands of the declared group `name`; empty for an absent optional.
    pub fn operand(&self, name: &str) -> &'a [Value] {
        self.operands.get(self.operand_range(name)).unwrap_or(&[])
    }

    /// Which of all operands are those of the declared group `name`.
    pub fn operand_range(&self, name: &str) -> Range<usize> {
        let Some(i) = self.info.operands.iter().position(|s| s.name == name) else { return 0..0 };
        segment(self.ctx(), self.info, self.props, self.operands.len(), i)
    }

    /// The first operand of the declared group `name`, if any.
    pub fn opt_operand(&self, name: &str) -> Option<Value> {
        self.operand(name).first().copied()
    }

    /// The inherent attribute `name`, or its default.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        let ctx = self.ctx();
        ctx.dict_entries(self.props).iter().find(|e| ctx.text(e.0) == name).map(|e| e.1).or_else(|| {
            let default = self.info.attrs.iter().find(|a| a.name == name)?.default?;
            Some(ctx.default_attr(default))
        })
    }

    /// The integer attribute `name`.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.ctx().as_int(self.attr(name)?)
    }

    /// The float attribute `name`.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.ctx().as_float(self.attr(name)?)
    }

    /// The integer list attribute `name`.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.ctx().as_ints(self.attr(name)?)
    }

    /// The boolean attribute `name`; an absent one is false, a unit attribute true.
    pub fn flag(&self, name: &str) -> bool {
        self.attr(name).is_some_and(|a| a != Attr::FALSE && self.ctx().as_int(a) != Some(0))
    }
}

impl Module {
    /// The op's declaration, if a registered dialect has one.
    #[inline]
    pub fn info(&self, op: Op) -> Option<&'static OpInfo> {
        self.ctx.op_info(self.ops[op].name)
    }

    /// The operands of declared group `i`.
    pub fn operand_group(&self, op: Op, i: usize) -> ValueList {
        let operands = self.operands(op);
        let Some(info) = self.info(op) else { return ValueList::new() };
        let range = segment(&self.ctx, info, self.props(op), operands.len(), i);
        operands.get(range).unwrap_or(&[]).into()
    }

    /// The results of declared group `i`.
    pub fn result_group(&self, op: Op, i: usize) -> ValueList {
        let Some(info) = self.info(op) else { return ValueList::new() };
        let sized = info.traits.has(Traits::RESULT_SEGMENTS);
        let sizes = if sized { segment_sizes(&self.ctx, self.props(op), "resultSegmentSizes") } else { None };
        let range = group_range(info.results, sizes.as_deref(), self.num_results(op), i);
        self.results(op).skip(range.start).take(range.len()).collect()
    }

    /// The inherent attribute of that name, or its declared default.
    pub fn inherent_attr(&self, op: Op, name: &str) -> Option<Attr> {
        self.args(op)?.attr(name)
    }

    /// What a declaration's functions get to see of a registered op. `result_types` is left empty; see
    /// [`Module::with_args`] for all.
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

    /// Calls `f` with the whole view of a registered op.
    pub fn with_args<R>(&self, op: Op, f: impl FnOnce(&OpArgs<'_>) -> R) -> Option<R> {
        let result_types: SmallVec<[Type; 2]> = self.results(op).map(|v| self.value_type(v)).collect();
        Some(f(&OpArgs { result_types: &result_types, ..self.args(op)? }))
    }
}

/// The range of the values of declared group `i` among `total` operands.
pub(crate) fn segment(ctx: &Context, info: &OpInfo, props: Attr, total: usize, i: usize) -> Range<usize> {
    let sized = info.traits.has(Traits::OPERAND_SEGMENTS);
    let sizes = if sized { segment_sizes(ctx, props, "operandSegmentSizes") } else { None };
    group_range(info.operands, sizes.as_deref(), total, i)
}

/// The segment sizes that `props` states under `name`.
pub(crate) fn segment_sizes(ctx: &Context, props: Attr, name: &str) -> Option<Vec<i64>> {
    ctx.dict_get(props, ctx.str(name)).and_then(|a| ctx.as_ints(a))
}

/// The range of group `i` of `specs` among `total` values. Without stated sizes, the groups that are not of arity one share
/// evenly what the others leave; there is one such group, or results are declared to come in groups of one size.
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

/// What folding found.
pub enum Folded {
    /// For each result, what it is equal to.
    Results(Vec<FoldResult>),
    /// The op was changed in place, for the better.
    InPlace,
}

/// What a folded result is equal to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldResult {
    /// A constant.
    Attr(Attr),
    /// A value that exists already.
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

/// Computes the results from the operands; see [`Datum`] for what values are. Errors are reported as undefined behaviour
/// of the program or as limits of the evaluator, never as panics.
pub type EvalFn = fn(&OpArgs<'_>, &[Datum]) -> Result<Vec<Datum>, Trap>;

/// Computes the results from the operands and memory. Poison operands reach it.
pub type ExecFn = fn(&OpArgs<'_>, &[Datum], &mut Memory) -> Result<Vec<Datum>, Trap>;

/// What an op computes, from its attributes and types.
pub type ScalarFn = fn(&OpArgs<'_>) -> Result<Scalar, Trap>;

/// How an op accesses an element, from its attributes.
pub type ElementAccessFn = fn(&OpArgs<'_>) -> Result<ElementAccess, Trap>;

/// Executes an op with regions, step by step: from its operands and the last event to what happens next. It keeps no
/// state; what a loop must remember travels in the arguments of its region.
pub type ControlFn = fn(&OpArgs<'_>, &[Datum], Event<'_>) -> Result<Next, Trap>;

/// [`ControlFn`] of an op that reads or writes memory before or after its regions.
pub type ControlMemoryFn = fn(&OpArgs<'_>, &[Datum], Event<'_>, &mut Memory) -> Result<Next, Trap>;

/// What a loop counts through, from its operands.
pub type CountedFn = fn(&OpArgs<'_>, &[Datum]) -> Result<Counted, Trap>;

/// The number of the successor that a branch takes.
pub type JumpFn = fn(&OpArgs<'_>, &[Datum]) -> Result<usize, Trap>;

/// All ways that control can take between an op and its regions.
pub type EdgesFn = fn(&Module, Op) -> SmallVec<[Edge; 4]>;

/// The range of a branch's operands that become the arguments of successor `i`.
pub type SuccessorOperandsFn = fn(&Module, Op, usize) -> Range<usize>;

/// Checks an op of a program.
pub type VerifyFn = fn(&Module, Op) -> Result<(), String>;

/// Checks an op's symbol references, with tables that are shared by all checks of a run.
pub type VerifySymbolsFn = fn(&Module, Op, &mut SymbolTables) -> Result<(), String>;

/// Result types from operands and attributes, or why there are none.
pub type InferFn = fn(&OpArgs<'_>) -> Result<Vec<Type>, String>;

/// Names for results: the number of the first result that has the name, and the name.
pub type ResultNamesFn = fn(&Module, Op) -> Vec<(usize, String)>;

/// What an op is equal to; the list says which operands are known to be constant.
pub type FoldFn = fn(&OpArgs<'_>, &[Option<Attr>]) -> Option<Folded>;

/// Memory that lives as long as the program.
pub struct Global {
    /// The type of its memref, of static shape.
    pub ty: Type,
    /// What it holds at first: a tensor, or poison where that is not defined. `None` if it is given elsewhere.
    pub contents: Option<Datum>,
    /// Whether it is never written.
    pub constant: bool,
}

/// The memory that a symbol names; `None` if evaluation does not know its elements.
pub type GlobalFn = fn(&Module, Op) -> Option<Global>;

/// What an op does to a slot: a memref with a single element that lives until its function returns. Passes can turn slots
/// into values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotRole {
    /// The one result is the slot, when it has a single element.
    Alloc,
    /// Reads the slot in the first operand; the one result is the value. Other operands are indices.
    Load,
    /// Writes the first operand to the slot in the second one. Other operands are indices.
    Store,
}

/// An op's declaration, as data. Made by [`op`](crate::op).
pub struct OpInfo {
    /// `arith.addi`
    pub name: &'static str,
    /// The doc comment; the first line is the summary.
    pub doc: &'static str,
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
    /// Traits.
    pub traits: Traits,
    /// Effects.
    pub effects: Effects,
    /// Of an op that [`Effects::MayUb`], or whose regions run as its operands say: whether this one is defined for all
    /// operands even so.
    pub speculatable: Option<fn(&Module, Op) -> bool>,
    /// What it does, for cost models; see [`OpCost::of`].
    pub work: Option<fn(&OpArgs<'_>) -> OpCost>,
    /// The only ops whose regions may hold this one; empty for no restriction.
    pub parents: &'static [&'static str],
    /// The custom form; `None` for ops printed in generic form only.
    pub format: Option<&'static str>,
    /// The hand-written parts of the custom form.
    pub directives: &'static [&'static Directive],
    /// The terminator that a region's one block gets when the text leaves it out; empty for none.
    pub implicit_terminator: &'static str,
    /// The dialect whose prefix may be left out in this op's regions; empty for none.
    pub default_dialect: &'static str,
    /// Checks what constraints and traits do not say.
    pub verify: Option<VerifyFn>,
    /// Checks what the op says about its regions, once these are known to be right in themselves.
    pub verify_regions: Option<VerifyFn>,
    /// Checks what the op says about symbols.
    pub verify_symbols: Option<VerifySymbolsFn>,
    /// Relations between the types of operands and results.
    pub relations: &'static [TypeRelation],
    /// Result types from operands and attributes.
    pub infer: Option<InferFn>,
    /// Identities that hold whatever the operands are; `&[Option<Attr>]` are the operands known to be constant.
    /// Folding of constants is derived from `eval`.
    pub fold: Option<FoldFn>,
    /// The meaning, of ops that compute.
    pub eval: Option<EvalFn>,
    /// The meaning, of ops that use memory.
    pub exec: Option<ExecFn>,
    /// The meaning, of ops that compute one number, or one for each element: `eval` follows from it.
    pub scalar: Option<ScalarFn>,
    /// The meaning, of ops that access one element of memory: `exec` follows from it.
    pub access: Option<ElementAccessFn>,
    /// The meaning, of ops with regions.
    pub control: Option<ControlFn>,
    /// The meaning, of ops with regions that use memory themselves.
    pub control_memory: Option<ControlMemoryFn>,
    /// The meaning, of loops that count.
    pub counted: Option<CountedFn>,
    /// The meaning, of branches.
    pub jump: Option<JumpFn>,
    /// What a branch carries to its successors.
    pub successor_operands: Option<SuccessorOperandsFn>,
    /// The attribute that counts the operands of each successor of the last group, where these share an operand group.
    pub successor_sizes: Option<&'static str>,
    /// The ways that control can take between the op and its regions.
    pub edges: Option<EdgesFn>,
    /// Of a symbol that names memory: which.
    pub global: Option<GlobalFn>,
    /// What the op does to a slot, a piece of memory that holds one value.
    pub slot: Option<SlotRole>,
    /// Names for results in printed text, such as `c0_i32`: the number of the first result that has the name, and the
    /// name.
    pub result_names: Option<ResultNamesFn>,
    /// Canonicalization patterns rooted at this op.
    pub patterns: &'static [Pattern],
}

impl OpInfo {
    /// The declaration that says nothing, for `..` in others.
    pub const DEFAULT: OpInfo = OpInfo {
        name: "",
        doc: "",
        operands: &[],
        results: &[],
        attrs: &[],
        regions: &[],
        successors: &[],
        traits: Traits::NONE,
        effects: Effects::Pure,
        speculatable: None,
        work: None,
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
    };

    /// The first line of the doc comment.
    pub fn summary(&self) -> &'static str {
        self.doc.lines().next().unwrap_or("").trim_end_matches('.')
    }

    /// Whether it is known how control moves between the op and its regions.
    pub fn runs_regions(&self) -> bool {
        self.control.is_some() || self.control_memory.is_some() || self.counted.is_some()
    }

    /// The inherent attribute of that name.
    pub fn attr(&self, name: &str) -> Option<&'static AttrSpec> {
        self.attrs.iter().find(|a| a.name == name)
    }

    /// Whether `name` belongs among the properties (`<{...}>`) and not among the discardable attributes.
    pub fn is_inherent(&self, name: &str) -> bool {
        self.attr(name).is_some()
            || (name == "operandSegmentSizes" && self.traits.has(Traits::OPERAND_SEGMENTS))
            || (name == "resultSegmentSizes" && self.traits.has(Traits::RESULT_SEGMENTS))
    }
}

/// A struct that [`op`](crate::op) declared: a typed handle of an op.
pub trait OpDecl: Copy {
    /// The declaration.
    const INFO: &'static OpInfo;

    /// The handle of `op`; the caller knows its name.
    fn wrap(op: Op) -> Self;

    /// The handle of `op`, if it is one of these.
    fn cast(module: &Module, op: Op) -> Option<Self> {
        module.info(op).is_some_and(|info| std::ptr::eq(info, Self::INFO)).then(|| Self::wrap(op))
    }

    /// The handle of the op that defines `value`, if it is one of these.
    fn defining(module: &Module, value: Value) -> Option<Self> {
        Self::cast(module, module.defining_op(value)?)
    }
}

/// A dialect: a name and what is declared under it.
pub struct Dialect {
    /// The prefix of its ops, types and attributes.
    pub name: &'static str,
    /// What it is for: the first line is the summary.
    pub doc: &'static str,
    /// Its ops.
    pub ops: &'static [&'static OpInfo],
    /// Its attributes, checked and brought into canonical form when they are parsed.
    pub attrs: &'static [&'static AttrKind],
    /// The name of the op that makes a constant of a type from an attribute, when this dialect has one.
    pub constant: Option<&'static str>,
    /// Rewrite rules that canonicalize.
    pub rules: &'static [Rule],
    /// Rewrite rules that are used where somebody asks for them.
    pub rule_groups: &'static [RuleGroup],
    /// Conditions and computations that rules of any dialect can call.
    pub natives: &'static [&'static RuleFunction],
}

impl Dialect {
    /// The dialect of nothing, for `..` in others.
    pub const DEFAULT: Dialect =
        Dialect { name: "", doc: "", ops: &[], attrs: &[], constant: None, rules: &[], rule_groups: &[], natives: &[] };
}

/// Names results as their groups are named in the declaration; for `result_names`.
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
