//! Elementwise products of random broadcasting shapes, where convolutions cost less.

use super::saturated;
use crate::support::parse;
use gradus::Tool;
use gradus::check::{Options, Reference, Verdict};
use gradus::cost::{CostModel, Pricing};
use gradus::ir::random::Random;
use gradus::targets::Target;

/// A machine on which nothing costs as much as a product of elements.
const CONVOLVER: Target = Target {
    cost: CostModel {
        name: "convolver",
        doc: "counts products of elements",
        cost: Pricing::Ops(|m, op| if m.name_text(op) == "graph.mul" { 1000 } else { 1 }),
        groups: &["mul-as-conv"],
        ..CostModel::DEFAULT
    },
    ..Target::DEFAULT
};

/// Number of random products.
const PRODUCTS: u64 = 400;

/// Extents of axes; a dynamic one is `None`.
type Shape = Vec<Option<i64>>;

/// Returns the extent of an axis of a product.
fn broadcast(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(1), other) | (other, Some(1)) => other,
        (known, None) | (None, known) => known,
        (a, _) => a,
    }
}

fn tensor(shape: &[Option<i64>], elem: &str) -> String {
    let dims: String = shape.iter().map(|d| d.map_or("?x".to_owned(), |d| format!("{d}x"))).collect();
    format!("tensor<{dims}{elem}>")
}

/// Returns a product of ranks up to 5: each axis is of both operands, of one, or of none, and the first one may be
/// dynamic.
fn product(random: &mut Random) -> String {
    let extents = [1, 2, 3, 5, 8];
    let result: Shape = (0..random.below(6)).map(|_| Some(random.pick(&extents))).collect();
    let mut operand = || {
        let one = |d: &Option<i64>| if random.percent(30) { Some(1) } else { *d };
        let mut shape: Shape = result.iter().map(one).collect();
        if random.percent(30) {
            shape.drain(..random.below(shape.len() as u64 + 1) as usize);
        } else if random.percent(30) {
            shape.first_mut().into_iter().for_each(|first| *first = None);
        }
        shape
    };
    let (a, b) = (operand(), operand());
    let elem = random.pick(&["f32", "f64", "f16", "i8", "ui8"]);
    let rank = a.len().max(b.len());
    let at = |shape: &Shape, i: usize| if i + shape.len() < rank { Some(1) } else { shape[i + shape.len() - rank] };
    let result: Shape = (0..rank).map(|i| broadcast(at(&a, i), at(&b, i))).collect();
    let [a, b, result] = [&a, &b, &result].map(|shape| tensor(shape, elem));
    format!(
        "func.func @f(%a: {a}, %b: {b}) -> {result} {{\n  %0 = graph.mul %a, %b : ({a}, {b}) -> {result}\n  return %0 : {result}\n}}\n"
    )
}

/// Each of them becomes a convolution, which gives the same bits for operands of any extent.
#[test]
fn all_products_become_convolutions() {
    let (tool, mut dynamic, mut same) = (Tool::gradus().with_targets(&[&CONVOLVER]), 0, 0);
    let ctx = tool.context();
    for n in 0..PRODUCTS {
        let text = product(&mut Random::of(("products", n)));
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("no program\n{text}"));
        let (report, after) = saturated(&tool, &m, "target=convolver");
        let chosen = after.to_text(Default::default());
        assert!(chosen.contains("graph.conv"), "{}\n{text}{chosen}", report.end);
        assert!(!chosen.contains("graph.mul "), "{}\n{text}{chosen}", report.end);
        let reference = Reference::new(&m, Options { inputs: 30, ..Options::default() });
        for (_, _, verdict) in reference.compare(&after) {
            match verdict {
                Verdict::Same { inputs: 1.., .. } => same += 1,
                // Random extents may seldom broadcast.
                Verdict::Inconclusive(_) if text.contains('?') => {}
                other => panic!("{other:?}\n{text}{chosen}"),
            }
        }
        dynamic += u64::from(text.contains('?'));
    }
    assert!(same * 10 > PRODUCTS * 9, "only {same} of {PRODUCTS} could be run");
    assert!(dynamic > PRODUCTS / 4, "only {dynamic} of dynamic shape");
}
