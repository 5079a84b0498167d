//! Assembly formats of `contract` and `outerproduct`.

use crate::vector::types::{scalable, shape, vector, vector_type};
use gradus_ir::{AttrData, Directive, OpParser, OpPrinter, Param, ParseResult};

/// `{indexing_maps = ..., iterator_types = ["parallel", ...], kind = ...} %a, %b, %c {...} : lhs, rhs into result`
pub(super) const CONTRACT: Directive = Directive { name: "Contract", parse: parse_contract, print: print_contract };

/// `%a, %b, %c {...} : lhs, rhs`; the other types are inferred.
pub(super) const OUTER_PRODUCT: Directive =
    Directive { name: "OuterProduct", parse: parse_outer_product, print: print_outer_product };

fn parse_contract(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let at = p.offset();
    let dict = p.attr()?;
    let ctx = p.ctx();
    let AttrData::Dict(entries) = ctx.attr_data(dict) else {
        return p.error(at, "invalid kind of attribute specified");
    };
    let iterators = entries.iter().find(|e| ctx.text(e.0) == "iterator_types").and_then(|e| ctx.as_array(e.1));
    let Some(iterators) = iterators else {
        return p.error_in_op(at, "expected \"iterator_types\" array attribute");
    };
    let mut types = Vec::new();
    for &iterator in iterators {
        match ctx.as_str(iterator) {
            Some("parallel") => types.push(ctx.default_attr("#vector.iterator_type<parallel>")),
            Some("reduction") => types.push(ctx.default_attr("#vector.iterator_type<reduction>")),
            Some(other) => return p.error_in_op(at, &format!("unexpected iterator_type ({other})")),
            None => types.push(iterator),
        }
    }
    p.set_attr(params[1], ctx.array_attr(&types));
    for &(name, value) in entries.iter() {
        match ctx.text(name) {
            "iterator_types" => {}
            "indexing_maps" | "kind" => p.set_named_attr(name, value),
            _ => p.set_discardable(name, value),
        }
    }
    for (i, &group) in params[3..6].iter().enumerate() {
        if i > 0 {
            p.expect(",")?;
        }
        let value = p.value()?;
        p.set_operands(group, [value]);
    }
    p.attr_dict()?;
    p.expect(":")?;
    let lhs = p.ty()?;
    p.expect(",")?;
    let rhs = p.ty()?;
    p.expect_word("into")?;
    let result = p.ty()?;
    for (&param, ty) in params[3..].iter().zip([lhs, rhs, result, result]) {
        p.set_types(param, vec![ty]);
    }
    Ok(())
}

fn print_contract(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let ctx = p.ctx();
    let mut entries = Vec::new();
    for (&param, name) in params[..3].iter().zip(["indexing_maps", "iterator_types", "kind"]) {
        let Some(mut value) = p.inherent(param) else { continue };
        if name == "iterator_types" {
            let word = |&a: &gradus_ir::Attr| ctx.string_attr(&crate::vector::types::word(ctx, a));
            value = ctx.array_attr(&ctx.as_array(value).unwrap_or(&[]).iter().map(word).collect::<Vec<_>>());
        }
        entries.push((ctx.str(name), value));
    }
    p.attr(ctx.dict_attr(entries));
    p.text(" ");
    let operands: Vec<_> = params[3..6].iter().flat_map(|&group| p.group(group)).collect();
    p.values(&operands);
    p.attr_dict();
    p.text(" : ");
    let types = [p.group_types(params[3]), p.group_types(params[4])].concat();
    p.types(&types);
    p.text(" into ");
    let result = p.group_types(params[6]);
    p.types(&result);
    Ok(())
}

fn parse_outer_product(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let operands = p.values()?;
    p.attr_dict()?;
    p.expect(":")?;
    let lhs = p.ty()?;
    p.expect(",")?;
    let rhs = p.ty()?;
    if operands.len() < 2 {
        return p.error_of_op("expected at least 2 operands");
    }
    let ctx = p.ctx();
    let Some((a, flags, elem)) = vector(ctx, lhs) else {
        return p.error_of_op("expected vector type for operand #1");
    };
    let first = |shape: &[i64]| shape.first().copied().unwrap_or(1);
    let flag = |flags: &[bool]| flags.first().copied().unwrap_or(false);
    let result = match vector(ctx, rhs) {
        Some(_) => {
            let extents = [first(a), first(shape(ctx, rhs))];
            vector_type(ctx, &extents, &[flag(flags), flag(scalable(ctx, rhs))], elem)
        }
        None => vector_type(ctx, &[first(a)], &[flag(flags)], elem),
    };
    p.set_operands(params[0], [operands[0]]);
    p.set_operands(params[1], [operands[1]]);
    p.set_types(params[0], vec![lhs]);
    p.set_types(params[1], vec![rhs]);
    p.set_types(params[2], vec![result; operands.len() - 2]);
    p.set_operands(params[2], operands.into_iter().skip(2));
    p.set_types(params[4], vec![result]);
    Ok(())
}

fn print_outer_product(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let operands: Vec<_> = params[..3].iter().flat_map(|&group| p.group(group)).collect();
    p.values(&operands);
    // As MLIR, omits the kind without an accumulator.
    let kind = p.inherent(params[3]).filter(|_| operands.len() > 2);
    p.attr_dict_with(kind.map(|kind| ("kind", kind)).as_slice());
    p.text(" : ");
    let types = [p.group_types(params[0]), p.group_types(params[1])].concat();
    p.types(&types);
    Ok(())
}
