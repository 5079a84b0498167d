//! How far a search goes, counted in steps, so that the same program always gives the same.

/// Steps that are left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps(pub usize);

impl Steps {
    /// Takes so many. Says whether there were enough.
    pub fn take(&mut self, count: usize) -> bool {
        let enough = self.0 >= count;
        self.0 = self.0.saturating_sub(count);
        enough
    }
}
