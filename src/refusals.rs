//! The ops that the passes of a pipeline refused, counted.

use gradus_ir::Context;
use gradus_ir::diag::{Diagnostic, Refused};
use std::collections::BTreeMap;

/// The number of refused ops, by the place where they stay, the op's name, and the violated rule.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Refusals(BTreeMap<Refused, u64>);

impl Refusals {
    /// Counts the refusals among diagnostics.
    pub fn of(diagnostics: &[Diagnostic]) -> Refusals {
        let mut all = BTreeMap::new();
        diagnostics.iter().filter_map(|d| d.refused.clone()).for_each(|refused| *all.entry(refused).or_default() += 1);
        Refusals(all)
    }

    /// Adds the refusal of a function that is interpreted.
    pub fn and(mut self, refused: Option<Refused>) -> Refusals {
        refused.into_iter().for_each(|refused| *self.0.entry(refused).or_default() += 1);
        self
    }

    /// Returns a line for each place, op and rule, such as `on the host: graph.conv  1 op, a batch of 2 images`.
    pub fn text(&self, ctx: &Context) -> String {
        let mut lines: Vec<(String, u64, &str)> = Vec::new();
        for (Refused { stays, op, rule }, &count) in &self.0 {
            lines.push((format!("{stays}: {}", ctx.op_name_text(*op)), count, rule));
        }
        lines.sort_unstable();
        let width = lines.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        let line = |(name, count, rule): &(String, u64, &str)| {
            format!("{name:width$}  {count} {}, {rule}\n", if *count == 1 { "op" } else { "ops" })
        };
        lines.iter().map(line).collect()
    }
}
