//! Options of the parser and the printer.

/// Options of the parser.
#[derive(Clone, Copy, Default, Debug)]
pub struct ParseOptions {
    /// Whether ops of unregistered dialects are accepted.
    pub allow_unregistered: bool,
    /// Number of threads for large files; 0 means one.
    pub threads: usize,
    /// The reader.
    pub reader: Reader,
}

/// A way of reading text. All readers accept the same texts and build the same IR.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Reader {
    /// Tokens are found by hand, and texts that repeat are parsed once.
    #[default]
    Fast,
    /// Tokens, types, attributes, locations and resources come from the rules of `grammar.pest` alone, without caches
    /// and on one thread. Slow; the fast reader is tested against it.
    Grammar,
}

/// Options of the printer, as mlir-opt's `--mlir-print-*`.
#[derive(Clone, Copy, Default, Debug)]
pub struct PrintOptions {
    /// Whether every op is printed in generic form.
    pub generic: bool,
    /// Whether trailing locations are printed.
    pub debug_info: bool,
    /// Whether aliases and resources are omitted, so that the text can be embedded in other text.
    pub local_scope: bool,
    /// Whether regions are printed as `{...}`.
    pub skip_regions: bool,
    /// Number of elements above which constants are elided; see MLIR's `dense_resource<__elided__>`.
    pub elide_elements: Option<usize>,
    /// Length in characters above which resources are elided.
    pub elide_resources: Option<usize>,
    /// Whether the users of each value are printed as comments.
    pub value_users: bool,
    /// Whether SSA value numbers are unique in the whole program.
    pub unique_ids: bool,
    /// Whether values are named by their locations.
    pub name_locs: bool,
    /// Number of threads for large programs; 0 means one.
    pub threads: usize,
}
