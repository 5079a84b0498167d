//! Reductions of attributes: absent, default, or closer to zero.

use crate::reduction::{Reduction, Site};
use gradus_ir::{Attr, AttrData, Int, Module, Op, Str, Traits};

pub(crate) const REDUCTIONS: &[Reduction] = &[
    Reduction::new("drop attributes", discardable, set),
    Reduction::new("default attributes", optional, set),
    Reduction::new("constants to zero", |m| constants(m, 0), set),
    Reduction::new("constants to one", |m| constants(m, 1), set),
    Reduction::new("halve constants", halves, set),
];

/// Sets or removes attributes.
fn set(m: &mut Module, sites: &[Site]) {
    for site in sites {
        let &Site::Attr(op, name, value) = site else { continue };
        let ctx = m.ctx.clone();
        if ctx.dict_get(m.attrs(op), name).is_some() && value.is_none() {
            let new = ctx.dict_with(m.attrs(op), name, None);
            m.set_attrs(op, new);
        } else {
            m.set_attr(op, ctx.text(name), value);
        }
    }
}

fn discardable(m: &Module) -> Vec<Site> {
    let entries = |op: Op| m.ctx.dict_entries(m.attrs(op)).iter().map(move |e| Site::Attr(op, e.0, None));
    m.ops_under(m.root()).into_iter().flat_map(entries).collect()
}

/// Returns inherent attributes that are optional or differ from their default.
fn optional(m: &Module) -> Vec<Site> {
    let mut found = Vec::new();
    for op in m.ops_under(m.root()) {
        let Some(info) = m.info(op) else { continue };
        for &(name, value) in m.ctx.dict_entries(m.props(op)) {
            let Some(spec) = info.attr(m.ctx.text(name)) else { continue };
            let default = spec.default.map(|text| m.ctx.default_attr(text));
            if default.is_some() && default != Some(value) || default.is_none() && spec.optional {
                found.push(Site::Attr(op, name, default));
            }
        }
    }
    found
}

/// Returns the `value` attributes of constants.
fn values(m: &Module) -> impl Iterator<Item = (Op, Attr)> + '_ {
    let ops = m.ops_under(m.root()).into_iter().filter(|&op| m.has_trait(op, Traits::CONSTANT_LIKE));
    ops.filter_map(|op| Some((op, m.ctx.dict_get(m.props(op), Str::VALUE)?)))
}

/// Returns the constants that differ from `number`, with `number` as their replacement.
fn constants(m: &Module, number: u8) -> Vec<Site> {
    let new = |(op, value): (Op, Attr)| {
        let new = m.ctx.uniform_attr(m.ctx.attr_type(value)?, f64::from(number))?;
        (new != value).then_some(Site::Attr(op, Str::VALUE, Some(new)))
    };
    values(m).filter_map(new).collect()
}

/// Returns integer constants, with half their value as replacement.
fn halves(m: &Module) -> Vec<Site> {
    let new = |(op, value): (Op, Attr)| match m.ctx.attr_data(value) {
        AttrData::Integer { ty, value: Int::Small(v) } if v.unsigned_abs() > 2 => {
            Some(Site::Attr(op, Str::VALUE, Some(m.ctx.int_attr(*ty, v / 2))))
        }
        _ => None,
    };
    values(m).filter_map(new).collect()
}
