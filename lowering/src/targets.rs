//! Compilation targets and their pipelines.

/// A compilation target.
pub struct Target {
    /// Name for `--target`.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// The pipeline that lowers a program of the `graph` dialect.
    pub pipeline: &'static str,
}

/// All targets.
///
/// On the cpu, products with a common operand are not merged: each reads the operand in place, and slices of a merged
/// result would be copied.
pub const TARGETS: &[Target] = &[Target {
    name: "cpu",
    doc: "this machine: convolutions and matrix products by address tables, on its widest vectors",
    pipeline: "builtin.module(canonicalize,apply-rules{target=cpu floats=approx rules=graph-algebra,graph-fuse},convert-graph-to-addr{layout=auto winograd=64},propagate-layouts,\
               fuse-epilogues,canonicalize,pack-panels{widths=64,48,32,16},canonicalize,cse,form-steps,dce,plan-memory)",
}];

impl Target {
    /// Returns the target of a name.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn named(name: &str) -> Result<&'static Target, String> {
        let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .ok_or_else(|| format!("there is no target '{name}': {}", names()))
    }
}
