//! The custom form shared by all functions: `visibility @name(%arg: type {attrs}) -> (type {attrs}) attributes {...} {
//! body }`.

use super::attr_dict::unspelled;
use super::parser::{PResult, ParsedOp, Parser, ValueRef};
use super::printer::Printer;
use crate::intern::{Attr, Str, Type};
use crate::module::Op;
use crate::op_info::OpInfo;
use crate::text::loc::Loc;
use std::io;

/// A parsed function signature.
#[derive(Default)]
struct FunctionSignature<'a> {
    args: Vec<(ValueRef<'a>, Type, Loc)>,
    inputs: Vec<Type>,
    input_attrs: Vec<Attr>,
    results: Vec<Type>,
    result_attrs: Vec<Attr>,
}

/// Parses a function after its op name.
pub(crate) fn parse_function<'a>(
    p: &mut Parser<'a>,
    op: &mut ParsedOp,
    props: &mut Vec<(Str, Attr)>,
    attrs: &mut Attr,
) -> PResult<()> {
    let ctx = p.ctx.clone();
    for word in ["public", "private", "nested"] {
        if p.cur.eat_word(word) {
            props.push((ctx.str("sym_visibility"), ctx.string_attr(word)));
        }
    }
    p.cur.skip_space();
    let at = p.cur.pos;
    if p.cur.peek() != b'@' {
        return Err(p.error(at, "expected valid '@'-identifier for symbol name"));
    }
    let symbol = p.attr()?;
    let Some((name, [])) = ctx.as_symbol(symbol) else { return Err(p.error(at, "expected a symbol name")) };
    props.push((ctx.str("sym_name"), ctx.string_attr(ctx.text(name))));
    let sig = signature(p)?;
    props.push((ctx.str("function_type"), ctx.type_attr(ctx.function_type(&sig.inputs, &sig.results))));
    for (key, list) in [("arg_attrs", &sig.input_attrs), ("res_attrs", &sig.result_attrs)] {
        if list.iter().any(|&a| a != Attr::EMPTY_DICT) {
            props.push((ctx.str(key), ctx.array_attr(list)));
        }
    }
    if p.cur.eat_word("attributes") {
        p.cur.skip_space();
        let at = p.cur.pos;
        *attrs = p.dict()?;
        for name in ["sym_name", "sym_visibility", "function_type"] {
            if ctx.dict_get(*attrs, ctx.str(name)).is_some() {
                let message = format!(
                    "'{name}' is an inferred attribute and should not be specified in the explicit attribute dictionary"
                );
                return Err(p.error(at, message));
            }
        }
    }
    if p.next_is(b'{') {
        let at = p.cur.pos;
        let region = p.region(true, &sig.args)?;
        if p.m.entry(region).is_none() {
            return Err(p.error(at, "expected non-empty function body"));
        }
        op.regions.push(region);
    } else {
        let region = p.m.detached_region();
        op.regions.push(region);
    }
    Ok(())
}

/// Parses `(%a: type {attrs}, ...) -> (type {attrs}, ...)`; declarations have no argument names.
fn signature<'a>(p: &mut Parser<'a>) -> PResult<FunctionSignature<'a>> {
    let mut sig = FunctionSignature::default();
    p.expect("(")?;
    while !p.next_is(b')') {
        let name = if p.next_is(b'%') { Some(p.value_ref()?) } else { None };
        if name.is_some() != (sig.args.len() == sig.inputs.len()) && !sig.inputs.is_empty()
            || name.is_some() && sig.args.len() != sig.inputs.len()
        {
            return p.error_here(if name.is_some() {
                "expected type instead of SSA identifier"
            } else {
                "expected SSA identifier"
            });
        }
        if name.is_some() {
            p.expect(":")?;
        }
        let ty = p.ty()?;
        sig.inputs.push(ty);
        let attrs = if p.next_is(b'{') { p.dict()? } else { Attr::EMPTY_DICT };
        sig.input_attrs.push(attrs);
        let loc = p.trailing_loc()?;
        if let Some(name) = name {
            sig.args.push((name, ty, loc.unwrap_or(p.place(name.offset))));
        }
        if !p.cur.eat(",") {
            break;
        }
    }
    p.expect(")")?;
    if p.cur.eat("->") {
        results(p, &mut sig)?;
    }
    Ok(sig)
}

fn results<'a>(p: &mut Parser<'a>, sig: &mut FunctionSignature<'a>) -> PResult<()> {
    if !p.next_is(b'(') {
        sig.results.push(p.ty()?);
        sig.result_attrs.push(Attr::EMPTY_DICT);
        return Ok(());
    }
    p.expect("(")?;
    while !p.next_is(b')') {
        sig.results.push(p.ty()?);
        let attrs = if p.next_is(b'{') { p.dict()? } else { Attr::EMPTY_DICT };
        sig.result_attrs.push(attrs);
        if !p.cur.eat(",") {
            break;
        }
    }
    p.expect(")")
}

/// Prints a function after its op name.
pub(crate) fn print_function(p: &mut Printer<'_>, info: &'static OpInfo, op: Op) -> io::Result<()> {
    let m = p.m;
    let ctx = &m.ctx;
    let get = |name: &str| ctx.dict_get(m.props(op), ctx.str(name));
    if let Some(word) = get("sym_visibility").and_then(|a| ctx.as_str(a)) {
        p.out.push_str(word);
        p.out.push(' ');
    }
    super::type_attr_parser::symbol_name(
        get("sym_name").and_then(|a| ctx.as_str(a)).unwrap_or("").as_bytes(),
        &mut p.out,
    );
    let function_type = get("function_type").and_then(|a| ctx.as_type(a));
    let (inputs, results) = function_type.and_then(|t| ctx.function_parts(t)).unwrap_or((&[], &[]));
    let body = m.regions(op).first().copied();
    let entry = body.and_then(|r| m.entry(r));
    let list = |name: &str| get(name).and_then(|a| ctx.as_array(a)).unwrap_or(&[]);
    let (input_attrs, result_attrs) = (list("arg_attrs"), list("res_attrs"));
    p.out.push('(');
    for (i, &ty) in inputs.iter().enumerate() {
        p.comma(i);
        if let Some(&arg) = entry.and_then(|b| m.block_args(b).get(i)) {
            p.value(arg);
            p.out.push_str(": ");
        }
        typed(p, ty, input_attrs.get(i));
        if let Some(entry) = entry {
            p.arg_loc(entry, i);
        }
    }
    p.out.push(')');
    if !results.is_empty() {
        p.out.push_str(" -> ");
        // Without parentheses, a single function type would parse as the start of a longer one.
        let plain = result_attrs.is_empty() && results.len() == 1 && ctx.function_parts(results[0]).is_none();
        if !plain {
            p.out.push('(');
        }
        for (i, &ty) in results.iter().enumerate() {
            p.comma(i);
            typed(p, ty, result_attrs.get(i));
        }
        if !plain {
            p.out.push(')');
        }
    }
    let dict = unspelled(p, info, op);
    if dict != Attr::EMPTY_DICT {
        p.out.push_str(" attributes ");
        p.dict(dict);
    }
    if let (Some(body), Some(_)) = (body, entry) {
        p.out.push(' ');
        p.region(body, false, false, true)?;
    }
    Ok(())
}

fn typed(p: &mut Printer<'_>, ty: Type, attrs: Option<&Attr>) {
    p.ty(ty);
    if let Some(&attrs) = attrs.filter(|&&a| a != Attr::EMPTY_DICT) {
        p.out.push(' ');
        p.dict(attrs);
    }
}
