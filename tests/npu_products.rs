//! All forms of products of elements on the npu, in all modes, against their meaning.

use crate::support::{lowered, parse, pipeline_of};
use gradus::Tool;
use gradus::cost::load_machine;
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::{Module, Op, Tensor};
use gradus::targets::Statistic;

/// Extents of both operands.
const FORMS: [(&str, &str); 29] = [
    ("1x16x8x8", "1x16x8x8"),
    ("1x16x8x8", "1x16x1x1"),
    ("1x16x1x1", "1x16x8x8"),
    ("1x16x8x8", ""),
    ("1x16x8x8", "1"),
    ("1x16x8x8", "1x1x8x8"),
    ("1x12x6x5", "1x12x6x1"),
    ("1x16x8x8", "1x16x1x8"),
    ("1x5x8x8", "8"),
    ("1x3x8x6", "8x1"),
    ("8x8x16", "16"),
    ("6x7x16", "6x7x16"),
    ("64x32", "32"),
    ("1x64x32", "32"),
    ("20x32", "20x1"),
    ("64", "64"),
    ("64", "1"),
    ("1x4x3x8x8", "1x4x3x8x8"),
    ("2x4x3x5x5", "1x4x1x1x1"),
    ("16x1", "1x24"),
    ("1x16x1x1", "1x1x8x8"),
    ("3x4x1", "3x1x5"),
    ("4x16x5x5", "4x16x1x1"),
    ("4x16x5x5", "4x1x5x5"),
    ("2x1x4x1", "1x3x1x5"),
    ("", ""),
    ("40000", "40000"),
    ("32771", "32771"),
    ("32771", "1"),
];

/// Options of `choose-layers`.
const MODES: [&str; 6] = ["", "{mode=8c}", "{mode=4c}", "{mode=4w4c}", "{mode=8w4c}", "{mode=8w4c-by-columns}"];

fn extents(text: &str) -> Vec<usize> {
    text.split('x').filter(|part| !part.is_empty()).map(|part| part.parse().expect("a number")).collect()
}

/// The extents of a product.
fn broadcast(a: &[usize], b: &[usize]) -> Vec<usize> {
    let rank = a.len().max(b.len());
    let at = |of: &[usize], i: usize| if i + of.len() < rank { 1 } else { of[i + of.len() - rank] };
    (0..rank).map(|i| at(a, i).max(at(b, i))).collect()
}

fn tensor(extents: &[usize], elem: &str) -> String {
    extents.iter().fold("tensor<".to_owned(), |text, n| text + &format!("{n}x")) + elem + ">"
}

fn program([a, b]: [&[usize]; 2], elem: &str, scale: &str, zero: &str) -> String {
    let [left, right, product] = [a, b, &broadcast(a, b)].map(|extents| tensor(extents, elem));
    let quantization = format!("tensor<f32>, tensor<{elem}>");
    format!(
        "func.func @main(%a: {left}, %b: {right}) -> {product} {{
  %s = graph.constant dense<{scale}> : tensor<f32>
  %t = graph.constant dense<0.125> : tensor<f32>
  %z = graph.constant dense<3> : tensor<{elem}>
  %y = graph.constant dense<{zero}> : tensor<{elem}>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %t, %y, %t, %z : ({left}, {quantization}, {right}, {quantization}, {quantization}) -> {product}
  return %0 : {product}
}}
"
    )
}

fn main_of(m: &Module) -> Op {
    m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op) == "func.func").expect("there is a function")
}

/// A tensor of all bytes, in turn.
fn bytes(extents: &[usize], signed: bool) -> Datum {
    let count = extents.iter().product::<usize>();
    let all = (0..count).map(|i| (i * 37 + i / 7 + 11) as u8);
    Datum::Tensor(match signed {
        true => Tensor::from_vec(extents, all.map(u8::cast_signed).collect::<Vec<i8>>()),
        false => Tensor::from_vec(extents, all.collect::<Vec<u8>>()),
    })
}

fn numbers(results: &[Datum]) -> Vec<f64> {
    match results {
        [Datum::Tensor(tensor)] => tensor.to_f64(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_forms_of_products_run_on_the_machine_in_all_modes() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let npu = tool.targets.iter().find(|target| target.cost.name == "npu").expect("it is a target");
    let machine = npu.cost.machine(&ctx).expect("its machine is valid");
    let pipeline = pipeline_of(&tool, "npu").replace("form-layers{", "form-layers{allow-steps=true ");
    let (mut exact, mut steps) = (0, 0);
    for (i, (a, b)) in FORMS.iter().enumerate() {
        for (elem, scale) in [("ui8", "0.25"), ("i8", "0.25"), ("ui8", "0.3"), ("i8", "0.7")] {
            let shapes = [extents(a), extents(b)];
            let text = program([&shapes[0], &shapes[1]], elem, scale, "3");
            let m = parse(&ctx, &text).unwrap_or_else(|| panic!("no program\n{text}"));
            let args: Vec<Datum> = shapes.iter().map(|extents| bytes(extents, elem == "i8")).collect();
            let wanted = numbers(&Interpreter::new(&m).call(main_of(&m), args.clone()).expect("it has a meaning"));
            // Every form in some modes, and every mode with many forms.
            for mode in [MODES[0], MODES[1 + i % 5], MODES[1 + (i + 2) % 5]] {
                let pipeline = pipeline.replace("choose-layers", &format!("choose-layers{mode}"));
                let code = lowered(&tool, &m, &pipeline);
                let mut executable = npu.load(&code, main_of(&code), &machine, 1).expect("it can be executed");
                let found = numbers(&executable.call(args.clone()).unwrap_or_else(|stop| panic!("{stop:?}\n{text}")));
                let distance = wanted.iter().zip(&found).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(distance <= if scale == "0.25" { 0.0 } else { 1.0 }, "{distance} {mode}\n{text}");
                (exact, steps) = if distance == 0.0 { (exact + 1, steps) } else { (exact, steps + 1) };
                let statistics = executable.statistics();
                let of = |name: &str| statistics.iter().find(|s: &&Statistic| s.name == name).map(|s| s.value);
                assert!(of("cycles").is_some_and(|cycles| cycles > 0.0), "nothing runs on the machine\n{text}");
                assert_eq!(of("features moved again"), Some(0.0), "{mode}\n{text}");
                let host = statistics.iter().find(|s| s.name.starts_with("by the host: graph.qlinear"));
                assert!(host.is_none(), "{host:?} {mode}\n{text}");
            }
        }
    }
    assert!(exact > 200 && steps < exact, "{exact} without a step, {steps} with");
}

/// Multipliers of 8 bits do not subtract zero points: taps of constant weight do.
#[test]
fn zero_points_of_weights_of_8_bits_are_taps() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let npu = tool.targets.iter().find(|target| target.cost.name == "npu").expect("it is a target");
    let mut machine = npu.cost.machine(&ctx).expect("its machine is valid");
    machine.set("weight_bits", 8).expect("it has the number");
    load_machine(&ctx, machine.clone());
    let pipeline = pipeline_of(&tool, "npu");
    let (mut taps, mut constants) = (0, 0);
    for (i, (a, b)) in FORMS.iter().enumerate() {
        for (elem, zero) in [("ui8", "3"), ("ui8", "129"), ("ui8", "255"), ("i8", "-128"), ("i8", "127"), ("i8", "0")] {
            let shapes = [extents(a), extents(b)];
            let mut text = program([&shapes[0], &shapes[1]], elem, "0.25", zero);
            let mut args: Vec<Datum> = shapes.iter().map(|extents| bytes(extents, elem == "i8")).collect();
            if i % 3 == 0 {
                let ty = tensor(&shapes[1], elem);
                text = text.replace(&format!(", %b: {ty}"), "");
                text = text.replace("  %s = ", &format!("  %b = graph.constant dense<77> : {ty}\n  %s = "));
                args.truncate(1);
                constants += 1;
            }
            let m = parse(&ctx, &text).unwrap_or_else(|| panic!("no program\n{text}"));
            let wanted = numbers(&Interpreter::new(&m).call(main_of(&m), args.clone()).expect("it has a meaning"));
            let code = lowered(&tool, &m, &pipeline);
            let mut executable = npu.load(&code, main_of(&code), &machine, 1).expect("it can be executed");
            let found = numbers(&executable.call(args).unwrap_or_else(|stop| panic!("{stop:?}\n{text}")));
            assert_eq!(wanted, found, "{text}");
            let host = executable.statistics().into_iter().find(|s| s.name.starts_with("by the host: graph.qlinear"));
            assert!(host.is_none(), "{host:?}\n{text}");
            taps += code.to_text(Default::default()).matches("accumulate").count();
        }
    }
    assert!(taps > FORMS.len() && constants > 20, "{taps} taps, {constants} programs with a constant");
}
