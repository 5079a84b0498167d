//! Progress bars on terminals.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Creates a progress bar with `total` steps and a template of `indicatif`.
pub fn bar(total: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}
