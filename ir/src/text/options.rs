//! Options of the parser and the printer.

/// How much the parser takes for granted.
#[derive(Clone, Copy, Default, Debug)]
pub struct ParseOptions {
    /// Accept ops of dialects that are not registered.
    pub allow_unregistered: bool,
    /// Threads for large files; 0 is one.
    pub threads: usize,
}

/// How to print.
#[derive(Clone, Copy, Default, Debug)]
pub struct PrintOptions {
    /// Every op in generic form.
    pub generic: bool,
    /// Trailing locations.
    pub debug_info: bool,
    /// No aliases and no resources: what is printed can stand inside other text.
    pub local_scope: bool,
    /// `{...}` for regions.
    pub skip_regions: bool,
    /// Constants with more elements than this are left out; see MLIR's `dense_resource<__elided__>`.
    pub elide_elements: Option<usize>,
    /// Resources whose text is longer than this are left out.
    pub elide_resources: Option<usize>,
    /// Comments that say who uses a value.
    pub value_users: bool,
    /// No two values have one number, wherever they are.
    pub unique_ids: bool,
    /// Values are named by their locations.
    pub name_locs: bool,
    /// Threads for large programs; 0 is one.
    pub threads: usize,
}
