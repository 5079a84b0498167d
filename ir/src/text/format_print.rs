//! Printing of ops by their format, with MLIR's spacing.

use super::attr_dict::{attr_dict, is_default};
use super::directive::{OpPrinter, Param, ValueGroup};
use super::format::FormatElem;
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

fn elems(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, list: &[FormatElem], b: &mut Spacing) -> io::Result<()> {
    for elem in list {
        self::elem(p, info, op, elem, b)?;
    }
    Ok(())
}

fn elem(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, elem: &FormatElem, b: &mut Spacing) -> io::Result<()> {
    match elem {
        FormatElem::Literal(text) => {
            b.literal(text, &mut p.out);
            return Ok(());
        }
        FormatElem::Space(blank) => {
            b.space(*blank, &mut p.out);
            return Ok(());
        }
        FormatElem::AttrDict { keyword } => {
            attr_dict(p, info, op, *keyword);
            (b.wanted, b.punctuation) = (true, false);
            return Ok(());
        }
        FormatElem::Group { then, otherwise, anchor } => {
            return elems(p, info, op, if is_present(p, info, op, anchor) { then } else { otherwise }, b);
        }
        _ => {}
    }
    // MLIR prints the blank before an operand list even if the list is empty.
    let operands = matches!(elem, FormatElem::Operand(_) | FormatElem::AllOperands);
    if (is_empty(p, op, elem) && !operands) || is_flag(info, elem) {
        return Ok(());
    }
    b.value(&mut p.out);
    variable(p, info, op, elem)
}

/// Whether an element prints nothing for `op`.
fn is_empty(p: &Printer<'_>, op: Op, elem: &FormatElem) -> bool {
    match elem {
        FormatElem::Operand(i) => p.m.operand_group(op, *i).is_empty(),
        FormatElem::AllOperands => p.m.operands(op).is_empty(),
        FormatElem::Successor(i) => p.m.successors(op).len() <= *i,
        FormatElem::AllSuccessors => p.m.successors(op).is_empty(),
        FormatElem::Type(values) => value_types(p, op, *values).is_empty(),
        _ => false,
    }
}

/// Whether an element is a unit attribute, which is spelled by the literals around it.
fn is_flag(info: &OpInfo, elem: &FormatElem) -> bool {
    matches!(elem, FormatElem::Attr(i) if matches!(info.attrs[*i].kind.text, AttrText::Flag))
}

/// Whether an optional group is printed.
fn is_present(p: &Printer<'_>, info: &'static OpInfo, op: Op, anchor: &FormatElem) -> bool {
    match anchor {
        FormatElem::Attr(i) => {
            let value = p.m.ctx.dict_get(p.m.props(op), p.m.ctx.str(info.attrs[*i].name));
            value.is_some() && !is_default(p, info, *i, value)
        }
        FormatElem::Region(i) => p.m.regions(op).get(*i).is_some_and(|&r| p.m.entry(r).is_some()),
        FormatElem::Custom(_, params) => params.iter().any(|&param| match param {
            Param::Operand(i) => !p.m.operand_group(op, i).is_empty(),
            Param::Attr(i) => is_present(p, info, op, &FormatElem::Attr(i)),
            Param::Region(i) => is_present(p, info, op, &FormatElem::Region(i)),
            Param::Successor(i) => p.m.successors(op).len() > i,
            Param::Types(values) => !value_types(p, op, values).is_empty(),
        }),
        other => !is_empty(p, op, other),
    }
}

fn variable(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, elem: &FormatElem) -> io::Result<()> {
    let m = p.m;
    match elem {
        FormatElem::Operand(i) => p.values(&m.operand_group(op, *i)),
        FormatElem::AllOperands => p.values(m.operands(op)),
        FormatElem::Attr(i) => attr_text(p, info, op, *i),
        FormatElem::Region(i) if info.regions[*i].arity == Arity::One => {
            let region = m.regions(op)[*i];
            p.region(region, true, false, !is_plain(m, info, region))?;
        }
        FormatElem::Region(_) | FormatElem::AllRegions => {
            let first = if let FormatElem::Region(i) = elem { *i } else { 0 };
            for (i, &region) in m.regions(op).iter().skip(first).enumerate() {
                p.comma(i);
                p.region(region, true, false, !is_plain(m, info, region))?;
            }
        }
        FormatElem::Successor(i) => p.block_name(m.successors(op)[*i]),
        FormatElem::AllSuccessors => {
            for (i, &block) in m.successors(op).iter().enumerate() {
                p.comma(i);
                p.block_name(block);
            }
        }
        FormatElem::Type(values) => {
            for (i, ty) in value_types(p, op, *values).into_iter().enumerate() {
                p.comma(i);
                p.ty(ty);
            }
        }
        FormatElem::FunctionalType(inputs, results) => {
            p.out.push('(');
            for (i, ty) in value_types(p, op, *inputs).into_iter().enumerate() {
                p.comma(i);
                p.ty(ty);
            }
            p.out.push_str(") -> ");
            let types = value_types(p, op, *results);
            p.result_types(&types);
        }
        FormatElem::Custom(directive, params) => (directive.print)(&mut OpPrinter { p, op }, params)?,
        FormatElem::Function => super::function::print_function(p, info, op)?,
        FormatElem::Literal(_) | FormatElem::Space(_) | FormatElem::AttrDict { .. } | FormatElem::Group { .. } => {}
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

pub(super) fn value_types(p: &Printer<'_>, op: Op, values: ValueGroup) -> Vec<Type> {
    let m = p.m;
    match values {
        ValueGroup::Operand(i) => m.operand_group(op, i).iter().map(|&v| m.value_type(v)).collect(),
        ValueGroup::Result(i) => m.result_group(op, i).iter().map(|&v| m.value_type(v)).collect(),
        ValueGroup::Operands => m.operands(op).iter().map(|&v| m.value_type(v)).collect(),
        ValueGroup::Results => m.results(op).map(|v| m.value_type(v)).collect(),
    }
}

/// Prints an attribute in the form that formats use for its kind.
pub(super) fn attr_text(p: &mut Printer<'_>, info: &'static OpInfo, op: Op, i: usize) {
    let spec = &info.attrs[i];
    let Some(value) = p.m.inherent_attr(op, spec.name) else { return };
    p.attrs.attr_of_kind(value, &spec.kind.text, &mut p.out);
}
