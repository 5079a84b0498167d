//! The `attr-dict` directive: the attributes that a custom form does not spell.

use super::printer::Printer;
use crate::intern::Attr;
use crate::module::Op;
use crate::op_info::OpInfo;
use crate::traits::Traits;

/// Prints the attributes that the format does not spell, in braces; nothing if there are none.
pub(super) fn attr_dict(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, keyword: bool) {
    let dict = unspelled(p, info, op);
    if dict == Attr::EMPTY_DICT {
        return;
    }
    p.out.push_str(if keyword { " attributes " } else { " " });
    p.dict(dict);
}

/// Returns the discardable attributes and the inherent ones that the format does not spell and that differ from their
/// default.
pub(crate) fn unspelled(p: &Printer<'_>, info: &'static OpInfo, op: Op) -> Attr {
    let m = p.m;
    let ctx = &m.ctx;
    let Some(Ok(format)) = ctx.format(m.name(op)) else { return m.attrs(op) };
    let mut entries = ctx.dict_entries(m.attrs(op)).to_vec();
    for &(key, value) in ctx.dict_entries(m.props(op)) {
        let name = ctx.text(key);
        let index = info.attrs.iter().position(|a| a.name == name);
        let hidden = match index {
            Some(i) => format.spelled.contains(&i) || is_default(p, info, i, Some(value)),
            None => name == "operandSegmentSizes" && info.traits.has(Traits::OPERAND_SEGMENTS),
        };
        if !hidden {
            entries.push((key, value));
        }
    }
    ctx.dict_attr(entries)
}

pub(super) fn is_default(p: &Printer<'_>, info: &OpInfo, i: usize, value: Option<Attr>) -> bool {
    info.attrs[i].default.is_some_and(|text| Some(p.m.ctx.default_attr(text)) == value)
}
