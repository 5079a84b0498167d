//! Layers as IR: choices that are edited by hand, and checks between passes.

use crate::support::{gradus, read, root};
use std::collections::BTreeSet;
use std::path::Path;

/// Runs the command, which must succeed, and returns what it prints.
fn printed(args: &[&str]) -> String {
    let output = gradus(args);
    assert_eq!(output.code, 0, "{args:?}: {}", output.err);
    output.out
}

/// A program with its choices.
fn chosen(source: &str, form: &str) -> String {
    let source = root().join(source).display().to_string();
    printed(&["opt", &source, form, "--choose-layers", "--mlir-print-local-scope"])
}

/// Edits a choice: its text, and another. Then the program is another one that computes the same, or the edit is refused.
fn edit(text: &str, [from, to]: [&str; 2], folder: &Path) -> Result<bool, String> {
    let (before, after) = (folder.join("before.mlir"), folder.join("after.mlir"));
    let edited = text.replacen(from, to, 1);
    assert_ne!(edited, text, "there is no {from}");
    std::fs::write(&before, text).expect("a file can be written");
    std::fs::write(&after, &edited).expect("a file can be written");
    let convert = |path: &Path| gradus(&["opt", &path.display().to_string(), "--convert-layers-to-programs"]);
    let (old, new) = (convert(&before), convert(&after));
    assert_eq!(old.code, 0, "{}", old.err);
    if new.code != 0 {
        return Err(new.err);
    }
    printed(&["check", &after.display().to_string(), "--convert-layers-to-programs", "--inputs=3"]);
    Ok(old.out != new.out)
}

/// Numbers of edits after which there is another program, and of those that are refused.
#[derive(Default)]
struct Edits {
    changed: usize,
    refused: usize,
}

impl Edits {
    /// Edits a choice. Whether there is another program, unless the edit is refused.
    fn add(&mut self, text: &str, [from, to]: [&str; 2], folder: &Path) -> Option<bool> {
        match edit(text, [from, to], folder) {
            Ok(is_other) => {
                self.changed += usize::from(is_other);
                Some(is_other)
            }
            Err(why) => {
                assert!(why.contains("are not possible: "), "{to}: {why}");
                self.refused += 1;
                None
            }
        }
    }
}

/// The choice of a layer, by number.
fn choice<'a>(text: &'a str, start: &str, layer: usize) -> &'a str {
    let at = text.match_indices(start).nth(layer).expect("there are so many layers").0;
    &text[at..at + text[at..].find('>').expect("it ends") + 1]
}

#[test]
fn edited_tiles_change_programs_or_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let text = chosen("tests/npu/gate.mlir", "--form-layers");
    let mut all = Edits::default();
    for layer in 0..text.matches("#npu.tiles").count() {
        let of_layer = choice(&text, "#npu.tiles", layer).to_owned();
        let fields = of_layer.trim_start_matches("#npu.tiles<").trim_end_matches('>');
        let field = |name: &str| fields.split(", ").find_map(|f| f.strip_prefix(&format!("{name} = ")));
        let with = |name: &str, value: &str| {
            let others: Vec<&str> = fields.split(", ").filter(|f| !f.starts_with(&format!("{name} ="))).collect();
            format!("#npu.tiles<{}, {name} = {value}>", others.join(", "))
        };
        let rows: usize = field("rows").and_then(|rows| rows.parse().ok()).expect("tiles have rows");
        let mut edits: Vec<(String, bool)> = [1, 2, 3, 7].map(|n| (with("rows", &n.to_string()), n != rows)).into();
        edits.extend(
            [("kernels", "8"), ("kernels", "16"), ("kernels", "12"), ("rows", "1000"), ("to", "\"next\"")]
                .map(|(n, v)| (with(n, v), false)),
        );
        edits.extend(
            [("order", "\"kernels\""), ("weights", "\"streamed\""), ("at", "64"), ("to", "\"ddr\"")]
                .map(|(n, v)| (with(n, v), false)),
        );
        for (edited, must_change) in edits.into_iter().filter(|(edited, _)| *edited != of_layer) {
            let is_other = all.add(&text, [&of_layer, &edited], folder.path());
            assert!(is_other != Some(false) || !must_change, "{of_layer} and {edited} have the same program");
        }
    }
    let Edits { changed, refused } = all;
    assert!(changed >= 12 && refused >= 8, "{changed} edits have another program, {refused} are refused");
}

#[test]
fn edited_splits_change_programs_or_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let text = chosen("examples/digits_cnn_int8.onnx", "--form-layers=target=cluster");
    let mut all = Edits::default();
    for layer in 0..text.matches("#cluster.split").count() {
        let of_layer = choice(&text, "#cluster.split", layer).to_owned();
        let edits = [
            "\"rows\", 5",
            "\"rows\", 2",
            "\"columns\", 3",
            "\"channels\", 4",
            "\"rows\", 4, groups = 2, outer = \"channels\"",
            "\"rows\", 9",
            "\"rows\", 2, tiles = 2",
            "\"rows\", 2, tiles = 1000",
            "\"rows\", 2, then = \"tiles\"",
            "\"rows\", 2, to = \"ddr\"",
        ];
        for edited in
            edits.map(|fields| format!("#cluster.split<{fields}>")).iter().filter(|edited| **edited != of_layer)
        {
            all.add(&text, [&of_layer, edited], folder.path());
        }
    }
    let Edits { changed, refused } = all;
    assert!(changed >= 20 && refused >= 6, "{changed} edits have another program, {refused} are refused");
}

/// Each level computes what the one before computes.
#[test]
fn each_step_has_the_meaning_of_the_one_before() {
    let passes = ["--choose-layers", "--schedule-layers", "--place-buffers", "--convert-layers-to-programs"];
    for (source, form) in [("tests/npu/gate.mlir", "--form-layers"), ("tests/npu/groups.mlir", "--form-layers")] {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut file = root().join(source).display().to_string();
        for (i, pass) in [form].iter().chain(&passes).enumerate() {
            printed(&["check", &file, pass, "--inputs=5"]);
            let next = folder.path().join(format!("{i}.mlir")).display().to_string();
            printed(&["opt", &file, pass, "-o", &next]);
            file = next;
        }
        assert!(read(Path::new(&file)).contains("npu.program"), "{source}");
    }
}

/// A plan of a product is obeyed, so that there is another program that computes the same, or refused.
#[test]
fn edited_plans_change_programs_or_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (file, mut programs, mut refused) = (folder.path().join("plan.mlir"), BTreeSet::new(), 0);
    let plans = ["\"diagonal\"", "\"dense\"", "\"scalar\""].iter().flat_map(|mapping| {
        ["", ", order = \"steps\"", ", resident = 2", ", tail = \"padded\"", ", weights = \"right\"", ", resident = 9"]
            .map(|rest| format!("{mapping}{rest}"))
    });
    for plan in plans {
        let [a, b] = ["tensor<40x30xi8>", "tensor<30x70xi8>"];
        let op = format!(
            "graph.matmul_integer %a, %b {{nna.plans = [#nna.plan<{plan}>]}} : ({a}, {b}) -> tensor<40x70xi32>"
        );
        let text = format!(
            "func.func @f(%a: {a}, %b: {b}) -> tensor<40x70xi32> {{\n  %0 = {op}\n  return %0 : tensor<40x70xi32>\n}}\n"
        );
        std::fs::write(&file, text).expect("a file can be written");
        let file = file.display().to_string();
        let converted = gradus(&["opt", &file, "--convert-matmul-to-nna"]);
        if converted.code != 0 {
            assert!(converted.err.contains("are not possible: "), "{plan}: {}", converted.err);
            refused += 1;
            continue;
        }
        printed(&["check", &file, "--convert-matmul-to-nna", "--inputs=3"]);
        assert!(programs.insert(converted.out), "{plan} has the program of another plan");
    }
    assert!(programs.len() >= 8 && refused >= 5, "{} programs, {refused} refused", programs.len());
}
