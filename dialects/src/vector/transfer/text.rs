//! Assembly formats of `transfer_read` and `transfer_write`.

use super::{is_minor_identity, mask_of, minor_identity};
use crate::vector::contract::map_of;
use crate::vector::types::vector;
use gradus_ir::{Attr, AttrData, Directive, OpParser, OpPrinter, Param, ParseResult, Type, TypeData, ValueRef};

/// `%m[%i, %j], %padding, %mask {...} : type, type`
pub(super) const TRANSFER_READ: Directive = Directive { name: "TransferRead", parse: parse_read, print: print_read };

/// `%v, %m[%i, %j], %mask {...} : type, type`
pub(super) const TRANSFER_WRITE: Directive =
    Directive { name: "TransferWrite", parse: parse_write, print: print_write };

/// Parses two types; returns them with their source position.
fn types(p: &mut OpParser<'_, '_>) -> ParseResult<(usize, Vec<Type>)> {
    p.expect(":")?;
    let at = p.offset();
    let mut types = vec![p.ty()?];
    while p.eat(",") {
        types.push(p.ty()?);
    }
    if types.len() == 2 { Ok((at, types)) } else { p.error_in_op(at, "requires two types") }
}

/// Checks the types of source and vector.
fn check_types(p: &OpParser<'_, '_>, at: usize, source: Type, ty: Type) -> ParseResult<()> {
    if !matches!(p.ctx().type_data(source), TypeData::MemRef { .. } | TypeData::Tensor { .. }) {
        return p.error_in_op(at, "requires memref or ranked tensor type");
    }
    if vector(p.ctx(), ty).is_none() {
        return p.error_in_op(at, "requires vector type");
    }
    Ok(())
}

/// Completes omitted attributes: the minor identity map and no `in_bounds`. Returns the mask type.
fn complete(
    p: &mut OpParser<'_, '_>,
    (at, source, ty): (usize, Type, Type),
    has_mask: bool,
    [map_to, bounds_to]: [Param; 2],
    dict: Attr,
) -> ParseResult<Vec<Type>> {
    let ctx = p.ctx();
    let given = |name: &str| ctx.dict_get(dict, ctx.str(name));
    let attr = match given("permutation_map") {
        Some(attr) => attr,
        None => match minor_identity(ctx, source, ty) {
            Some(map) => ctx.attr(AttrData::AffineMap(Box::new(map))),
            None => {
                return p.error_in_op(at, "expected a custom permutation_map when rank(source) != rank(destination)");
            }
        },
    };
    let Some(map) = map_of(ctx, attr) else { return p.error_in_op(at, "attribute 'permutation_map' is no map") };
    for &(name, value) in ctx.dict_entries(dict) {
        match ctx.text(name) {
            "permutation_map" | "in_bounds" => {}
            _ => p.set_discardable(name, value),
        }
    }
    p.set_attr(map_to, attr);
    let nothing = || ctx.array_attr(&vec![Attr::FALSE; map.results.len()]);
    p.set_attr(bounds_to, given("in_bounds").unwrap_or_else(nothing));
    if !has_mask {
        return Ok(Vec::new());
    }
    if vector(ctx, ctx.element_type(source)).is_some() {
        return p.error_in_op(at, "does not support masks with vector element type");
    }
    if vector(ctx, ty).is_some_and(|v| v.0.len() != map.results.len()) {
        return p.error_in_op(at, "expected the same rank for the vector and the results of the permutation map");
    }
    Ok(mask_of(ctx, ty, map).into_iter().collect())
}

/// Parses an optional attribute dictionary.
fn dictionary(p: &mut OpParser<'_, '_>) -> ParseResult<Attr> {
    if p.peek() == b'{' { p.attr() } else { Ok(Attr::EMPTY_DICT) }
}

/// Parses `%m[%i, %j]`.
fn place<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<(ValueRef<'a>, Vec<ValueRef<'a>>)> {
    let base = p.value()?;
    p.expect("[")?;
    let indices = p.list("]", OpParser::value)?;
    Ok((base, indices))
}

fn parse_read(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let (base, indices) = place(p)?;
    p.expect(",")?;
    let padding = p.value()?;
    let mask = if p.eat(",") { Some(p.value()?) } else { None };
    let dict = dictionary(p)?;
    let (at, types) = types(p)?;
    let (source, ty) = (types[0], types[1]);
    check_types(p, at, source, ty)?;
    let mask_types = complete(p, (at, source, ty), mask.is_some(), [params[4], params[5]], dict)?;
    p.set_operands(params[0], [base]);
    p.set_types(params[0], vec![source]);
    p.set_operands(params[1], indices);
    p.set_operands(params[2], [padding]);
    p.set_types(params[2], vec![p.ctx().element_type(source)]);
    p.set_operands(params[3], mask);
    p.set_types(params[3], mask_types);
    p.set_types(params[6], vec![ty]);
    Ok(())
}

fn parse_write(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let value = p.value()?;
    p.expect(",")?;
    let (base, indices) = place(p)?;
    let mask = if p.eat(",") { Some(p.value()?) } else { None };
    let dict = dictionary(p)?;
    let (at, types) = types(p)?;
    let (ty, source) = (types[0], types[1]);
    if vector(p.ctx(), ty).is_none() {
        return p.error_in_op(at, "requires vector type");
    }
    check_types(p, at, source, ty)?;
    let mask_types = complete(p, (at, source, ty), mask.is_some(), [params[4], params[5]], dict)?;
    p.set_operands(params[0], [value]);
    p.set_types(params[0], vec![ty]);
    p.set_operands(params[1], [base]);
    p.set_types(params[1], vec![source]);
    p.set_operands(params[2], indices);
    p.set_operands(params[3], mask);
    p.set_types(params[3], mask_types);
    let tensor = matches!(p.ctx().type_data(source), TypeData::Tensor { .. });
    p.set_types(params[6], if tensor { vec![source] } else { Vec::new() });
    Ok(())
}

/// Returns the attributes to print, without defaults.
fn print_attrs(p: &mut OpPrinter<'_, '_>, [map, bounds]: [Param; 2]) {
    let ctx = p.ctx();
    let mut entries = ctx.dict_entries(p.module().attrs(p.op)).to_vec();
    if let Some(attr) = p.inherent(map)
        && map_of(ctx, attr).is_some_and(|map| !is_minor_identity(map))
    {
        entries.push((ctx.str("permutation_map"), attr));
    }
    if let Some(attr) = p.inherent(bounds)
        && ctx.as_array(attr).is_some_and(|list| list.contains(&Attr::TRUE))
    {
        entries.push((ctx.str("in_bounds"), attr));
    }
    if !entries.is_empty() {
        p.text(" ");
        p.attr(ctx.dict_attr(entries));
    }
}

fn print_place(p: &mut OpPrinter<'_, '_>, [base, indices]: [Param; 2]) {
    let (base, indices) = (p.group(base), p.group(indices));
    p.values(&base);
    p.text("[");
    p.values(&indices);
    p.text("]");
}

fn print_more(p: &mut OpPrinter<'_, '_>, group: Param) {
    for &value in &p.group(group) {
        p.text(", ");
        p.value(value);
    }
}

fn print_types(p: &mut OpPrinter<'_, '_>, first: Param, second: Param) {
    p.text(" : ");
    let types = [p.group_types(first), p.group_types(second)].concat();
    p.types(&types);
}

fn print_read(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    print_place(p, [params[0], params[1]]);
    print_more(p, params[2]);
    print_more(p, params[3]);
    print_attrs(p, [params[4], params[5]]);
    print_types(p, params[0], params[6]);
    Ok(())
}

fn print_write(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let value = p.group(params[0]);
    p.values(&value);
    p.text(", ");
    print_place(p, [params[1], params[2]]);
    print_more(p, params[3]);
    print_attrs(p, [params[4], params[5]]);
    print_types(p, params[0], params[1]);
    Ok(())
}
