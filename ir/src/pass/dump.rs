//! IR printing before and after passes, with mlir-opt's banners and file names.

use super::PassInfo;
use super::event::PassEvent;
use crate::module::{Module, Op};
use crate::symbols::symbol_name;
use crate::text::PrintOptions;
use rustc_hash::FxHashMap;
use std::hash::Hasher;
use std::path::PathBuf;

/// A selection of passes.
#[derive(Clone, Default, Debug)]
pub enum Selection {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// The passes with these names.
    Named(Vec<String>),
}

impl Selection {
    fn has(&self, info: &PassInfo) -> bool {
        match self {
            Selection::None => false,
            Selection::All => true,
            Selection::Named(names) => names.iter().any(|n| n == info.name),
        }
    }

    fn is_none(&self) -> bool {
        matches!(self, Selection::None)
    }
}

/// Options of IR printing.
#[derive(Clone, Default, Debug)]
pub struct IrPrinting {
    /// The passes to print before.
    pub before: Selection,
    /// The passes to print after.
    pub after: Selection,
    /// Print after a pass only if it changed something.
    pub only_after_change: bool,
    /// Print after a pass only if it failed; without `after`, after any failed pass.
    pub only_after_failure: bool,
    /// Print the whole module rather than the op that the pass runs on.
    pub module_scope: bool,
    /// Print into files under this folder: a folder per op and a file per print.
    pub tree_dir: Option<PathBuf>,
    /// Printing options.
    pub print: PrintOptions,
}

impl IrPrinting {
    /// Whether anything may be printed.
    pub(crate) fn is_on(&self) -> bool {
        !self.before.is_none() || !self.after.is_none() || self.only_after_failure
    }

    fn prints_after(&self, info: &PassInfo) -> bool {
        self.after.has(info) || self.only_after_failure && self.after.is_none()
    }
}

/// The state of IR printing in one run.
pub(super) struct Dumps<'r> {
    how: &'r IrPrinting,
    /// Number of prints of each op, minus 1; parents of printed ops start at 0.
    prints: FxHashMap<Op, u32>,
}

impl<'r> Dumps<'r> {
    pub(super) fn new(how: &'r IrPrinting) -> Self {
        Dumps { how, prints: FxHashMap::default() }
    }

    /// Prints before a pass if selected. Also returns the fingerprint to compare with after the pass.
    pub(super) fn before(&mut self, info: &PassInfo, m: &Module, op: Op) -> (Option<PassEvent>, Option<u64>) {
        let event = self.how.before.has(info).then(|| self.dump(info, m, op, "Before", ""));
        let compare = self.how.only_after_change && self.how.prints_after(info);
        (event, compare.then(|| fingerprint(m, op)))
    }

    /// Prints after a pass if selected; `before` is the fingerprint from before it.
    pub(super) fn after(&mut self, info: &PassInfo, m: &Module, op: Op, before: Option<u64>) -> Option<PassEvent> {
        let wanted = self.how.prints_after(info) && !self.how.only_after_failure;
        let changed = || before.is_none_or(|before| before != fingerprint(m, op));
        (wanted && changed()).then(|| self.dump(info, m, op, "After", ""))
    }

    /// Prints after a failed pass if selected.
    pub(super) fn failed(&mut self, info: &PassInfo, m: &Module, op: Op) -> Option<PassEvent> {
        self.how.prints_after(info).then(|| self.dump(info, m, op, "After", " Failed"))
    }

    fn dump(&mut self, info: &PassInfo, m: &Module, op: Op, when: &str, failed: &str) -> PassEvent {
        let mut text = format!("// -----// IR Dump {when} {}{failed} ({})", info.class_name(), info.name);
        if self.how.module_scope {
            text += &format!(" ('{}' operation{})", m.name_text(op), symbol(m, op));
        }
        text += " //----- //\n";
        let mut print = self.how.print;
        let shown = if self.how.module_scope { m.root() } else { op };
        print.local_scope |= m.parent_block(shown).is_some();
        text += &m.op_text(shown, print);
        text += "\n\n";
        match &self.how.tree_dir {
            None => PassEvent::Text(text),
            Some(folder) => PassEvent::File { path: folder.join(self.file_name(info, m, op)), text },
        }
    }

    /// Returns the file name, such as `builtin_module_no-symbol-name/func_func_f/0_1_cse.mlir`: the enclosing ops and
    /// the print numbers.
    fn file_name(&mut self, info: &PassInfo, m: &Module, op: Op) -> PathBuf {
        self.prints.entry(op).and_modify(|n| *n += 1).or_insert(0);
        let (mut folders, mut numbers) = (Vec::new(), Vec::new());
        let mut at = Some(op);
        while let Some(op) = at {
            numbers.push(self.prints.entry(op).or_insert(0).to_string());
            let name = symbol_name(m, op).map_or("no-symbol-name", |name| m.ctx.text(name));
            folders.push(file_safe(&format!("{}_{name}", m.name_text(op).replace('.', "_"))));
            at = m.parent_op(op);
        }
        folders.reverse();
        numbers.reverse();
        let file = format!("{}_{}.mlir", numbers.join("_"), info.name);
        folders.into_iter().chain([file]).collect()
    }
}

/// Replaces characters that are not allowed in a path component.
fn file_safe(name: &str) -> String {
    name.replace(|c: char| c == '/' || c == '\\' || c.is_control(), "_")
}

/// Formats `: @name` for a symbol op.
pub(super) fn symbol(m: &Module, op: Op) -> String {
    symbol_name(m, op).map_or(String::new(), |name| format!(": @{}", m.ctx.text(name)))
}

/// Returns a hash of the op's text.
fn fingerprint(m: &Module, op: Op) -> u64 {
    struct Hash(std::hash::DefaultHasher);
    impl std::io::Write for Hash {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let options = PrintOptions { generic: true, debug_info: true, local_scope: true, ..PrintOptions::default() };
    let mut hash = Hash(std::hash::DefaultHasher::new());
    m.print_op(op, options, &mut hash).expect("hashing does not fail");
    hash.0.finish()
}
