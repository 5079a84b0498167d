//! Dialect conversion: from ops that are illegal for a target to legal ones, as in MLIR.
//!
//! A [`ConversionTarget`] declares which ops are legal. [`ConversionPattern`]s rewrite illegal ops, in any number of
//! steps. A [`TypeConverter`] converts types. [`apply_partial_conversion`] keeps ops to which no rule of the target
//! applies and that no pattern converts; [`apply_full_conversion`] requires every op to be legal.
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
//! # Algorithm
//!
//! Ops are visited in the order given by [`VisitOrder`]. Legal ops stay. An illegal op is folded if possible; otherwise
//! its patterns are tried, those of the smallest legalization depth first, then those of the greatest benefit. A
//! pattern gets the converted operands and changes the program through the [`ConversionRewriter`]. The ops that it
//! creates or modifies are legalized at once. If that fails, or the pattern returns a match failure, all its changes
//! are rolled back and the next pattern is tried. A legalized op is final: successful changes are never rolled back.
//!
//! If a value is replaced by one of another type, a cast provides the original type to its users until they are
//! converted in turn and get the new value. At the end, dead casts and pairs of inverse casts are removed, and the
//! converter's materializations replace the others. A cast without a materialization is an error.
//!
//! # Failure
//!
//! All ops that were not legalized are reported, each with the rule that makes it illegal, the patterns tried and their
//! match failures ([`MatchFailure`]). The program is then partially converted: well-formed as a data structure, but not
//! verified.

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
pub use report::{Attempt, AttemptFailure, ConversionErrors, ConversionReport, Illegal};
pub use rewriter::ConversionRewriter;
pub use structural::{convert_call_types, convert_function_types, convert_op_types, convert_return_types};
pub use target::{ConversionTarget, Legality, Rule};
pub use types::{Converted, SignatureConversion, TypeConverter, TypeList};

use crate::module::{Module, Op};
use crate::pass::Actions;

/// The ops that must be legal after the conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConversionMode {
    /// Illegal ops must be converted; ops to which no rule applies may stay.
    Partial,
    /// Every op must be legal.
    Full,
}

/// The order in which ops are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VisitOrder {
    /// From first to last, each op before the ops in its regions: operands are converted before their users.
    Forward,
    /// From last to first, each op after the ops in its regions: patterns see the original operands and enclosing ops.
    /// If patterns split blocks, each op is moved at most once per nesting level.
    Backward,
}

/// The configuration of a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConversionConfig {
    /// The ops that must be legal after the conversion.
    pub mode: ConversionMode,
    /// Whether illegal ops are folded before patterns are tried.
    pub fold: bool,
    /// The order in which ops are visited.
    pub order: VisitOrder,
}

impl ConversionConfig {
    /// A partial conversion with folding, in forward order.
    pub const PARTIAL: ConversionConfig =
        ConversionConfig { mode: ConversionMode::Partial, fold: true, order: VisitOrder::Forward };

    /// A full conversion with folding, in forward order.
    pub const FULL: ConversionConfig = ConversionConfig { mode: ConversionMode::Full, ..ConversionConfig::PARTIAL };
}

/// Converts `root` and all ops under it, except the root op of the program. The errors cover all ops that were not
/// legalized, up to a limit.
pub fn apply_conversion<'a>(
    m: &'a mut Module,
    root: Op,
    target: &'a ConversionTarget<'a>,
    patterns: &'a [ConversionPattern<'a>],
    config: ConversionConfig,
) -> Result<ConversionReport, ConversionErrors> {
    let plan = plan::ConversionPlan::new(&m.ctx, target, patterns);
    driver::Driver::new(m, plan, config, None).run(root)
}

/// Like [`apply_conversion`], with an action for each pattern tried on an op of the program. An op whose patterns are
/// skipped stays, even if it is illegal.
pub fn apply_counted_conversion<'a>(
    m: &'a mut Module,
    root: Op,
    target: &'a ConversionTarget<'a>,
    patterns: &'a [ConversionPattern<'a>],
    config: ConversionConfig,
    actions: Option<&'a mut Actions>,
) -> Result<ConversionReport, ConversionErrors> {
    let plan = plan::ConversionPlan::new(&m.ctx, target, patterns);
    driver::Driver::new(m, plan, config, actions).run(root)
}

/// Applies a conversion that keeps ops to which no rule of the target applies.
pub fn apply_partial_conversion<'a>(
    m: &'a mut Module,
    root: Op,
    target: &'a ConversionTarget<'a>,
    patterns: &'a [ConversionPattern<'a>],
) -> Result<ConversionReport, ConversionErrors> {
    apply_conversion(m, root, target, patterns, ConversionConfig::PARTIAL)
}

/// Applies a conversion after which every op is legal.
pub fn apply_full_conversion<'a>(
    m: &'a mut Module,
    root: Op,
    target: &'a ConversionTarget<'a>,
    patterns: &'a [ConversionPattern<'a>],
) -> Result<ConversionReport, ConversionErrors> {
    apply_conversion(m, root, target, patterns, ConversionConfig::FULL)
}
