//! The legality report: each op that was not legalized, its location, the patterns tried, why each failed, and the rule
//! that makes the op illegal.

use super::matching::MatchFailure;
use crate::context::Context;
use crate::intern::OpName;
use crate::text::diag::{Diagnostic, Severity};
use crate::text::loc::Loc;

/// Maximum number of notes per diagnostic.
const MAX_NOTES: usize = 40;

/// An op that was not legalized.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Illegal {
    /// The op's name.
    pub op: OpName,
    /// The op's location.
    pub loc: Loc,
    /// The rule that makes the op illegal, and the reason.
    pub objection: String,
    /// The patterns for the op, in the order in which they were tried.
    pub attempts: Vec<Attempt>,
}

/// A pattern that failed to legalize an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The pattern's name.
    pub pattern: &'static str,
    /// The reason for the failure.
    pub why: AttemptFailure,
}

/// The reason why a pattern failed to legalize an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AttemptFailure {
    /// The pattern returned a match failure.
    NoMatch(MatchFailure),
    /// The pattern created or modified an op that was not legalized.
    Generated(Box<Illegal>),
    /// The pattern was skipped: it generates this op, which no pattern legalizes.
    Skipped(&'static str),
}

/// Statistics of a successful conversion.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ConversionReport {
    /// Number of illegal ops that were converted.
    pub converted: u64,
    /// Number of remaining ops to which no rule of the target applies.
    pub left: u64,
    /// The first of the remaining ops, with the patterns tried.
    pub first_left: Vec<Illegal>,
}

/// The errors of a failed conversion, at least one; a [`Pass`](crate::Pass) returns them with `?`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConversionErrors(pub(super) Vec<Diagnostic>);

impl ConversionErrors {
    /// Returns the errors in the order in which ops are visited.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0
    }
}

impl From<ConversionErrors> for Vec<Diagnostic> {
    fn from(errors: ConversionErrors) -> Self {
        errors.0
    }
}

/// Returns the first error, with the others as its notes.
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
    /// Returns the error of a conversion that fails at this op.
    pub(super) fn error(&self, ctx: &Context, explicitly: bool) -> Diagnostic {
        let suffix = if explicitly { " that was explicitly marked illegal" } else { "" };
        let message = format!("failed to legalize operation '{}'{suffix}", ctx.op_name_text(self.op));
        Diagnostic { notes: self.notes(ctx), ..Diagnostic::error(self.loc, message) }
    }

    /// Returns a remark about an op that was left unconverted.
    pub fn remark(&self, ctx: &Context) -> Diagnostic {
        let message = format!("op '{}' is not legalizable", ctx.op_name_text(self.op));
        Diagnostic { severity: Severity::Remark, notes: self.notes(ctx), ..Diagnostic::error(self.loc, message) }
    }

    fn notes(&self, ctx: &Context) -> Vec<(Loc, String)> {
        let mut lines = Vec::new();
        self.explain(ctx, 0, &mut lines);
        if lines.len() > MAX_NOTES {
            // The first notes identify the op, the last ones the cause; the middle is elided.
            let middle = MAX_NOTES / 2..lines.len() - MAX_NOTES / 2;
            let note = format!("... {} more lines like these", middle.len());
            lines.splice(middle, [note]);
        }
        lines.into_iter().map(|line| (self.loc, line)).collect()
    }

    /// Appends the explanation of each attempt. The driver bounds the depth of pattern chains, and thus of the
    /// recursion.
    fn explain(&self, ctx: &Context, depth: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        lines.push(format!("{indent}{}", self.objection));
        if self.attempts.is_empty() {
            lines.push(format!("{indent}no pattern is for '{}'", ctx.op_name_text(self.op)));
        }
        for Attempt { pattern, why } in &self.attempts {
            match why {
                AttemptFailure::NoMatch(reason) => lines.push(format!("{indent}pattern '{pattern}' refused: {reason}")),
                AttemptFailure::Skipped(made) => {
                    lines.push(format!("{indent}pattern '{pattern}' was not tried: nothing makes its '{made}' legal"));
                }
                AttemptFailure::Generated(inner) => {
                    let made = ctx.op_name_text(inner.op);
                    lines.push(format!("{indent}pattern '{pattern}' led to '{made}', which could not be legalized:"));
                    inner.explain(ctx, depth + 1, lines);
                }
            }
        }
    }
}
