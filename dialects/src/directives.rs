//! Custom assembly directives shared by dialects.

use gradus_ir::{DYNAMIC, Directive, OpParser, OpPrinter, Param, ParseResult, ValueRef};

/// `custom<DynamicIndexList>($dynamic, $static)`: `[%i, 4]`. The attribute holds all entries, with a placeholder for
/// each operand.
pub const DYNAMIC_INDEX_LIST: Directive = Directive {
    name: "DynamicIndexList",
    parse: |p, params| {
        p.expect("[")?;
        let (values, statics) = index_list(p, "]")?;
        p.set_operands(params[0], values);
        let attr = p.ctx().i64_array_attr(&statics);
        p.set_attr(params[1], attr);
        Ok(())
    },
    print: |p, params| {
        print_index_list(p, params[0], params[1], "[", "]");
        Ok(())
    },
};

/// Parses integers and values up to `close`. Returns the values, and all entries with placeholders for values.
pub fn index_list<'a>(p: &mut OpParser<'_, 'a>, close: &str) -> ParseResult<(Vec<ValueRef<'a>>, Vec<i64>)> {
    let mut values = Vec::new();
    let statics = p.list(close, |p| {
        if p.peek() == b'%' {
            values.push(p.value()?);
            return Ok(DYNAMIC);
        }
        if p.at_integer() { p.integer() } else { p.error_here("expected SSA value or integer") }
    })?;
    Ok((values, statics))
}

/// Prints the entries of `statics`, with the operands of `dynamic` in place of placeholders.
pub fn print_index_list(p: &mut OpPrinter<'_, '_>, dynamic: Param, statics: Param, open: &str, close: &str) {
    let values = p.group(dynamic);
    let statics = p.inherent(statics).and_then(|a| p.ctx().as_ints(a)).unwrap_or_default();
    let mut values = values.iter();
    p.text(open);
    p.list(statics, |p, n| match if n == DYNAMIC { values.next() } else { None } {
        Some(&value) => p.value(value),
        None => p.text(&n.to_string()),
    });
    p.text(close);
}
