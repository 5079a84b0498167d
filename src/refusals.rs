//! The ops that the passes of a pipeline refused, counted.

use gradus_ir::diag::{Diagnostic, Refused};
use std::collections::BTreeMap;

/// The number of refused ops, by the place where they stay, the op's name, and the violated rule.
#[derive(Default)]
pub struct Refusals(BTreeMap<Refused, u64>);

impl Refusals {
    /// Counts the refusals among diagnostics.
    pub fn of(diagnostics: Vec<Diagnostic>) -> Refusals {
        let mut all = Refusals::default();
        diagnostics.into_iter().for_each(|diagnostic| all.extend(diagnostic.refused.map(|refused| *refused)));
        all
    }

    /// Counts other refused ops.
    pub fn extend(&mut self, refused: impl IntoIterator<Item = Refused>) {
        refused.into_iter().for_each(|refused| *self.0.entry(refused).or_default() += 1);
    }

    /// Returns the places and names of the ops in alphabetical order, such as `on the host: graph.conv`, each with the number of ops and
    /// the rule: `1 op, a batch of 2 images`.
    pub fn rows(&self) -> Vec<[String; 2]> {
        let row = |(Refused { stays, op, rule }, &count): (&Refused, &u64)| {
            let ops = if count == 1 { "op" } else { "ops" };
            [format!("{stays}: {op}"), format!("{count} {ops}, {rule}")]
        };
        let mut rows: Vec<_> = self.0.iter().map(row).collect();
        rows.sort_unstable();
        rows
    }
}
