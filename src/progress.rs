//! Progress bars on terminals.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Creates a progress bar with `total` steps and a template of `indicatif`.
pub fn bar(total: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The progress of passes, of which one is shown at a time.
#[derive(Default)]
pub struct PassProgress {
    shown: Option<(&'static str, ProgressBar)>,
}

impl PassProgress {
    /// Shows how many of something a pass has done.
    pub fn show(&mut self, pass: &'static str, done: u64, what: &'static str) {
        if self.shown.as_ref().is_none_or(|(shown, _)| *shown != pass) {
            let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {prefix}: {pos} {msg}, {elapsed}");
            spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            spinner.set_prefix(pass);
            spinner.set_message(what);
            self.finish();
            self.shown = Some((pass, spinner));
        }
        if let Some((_, spinner)) = &self.shown {
            spinner.set_position(done);
        }
    }

    fn finish(&mut self) {
        if let Some((_, spinner)) = self.shown.take() {
            spinner.finish_and_clear();
        }
    }
}

impl Drop for PassProgress {
    fn drop(&mut self) {
        self.finish();
    }
}
