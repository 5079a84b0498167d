//! Reports of `saturate`: explanations are correct, members of an e-class are equal, and the JSON is valid.

use crate::support::{files, gradus, parse, reports, root};
use gradus::Tool;
use gradus::check::{Reference, Verdict};
use gradus::egraph::report::{ClassReport, NodeId, Report, TermKind, Terms};
use gradus::generate::campaign;
use gradus::generate::coverage::InsertionStatistics;
use gradus::generate::{Library, Limits, grow};
use gradus::ir::Context;
use gradus::ir::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// Number of generated programs.
const PROGRAMS: u64 = 200;

/// Number of pairs of class members compared per function.
const PAIRS: u64 = 8;

/// Writes nodes as ops of a function.
struct Writer<'r> {
    terms: &'r Terms,
    /// Chooses replacements for operands, by node and operand index.
    others: &'r mut dyn FnMut(NodeId, usize) -> Option<NodeId>,
    body: String,
    /// Names of the nodes written so far.
    names: BTreeMap<NodeId, String>,
    leaves: BTreeSet<NodeId>,
}

impl Writer<'_> {
    /// Returns the name of a node.
    fn node(&mut self, id: NodeId) -> String {
        if let Some(name) = self.names.get(&id) {
            return name.clone();
        }
        let term = &self.terms[&id];
        let others = &mut self.others;
        let operands: Vec<NodeId> =
            term.operands.iter().enumerate().map(|(i, &operand)| others(id, i).unwrap_or(operand)).collect();
        let operands: Vec<String> = operands.into_iter().map(|operand| self.node(operand)).collect();
        let name = match &term.kind {
            TermKind::Leaf => {
                self.leaves.insert(id);
                format!("%n{id}")
            }
            TermKind::Result(i) => format!("{}#{i}", operands[0]),
            TermKind::Op { op, properties, attributes, .. } => {
                let types = |ids: &[NodeId]| {
                    ids.iter().map(|id| self.terms[id].types[0].clone()).collect::<Vec<_>>().join(", ")
                };
                let (from, to) = (types(&term.operands), term.types.join(", "));
                let (operands, count) = (operands.join(", "), term.types.len());
                let _ = writeln!(
                    self.body,
                    "  %n{id}:{count} = \"{op}\"({operands}) <{properties}> {attributes} : ({from}) -> ({to})"
                );
                format!("%n{id}")
            }
        };
        self.names.insert(id, name.clone());
        name
    }
}

/// Functions that return two nodes, with the leaves of either as parameters.
#[derive(Default)]
struct Sides([String; 2]);

impl Sides {
    fn add(
        &mut self,
        terms: &Terms,
        number: usize,
        nodes: [NodeId; 2],
        others: &mut dyn FnMut(NodeId, usize) -> Option<NodeId>,
    ) {
        let mut leaves = BTreeSet::new();
        let bodies = nodes.map(|node| {
            let writer = Writer {
                terms,
                others: &mut *others,
                body: String::new(),
                names: BTreeMap::new(),
                leaves: BTreeSet::new(),
            };
            let mut writer = writer;
            let name = writer.node(node);
            leaves.append(&mut writer.leaves);
            writer.body + &format!("  return {name} : {}\n", terms[&node].types[0])
        });
        let args: Vec<String> = leaves.iter().map(|leaf| format!("%n{leaf}: {}", terms[leaf].types[0])).collect();
        for (side, (body, node)) in self.0.iter_mut().zip(bodies.iter().zip(nodes)) {
            let (args, ty) = (args.join(", "), &terms[&node].types[0]);
            let _ = writeln!(side, "func.func @pair{number}({args}) -> ({ty}) {{\n{body}}}");
        }
    }

    /// Returns the number of functions that agree; the error is one that differs.
    fn compare(&self, ctx: &Arc<Context>, what: &str) -> Result<usize, String> {
        let [left, right] =
            [0, 1].map(|i| parse(ctx, &self.0[i]).unwrap_or_else(|| panic!("{what}: no program\n{}", self.0[i])));
        let options = campaign::options(30);
        let mut same = 0;
        for (a, b) in [(&left, &right), (&right, &left)] {
            let reference = Reference::new(a, options);
            for (name, _, verdict) in reference.compare(b) {
                match verdict {
                    Verdict::Same { .. } | Verdict::Unchanged => same += 1,
                    Verdict::Different(d) => {
                        return Err(format!("{what}: {name}: {d:?}\n{}\n{}", self.0[0], self.0[1]));
                    }
                    Verdict::Inconclusive(_) | Verdict::Lost(_) => {}
                }
            }
        }
        Ok(same / 2)
    }
}

/// A union-find of nodes: the sides of each step, closed under congruence.
struct Equal<'r> {
    report: &'r Report,
    leader: BTreeMap<NodeId, NodeId>,
}

impl Equal<'_> {
    fn find(&self, mut node: NodeId) -> NodeId {
        while self.leader[&node] != node {
            node = self.leader[&node];
        }
        node
    }

    fn join(&mut self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.leader.insert(a, b);
        a != b
    }

    /// Joins congruent nodes. Returns whether there were any.
    fn close(&mut self) -> bool {
        let (mut seen, mut changed) = (BTreeMap::new(), false);
        for (&id, term) in &self.report.terms {
            let mut operands: Vec<NodeId> = term.operands.iter().map(|&operand| self.find(operand)).collect();
            if matches!(term.kind, TermKind::Op { commutative: true, .. }) {
                operands.sort_unstable();
            }
            let shape = match &term.kind {
                TermKind::Leaf => continue,
                TermKind::Result(i) => format!("{i} {operands:?}"),
                TermKind::Op { op, properties, attributes, .. } => {
                    format!("{op} {operands:?} {properties} {attributes} {:?}", term.types)
                }
            };
            let other = *seen.entry(shape).or_insert(id);
            changed |= self.join(id, other);
        }
        changed
    }
}

/// Whether the chosen program follows from the steps.
fn follows(report: &Report) -> bool {
    let mut equal = Equal { report, leader: report.terms.keys().map(|&id| (id, id)).collect() };
    for step in &report.steps {
        equal.join(step.left, step.right);
    }
    while equal.close() {}
    let nodes = operand_classes(report);
    let mut open: Vec<NodeId> = report.results.iter().map(|(_, after)| *after).collect();
    let mut seen = BTreeSet::new();
    // The operands of a chosen node equal the chosen nodes of their classes.
    while let Some(node) = open.pop() {
        let operands = if seen.insert(node) { nodes[&node] } else { &[] };
        for class in operands {
            let at = report.classes.binary_search_by_key(class, |class| class.id).expect("there is such a class");
            let class = &report.classes[at];
            let chosen = class.nodes[class.chosen.expect("something is chosen")].0;
            if !report.terms[&node].operands.iter().any(|&operand| equal.find(operand) == equal.find(chosen)) {
                return false;
            }
            open.push(chosen);
        }
    }
    report.results.iter().all(|&(before, after)| equal.find(before) == equal.find(after))
}

/// Returns the operand classes of each node.
fn operand_classes(report: &Report) -> BTreeMap<NodeId, &[u32]> {
    report.classes.iter().flat_map(|class| &class.nodes).map(|(node, operands)| (*node, &operands[..])).collect()
}

/// Returns the number of steps whose sides agree.
fn compare_steps(ctx: &Arc<Context>, report: &Report, what: &str) -> usize {
    assert!(report.changed || report.steps.is_empty(), "{what}: {}", report.function);
    assert!(report.is_cut || follows(report), "{what}: {}: some step is missing", report.function);
    let mut sides = Sides::default();
    for (i, step) in report.steps.iter().enumerate() {
        assert!(step.needs.iter().all(|&need| need < i), "{what}: {}: {step:?}", report.function);
        if report.terms[&step.left].types.len() == 1 {
            sides.add(&report.terms, i, [step.left, step.right], &mut |_, _| None);
        }
    }
    sides.compare(ctx, &format!("{what}: {}", report.function)).unwrap_or_else(|error| panic!("{error}"))
}

/// A step may have matched through other members of a class, which were equal at that time.
#[test]
fn both_sides_of_each_step_are_equal() {
    let tool = Tool::gradus();
    let (mut steps, mut same) = (0, 0);
    for path in files(&root().join("tests/golden/passes/saturate"), "mlir") {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        for chunk in text.split("// -----") {
            for target in ["ops", "arbitrary"] {
                let ctx = tool.context();
                let Some(mut m) = parse(&ctx, chunk) else { continue };
                let reports = reports(&tool, &mut m, &format!("target={target} compare-search"));
                let overlooks = |said: &Vec<String>| said.iter().any(|text| text.contains("where nothing changed"));
                assert!(!reports.as_ref().is_err_and(overlooks), "{}: {reports:?}", path.display());
                for report in &reports.unwrap_or_default() {
                    steps += report.steps.len();
                    same += compare_steps(&ctx, report, &path.display().to_string());
                }
            }
        }
    }
    assert!(steps >= 10, "only {steps} steps");
    assert!(10 * same >= 9 * steps, "{same} of {steps} steps could be run");
}

/// Compares class members, with random class members as operands.
fn compare_members(ctx: &Arc<Context>, report: &Report, random: &mut Random) -> Result<[usize; 2], String> {
    let of_node = |class: &ClassReport| class.nodes.iter().map(|(node, _)| (*node, class.id)).collect::<Vec<_>>();
    let homes: BTreeMap<NodeId, u32> = report.classes.iter().flat_map(of_node).collect();
    let several = |class: &&ClassReport| class.nodes.len() > 1 && report.terms[&class.nodes[0].0].types.len() == 1;
    let classes: Vec<&ClassReport> = report.classes.iter().filter(several).collect();
    if classes.is_empty() {
        return Ok([0, 0]);
    }
    let mut sides = Sides::default();
    for pair in 0..PAIRS {
        let class = random.pick(&classes);
        let members: Vec<NodeId> = class.nodes.iter().map(|(node, _)| *node).collect();
        let pick = [(); 2].map(|()| random.pick(&members));
        // Only nodes added earlier replace operands, so that terms are acyclic.
        let mut others = |node: NodeId, i: usize| {
            // The operand classes of commutative nodes are sorted, unlike the operands.
            let class = *homes.get(&report.terms[&node].operands[i])?;
            let at = report.classes.binary_search_by_key(&class, |class| class.id).ok()?;
            let earlier = report.classes[at].nodes.iter().map(|(other, _)| *other).filter(|other| *other < node);
            let earlier: Vec<NodeId> = earlier.collect();
            (!earlier.is_empty()).then(|| random.pick(&earlier))
        };
        sides.add(&report.terms, pair as usize, pick, &mut others);
    }
    Ok([PAIRS as usize, sides.compare(ctx, &report.function)?])
}

#[test]
fn members_of_a_class_are_equal_and_none_is_overlooked() {
    let tool = Tool::gradus();
    let dialects = ["arith", "func", "math"].map(str::to_owned);
    let library = Library::new(&tool.context(), &dialects);
    let (mut all, mut steps) = ([0, 0], [0, 0]);
    for n in 0..PROGRAMS {
        let mut m =
            grow(&library, Random::of(("saturation", n)), Limits::default(), &mut InsertionStatistics::default())
                .module;
        let ctx = m.ctx.clone();
        let found = reports(&tool, &mut m, "target=arbitrary compare-search max-nodes=2000");
        for report in found.unwrap_or_else(|said| panic!("{n}: {}", said.join("\n"))) {
            let found = compare_members(&ctx, &report, &mut Random::of((n, &report.function)));
            let [pairs, same] = found.unwrap_or_else(|error| panic!("{n}: {error}"));
            all = [all[0] + pairs, all[1] + same];
            steps[0] += report.steps.len();
            steps[1] += compare_steps(&ctx, &report, &n.to_string());
        }
    }
    assert!(steps[0] > 200 && 10 * steps[1] > 9 * steps[0], "{} of {} steps could be run", steps[1], steps[0]);
    assert!(all[0] > 200, "only {all:?} pairs");
    assert!(10 * all[1] > 9 * all[0], "only {} of {} pairs could be run", all[1], all[0]);
}

/// A planted unsound rule is noticed, so the test is effective.
#[test]
fn a_wrong_rule_is_noticed() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let text = r#"rewrite.rule @wrong {
  %x = value
  %sum = op "arith.addi"(%x, %x)
  match %sum
  %three = number 3.0
  %product = op "arith.muli"(%x, %three)
  replace %product
}
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}"#;
    let mut m = parse(&ctx, text).expect("it is a program");
    let reports = reports(&tool, &mut m, "rules=wrong").expect("nothing contradicts it");
    assert!(compare_members(&ctx, &reports[0], &mut Random::of(0)).is_err());
}

/// The report names the limit that ended the search, and the node limit also holds within an iteration.
#[test]
fn limits_are_kept_and_named() {
    let tool = Tool::gradus();
    let sum = |terms: usize| {
        let args: Vec<String> = (0..terms).map(|i| format!("%a{i}: i32")).collect();
        let mut text = std::fs::read_to_string(root().join("docs/src/ir/factor.mlir")).expect("it can be read");
        let _ = writeln!(text, "func.func @f({}) -> i32 {{\n  %s0 = arith.addi %a0, %a1 : i32", args.join(", "));
        for i in 2..terms {
            let _ = writeln!(text, "  %s{} = arith.addi %s{}, %a{i} : i32", i - 1, i - 2);
        }
        text + &format!("  return %s{} : i32\n}}\n", terms - 2)
    };
    let ended = |terms: usize, options: &str| {
        let mut m = parse(&tool.context(), &sum(terms)).expect("it is a program");
        let options = format!("associate=false {options}");
        reports(&tool, &mut m, &options).expect("no limit is an error").remove(0)
    };
    assert_eq!(ended(4, "").end, "saturated after 4 iterations");
    assert_eq!(ended(4, "max-iterations=1").end, "ended by the limit of 1 iterations");
    assert_eq!(ended(4, "max-matches=0").end, "ended by the limit of matches after 15 iterations");
    for limit in [20, 100, 500] {
        let report = ended(7, &format!("max-nodes={limit}"));
        let nodes = report.iterations.last().expect("there was one").nodes;
        assert!(report.end.starts_with("ended by the limit of nodes") && !report.saturated, "{}", report.end);
        assert!(nodes > limit && nodes <= limit + limit / 16 + 32, "{nodes} of {limit}");
    }
}

/// Returns the rest of a text after a JSON value.
fn behind_json(text: &str) -> Result<&str, String> {
    let text = text.trim_start();
    let fail = || Err(text.chars().take(60).collect());
    for word in ["null", "true", "false"] {
        if let Some(rest) = text.strip_prefix(word) {
            return Ok(rest);
        }
    }
    match text.chars().next() {
        Some('"') => behind_string(text),
        Some('[') => behind_items(&text[1..], ']', &behind_json),
        Some('{') => behind_items(&text[1..], '}', &|text| {
            let rest = behind_string(text.trim_start())?.trim_start();
            behind_json(rest.strip_prefix(':').ok_or("no colon")?)
        }),
        Some(c) if c.is_ascii_digit() => Ok(text.trim_start_matches(|c: char| c.is_ascii_digit())),
        _ => fail(),
    }
}

fn behind_string(text: &str) -> Result<&str, String> {
    let mut rest = text.strip_prefix('"').ok_or("no string")?;
    loop {
        let at = rest.find(['"', '\\', '\n']).ok_or("a string without end")?;
        match rest.as_bytes()[at] {
            b'"' => return Ok(&rest[at + 1..]),
            b'\\' => rest = &rest[at + 2..],
            _ => return Err("a line break in a string".to_owned()),
        }
    }
}

fn behind_items<'t>(
    text: &'t str,
    close: char,
    item: &dyn Fn(&'t str) -> Result<&'t str, String>,
) -> Result<&'t str, String> {
    let mut rest = text.trim_start();
    if let Some(rest) = rest.strip_prefix(close) {
        return Ok(rest);
    }
    loop {
        rest = item(rest)?.trim_start();
        match (rest.strip_prefix(','), rest.strip_prefix(close)) {
            (Some(next), _) => rest = next,
            (None, Some(rest)) => return Ok(rest),
            _ => return Err(rest.chars().take(60).collect()),
        }
    }
}

#[test]
fn reports_and_pictures_are_written() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let input = root().join("tests/golden/passes/saturate/algebra.mlir").display().to_string();
    let written = |report: &str, graph: &str| {
        let flags = [format!("--saturate-report={}", path(report)), format!("--saturate-graph={}", path(graph))];
        let output = gradus(&["opt", &input, "--saturate", "-o", &path("out.mlir"), &flags[0], &flags[1]]);
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        [report, graph].map(|name| std::fs::read_to_string(path(name)).expect("it is written"))
    };
    let [json, dot] = written("a.json", "a.dot");
    assert_eq!(behind_json(&json).map(str::trim), Ok(""), "{json}");
    assert_eq!(json.matches("\"function\": ").count(), 4, "{json}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count(), "{dot}");
    assert!(dot.starts_with("digraph") && dot.contains("label=\"arith.muli\", style=filled"), "{dot}");
    let [text, svg] = written("a.txt", "a.svg");
    assert!(
        text.contains("1. common_factor: arith.addi(arith.muli(%arg0, %arg1), arith.muli(%arg0, %arg2)) = "),
        "{text}"
    );
    assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count(), "{svg}");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("palegreen"), "{svg}");
    assert_eq!(written("b.json", "b.dot"), [json, dot]);
    let output = gradus(&["opt", &input, "--saturate", "--saturate-graph=a.png"]);
    assert!(output.code == 2 && output.err.contains("ends in neither .dot nor .svg"), "{}", output.err);
}

/// Strings may hold anything.
#[test]
fn json_is_read_by_the_reader_of_this_test() {
    assert_eq!(behind_json(r#"{"a\"": [1, "\\", {}, []], "b": null} x"#), Ok(" x"));
    for wrong in ["[1, ]", "{\"a\" 1}", "[1 2]", "\"a", "{1: 2}", "nul"] {
        assert!(behind_json(wrong).is_err(), "{wrong}");
    }
}

/// Expected numbers of occurrences in a program.
type Counts<'a> = &'a [(&'static str, usize)];

/// Number of sparse products with one column of `digits_mlp_sparse90` for which code can be generated: with 256-bit vectors, two.
fn generated_products() -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        return 2;
    }
    0
}

/// Networks for targets: numbers of chosen ops, and the model's results.
#[test]
fn targets_choose_and_results_stay() {
    let generated = generated_products();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("chosen.mlir").display().to_string();
    let cases: [(&str, &str, Counts<'_>); 7] = [
        ("digits_cnn", "npu", &[("graph.mul ", 2), ("graph.conv ", 9)]),
        ("digits_cnn_batch", "npu", &[("graph.mul ", 2), ("graph.conv ", 9)]),
        ("digits_cnn", "cpu", &[("graph.mul ", 2), ("graph.conv ", 9)]),
        ("digits_cnn", "nna", &[("graph.mul ", 2), ("nna.matmul ", 0)]),
        ("digits_mlp_sparse90", "cpu", &[("sparse.matmul unrolled", generated), ("graph.matmul ", 3 - generated)]),
        ("digits_mlp_sparse90", "nna", &[("nna.matmul ", 0), ("graph.conv ", 0), ("graph.matmul ", 3)]),
        ("digits_mlp_sparse90", "cluster", &[("graph.matmul ", 3), ("sparse.matmul", 0)]),
    ];
    for (model, target, chosen) in cases {
        let path = root().join("examples").join(model).display().to_string();
        let output = gradus(&["opt", &format!("{path}.onnx"), &format!("--saturate=target={target}"), "-o", &file]);
        assert_eq!(output.code, 0, "{model} for {target}: {}", output.err);
        let text = std::fs::read_to_string(&file).expect("it was written");
        for (op, count) in chosen {
            assert_eq!(text.matches(op).count(), *count, "'{op}' in {model} for {target}");
        }
        let images = root().join("examples/digits_test_images.npy").display().to_string();
        let logits = format!("{}_logits.npy", path.trim_end_matches("_batch"));
        let output = gradus(&["run", &file, "--input", &images, "--expect", &logits]);
        assert_eq!(output.code, 0, "{model} for {target}: {}{}", output.out, output.err);
    }
}
