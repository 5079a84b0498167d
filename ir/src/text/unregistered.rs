//! Errors for ops that no dialect declares.

use super::parser::{Error, PResult, Parser};
use crate::text::diag::{Diagnostic, suggest};

impl Parser<'_> {
    /// Checks that the op `name`, which no dialect declares and whose generic form starts at byte `at`, may be read.
    pub(super) fn check_unregistered(&mut self, name: &str, at: usize) -> PResult<()> {
        let dialect = name.split('.').next().unwrap_or("");
        if self.options.allow_unregistered && (dialect == name || self.ctx.dialect(dialect).is_none()) {
            return Ok(());
        }
        Err(self.unknown_op(name, at, false))
    }

    /// Returns the error for an op that no dialect declares, with the nearest name that one does. The first error of a
    /// file for an unknown dialect says how its ops are read.
    pub(super) fn unknown_op(&mut self, name: &str, at: usize, is_custom: bool) -> Error {
        let place = self.place(at);
        let dialect = name.split_once('.').map_or("", |parts| parts.0);
        let is_known = self.ctx.dialect(dialect).is_some();
        let mut error = Diagnostic::error(
            place,
            match is_known {
                true => format!("dialect '{dialect}' has no operation '{name}'"),
                false => format!("unregistered operation '{name}'"),
            },
        );
        if let Some(near) = self.near_op(name) {
            error = error.note(place, format!("did you mean '{near}'?"));
        } else if !dialect.is_empty() && !is_known && !std::mem::replace(&mut self.has_advised, true) {
            error = error.note(place, self.advice(dialect, is_custom));
        }
        Box::new(error)
    }

    /// Returns how ops of an unregistered dialect are read.
    fn advice(&self, dialect: &str, is_custom: bool) -> String {
        let flag = match self.options.allow_unregistered {
            true => "",
            false => " with --allow-unregistered-dialect",
        };
        match is_custom {
            true => format!(
                "dialect '{dialect}' is not registered, so its custom forms are unknown; the generic form, as \
                 mlir-opt --mlir-print-op-generic prints it, is read{flag}"
            ),
            false => format!("dialect '{dialect}' is not registered; its ops are read{flag}"),
        }
    }

    /// Returns the declared op whose name differs from `name` by a typing error, in the dialect or in the op. An op without
    /// a dialect may be of those whose prefix may be omitted here.
    fn near_op(&self, name: &str) -> Option<String> {
        let of = |dialect: &str, op: &str| {
            let ops = self.ctx.dialect(dialect)?.ops.iter().map(|info| info.name);
            let near = suggest(op, ops.filter_map(|known| known.split_once('.').map(|parts| parts.1)))?;
            Some(format!("{dialect}.{near}"))
        };
        let Some((dialect, op)) = name.split_once('.') else {
            let mut dialects = self.default_dialects.iter().rev().copied().chain(["func"]);
            return dialects.find_map(|dialect| of(dialect, name));
        };
        let dialects = self.ctx.dialects();
        let near = suggest(dialect, dialects.iter().map(|known| known.name));
        of(near.unwrap_or(dialect), op)
    }
}
