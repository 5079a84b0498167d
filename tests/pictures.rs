//! Pictures of runs of simulated machines: well-formed, with axes, with a title for each bar, and readable.

use crate::support::{gradus, root};
use std::collections::BTreeMap;

/// Programs, their targets, and texts that their pictures have.
const PICTURES: [(&str, &str, &[&str]); 10] = [
    ("examples/digits_cnn.onnx", "cluster", &["cluster 4", "port into 4", "DDR", "branch_3x3", "weights of gate"]),
    ("examples/digits_cnn_int8.onnx", "cluster", &["cluster 0", "weights of"]),
    ("tests/golden/dialects/cluster/halo.mlir", "cluster", &["cluster 1", "operand 0", "result 0"]),
    ("examples/digits_cnn_int8.onnx", "npu", &["@npu0 on the npu", "array", "SRAM", "weights of down_QuantizeLinear"]),
    ("docs/src/ir/npu_conv.mlir", "npu", &["npu_conv.mlir:8", "operand 0", "result 0", "511.0 KiB not used"]),
    ("tests/npu/gate.mlir", "npu", &["pipe", "gate.mlir:10"]),
    ("docs/src/ir/nna_product.mlir", "nna", &["feature RAM 1", "vector slot", "output 2"]),
    ("docs/src/nna/heads.mlir", "nna", &["array", "weight RAM"]),
    ("docs/src/ir/sparse.mlir", "a64-ext", &["multiply-add", "movi v16.4s, #0", "sparse0: sparse.mlir:3"]),
    ("examples/digits_mlp_sparse90.onnx", "a64-ext", &["store", "mm3", "fmla"]),
];

/// An element of a document, in order, with the text after its start.
struct Element {
    name: String,
    attrs: BTreeMap<String, String>,
    text: String,
}

impl Element {
    fn is(&self, class: &str) -> bool {
        self.attrs.get("class").is_some_and(|of| of == class)
    }

    fn number(&self, name: &str) -> f64 {
        self.attrs.get(name).and_then(|text| text.parse().ok()).expect("a number")
    }
}

/// Splits a document into its elements; panics if it is not well-formed.
fn elements(text: &str) -> Vec<Element> {
    let (mut all, mut open) = (Vec::<Element>::new(), Vec::new());
    for part in text.split('<').skip(1) {
        let (tag, after) = part.split_once('>').expect("a tag ends");
        assert!(!after.contains('>'), "{after}");
        for entity in after.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)), "{after}");
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{tag}");
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attrs = BTreeMap::new();
        while let Some((key, value)) = rest.trim_start().split_once("=\"") {
            let (value, after) = value.split_once('"').expect("a value ends");
            assert!(attrs.insert(key.to_owned(), value.to_owned()).is_none(), "{tag}");
            rest = after;
        }
        assert!(rest.trim().is_empty(), "{tag}");
        if !is_empty {
            open.push(name.to_owned());
        }
        all.push(Element { name: name.to_owned(), attrs, text: after.to_owned() });
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

/// The corners of a bar.
fn corners(bar: &Element) -> Vec<[f64; 2]> {
    if bar.name == "rect" {
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| bar.number(name));
        return vec![[x, y], [x + width, y + height]];
    }
    let mut all = Vec::new();
    for part in bar.attrs["d"].trim_end_matches('z').split(['M', 'L']).skip(1) {
        let (point, below) = part.split_once('V').expect("each point is followed by a line");
        let (x, y) = point.split_once(' ').expect("two numbers");
        let [x, y, end] = [x, y, below].map(|text| text.parse().expect("a number"));
        all.extend([[x, y], [x, end]]);
    }
    all
}

#[test]
fn pictures_of_runs_can_be_read() {
    for (file, target, texts) in PICTURES {
        let path = root().join(file).display().to_string();
        let output = gradus(&["inspect", &path, "--target", target, "--svg", "-"]);
        assert_eq!(output.code, 0, "{file}: {}", output.err);
        let all = elements(&output.out);
        let missing: Vec<&&str> = texts.iter().filter(|text| !output.out.contains(*text)).collect();
        assert!(missing.is_empty(), "{file} on {target}: {missing:?}");
        let [width, height] = ["width", "height"].map(|name| all[0].number(name));
        let bars = || all.iter().enumerate().filter(|(_, element)| element.is("bar"));
        assert!(bars().count() >= 5, "{file}: few bars");
        for (i, bar) in bars() {
            let title = &all[i + 1];
            assert!(title.name == "title" && title.text.contains("\ncycles "), "{file}: a bar without a title");
            let is_inside = |[x, y]: &[f64; 2]| (0.0..=width).contains(x) && (0.0..=height).contains(y);
            assert!(corners(bar).iter().all(is_inside), "{file}: {:?}", bar.attrs);
        }
        assert!(all.iter().any(|element| element.is("axis")), "{file}: no axis");
        assert!(all.iter().any(|element| element.text == "cycles"), "{file}: no unit");
        assert_labels_apart(file, &all);
    }
}

/// Asserts that the labels of bars do not overlap in their lanes.
fn assert_labels_apart(file: &str, all: &[Element]) {
    let mut lanes: BTreeMap<&str, Vec<(f64, f64, &str)>> = BTreeMap::new();
    for label in all.iter().filter(|element| element.is("on-bar")) {
        let half = label.text.chars().count() as f64 * 6.6 / 2.0;
        lanes.entry(&label.attrs["y"]).or_default().push((
            label.number("x") - half,
            label.number("x") + half,
            &label.text,
        ));
    }
    for lane in lanes.values_mut() {
        lane.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in lane.windows(2) {
            assert!(pair[0].1 <= pair[1].0 + 1.0, "{file}: '{}' over '{}'", pair[0].2, pair[1].2);
        }
    }
}

/// The feature in 4W4C has three offsets of four slices, of which one has values.
#[test]
fn features_in_memory_have_offsets_and_slices() {
    let path = root().join("docs/src/npu/move.mlir").display().to_string();
    let text = gradus(&["inspect", &path, "--target", "npu", "--memory", "--svg", "-"]).out;
    let all = elements(&text);
    let bars: Vec<f64> = all.iter().filter(|e| e.is("bar")).map(|e| e.number("width")).collect();
    assert!(bars.len() == 4 && bars[0] == 4.0 * bars[1], "{bars:?}\n{text}");
    for fact in
        ["mode 4w4c: blocks of 16 bytes, 4 slices each", "offsets 4 to 6", "3 slices used, 9 bubbles", "bytes of SRAM"]
    {
        assert!(text.contains(fact), "{fact}\n{text}");
    }
    let output = gradus(&["inspect", &path, "--target", "cpu", "--memory"]);
    assert!(output.err.contains("--memory requires a target with a memory of its own"), "{}", output.err);
}

/// The table of choices has a row for each layer, and is refused where there are no choices.
#[test]
fn choices_are_listed() {
    let choices = |file: &str, target: &str| {
        gradus(&["inspect", &root().join(file).display().to_string(), "--target", target, "--choices"])
    };
    let output = choices("examples/digits_cnn_int8.onnx", "npu");
    assert_eq!(output.code, 0, "{}", output.err);
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines[0], "npu: 15 layers, 19004 cycles");
    assert!(lines[3].starts_with("#   layer") && lines[3].contains("rows  kernels"), "{}", lines[3]);
    assert_eq!(lines.len(), 4 + 15, "{}", output.out);
    assert!(lines[4].starts_with("1   stem_QuantizeLinear"), "{}", lines[4]);
    let output = choices("docs/src/nna/heads.mlir", "nna");
    assert!(output.err.contains("the pipeline of target 'nna' has no pass 'choose-layers'"), "{}", output.err);
}

/// On clusters no other program that was timed is faster than the chosen one.
#[test]
fn rejected_programs_are_not_faster() {
    let path = root().join("examples/digits_cnn.onnx").display().to_string();
    let output = gradus(&["inspect", &path, "--target", "cluster", "--choices"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let last = |line: &str| line.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
    let cycles =
        output.out.lines().next().and_then(|line| line.strip_suffix(" cycles")).and_then(last).expect("cycles");
    let rejected: Vec<u64> = output.out.lines().skip(4).filter_map(last).collect();
    assert_eq!(rejected.len(), 14, "{}", output.out);
    assert!(rejected.iter().all(|&other| other >= cycles), "{}", output.out);
}
