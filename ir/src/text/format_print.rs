//! Printing of ops by their format, with MLIR's spacing.

use super::attr_dict::{attr_dict, is_default};
use super::directive::{OpPrinter, Param, Values};
use super::format::Elem;
use super::printer::Printer;
use super::spacing::Spacing;
use crate::constraint::AttrText;
use crate::intern::{Attr, Type};
use crate::module::{Module, Op, Region};
use crate::op_info::{Arity, OpInfo};
use std::io;

/// Prints the custom form of `op`, after the op name.
pub(crate) fn print_custom(p: &mut Printer<'_>, info: &'static OpInfo, op: Op) -> io::Result<()> {
    let m = p.m;
    let format = match m.ctx.format(m.name(op)) {
        Some(Ok(format)) => format,
        Some(Err(why)) => return Err(io::Error::other(format!("format of '{}': {why}", info.name))),
        None => return Ok(()),
    };
    let mut blanks = Spacing { punctuation: false, wanted: true };
    elems(p, info, op, &format.elems, &mut blanks)
}

fn elems(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, list: &[Elem], b: &mut Spacing) -> io::Result<()> {
    for elem in list {
        self::elem(p, info, op, elem, b)?;
    }
    Ok(())
}

fn elem(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, elem: &Elem, b: &mut Spacing) -> io::Result<()> {
    match elem {
        Elem::Literal(text) => {
            b.literal(text, &mut p.out);
            return Ok(());
        }
        Elem::Space(blank) => {
            b.space(*blank, &mut p.out);
            return Ok(());
        }
        Elem::AttrDict { keyword } => {
            attr_dict(p, info, op, *keyword);
            (b.wanted, b.punctuation) = (true, false);
            return Ok(());
        }
        Elem::Group { then, otherwise, anchor } => {
            return elems(p, info, op, if is_present(p, info, op, anchor) { then } else { otherwise }, b);
        }
        _ => {}
    }
    // MLIR prints the blank before an operand list even if the list is empty.
    let operands = matches!(elem, Elem::Operand(_) | Elem::AllOperands);
    if (is_empty(p, op, elem) && !operands) || is_flag(info, elem) {
        return Ok(());
    }
    b.value(&mut p.out);
    variable(p, info, op, elem)
}

/// Whether an element prints nothing for `op`.
fn is_empty(p: &Printer<'_>, op: Op, elem: &Elem) -> bool {
    match elem {
        Elem::Operand(i) => p.m.operand_group(op, *i).is_empty(),
        Elem::AllOperands => p.m.operands(op).is_empty(),
        Elem::Successor(i) => p.m.successors(op).len() <= *i,
        Elem::AllSuccessors => p.m.successors(op).is_empty(),
        Elem::Type(values) => value_types(p, op, *values).is_empty(),
        _ => false,
    }
}

/// Whether an element is a unit attribute, which is spelled by the literals around it.
fn is_flag(info: &OpInfo, elem: &Elem) -> bool {
    matches!(elem, Elem::Attr(i) if matches!(info.attrs[*i].kind.text, AttrText::Flag))
}

/// Whether an optional group is printed.
fn is_present(p: &Printer<'_>, info: &'static OpInfo, op: Op, anchor: &Elem) -> bool {
    match anchor {
        Elem::Attr(i) => {
            let value = p.m.ctx.dict_get(p.m.props(op), p.m.ctx.str(info.attrs[*i].name));
            value.is_some() && !is_default(p, info, *i, value)
        }
        Elem::Region(i) => p.m.regions(op).get(*i).is_some_and(|&r| p.m.entry(r).is_some()),
        Elem::Custom(_, params) => params.iter().any(|&param| match param {
            Param::Operand(i) => !p.m.operand_group(op, i).is_empty(),
            Param::Attr(i) => is_present(p, info, op, &Elem::Attr(i)),
            Param::Region(i) => is_present(p, info, op, &Elem::Region(i)),
            Param::Successor(i) => p.m.successors(op).len() > i,
            Param::Types(values) => !value_types(p, op, values).is_empty(),
        }),
        other => !is_empty(p, op, other),
    }
}

fn variable(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, elem: &Elem) -> io::Result<()> {
    let m = p.m;
    match elem {
        Elem::Operand(i) => p.values(&m.operand_group(op, *i)),
        Elem::AllOperands => p.values(m.operands(op)),
        Elem::Attr(i) => attr_text(p, info, op, *i),
        Elem::Region(i) if info.regions[*i].arity == Arity::One => {
            let region = m.regions(op)[*i];
            p.region(region, true, false, !is_plain(m, info, region))?;
        }
        Elem::Region(_) | Elem::AllRegions => {
            let first = if let Elem::Region(i) = elem { *i } else { 0 };
            for (i, &region) in m.regions(op).iter().skip(first).enumerate() {
                p.comma(i);
                p.region(region, true, false, !is_plain(m, info, region))?;
            }
        }
        Elem::Successor(i) => p.block_name(m.successors(op)[*i]),
        Elem::AllSuccessors => {
            for (i, &block) in m.successors(op).iter().enumerate() {
                p.comma(i);
                p.block_name(block);
            }
        }
        Elem::Type(values) => {
            for (i, ty) in value_types(p, op, *values).into_iter().enumerate() {
                p.comma(i);
                p.ty(ty);
            }
        }
        Elem::FunctionalType(inputs, results) => {
            p.out.push('(');
            for (i, ty) in value_types(p, op, *inputs).into_iter().enumerate() {
                p.comma(i);
                p.ty(ty);
            }
            p.out.push_str(") -> ");
            let types = value_types(p, op, *results);
            p.result_types(&types);
        }
        Elem::Custom(directive, params) => (directive.print)(&mut OpPrinter { p, op }, params)?,
        Elem::Function => super::function::print_function(p, info, op)?,
        Elem::Literal(_) | Elem::Space(_) | Elem::AttrDict { .. } | Elem::Group { .. } => {}
    }
    Ok(())
}

/// Whether the terminator of the region's block is the implicit one, which the text omits.
pub(super) fn is_plain(m: &Module, info: &OpInfo, region: Region) -> bool {
    let Some(last) = m.entry(region).and_then(|b| m.last_op(b)) else { return false };
    !info.implicit_terminator.is_empty()
        && m.name_text(last) == info.implicit_terminator
        && m.operands(last).is_empty()
        && m.attrs(last) == Attr::EMPTY_DICT
        && m.props(last) == Attr::EMPTY_DICT
}

pub(super) fn value_types(p: &Printer<'_>, op: Op, values: Values) -> Vec<Type> {
    let m = p.m;
    match values {
        Values::Operand(i) => m.operand_group(op, i).iter().map(|&v| m.value_type(v)).collect(),
        Values::Result(i) => m.result_group(op, i).iter().map(|&v| m.value_type(v)).collect(),
        Values::Operands => m.operands(op).iter().map(|&v| m.value_type(v)).collect(),
        Values::Results => m.results(op).map(|v| m.value_type(v)).collect(),
    }
}

/// Prints an attribute in the form that formats use for its kind.
pub(super) fn attr_text(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, i: usize) {
    let spec = &info.attrs[i];
    let Some(value) = p.m.inherent_attr(op, spec.name) else { return };
    p.attrs.attr_of_kind(value, &spec.kind.text, &mut p.out);
}
