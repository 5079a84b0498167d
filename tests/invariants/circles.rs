//! Circles of modules: files of a crate that use each other, directly or through others.

use super::{Source, has_word, source_folders, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Circles in all crates. Lower it when a circle is gone; never raise it.
const MAX_CIRCLES: usize = 6;
/// Files of the largest circle.
const MAX_FILES: usize = 5;
/// Re-exports that a path is followed through, in case that they refer to each other.
const MAX_REEXPORTS: usize = 8;

/// A path from the root of a crate on.
type Path = Vec<String>;

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the first name of a text, empty where it begins with something else, and the rest.
fn split_name(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// A path that a file mentions, and the name that it has there; `*` for all names below the path.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Mention {
    path: Path,
    name: String,
}

/// Reads a path, with those of its braces, and returns the text after it.
fn read_path<'a>(mut text: &'a str, mut path: Path, found: &mut Vec<Mention>) -> &'a str {
    loop {
        let (name, after) = split_name(text);
        match name {
            "crate" => path.clear(),
            "super" => _ = path.pop(),
            "self" | "" => {}
            name => path.push(name.to_owned()),
        }
        text = after;
        match text.strip_prefix("::") {
            Some(after) => text = after,
            None => break,
        }
    }
    if let Some(mut list) = text.strip_prefix('{') {
        loop {
            list = list.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            match list.strip_prefix('}') {
                Some(after) => return after,
                None if list.starts_with(|c| is_part(c) || c == '*') => {
                    list = read_path(list, path.clone(), found);
                }
                None => return list,
            }
        }
    }
    if let Some(after) = text.strip_prefix('*') {
        found.push(Mention { path, name: "*".to_owned() });
        return after;
    }
    let renamed = text.strip_prefix(" as ").map(split_name);
    let name = renamed.map_or_else(|| path.last().cloned().unwrap_or_default(), |(name, _)| name.to_owned());
    found.push(Mention { path, name });
    renamed.map_or(text, |(_, after)| after)
}

/// Returns the paths of two names or more in an expression or a type of a module.
fn mentions(text: &str, own: &Path) -> Vec<Mention> {
    let (mut found, mut rest, mut before) = (Vec::new(), text, ' ');
    while let Some(first) = rest.chars().next() {
        let (name, after) = split_name(rest);
        if !name.is_empty() && after.starts_with("::") {
            let mut mentioned = Vec::new();
            rest = read_path(rest, own.clone(), &mut mentioned);
            // Paths of macros, `$crate::`, belong to their users; the rest of `<T>::` belongs to a type.
            found.extend(mentioned.into_iter().filter(|_| !matches!(before, '$' | ':')));
            before = ' ';
        } else {
            let len = name.len().max(first.len_utf8());
            before = first;
            rest = &rest[len..];
        }
    }
    found
}

/// A file with the modules that it mentions and re-exports.
#[derive(Default)]
struct File {
    /// The paths of `use` lines.
    private: Vec<Mention>,
    /// Those of `pub use` lines.
    public: Vec<Mention>,
    /// The code without comments and `use` lines.
    code: String,
}

impl File {
    fn new(text: &str, own: &Path) -> File {
        let (mut file, mut lines) = (File::default(), text.lines());
        while let Some(line) = lines.next() {
            let trimmed = line.trim_start();
            let public =
                trimmed.strip_prefix("pub").and_then(|rest| rest.split_once("use ")).filter(|(visibility, _)| {
                    visibility.trim().is_empty() || visibility.starts_with('(') && visibility.ends_with(") ")
                });
            let Some(first) = public.map(|(_, rest)| rest).or_else(|| trimmed.strip_prefix("use ")) else {
                if !trimmed.starts_with("//") {
                    file.code.extend([line, "\n"]);
                }
                continue;
            };
            let mut item = first.to_owned();
            while !item.ends_with(';') {
                let Some(further) = lines.next() else { break };
                item.extend(["\n", further]);
            }
            let to = if public.is_some() { &mut file.public } else { &mut file.private };
            read_path(&item, own.clone(), to);
        }
        file
    }

    fn imports(&self) -> impl Iterator<Item = &Mention> {
        self.private.iter().chain(&self.public)
    }

    /// Whether an item of this name is written here; those that a macro writes are not seen.
    fn declares(&self, name: &str) -> bool {
        let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules!"];
        let is_item = |at: usize| kinds.iter().any(|kind| self.code[..at].ends_with(&format!("{kind} ")));
        self.code.match_indices(name).any(|(at, _)| is_item(at) && !self.code[at + name.len()..].starts_with(is_part))
    }
}

/// The files of a crate by the paths of their modules: `text::format` for `ir/src/text/format.rs`.
struct Modules(BTreeMap<Path, File>);

impl Modules {
    fn new(src: &str, sources: Vec<Source>) -> Modules {
        let file = |source: Source| {
            let rest = source.path.strip_prefix(src).unwrap_or(&source.path).trim_start_matches('/');
            let mut path: Path = rest.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            path.pop_if(|name| matches!(name.as_str(), "mod" | "lib" | "main"));
            let file = File::new(&source.text, &path);
            (path, file)
        };
        Modules(sources.into_iter().map(file).collect())
    }

    /// Returns the module that declares what a path means, through re-exports.
    fn resolve(&self, path: &[String], reexports: usize) -> Path {
        let mut module = Path::new();
        for (i, name) in path.iter().enumerate() {
            module.push(name.clone());
            if self.0.contains_key(&module) {
                continue;
            }
            module.pop();
            let Some(further) = self.import(&module, name, reexports) else { break };
            return self.resolve(&[&further, &path[i + 1..]].concat(), reexports - 1);
        }
        module
    }

    /// Returns the path that a name of a module stands for, if it is imported.
    fn import(&self, module: &Path, name: &str, reexports: usize) -> Option<Path> {
        let file = self.0.get(module).filter(|_| reexports > 0)?;
        let all = |mention: &Mention| {
            let target = self.resolve(&mention.path, reexports - 1);
            let declares = target != *module && self.0[&target].declares(name);
            declares.then(|| [target, vec![name.to_owned()]].concat())
        };
        let named = file.imports().find(|mention| mention.name == name).map(|mention| mention.path.clone());
        named.or_else(|| file.imports().filter(|mention| mention.name == "*").find_map(all))
    }

    /// Returns the modules that each module uses. A re-export is a use only if the file itself has the name. A module
    /// and those around it are not told apart: that the parts of a folder use what its `mod.rs` defines does not count,
    /// that `mod.rs` uses its parts does. Uses through methods are not seen.
    fn uses(&self) -> BTreeMap<Path, BTreeSet<Path>> {
        let used = |(own, file): (&Path, &File)| {
            let needed = |mention: &&Mention| mention.name == "*" || has_word(&file.code, &mention.name);
            let in_code = mentions(&file.code, own);
            let all = file.private.iter().chain(file.public.iter().filter(needed)).chain(&in_code);
            let modules = all.map(|mention| self.resolve(&mention.path, MAX_REEXPORTS));
            (own.clone(), modules.filter(|module| !own.starts_with(module)).collect())
        };
        self.0.iter().map(used).collect()
    }
}

/// Returns the circles of a crate, as sets of modules.
fn circles(graph: &BTreeMap<Path, BTreeSet<Path>>) -> Vec<BTreeSet<Path>> {
    let reached = |from: &Path| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = open.pop() {
            open.extend(graph[&next].iter().filter(|to| seen.insert((*to).clone())).cloned());
        }
        seen
    };
    let reach: BTreeMap<&Path, BTreeSet<Path>> = graph.keys().map(|module| (module, reached(module))).collect();
    let circle = |module: &&Path| -> BTreeSet<Path> {
        reach[*module].iter().filter(|other| reach[*other].contains(*module)).cloned().collect()
    };
    let found: BTreeSet<BTreeSet<Path>> = graph.keys().collect::<Vec<_>>().iter().map(circle).collect();
    found.into_iter().filter(|circle| circle.len() > 1).collect()
}

#[test]
fn circles_of_modules_do_not_grow() {
    let (mut count, mut largest, mut shown) = (0, 0, String::new());
    for src in source_folders() {
        for circle in circles(&Modules::new(&src, sources(&src)).uses()) {
            count += 1;
            largest = largest.max(circle.len());
            let names: Vec<String> = circle.iter().map(|path| path.join("::")).collect();
            shown += &format!("{src}: {}\n", names.join(", "));
        }
    }
    assert!(count <= MAX_CIRCLES, "{count} circles of modules, at most {MAX_CIRCLES}:\n{shown}");
    assert!(largest <= MAX_FILES, "a circle of {largest} modules, at most {MAX_FILES}:\n{shown}");
}

#[test]
fn a_circle_is_found() {
    let files = [
        ("lib", "mod a;\npub use a::First;\npub use b::*;"),
        ("a", "/// See [`crate::d`].\npub struct First;\nfn f() -> crate::Second {\n    $crate::d::g!()\n}"),
        ("b", "use super::{\n    c::{X, Y},\n    e,\n};\npub struct Second;"),
        ("c", "use crate::First as T;"),
        ("d", "let x = super::a::f();"),
        ("e/mod", "mod f;\nuse f::Part;\npub struct Whole;"),
        ("e/f", "use super::Whole;\npub struct Part;"),
    ];
    let sources = files.map(|(path, text)| Source { path: format!("x/src/{path}.rs"), text: text.to_owned() });
    let found = circles(&Modules::new("x/src", sources.into()).uses());
    assert_eq!(found, [BTreeSet::from(["a", "b", "c"].map(|name| vec![name.to_owned()]))]);
}
