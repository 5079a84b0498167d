//! Machines that programs are compiled for, and how.

/// A machine.
pub struct Target {
    /// Its name in `--target`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The passes that make a program of the `graph` dialect one of this machine.
    pub pipeline: &'static str,
}

/// All of them. To add one, write a line here.
///
/// On the cpu, products that share an input are not made one: each reads it where it is, and parts of one would be copied.
pub const TARGETS: &[Target] = &[Target {
    name: "cpu",
    doc: "this machine: convolutions and matrix products by address tables, on its widest vectors",
    pipeline: "builtin.module(canonicalize,apply-rules{target=cpu floats=approx rules=graph-algebra,graph-fuse},convert-graph-to-addr{layout=auto winograd=64},propagate-layouts,\
               fuse-epilogues,canonicalize,pack-panels{widths=64,48,32,16},canonicalize,cse)",
}];

impl Target {
    /// The machine of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<&'static Target, String> {
        let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .ok_or_else(|| format!("there is no target '{name}': {}", names()))
    }
}
