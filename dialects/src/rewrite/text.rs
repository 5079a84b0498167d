//! The custom form of `rewrite.op`.

use gradus_ir::rules::OTHERS;
use gradus_ir::{Attr, AttrText, Context, Directive, OpInfo, OpParser, OpPrinter, Param, ParseResult, Str, ValueRef};

/// `"arith.cmpi"(%a, %b) {predicate = %p} : %t`
pub(super) const OP: Directive = Directive { name: "RewriteOp", parse, print };

/// The attribute list of a `rewrite.op`: handles with their names, and fixed attributes.
#[derive(Default)]
struct Attributes<'a> {
    names: Vec<Attr>,
    values: Vec<ValueRef<'a>>,
    others: Vec<(Str, Attr)>,
}

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let &[name, args, attribute_values, attribute_names, attributes, types] = params else {
        unreachable!("six parameters")
    };
    let of = p.attr()?;
    p.set_attr(name, of);
    let info = declared(p.ctx(), of);
    p.expect("(")?;
    let operands = p.list(")", OpParser::value)?;
    p.set_operands(args, operands);
    let mut read = Attributes::default();
    if p.eat("{") {
        p.list("}", |p| attribute(p, info, &mut read))?;
    }
    let ctx = p.ctx();
    if !read.names.is_empty() {
        p.set_attr(attribute_names, ctx.array_attr(&read.names));
    }
    if !read.others.is_empty() {
        p.set_attr(attributes, ctx.dict_attr(read.others));
    }
    p.set_operands(attribute_values, read.values);
    if p.eat(":") {
        let list = p.values()?;
        p.set_operands(types, list);
    }
    Ok(())
}

/// Returns the declaration of the named op.
fn declared(ctx: &Context, name: Attr) -> Option<&'static OpInfo> {
    ctx.as_str(name).and_then(|name| ctx.op_info(ctx.op_name(name)))
}

/// Parses `name = %handle` or `name = attribute`.
fn attribute<'a>(p: &mut OpParser<'_, 'a>, info: Option<&OpInfo>, read: &mut Attributes<'a>) -> ParseResult<()> {
    let at = p.offset();
    let word = if p.eat(OTHERS) { OTHERS } else { p.word() };
    if word.is_empty() {
        return p.error(at, "expected the name of an attribute");
    }
    let (key, name) = (p.ctx().str(word), p.ctx().string_attr(word));
    if read.names.contains(&name) || read.others.iter().any(|(known, _)| *known == key) {
        return p.error(at, format!("duplicate attribute '{word}'"));
    }
    p.expect("=")?;
    if p.peek() == b'%' {
        read.names.push(name);
        read.values.push(p.value()?);
        return Ok(());
    }
    let kind = info.and_then(|info| info.attr(word)).map(|spec| &spec.kind.text);
    let case = match kind {
        Some(AttrText::Cases(ty, cases)) => cases.iter().find(|c| p.eat_word(c.0)).map(|c| p.ctx().int_attr(*ty, c.1)),
        _ => None,
    };
    let attr = match case {
        Some(attr) => attr,
        None => p.attr()?,
    };
    read.others.push((key, attr));
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let &[name, args, attribute_values, attribute_names, attributes, types] = params else {
        unreachable!("six parameters")
    };
    let ctx = p.ctx();
    let info = p.inherent(name).and_then(|of| declared(ctx, of));
    p.spelled(name);
    p.text("(");
    let operands = p.group(args);
    p.values(&operands);
    p.text(")");
    let names = p.inherent(attribute_names).and_then(|a| ctx.as_array(a)).unwrap_or_default();
    let others = p.inherent(attributes).map_or(&[][..], |dict| ctx.dict_entries(dict));
    let mut first = true;
    let mut comma = |p: &mut OpPrinter<'_, '_>| p.text(if std::mem::take(&mut first) { " {" } else { ", " });
    for (&key, &value) in names.iter().zip(&p.group(attribute_values)) {
        comma(p);
        p.text(&format!("{} = ", ctx.as_str(key).unwrap_or_default()));
        p.value(value);
    }
    for &(key, attr) in others {
        comma(p);
        p.text(&format!("{} = ", ctx.text(key)));
        match word(ctx, info, key, attr) {
            Some(word) => p.text(word),
            None => p.attr(attr),
        }
    }
    if !(names.is_empty() && others.is_empty()) {
        p.text("}");
    }
    let types = p.group(types);
    if !types.is_empty() {
        p.text(" : ");
        p.values(&types);
    }
    Ok(())
}

/// Returns the keyword of an enum attribute's case.
fn word(ctx: &Context, info: Option<&OpInfo>, key: Str, attr: Attr) -> Option<&'static str> {
    let AttrText::Cases(ty, cases) = info?.attr(ctx.text(key))?.kind.text else { return None };
    cases.iter().find(|case| ctx.int_attr(ty, case.1) == attr).map(|case| case.0)
}
