//! Circles of modules: files of a crate that use each other, directly or through others.

use super::{Source, source_folders, sources};
use std::collections::{BTreeMap, BTreeSet};

/// At most this many circles in all crates. Lower it when a circle is gone; never raise it.
const MAX_CIRCLES: usize = 12;
/// At most this many files in one circle.
const MAX_FILES: usize = 17;

type Path = Vec<String>;

/// Returns a module's path in its crate: `text::format` for `ir/src/text/format.rs`.
fn module(source: &Source, src: &str) -> Path {
    let rest = source.path.strip_prefix(src).unwrap_or(&source.path).trim_start_matches('/').trim_end_matches(".rs");
    let mut path: Path = rest.split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|name| matches!(name.as_str(), "mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

/// Returns the paths that a module mentions from `crate::` or `super::` on, each once for every name in braces.
fn mentions(text: &str, own: &Path) -> Vec<Path> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, root) in text.match_indices("crate::").chain(text.match_indices("super::")) {
        if text[..at].ends_with(|c: char| is_part(c) || c == '$' || c == ':') {
            continue;
        }
        let mut rest = &text[at + root.len()..];
        let mut path: Path = if root == "crate::" { Path::new() } else { own[..own.len().saturating_sub(1)].to_vec() };
        while let Some(further) = rest.strip_prefix("super::") {
            path.pop();
            rest = further;
        }
        while rest.starts_with(is_part) {
            let (word, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
            path.push(word.to_owned());
            rest = after.strip_prefix("::").unwrap_or("");
        }
        match rest.strip_prefix('{') {
            Some(list) => found.extend(heads(list).into_iter().map(|head| [path.clone(), vec![head]].concat())),
            None => found.push(path),
        }
    }
    found
}

/// Returns the first names of a list in braces, without what nested braces hold.
fn heads(list: &str) -> Vec<String> {
    let (mut depth, mut heads, mut item) = (1, Vec::new(), String::new());
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && c == ',') {
            heads.push(std::mem::take(&mut item));
        } else {
            item.push(c);
        }
        if depth == 0 {
            break;
        }
    }
    let name =
        |item: &String| item.trim().split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("").to_owned();
    heads.iter().map(name).filter(|name| !name.is_empty()).collect()
}

/// Returns the modules that each module of a crate uses. A module and those around it are not told apart: `mod.rs`
/// names its parts, and they use what it defines.
fn uses(src: &str) -> BTreeMap<Path, BTreeSet<Path>> {
    let all: BTreeMap<Path, String> = sources(src).into_iter().map(|s| (module(&s, src), s.text)).collect();
    let used = |own: &Path, text: &String| -> BTreeSet<Path> {
        let modules = mentions(text, own).into_iter().filter_map(|mut path| {
            while !all.contains_key(&path) {
                path.pop()?;
            }
            Some(path)
        });
        modules.filter(|path| !path.is_empty() && path != own && !own.starts_with(path)).collect()
    };
    all.iter().map(|(own, text)| (own.clone(), used(own, text))).collect()
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
        for circle in circles(&uses(&src)) {
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
    let names = |path: &[&str]| -> Path { path.iter().map(|s| (*s).to_owned()).collect() };
    let text = "use super::{b::{X, Y}, c};\nuse crate::text::d::Z;\nlet x = super::super::e::f();\n$crate::g::h();";
    let found: BTreeSet<Path> = mentions(text, &names(&["text", "a"])).into_iter().collect();
    let wanted = [&["text", "b"][..], &["text", "c"], &["text", "d", "Z"], &["e", "f"]].map(names);
    assert_eq!(found, wanted.into_iter().collect());
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")].map(|(from, to)| (names(&[from]), names(&[to])));
    let graph = edges.into_iter().map(|(from, to)| (from, BTreeSet::from([to]))).collect();
    assert_eq!(circles(&graph), [BTreeSet::from(["a", "b", "c"].map(|s| names(&[s])))]);
}
