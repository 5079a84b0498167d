//! The rules of the repository, as tests. A failure names the remedy.

use crate::support::{files, no_failures, read, root, shown, without_tests};
use gradus::Tool;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The crates, each of which may use those before it.
const CRATES: [&str; 26] = [
    "plan",
    "simulators",
    "filecheck",
    "ir/macros",
    "ir",
    "reference-kernels",
    "interp",
    "npy",
    "dialects",
    "cost",
    "networks",
    "machines",
    "egraph",
    "passes",
    "runtime",
    "lowering",
    "targets",
    "reduce",
    "check",
    "generate",
    ".",
    "golden",
    "examples/bits",
    "examples/calculus",
    "examples/poly",
    "examples/toyvec",
];

/// Crates that do not know each other, though the second is before the first.
const STRANGERS: [(&str, &str); 9] = [
    ("ir", "filecheck"),
    ("interp", "reference-kernels"),
    ("dialects", "interp"),
    ("networks", "interp"),
    ("machines", "cost"),
    ("passes", "egraph"),
    ("runtime", "cost"),
    ("runtime", "egraph"),
    ("runtime", "passes"),
];

/// A file longer than this is two files.
const MAX_LINES: usize = 800;

/// Returns all Rust files that are part of the project.
fn sources() -> Vec<PathBuf> {
    let folders = CRATES.into_iter().filter(|krate| !matches!(*krate, "." | "ir/macros"));
    folders.chain(["src", "tests", "benches"]).flat_map(|f| files(&root().join(f), "rs")).collect()
}

/// Returns the name of a crate's package: `gradus-ir-macros` for `ir/macros`.
fn package(krate: &str) -> String {
    match krate {
        "." => "gradus".to_owned(),
        "examples/bits" => "bits".to_owned(),
        "examples/calculus" => "calculus".to_owned(),
        "examples/poly" => "poly".to_owned(),
        "examples/toyvec" => "toyvec".to_owned(),
        _ => format!("gradus-{}", krate.replace('/', "-")),
    }
}

#[test]
fn crates_use_only_those_before_them() {
    let mut failures = Vec::new();
    for (i, krate) in CRATES.iter().enumerate() {
        let manifest = read(&root().join(krate).join("Cargo.toml"));
        let section = manifest.split("\n[dependencies]").nth(1).unwrap_or("").split("\n[").next().unwrap_or("");
        for (j, other) in CRATES.iter().enumerate() {
            let name = package(other);
            let used = section.lines().any(|l| l.split(['.', ' ', '=']).next() == Some(name.as_str()));
            if used && (j >= i || STRANGERS.contains(&(krate, other))) {
                failures.push(format!("{krate}/Cargo.toml uses {name}"));
            }
        }
    }
    no_failures("a crate may use those above it in ARCHITECTURE.md's list, never those below", &failures);
}

/// A feature adds a dependency, a feature of one, or another feature, is on by default, and is listed in the README.
#[test]
fn features_add_and_are_documented() {
    let (manifest, readme) = (read(&root().join("Cargo.toml")), read(&root().join("README.md")));
    let section = manifest.split("\n[features]\n").nth(1).unwrap_or("").split("\n[").next().unwrap_or("");
    let features: Vec<(&str, &str)> = section.lines().filter_map(|line| line.split_once(" = ")).collect();
    let defaults = features.iter().find(|(name, _)| *name == "default").map_or("", |(_, list)| list);
    let mut failures = Vec::new();
    for (name, list) in features.iter().filter(|(name, _)| *name != "default") {
        let is_feature = |item: &str| features.iter().any(|(name, _)| *name == item);
        // A dependency from outside has a feature of its name.
        let adds = |item: &str| {
            let is_crate = item.starts_with("dep:gradus-") || item.starts_with("gradus-");
            is_crate || is_feature(item) || item.strip_prefix("dep:") == Some(*name)
        };
        let items: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        if items.is_empty() || !items.into_iter().all(adds) {
            failures.push(format!("{name}: a feature adds dependencies, features of crates, or other features"));
        }
        if !defaults.contains(&format!("\"{name}\"")) {
            failures.push(format!("{name}: all features are on by default"));
        }
        if !readme.contains(&format!("| `{name}` |")) {
            failures.push(format!("{name}: the README has a table of features"));
        }
    }
    no_failures("features of gradus", &failures);
    assert!(features.len() > 1, "the features are not found in Cargo.toml");
}

/// The modules that a registry's `lib.rs` declares are the files beside it.
#[test]
fn every_file_is_registered() {
    let mut failures = Vec::new();
    for krate in CRATES.into_iter().filter(|krate| !matches!(*krate, "." | "ir/macros" | "ir")) {
        let folder = root().join(krate).join("src");
        let lib = read(&folder.join("lib.rs"));
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_stem().expect("has a name").to_string_lossy().into_owned();
            let folder_of_a_file = path.is_dir() && path.with_extension("rs").is_file();
            let declared = lib.lines().any(|l| l.trim_start_matches("pub ") == format!("mod {name};"));
            if !matches!(&*name, "lib" | "main") && !folder_of_a_file && !declared {
                failures.push(format!("{}: add 'mod {name};' to {krate}/src/lib.rs", shown(&path)));
            }
        }
    }
    no_failures("files that no registry names", &failures);
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut failures = Vec::new();
    for path in sources() {
        let text = read(&path);
        let lines = text.lines().count();
        if lines > MAX_LINES {
            failures.push(format!("{}: {lines} lines are more than {MAX_LINES}; divide it", shown(&path)));
        }
        if !text.starts_with("//!") {
            failures.push(format!("{}: begin with a module doc (//!)", shown(&path)));
        }
        let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
        let word = ["un", "safe"].concat();
        let has_word = |l: &str| l.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').any(|w| w == word);
        if !shown(&path).starts_with("runtime/") && code.into_iter().any(has_word) {
            failures.push(format!("{}: only the runtime may have {word} code", shown(&path)));
        }
    }
    no_failures("source files", &failures);
}

#[test]
fn the_documents_exist() {
    let missing: Vec<String> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        .into_iter()
        .filter(|f| !root().join(f).is_file())
        .map(str::to_owned)
        .collect();
    no_failures("write these", &missing);
}

#[test]
fn passes_say_what_they_do_under_fixed_headings() {
    let mut failures = Vec::new();
    for info in Tool::gradus().passes {
        let headings: Vec<&str> = info.doc.lines().filter_map(|l| l.strip_prefix("# ")).collect();
        if headings != ["Before / After", "Does", "Refuses", "Cost"] {
            failures.push(format!("{}: {headings:?}", info.name));
        }
    }
    no_failures("the doc of a pass has the headings Before / After, Does, Refuses, Cost", &failures);
}

#[test]
fn ops_are_documented() {
    let mut failures = Vec::new();
    for info in Tool::gradus().dialects.into_iter().flat_map(|d| d.ops) {
        if info.summary().is_empty() {
            failures.push(format!("{}: the declaration has no doc comment", info.name));
        }
        let values = info.operands.iter().chain(info.results).map(|v| (v.name, v.doc));
        for (name, _) in values.chain(info.attrs.iter().map(|a| (a.name, a.doc))).filter(|(_, doc)| doc.is_empty()) {
            failures.push(format!("{}: '{name}' has no doc comment", info.name));
        }
    }
    no_failures("documentation is made of the doc comments at the declaration", &failures);
}

#[test]
fn examples_in_op_docs_are_ir() {
    let ctx = gradus::machines::context();
    let (mut failures, mut count) = (Vec::new(), 0);
    for info in Tool::gradus().dialects.into_iter().flat_map(|d| d.ops) {
        for example in gradus::generate::examples::of(info) {
            count += 1;
            if let Err(why) = gradus::generate::examples::program(&ctx, example) {
                failures.push(format!("{}: {why}", info.name));
            }
        }
    }
    no_failures("examples that are not IR", &failures);
    assert!(count >= 100, "only {count} examples were found");
}

/// CONTRIBUTING.md promises that an op is its declaration and one entry in a list, and a pass its file and two lines in
/// `lib.rs`. Of ops this sees the registry only: every name is there once, under its dialect.
#[test]
fn adding_an_op_or_a_pass_touches_two_places() {
    let names: Vec<&str> = Tool::gradus().dialects.into_iter().flat_map(|d| d.ops).map(|info| info.name).collect();
    let twice: BTreeSet<&str> = names.iter().filter(|n| names.iter().filter(|m| m == n).count() > 1).copied().collect();
    assert!(twice.is_empty(), "declared twice: {twice:?}");
    let mut failures = Vec::new();
    for dialect in Tool::gradus().dialects {
        let prefix = format!("{}.", dialect.name);
        failures.extend(
            dialect.ops.iter().filter(|i| !i.name.starts_with(&prefix)).map(|i| format!("{}: not {prefix}", i.name)),
        );
    }
    let homes = [
        ("passes/src", "lib.rs", gradus::passes::PASSES),
        ("egraph/src", "lib.rs", gradus::egraph::PASSES),
        ("networks/src/passes", "mod.rs", gradus::networks::PASSES),
        ("lowering/src", "lib.rs", gradus::lowering::PASSES),
    ];
    let passes = homes.iter().flat_map(|(home, list, passes)| passes.iter().map(move |info| (home, list, info)));
    for (home, list, info) in passes {
        let (quoted, src) = (format!("name: \"{}\"", info.name), root().join(home));
        let declaring: Vec<PathBuf> = files(&src, "rs").into_iter().filter(|f| read(f).contains(&quoted)).collect();
        let [file] = &declaring[..] else {
            failures.push(format!("pass {} is declared in {} files", info.name, declaring.len()));
            continue;
        };
        let module = file.strip_prefix(&src).unwrap().iter().next().unwrap().to_string_lossy().replace(".rs", "");
        let places = [format!(" {module};"), format!("&{module}::")];
        if read(&src.join(list)).lines().filter(|l| places.iter().any(|p| l.contains(p))).count() != 2 {
            failures.push(format!("pass {} does not stand on two lines of {home}/{list}", info.name));
        }
    }
    no_failures("registries", &failures);
}

/// Files of a folder whose code, without tests, has one of some words.
fn files_naming(folder: &str, words: &[String]) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '"');
    let names = |text: &str| {
        let code = without_tests(text);
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.flat_map(|line| line.split(|c| !is_word(c))).any(|word| words.iter().any(|w| w == word))
    };
    files(&root().join(folder), "rs").into_iter().filter(|f| names(&read(f))).map(|f| shown(&f)).collect()
}

/// Returns the structs that declare the ops of the `graph` dialect, each with its file.
fn graph_ops() -> Vec<(String, String)> {
    let declared = |line: &str| {
        let line = line.trim_start();
        let name = line.strip_prefix("pub struct ").or_else(|| line.contains(" \"graph.").then_some(line))?;
        let name = name.split(|c: char| !c.is_alphanumeric()).next()?;
        name.ends_with("Op").then(|| name.to_owned())
    };
    let of_file = |f: PathBuf| read(&f).lines().filter_map(declared).map(|name| (name, shown(&f))).collect::<Vec<_>>();
    files(&root().join("networks/src/graph"), "rs").into_iter().flat_map(of_file).collect()
}

/// The recipe for kernels: one table has an op, and nothing else of the runtime or the target names it.
#[test]
fn adding_a_kernel_touches_two_places() {
    let tables = ["runtime/src/cpu/function.rs", "runtime/src/cpu/mod.rs"];
    let (mut failures, mut count) = (Vec::new(), 0);
    for (op, _) in graph_ops() {
        let have = files_naming("runtime/src/cpu", std::slice::from_ref(&op));
        count += have.len();
        if have.len() > 1 || !have.iter().all(|file| tables.contains(&file.as_str())) {
            failures.push(format!("{op}: {have:?}"));
        }
    }
    let target = read(&root().join("targets/src/cpu.rs"));
    let named = ["\"graph.", "\"addr.", "\"layout."].into_iter().filter(|op| target.contains(op));
    failures.extend(named.map(|op| format!("targets/src/cpu.rs names ops: {op}")));
    no_failures("an op with a kernel is in one of the tables, and nowhere else", &failures);
    assert!(count >= 30, "only {count} kernels were found");
}

/// The recipe for ONNX operators: the declaration and the reference kernel. The registry names none.
#[test]
fn adding_an_onnx_operator_touches_two_places() {
    let ops = graph_ops();
    assert!(ops.len() >= 150, "only {} operators were found", ops.len());
    let names: Vec<String> = ops.iter().map(|op| op.0.clone()).collect();
    let mut failures: Vec<String> = files_naming("lowering/src/onnx_to_graph", &names).into_iter().collect();
    // Collected values of loops are in sequences, which are made of ops.
    let control_flow = ["graphs", "loops"].map(|name| format!("lowering/src/onnx_to_graph/{name}.rs"));
    failures.retain(|file| !control_flow.contains(file));
    failures.extend(files_naming("networks/src/graph", &names).into_iter().filter(|f| f.ends_with("graph/mod.rs")));
    let exports = read(&root().join("reference-kernels/src/lib.rs"));
    let exports = exports.lines().filter(|line| line.starts_with("pub use") && !line.ends_with("::*;"));
    failures.extend(exports.map(|line| format!("reference-kernels/src/lib.rs: {line}")));
    no_failures("the importer, the dialect's registry and the list of kernels name no operator", &failures);
}

/// The recipe for operands of the products: one file of the dialect names them, and no pass that copies products.
#[test]
fn adding_an_operand_to_the_products_touches_two_places() {
    use gradus::ir::{Arity, OpDecl};
    let info = gradus::networks::addr::GemmOp::INFO;
    let optional = info.operands.iter().filter(|group| group.arity == Arity::Optional);
    let names: Vec<&str> = optional.map(|group| group.name).chain(["low", "high"]).collect();
    assert!(names.len() >= 8, "only {names:?} were found");
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let mut failures: Vec<String> = files_naming("networks/src/addr", &quoted).into_iter().collect();
    failures.retain(|file| file != "networks/src/addr/product.rs");
    let copying = ["lowering/src/emit.rs", "networks/src/passes/pack_panels.rs"];
    let named = ["lowering/src", "networks/src/passes"].map(|folder| files_naming(folder, &quoted));
    failures.extend(named.into_iter().flatten().filter(|file| copying.contains(&file.as_str())));
    no_failures("operands of products are named by their declaration and by those who make or execute them", &failures);
}

/// Paths of the machine on which something was written mean nothing to a reader elsewhere.
#[test]
fn no_file_names_places_of_one_machine() {
    let mut failures = Vec::new();
    let texts = ["rs", "md", "toml", "mlir", "snap", "py", "txt", "pest", "run"];
    let places = [["/wor", "k/"], ["/roo", "t/"], ["/hom", "e/"]].map(|p| p.concat());
    let folders = CRATES.into_iter().filter(|krate| *krate != ".").chain(["src", "tests", "benches", "docs", ".ci"]);
    let inside = folders.map(|f| root().join(f)).filter(|f| f.is_dir());
    let mut paths: Vec<PathBuf> = inside.flat_map(|f| texts.into_iter().flat_map(move |t| files(&f, t))).collect();
    paths.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Cargo.toml", ".ci/run"].map(|f| root().join(f)));
    for path in paths.into_iter().filter(|p| p.is_file()) {
        for (i, line) in read(&path).lines().enumerate() {
            if places.iter().any(|p| line.contains(p)) {
                failures.push(format!("{}:{}: {}", shown(&path), i + 1, line.trim()));
            }
        }
    }
    no_failures("write paths that are relative to the repository", &failures);
}
