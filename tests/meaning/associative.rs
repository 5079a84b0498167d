//! Ops that are declared associative are.

use gradus::Tool;
use gradus::check::{Floats, Options, Reference, Verdict};
use gradus::ir::{Context, Module, OpInfo, ParseOptions, Traits, parse_module, verify};
use std::sync::Arc;

/// Operand types; for products, matrices that are not square.
const TYPES: &[[&str; 3]] = &[
    ["i8", "i8", "i8"],
    ["i1", "i1", "i1"],
    ["f64", "f64", "f64"],
    ["tensor<2x3xi8>", "tensor<2x1xi8>", "tensor<1x3xi8>"],
    ["tensor<2x2xi1>", "tensor<2x2xi1>", "tensor<1x2xi1>"],
    ["tensor<2x3xi8>", "tensor<3x1xi8>", "tensor<1x2xi8>"],
    ["tensor<2x3xf64>", "tensor<3x1xf64>", "tensor<1x2xf64>"],
];

/// Returns an op on three operands, grouped from the left or right, if it is valid on these types.
fn grouped(ctx: &Arc<Context>, info: &OpInfo, [a, b, c]: [&str; 3], left: bool) -> Option<Module> {
    let elem = a.trim_end_matches('>').rsplit('x').next().unwrap_or(a);
    let shapes = ["2x3", "2x1", "2x2", "3x2", "1x3"].map(|shape| format!("tensor<{shape}x{elem}>"));
    let all: Vec<&str> = std::iter::once(a).chain(shapes.iter().map(String::as_str)).collect();
    let name = info.name;
    let text = |inner: &str, whole: &str| {
        let body = match left {
            true => format!(
                "%0 = \"{name}\"(%a, %b) : ({a}, {b}) -> {inner} %1 = \"{name}\"(%0, %c) : ({inner}, {c}) -> {whole}"
            ),
            false => format!(
                "%0 = \"{name}\"(%b, %c) : ({b}, {c}) -> {inner} %1 = \"{name}\"(%a, %0) : ({a}, {inner}) -> {whole}"
            ),
        };
        format!("func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {whole} {{ {body} return %1 : {whole} }}")
    };
    let valid =
        |text: String| parse_module(ctx, "op", text, ParseOptions::default()).ok().filter(|m| verify(m).is_ok());
    all.iter().flat_map(|inner| all.iter().map(|whole| text(inner, whole))).find_map(valid)
}

#[test]
fn operands_may_be_grouped_in_any_way() {
    let ctx = Tool::gradus().context();
    let options = Options { inputs: 200, floats: Floats::Algebra, ..Options::default() };
    let all = ctx.dialects().iter().flat_map(|dialect| dialect.ops).filter(|op| op.traits.has(Traits::ASSOCIATIVE));
    for info in all {
        let mut compared = 0;
        for types in TYPES {
            let both = [true, false].map(|left| grouped(&ctx, info, *types, left));
            let [Some(before), Some(after)] = both else { continue };
            for (_, _, verdict) in Reference::new(&before, options).compare(&after) {
                match verdict {
                    Verdict::Same { inputs, .. } => compared += inputs,
                    Verdict::Different(_) => panic!("{} is not associative on {types:?}", info.name),
                    _ => {}
                }
            }
        }
        assert!(compared > 50, "{}: {compared}", info.name);
    }
}
