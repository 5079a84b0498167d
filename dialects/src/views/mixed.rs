//! Lists of static and dynamic integers, as in `[%i, 4]`.
//!
//! An op stores such a list as an operand group and an attribute with all entries, with a placeholder for each operand.

use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Context, DYNAMIC, Module, OpArgs, OpState, Value};

/// An entry of a mixed list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mixed {
    /// A constant.
    Static(i64),
    /// A value of type `index`.
    Dynamic(Value),
}

impl Mixed {
    /// Returns the constant, or the placeholder.
    pub fn or_placeholder(self) -> i64 {
        match self {
            Mixed::Static(n) => n,
            Mixed::Dynamic(_) => DYNAMIC,
        }
    }
}

/// Returns the list of the attribute `statics` and the operands of `group`. Excess placeholders are kept.
pub fn mixed_entries(args: &OpArgs<'_>, group: &str, statics: &str) -> Vec<Mixed> {
    let mut values = args.operand(group).iter();
    let statics = args.ints(statics).unwrap_or_default();
    let mut entry = |n| match if n == DYNAMIC { values.next() } else { None } {
        Some(&value) => Mixed::Dynamic(value),
        None => Mixed::Static(n),
    };
    statics.into_iter().map(&mut entry).collect()
}

/// Splits a list into all entries, with placeholders, and the values.
pub fn split(list: &[Mixed]) -> (Vec<i64>, Vec<Value>) {
    let values = list.iter().filter_map(|&entry| match entry {
        Mixed::Dynamic(value) => Some(value),
        Mixed::Static(_) => None,
    });
    (list.iter().map(|entry| entry.or_placeholder()).collect(), values.collect())
}

/// Adds the list to an op: its values as the next operand group, all entries as the attribute `statics`.
pub fn add_mixed(ctx: &Context, state: &mut OpState, statics: &str, list: &[Mixed]) {
    let (entries, values) = split(list);
    state.operand_group(&values);
    state.inherent(ctx, statics, Some(ctx.i64_array_attr(&entries)));
}

/// Returns the value of a static entry or a constant operand.
pub fn constant_entry(m: &Module, entry: Mixed) -> Option<i64> {
    match entry {
        Mixed::Static(n) => Some(n),
        Mixed::Dynamic(value) => m.constant_int(value),
    }
}

/// Whether every entry is a constant equal to `value`.
pub fn is_constant(m: &Module, list: &[Mixed], value: i64) -> bool {
    list.iter().all(|&entry| constant_entry(m, entry) == Some(value))
}

/// Makes entries with constant operands static, negative ones only if `negative`. Returns whether any changed.
pub fn fold_entries(m: &Module, list: &mut [Mixed], negative: bool) -> bool {
    let mut changed = false;
    for entry in list {
        let Mixed::Dynamic(value) = *entry else { continue };
        let Some(n) = m.constant_int(value).filter(|&n| n != DYNAMIC && (negative || n >= 0)) else { continue };
        *entry = Mixed::Static(n);
        changed = true;
    }
    changed
}

/// Returns the entries when the op is executed on `data`.
pub fn runtime_entries(args: &OpArgs<'_>, data: &[Datum], group: &str, statics: &str) -> Result<Vec<i64>, Trap> {
    let mut values = data.get(args.operand_range(group)).unwrap_or(&[]).iter();
    let statics = args.ints(statics).unwrap_or_default();
    let mut entry = |n| match if n == DYNAMIC { values.next() } else { None } {
        Some(datum) => datum.int(),
        None => Ok(n),
    };
    statics.into_iter().map(&mut entry).collect()
}
