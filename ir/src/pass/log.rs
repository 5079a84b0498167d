//! Observers that write actions as text or as trace events.

use super::actions::{Action, ActionUnit, Observer};
use crate::text::PrintOptions;
use std::io::Write;
use std::time::Instant;

/// An action handler that writes a line at the begin and end of each action, for `--log-actions-to`.
pub struct ActionLog<W>(W);

impl<W: Write + Send> ActionLog<W> {
    /// Creates a log.
    pub fn new(out: W) -> Self {
        ActionLog(out)
    }
}

/// Write errors of a log do not affect the compilation.
impl<W: Write + Send> Observer for ActionLog<W> {
    fn before(&mut self, action: &Action<'_>, runs: bool) {
        let verb = if runs { "begins" } else { "skipping" };
        let unit = action.unit_text();
        let _ = writeln!(self.0, "[thread gradus] {verb} (no breakpoint) Action {action} ({unit})`");
    }

    fn after(&mut self, tag: &'static str, _: bool) {
        let _ = writeln!(self.0, "[thread gradus] completed `{tag}`");
    }
}

/// An action handler that writes Chrome trace events as a JSON array, for `--profile-actions-to`. Times are microseconds since creation.
pub struct ActionProfile<W: Write + Send> {
    out: W,
    start: Instant,
    any: bool,
}

impl<W: Write + Send> ActionProfile<W> {
    /// Creates a profile.
    pub fn new(out: W) -> Self {
        ActionProfile { out, start: Instant::now(), any: false }
    }

    fn event(&mut self, phase: char, name: &str, rest: &str) {
        let separator = if self.any { ",\n" } else { "[" };
        self.any = true;
        let time = self.start.elapsed().as_micros();
        let _ = write!(
            self.out,
            "{separator}{{\"name\": \"{name}\", \"cat\": \"PERF\", \"ph\": \"{phase}\", \"pid\": 0, \"tid\": 1, \"ts\": \
             {time}{rest}}}"
        );
    }
}

impl<W: Write + Send> Observer for ActionProfile<W> {
    fn before(&mut self, action: &Action<'_>, runs: bool) {
        if runs {
            let text = action.to_string().replace('\\', "\\\\").replace('"', "\\\"");
            self.event('B', action.tag, &format!(", \"args\": {{\"desc\": \"{text}\"}}"));
        }
    }

    fn after(&mut self, tag: &'static str, _: bool) {
        self.event('E', tag, "");
    }
}

impl<W: Write + Send> Drop for ActionProfile<W> {
    fn drop(&mut self) {
        let _ = self.out.write_all(if self.any { b"]" } else { b"[]" });
        let _ = self.out.flush();
    }
}

impl Action<'_> {
    /// Formats the op or region on one line.
    pub fn unit_text(&self) -> String {
        let options = PrintOptions { local_scope: true, skip_regions: true, ..PrintOptions::default() };
        let m = self.module;
        match self.unit {
            ActionUnit::Op(op) => m.op_text(op, options),
            ActionUnit::Region(region) => {
                let Some(op) = m.region_op(region) else { return "a region".into() };
                let number = m.regions(op).iter().position(|&r| r == region).unwrap_or(0);
                format!("Region #{number} for op {}", m.op_text(op, options))
            }
        }
    }
}
