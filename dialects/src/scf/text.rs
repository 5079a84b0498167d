//! What the custom forms of `scf` have in common.

use gradus_ir::{OpParser, OpPrinter, ParseResult, Type, Value, ValueRef};

/// `(%a = %x, %b = %y)`: arguments of a region and the values that they begin with.
pub fn assignments<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<(Vec<ValueRef<'a>>, Vec<ValueRef<'a>>)> {
    p.expect("(")?;
    let pairs = p.list(")", |p| {
        let name = p.value()?;
        p.expect("=")?;
        Ok((name, p.value()?))
    })?;
    Ok(pairs.into_iter().unzip())
}

/// Writes them.
pub fn print_assignments(p: &mut OpPrinter<'_, '_>, args: &[Value], values: &[Value]) {
    p.text("(");
    p.list(args.iter().zip(values), |p, (&arg, &value)| {
        p.value(arg);
        p.text(" = ");
        p.value(value);
    });
    p.text(")");
}

/// `(%a, %b)`
pub fn value_list<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<Vec<ValueRef<'a>>> {
    p.expect("(")?;
    p.list(")", OpParser::value)
}

/// Writes it.
pub fn print_value_list(p: &mut OpPrinter<'_, '_>, values: &[Value]) {
    p.text("(");
    p.values(values);
    p.text(")");
}

/// `-> types`, or nothing.
pub fn arrow_types(p: &mut OpParser<'_, '_>) -> ParseResult<Vec<Type>> {
    if p.eat("->") { p.result_types() } else { Ok(Vec::new()) }
}

/// Writes ` -> types`, always in parentheses; nothing when there are none.
pub fn print_arrow_types(p: &mut OpPrinter<'_, '_>, types: &[Type]) {
    if !types.is_empty() {
        p.text(" -> (");
        p.types(types);
        p.text(")");
    }
}

/// Writes ` -> type` for one type, with parentheses for several; nothing when there are none.
pub fn print_optional_arrow_types(p: &mut OpPrinter<'_, '_>, types: &[Type]) {
    if !types.is_empty() {
        p.text(" -> ");
        p.result_types(types);
    }
}

/// Fails, at the op or a byte of the text, unless there are as many values as types.
pub fn same_count(p: &OpParser<'_, '_>, at: Option<usize>, values: usize, types: usize) -> ParseResult<()> {
    if values == types {
        return Ok(());
    }
    let message = format!("number of operands and types do not match: got {values} operands and {types} types");
    match at {
        Some(offset) => p.error(offset, message),
        None => p.error_at_op(message),
    }
}
