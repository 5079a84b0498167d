//! Structural equality of ops, up to names and locations.

use crate::module::{Block, Module, Op, Region, Value};
use rustc_hash::FxHashMap;

/// The bijection of values and blocks established so far.
#[derive(Default)]
struct Pairs {
    values: FxHashMap<Value, Value>,
    back: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
    /// The root of the left side if both are in one module.
    within: Option<Op>,
}

impl Pairs {
    /// Whether `a` corresponds to `b`. External values correspond to themselves; new pairs are recorded.
    fn value(&mut self, a: Value, b: Value) -> bool {
        *self.values.entry(a).or_insert(b) == b && *self.back.entry(b).or_insert(a) == a
    }

    fn block(&mut self, a: Block, b: Block) -> bool {
        *self.blocks.entry(a).or_insert(b) == b
    }
}

/// Whether op `a` of `m` and op `b` of `n` are structurally equal: names, attributes, types, successors and regions
/// agree, and operands correspond. Both modules share one context. Values defined outside the ops correspond to
/// themselves within one module, and by their order of use across two.
pub fn structurally_equal(m: &Module, a: Op, n: &Module, b: Op) -> bool {
    let mut pairs = Pairs { within: std::ptr::eq(m, n).then_some(a), ..Pairs::default() };
    let mut work = vec![(a, b)];
    while let Some((a, b)) = work.pop() {
        if !same_op(m, a, n, b, &mut pairs) {
            return false;
        }
        for (&r, &s) in m.regions(a).iter().zip(n.regions(b)) {
            if !same_region(m, r, n, s, &mut pairs, &mut work) {
                return false;
            }
        }
    }
    true
}

fn same_op(m: &Module, a: Op, n: &Module, b: Op, pairs: &mut Pairs) -> bool {
    m.name(a) == n.name(b)
        && m.props(a) == n.props(b)
        && m.attrs(a) == n.attrs(b)
        && m.num_results(a) == n.num_results(b)
        && m.operands(a).len() == n.operands(b).len()
        && m.successors(a).len() == n.successors(b).len()
        && m.regions(a).len() == n.regions(b).len()
        && m.operands(a).iter().zip(n.operands(b)).all(|(&x, &y)| same_value(m, x, n, y, pairs))
        && m.results(a).zip(n.results(b)).all(|(x, y)| same_value(m, x, n, y, pairs))
        && m.successors(a).iter().zip(n.successors(b)).all(|(&x, &y)| pairs.block(x, y))
}

fn same_value(m: &Module, a: Value, n: &Module, b: Value, pairs: &mut Pairs) -> bool {
    if m.value_type(a) != n.value_type(b) {
        return false;
    }
    match pairs.within {
        Some(root) if a != b && !pairs.values.contains_key(&a) && !is_made_in(m, a, root) => false,
        _ => pairs.value(a, b),
    }
}

/// Whether the value is a result of `root` or defined in its regions.
fn is_made_in(m: &Module, value: Value, root: Op) -> bool {
    let def = m.defining_op(value).or_else(|| m.def_block(value).and_then(|b| m.block_op(b)));
    def.is_some_and(|op| op == root || m.is_inside(op, root))
}

/// Pairs the blocks and their arguments, and pushes the pairs of ops onto the worklist `work`.
fn same_region(m: &Module, a: Region, n: &Module, b: Region, pairs: &mut Pairs, work: &mut Vec<(Op, Op)>) -> bool {
    let (mut blocks, mut others) = (m.region_blocks(a), n.region_blocks(b));
    loop {
        let (x, y) = match (blocks.next(), others.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) => (x, y),
            _ => return false,
        };
        let args = m.block_args(x).iter().zip(n.block_args(y));
        let same = pairs.block(x, y)
            && m.block_args(x).len() == n.block_args(y).len()
            && m.block_ops(x).count() == n.block_ops(y).count()
            && args.into_iter().all(|(&x, &y)| same_value(m, x, n, y, pairs));
        if !same {
            return false;
        }
        work.extend(m.block_ops(x).zip(n.block_ops(y)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, ParseOptions, ValueMap, parse_module};

    const TEXT: &str = r#"
        "t.f"() ({
        ^a(%x: i32):
          %0:2 = "t.two"(%x) {k = 1} : (i32) -> (i32, i32)
          "t.br"(%0#1)[^b] : (i32) -> ()
        ^b:
          "t.end"(%0#0, %x) : (i32, i32) -> ()
        }) : () -> ()
    "#;

    fn parse(ctx: &std::sync::Arc<Context>, text: &str) -> Module {
        parse_module(ctx, "t", text.to_owned(), ParseOptions { allow_unregistered: true, ..ParseOptions::default() })
            .expect("the test is IR")
    }

    #[test]
    fn copies_are_equal_and_changes_are_not() {
        let ctx = Context::new(&[]);
        let mut m = parse(&ctx, TEXT);
        let op = m.first_op(m.body()).expect("one op");
        let copy = m.clone_op(op, &mut ValueMap::default());
        assert!(structurally_equal(&m, op, &m, copy));
        for (from, to) in [
            ("%0#0, %x", "%x, %0#0"),
            ("k = 1", "k = 2"),
            ("%0#1)", "%0#0)"),
            ("t.end", "t.fin"),
            ("%0#0, %x", "%x, %x"),
        ] {
            let other = parse(&ctx, &TEXT.replace(from, to));
            assert!(!structurally_equal(&m, op, &other, other.first_op(other.body()).expect("one op")), "{from}");
        }
        assert!(structurally_equal(&m, m.root(), &m, m.root()));
    }

    #[test]
    fn values_from_outside_are_equal_only_to_themselves() {
        let ctx = Context::new(&[]);
        let text = r#"
            %a, %b = "t.values"() : () -> (i32, i32)
            "t.f"() ({ "t.use"(%a) : (i32) -> () }) : () -> ()
            "t.f"() ({ "t.use"(%b) : (i32) -> () }) : () -> ()
            "t.f"() ({ "t.use"(%a) : (i32) -> () }) : () -> ()
        "#;
        let m = parse(&ctx, text);
        let ops: Vec<Op> = m.block_ops(m.body()).collect();
        assert!(!structurally_equal(&m, ops[1], &m, ops[2]));
        assert!(structurally_equal(&m, ops[1], &m, ops[3]));
    }
}
