//! Assembly directives shared by scf ops.

use gradus_ir::{OpParser, OpPrinter, ParseResult, Type, Value, ValueRef};

/// Parses `(%a = %x, %b = %y)`: region arguments and their initial values.
pub fn assignments<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<(Vec<ValueRef<'a>>, Vec<ValueRef<'a>>)> {
    p.expect("(")?;
    let pairs = p.list(")", |p| {
        let name = p.value()?;
        p.expect("=")?;
        Ok((name, p.value()?))
    })?;
    Ok(pairs.into_iter().unzip())
}

/// Prints region arguments and their initial values.
pub fn print_assignments(p: &mut OpPrinter<'_, '_>, args: &[Value], values: &[Value]) {
    p.text("(");
    p.list(args.iter().zip(values), |p, (&arg, &value)| {
        p.value(arg);
        p.text(" = ");
        p.value(value);
    });
    p.text(")");
}

/// Parses `(%a, %b)`.
pub fn value_list<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<Vec<ValueRef<'a>>> {
    p.expect("(")?;
    p.list(")", OpParser::value)
}

/// Prints `(%a, %b)`.
pub fn print_value_list(p: &mut OpPrinter<'_, '_>, values: &[Value]) {
    p.text("(");
    p.values(values);
    p.text(")");
}

/// Parses optional `-> types`.
pub fn arrow_types(p: &mut OpParser<'_, '_>) -> ParseResult<Vec<Type>> {
    if p.eat("->") { p.result_types() } else { Ok(Vec::new()) }
}

/// Prints ` -> types` in parentheses; nothing for no types.
pub fn print_arrow_types(p: &mut OpPrinter<'_, '_>, types: &[Type]) {
    if !types.is_empty() {
        p.text(" -> (");
        p.types(types);
        p.text(")");
    }
}

/// Prints ` -> type`, with parentheses for several types; nothing for no types.
pub fn print_optional_arrow_types(p: &mut OpPrinter<'_, '_>, types: &[Type]) {
    if !types.is_empty() {
        p.text(" -> ");
        p.result_types(types);
    }
}

/// Checks that the numbers of values and types agree; reports errors at the op or a byte offset.
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
