//! The step limit of searches; counted, so that results are deterministic.

/// Remaining steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps(pub usize);

impl Steps {
    /// Takes `count` steps; returns whether there were enough.
    pub fn take(&mut self, count: usize) -> bool {
        let enough = self.0 >= count;
        self.0 = self.0.saturating_sub(count);
        enough
    }
}
