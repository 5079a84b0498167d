//! Variety of generated programs: the distinct attributes, signatures and shapes of each op.

use gradus_ir::{Attr, Context, Module, OpName, Type};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use std::fmt::Write as _;

/// The variety of one op.
#[derive(Default)]
struct Variety {
    /// Number of instances.
    count: u64,
    /// Distinct attributes.
    attrs: FxHashSet<Attr>,
    /// Distinct types of operands and results.
    signatures: FxHashSet<(Vec<Type>, Vec<Type>)>,
    /// Distinct shapes of operands and results.
    shapes: FxHashSet<Vec<i64>>,
}

/// The variety of all ops of some programs of one context.
#[derive(Default)]
pub struct Survey {
    ops: IndexMap<OpName, Variety>,
}

impl Survey {
    /// Adds the ops of a program.
    pub fn add(&mut self, m: &Module) {
        for op in m.ops_under(m.root()).into_iter().skip(1) {
            let types = |values: &mut dyn Iterator<Item = gradus_ir::Value>| values.map(|v| m.value_type(v)).collect();
            let operands: Vec<Type> = types(&mut m.operands(op).iter().copied());
            let results: Vec<Type> = types(&mut m.results(op));
            let variety = self.ops.entry(m.name(op)).or_default();
            variety.count += 1;
            variety.attrs.insert(m.props(op));
            let shapes = operands.iter().chain(&results).filter_map(|&ty| m.ctx.shape(ty));
            for shape in shapes {
                if !variety.shapes.contains(shape) {
                    variety.shapes.insert(shape.to_vec());
                }
            }
            variety.signatures.insert((operands, results));
        }
    }

    /// Formats a table with one row per declared op, sorted by name; ops without instances last, on one line.
    pub fn to_text(&self, ctx: &Context) -> String {
        let mut text = format!("{:>8} {:>8} {:>8} {:>8}  op\n", "count", "attrs", "types", "shapes");
        let mut rows: Vec<(&str, &Variety)> = self.ops.iter().map(|(&name, v)| (ctx.op_name_text(name), v)).collect();
        rows.sort_unstable_by_key(|(name, _)| *name);
        for (name, v) in &rows {
            let _ = writeln!(
                text,
                "{:>8} {:>8} {:>8} {:>8}  {name}",
                v.count,
                v.attrs.len(),
                v.signatures.len(),
                v.shapes.len()
            );
        }
        let declared = ctx.dialects().iter().flat_map(|d| d.ops).map(|info| info.name);
        let absent: Vec<&str> = declared.filter(|name| !self.ops.contains_key(&ctx.op_name(name))).collect();
        let _ = writeln!(text, "never: {}", absent.join(", "));
        text
    }
}
