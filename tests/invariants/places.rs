//! The number of files that name a declaration so that it is known: at most two, the declaration and a list.

use super::{Source, has_word, no_failures, sources};
use gradus::Tool;
use gradus::ir::Dialect;
use std::collections::BTreeSet;

/// Files that a new declaration touches, tests aside.
const MAX_PLACES: usize = 2;

/// Checks that each name stands in at least one and at most [`MAX_PLACES`] files.
fn check(what: &str, places: impl Iterator<Item = (String, BTreeSet<String>)>) -> usize {
    let (mut failures, mut count) = (Vec::new(), 0);
    for (name, files) in places {
        count += 1;
        if files.is_empty() || files.len() > MAX_PLACES {
            failures.push(format!("{what} '{name}' stands in {} files: {files:?}", files.len()));
        }
    }
    no_failures("a declaration is its file and an entry in a list", &failures);
    count
}

/// Returns the source files of the crates of dialects.
fn dialect_sources() -> Vec<Source> {
    ["dialects/src", "networks/src", "machines/src"].into_iter().flat_map(sources).collect()
}

/// Returns the dialects of the command.
fn dialects() -> Vec<&'static Dialect> {
    Tool::gradus().dialects
}

/// Returns the files in which a predicate holds for the text.
fn where_it_holds(sources: &[Source], holds: impl Fn(&str) -> bool) -> BTreeSet<String> {
    sources.iter().filter(|source| holds(&source.text)).map(|source| source.path.clone()).collect()
}

/// Returns the ops that are written out, `#[op("name", ...)] ... struct Name`, with the file of each and the struct.
fn declared_ops(sources: &[Source]) -> Vec<(&str, &str, &str)> {
    let mut found = Vec::new();
    for source in sources {
        for part in source.text.split("#[op(").skip(1) {
            let name = part.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
            let item = part.split("struct ").nth(1).and_then(|rest| rest.split([' ', ';', '(', '\n']).next());
            // A table of ops has `$name` here.
            found.extend(name.zip(item).map(|(name, item)| (name, item, source.path.as_str())));
        }
    }
    found
}

/// Whether `Item::INFO` is an entry of a list.
fn lists(text: &str, item: &str) -> bool {
    let entry = format!("{item}::INFO");
    text.match_indices(&entry).any(|(at, _)| {
        let (before, after) = (text[..at].trim_end(), text[at + entry.len()..].trim_start());
        before.ends_with(['[', ',']) && after.starts_with([',', ']'])
    })
}

#[test]
fn an_op_is_its_declaration_and_an_entry() {
    let all = dialect_sources();
    let ops = declared_ops(&all);
    let places = ops.iter().map(|(name, item, file)| {
        let dialect = format!("/src/{}", name.split('.').next().unwrap_or(""));
        let mut files: BTreeSet<String> =
            all.iter().filter(|s| s.path.contains(&dialect) && lists(&s.text, item)).map(|s| s.path.clone()).collect();
        files.insert((*file).to_owned());
        ((*name).to_owned(), files)
    });
    assert!(check("op", places) > 200, "few ops are seen");
}

#[test]
fn a_type_and_an_attribute_are_their_declaration_and_an_entry() {
    let all = dialect_sources();
    let enums = dialects().into_iter().flat_map(|d| d.enums).filter_map(|kind| kind.mnemonic());
    let types = dialects().into_iter().flat_map(|d| d.types).map(|info| info.decl.name);
    let attrs = dialects().into_iter().flat_map(|d| d.attrs).map(|info| info.decl.name);
    let places = enums.chain(types).chain(attrs).map(|name| {
        let quoted = [format!("mnemonic: \"{name}\""), format!("[ty(\"{name}\""), format!("attr(\n    \"{name}\"")];
        (name.to_owned(), where_it_holds(&all, |text| quoted.iter().any(|quoted| text.contains(quoted))))
    });
    let known = places.filter(|(_, files)| !files.is_empty());
    check("attribute", known);
}

#[test]
fn a_pass_is_its_file_and_an_entry() {
    let homes = [
        ("passes/src", gradus::passes::PASSES),
        ("networks/src/passes", gradus::networks::PASSES),
        ("lowering/src", gradus::lowering::PASSES),
    ];
    for (home, passes) in homes {
        let all = sources(home);
        let places = passes.iter().map(|info| {
            let quoted = format!("name: \"{}\"", info.name);
            let mut files = where_it_holds(&all, |text| text.contains(&quoted));
            let stem =
                files.iter().next().and_then(|f| f.rsplit('/').next()).unwrap_or("").trim_end_matches(".rs").to_owned();
            files.extend(where_it_holds(&all, |text| has_word(text, &format!("{stem}::INFO"))));
            (info.name.to_owned(), files)
        });
        check("pass", places.filter(|(_, files)| !files.is_empty()));
    }
}

#[test]
fn a_rule_is_one_line() {
    let all = dialect_sources();
    let rules =
        dialects().into_iter().flat_map(|d| d.rules.iter().chain(d.rule_groups.iter().flat_map(|group| group.rules)));
    let places = rules.map(|rule| {
        let quoted = ["rule", "approx"].map(|word| format!("{word}(\"{}\"", rule.name));
        let squeezed = |text: &str| quoted.iter().any(|quoted| text.replace("(\n        ", "(").contains(quoted));
        (rule.name.to_owned(), where_it_holds(&all, squeezed))
    });
    // Rules that a macro writes are not seen.
    assert!(check("rule", places.filter(|(_, files)| !files.is_empty())) > 100, "few rules are seen");
}

#[test]
fn a_dialect_is_its_file_and_an_entry() {
    let all = dialect_sources();
    let places = dialects().into_iter().map(|dialect| {
        let entry = format!("{}::DIALECT", dialect.name);
        let declared = format!("name: \"{}\"", dialect.name);
        let is = |text: &str| has_word(text, &entry) || (text.contains("Dialect {") && text.contains(&declared));
        (dialect.name.to_owned(), where_it_holds(&all, is))
    });
    assert_eq!(check("dialect", places), dialects().len());
}

#[test]
fn a_kernel_is_its_function_and_an_entry() {
    let all = sources("runtime/src");
    let ops = all.iter().find(|s| s.path.ends_with("cpu/mod.rs")).expect("the kernels are listed there");
    let entries = ops.text.match_indices("::INFO").filter_map(|(at, _)| {
        ops.text[..at].rsplit(|c: char| !c.is_alphanumeric()).next().filter(|item| item.ends_with("Op"))
    });
    let entries: BTreeSet<&str> = entries.collect();
    let places = entries
        .into_iter()
        .map(|item| (item.to_owned(), where_it_holds(&all, |text| has_word(text, &format!("{item}::INFO")))));
    check("kernel of", places);
}

#[test]
fn a_compute_record_of_clusters_is_its_file_an_op_and_an_entry() {
    let all: Vec<Source> = ["simulators/src/cluster", "machines/src/cluster"].into_iter().flat_map(sources).collect();
    let records = all.iter().filter(|source| source.path.contains("simulators/src/cluster/record/"));
    let names: Vec<&str> =
        records.filter_map(|s| s.text.split("impl Compute for ").nth(1)?.split(' ').next()).collect();
    assert!(names.len() >= 5, "few records are seen: {names:?}");
    for name in names {
        let files = where_it_holds(&all, |text| has_word(text, name) || has_word(text, &format!("{name}Op")));
        assert!(files.len() <= 3, "'{name}' stands in {files:?}");
    }
}

#[test]
fn an_instruction_of_the_npu_is_its_file_an_op_and_an_entry() {
    let all: Vec<Source> = ["simulators/src/npu", "machines/src/npu"].into_iter().flat_map(sources).collect();
    let rows = all.iter().find(|source| source.path.ends_with("npu/instruction.rs")).expect("instructions are listed");
    let rows =
        rows.text.split("instructions! {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("it is a table");
    let names: Vec<&str> = rows.lines().filter_map(|row| row.trim().split_once('(').map(|(name, _)| name)).collect();
    assert!(names.len() >= 6, "few instructions are seen: {names:?}");
    for name in names {
        let files = where_it_holds(&all, |text| has_word(text, &format!("NpuInst::{name}")));
        // Its own file, and the entry, do not name the variant.
        assert!(files.len() <= 1 + usize::from(matches!(name, "Load" | "Store")), "'{name}' stands in {files:?}");
    }
}
