//! Dialect conversion: from ops that a target forbids to ops that it allows.
//!
//! A [`ConversionTarget`] says which ops are legal. [`ConversionPattern`]s take illegal ops to others, in as many steps as
//! it takes. A [`TypeConverter`] says which types become which. [`apply_partial_conversion`] leaves ops alone that no rule
//! of the target is about and no pattern converts; [`apply_full_conversion`] wants every op legal.
//!
//! ```
//! use gradus_ir::conversion::{ConversionPattern, ConversionTarget, apply_partial_conversion};
//! use gradus_ir::{Context, OpState, ParseOptions, PatternRewriter, PrintOptions, parse_module};
//!
//! let text = r#"%0 = "hi.twice"() : () -> i32"#.to_owned();
//! let mut m = parse_module(&Context::new(&[]), "x", text, ParseOptions { allow_unregistered: true, ..ParseOptions::default() }).unwrap();
//! let lower = ConversionPattern::new("lower-twice", "hi.twice", |r, op, operands| {
//!     let m = r.module();
//!     let mut state = OpState::new(&m.ctx, "lo.double", m.loc(op));
//!     state.operands.extend_from_slice(operands.all());
//!     state.result_types.extend(m.results(op).map(|v| m.value_type(v)));
//!     r.replace_with(op, state)?;
//!     Ok(())
//! });
//! let mut target = ConversionTarget::new("lo");
//! target.legal_dialect("lo");
//! target.illegal_dialect("hi").because("the machine has no such instruction");
//! let root = m.root();
//! apply_partial_conversion(&mut m, root, &target, &[lower]).unwrap();
//! assert!(m.to_text(PrintOptions::default()).contains(r#"%0 = "lo.double"() : () -> i32"#));
//! ```
//!
//! # What happens
//!
//! Ops are visited in order, each before what it holds, or backwards ([`VisitOrder`]). One that is legal stays. One that is not is folded if it can be;
//! otherwise its patterns are tried, those with the fewest steps to legal ops first, then those of greater benefit. A
//! pattern gets the op's operands as they were converted, changes the program through the [`ConversionRewriter`], and what
//! it makes or modifies is legalized at once. If that fails, or the pattern refuses, all it did is undone and the next one
//! is tried. What is legal once is final: nothing that succeeded is ever undone.
//!
//! Where a value is replaced by one of another type, a cast keeps its users as they are. When these are converted in turn,
//! they get the new value; casts that nobody needs in the end vanish, pairs that cancel out too, and the converter's
//! materializations make the others real. What cannot be made real is an error.
//!
//! # When it fails
//!
//! All ops that must go and could not are reported, each with the rule that forbids it and the patterns that were tried
//! with the reason each gave ([`MatchFailure`]). The program is then in the middle of the conversion, and valid only as
//! data.

mod casts;
mod driver;
mod journal;
mod matching;
mod pattern;
mod plan;
mod reconcile;
mod report;
mod rewriter;
mod rollback;
mod structural;
mod target;
#[cfg(test)]
mod tests;
mod types;

pub use casts::CAST;
pub use matching::{Match, MatchFailure, Operands};
pub use pattern::ConversionPattern;
pub use reconcile::reconcile_casts;
pub use report::{Attempt, ConversionErrors, ConversionReport, Illegal, Why};
pub use rewriter::ConversionRewriter;
pub use structural::{convert_call_types, convert_function_types, convert_op_types, convert_return_types};
pub use target::{ConversionTarget, Legality, Rule};
pub use types::{Converted, SignatureConversion, TypeConverter, TypeList};

use crate::module::{Module, Op};

/// What must be legal in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConversionMode {
    /// Ops that the target calls illegal must go; ops that no rule is about may stay.
    Partial,
    /// Every op must be legal.
    Full,
}

/// The order in which ops are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VisitOrder {
    /// From the first to the last, each before the ops in its regions: operands are converted before their users.
    Forward,
    /// From the last to the first, each after the ops in its regions. Patterns see operands and what is around as they
    /// were. Where patterns split blocks, each op is moved at most once for each level of nesting.
    Backward,
}

/// How to convert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConversionConfig {
    /// What must be legal in the end.
    pub mode: ConversionMode,
    /// Whether ops that are not legal are folded before patterns are tried.
    pub fold: bool,
    /// The order in which ops are visited.
    pub order: VisitOrder,
}

impl ConversionConfig {
    /// A partial conversion with folding, in order.
    pub const PARTIAL: ConversionConfig =
        ConversionConfig { mode: ConversionMode::Partial, fold: true, order: VisitOrder::Forward };

    /// A full conversion with folding, in order.
    pub const FULL: ConversionConfig = ConversionConfig { mode: ConversionMode::Full, ..ConversionConfig::PARTIAL };
}

/// Converts `root` and everything under it; the program's own op, which nothing can replace, is not looked at. Errors are
/// those of all ops that could not be legalized, up to a limit.
pub fn apply_conversion<'a>(
    m: &'a mut Module,
    root: Op,
    target: &'a ConversionTarget<'a>,
    patterns: &'a [ConversionPattern<'a>],
    config: ConversionConfig,
) -> Result<ConversionReport, ConversionErrors> {
    let plan = plan::Plan::new(&m.ctx, target, patterns);
    driver::Driver::new(m, plan, config).run(root)
}

/// [`apply_conversion`] that leaves ops that no rule of the target is about.
pub fn apply_partial_conversion<'a>(
    m: &'a mut Module,
    root: Op,
    target: &'a ConversionTarget<'a>,
    patterns: &'a [ConversionPattern<'a>],
) -> Result<ConversionReport, ConversionErrors> {
    apply_conversion(m, root, target, patterns, ConversionConfig::PARTIAL)
}

/// [`apply_conversion`] after which every op is legal.
pub fn apply_full_conversion<'a>(
    m: &'a mut Module,
    root: Op,
    target: &'a ConversionTarget<'a>,
    patterns: &'a [ConversionPattern<'a>],
) -> Result<ConversionReport, ConversionErrors> {
    apply_conversion(m, root, target, patterns, ConversionConfig::FULL)
}
