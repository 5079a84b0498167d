//! The legality report: which op, where, which patterns were tried and why each failed, and which target forbids it.

use super::matching::MatchFailure;
use crate::context::Context;
use crate::diag::{Diagnostic, Severity};
use crate::intern::OpName;
use crate::loc::Loc;

/// Notes of one diagnostic. A report of more is not read.
const MAX_NOTES: usize = 40;

/// An op that could not be legalized.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Illegal {
    /// Its name.
    pub op: OpName,
    /// Where it comes from.
    pub loc: Loc,
    /// Who forbids it, and why.
    pub objection: String,
    /// The patterns for it, in the order in which they were tried.
    pub attempts: Vec<Attempt>,
}

/// A pattern that did not legalize an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The pattern's name.
    pub pattern: &'static str,
    /// Why it did not.
    pub why: Why,
}

/// Why a pattern did not legalize an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// It refused.
    Refused(MatchFailure),
    /// It made or changed an op that could not be legalized.
    Generated(Box<Illegal>),
    /// It was not tried: it makes this op, which no pattern makes legal.
    Hopeless(&'static str),
}

/// What a conversion that succeeded did.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ConversionReport {
    /// How many ops that were not legal were converted.
    pub converted: u64,
    /// How many ops were left that no rule is about.
    pub left: u64,
    /// The first of them, with the patterns that were tried.
    pub first_left: Vec<Illegal>,
}

/// The errors of a conversion that failed, at least one: a [`Pass`](crate::Pass) returns them with `?`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConversionErrors(pub(super) Vec<Diagnostic>);

impl ConversionErrors {
    /// The errors, in the order in which ops are visited.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0
    }
}

impl From<ConversionErrors> for Vec<Diagnostic> {
    fn from(errors: ConversionErrors) -> Self {
        errors.0
    }
}

/// The first error, with the others as its notes.
impl From<ConversionErrors> for Diagnostic {
    fn from(errors: ConversionErrors) -> Self {
        let mut errors = errors.0.into_iter();
        let first = errors.next().unwrap_or_else(|| Diagnostic::error(Loc::UNKNOWN, "the conversion failed"));
        errors.fold(first, |mut first, next| {
            first.notes.push((next.loc, next.message));
            first.notes.extend(next.notes);
            first
        })
    }
}

impl Illegal {
    /// The error of a conversion that fails for this op.
    pub(super) fn error(&self, ctx: &Context, explicitly: bool) -> Diagnostic {
        let suffix = if explicitly { " that was explicitly marked illegal" } else { "" };
        let message = format!("failed to legalize operation '{}'{suffix}", ctx.op_name_text(self.op));
        Diagnostic { notes: self.notes(ctx), ..Diagnostic::error(self.loc, message) }
    }

    /// A remark about an op that was left as it was.
    pub fn remark(&self, ctx: &Context) -> Diagnostic {
        let message = format!("op '{}' is not legalizable", ctx.op_name_text(self.op));
        Diagnostic { severity: Severity::Remark, notes: self.notes(ctx), ..Diagnostic::error(self.loc, message) }
    }

    fn notes(&self, ctx: &Context) -> Vec<(Loc, String)> {
        let mut lines = Vec::new();
        self.explain(ctx, 0, &mut lines);
        if lines.len() > MAX_NOTES {
            // The beginning says what the op is, the end what it came to.
            let middle = MAX_NOTES / 2..lines.len() - MAX_NOTES / 2;
            let note = format!("... {} more lines like these", middle.len());
            lines.splice(middle, [note]);
        }
        lines.into_iter().map(|line| (self.loc, line)).collect()
    }

    /// Deep chains of patterns are as deep as the driver lets them be.
    fn explain(&self, ctx: &Context, depth: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        lines.push(format!("{indent}{}", self.objection));
        if self.attempts.is_empty() {
            lines.push(format!("{indent}no pattern is for '{}'", ctx.op_name_text(self.op)));
        }
        for Attempt { pattern, why } in &self.attempts {
            match why {
                Why::Refused(reason) => lines.push(format!("{indent}pattern '{pattern}' refused: {reason}")),
                Why::Hopeless(made) => {
                    lines.push(format!("{indent}pattern '{pattern}' was not tried: nothing makes its '{made}' legal"));
                }
                Why::Generated(inner) => {
                    let made = ctx.op_name_text(inner.op);
                    lines.push(format!("{indent}pattern '{pattern}' led to '{made}', which could not be legalized:"));
                    inner.explain(ctx, depth + 1, lines);
                }
            }
        }
    }
}
