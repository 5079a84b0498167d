//! Parsing of ops by their format.

use super::directive::{OpParser, ParsedParts, ValueGroup};
use super::format::FormatElem;
use super::parser::{PResult, ParsedOp, Parser, ValueRef};
use super::type_attr_parser::{begins, eat};
use crate::constraint::{AttrSpec, AttrText};
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::module::Region;
use crate::op_info::{Arity, OpArgs, OpInfo, group_range};
use crate::text::diag::suggest;
use crate::traits::Traits;
use crate::typing;
use smallvec::SmallVec;

/// Parses the custom form of `info`, after the op name.
pub(crate) fn parse_custom<'a>(p: &mut Parser<'a>, info: &'static OpInfo, op: &mut ParsedOp) -> PResult<()> {
    let ctx = p.ctx.clone();
    let format = match ctx.format(op.name) {
        Some(Ok(format)) => format,
        Some(Err(why)) => return Err(p.error(op.offset, format!("format of '{}': {why}", info.name))),
        None => return Err(p.error(op.offset, format!("'{}' has no custom form", info.name))),
    };
    let mut state = ParsedParts {
        operands: vec![SmallVec::new(); info.operands.len()],
        operand_types: vec![None; info.operands.len()],
        result_types: vec![None; info.results.len()],
        all_operand_types: None,
        all_result_types: None,
        props: Vec::new(),
        attrs: Attr::EMPTY_DICT,
    };
    elems(p, &mut state, info, op, &format.elems)?;
    resolve(p, &mut state, info, op)?;
    Ok(())
}

fn elems<'a>(
    p: &mut Parser<'a>,
    s: &mut ParsedParts<'a>,
    info: &'static OpInfo,
    op: &mut ParsedOp,
    list: &[FormatElem],
) -> PResult<()> {
    for elem in list {
        self::elem(p, s, info, op, elem)?;
    }
    Ok(())
}

fn elem<'a>(
    p: &mut Parser<'a>,
    s: &mut ParsedParts<'a>,
    info: &'static OpInfo,
    op: &mut ParsedOp,
    elem: &FormatElem,
) -> PResult<()> {
    match elem {
        FormatElem::Literal(text) => literal(p, text),
        FormatElem::Space(_) => Ok(()),
        FormatElem::Operand(i) => {
            let list = operand_list(p, info.operands[*i].arity)?;
            s.operands[*i] = list;
            Ok(())
        }
        FormatElem::AllOperands => {
            let list = operand_list(p, Arity::Variadic)?;
            spread(p, s, info, &list)
        }
        FormatElem::Attr(i) => attr(p, s, info, *i),
        FormatElem::Region(i) if info.regions[*i].arity == Arity::Variadic => {
            if p.next_is(b'{') {
                region(p, info, op)?;
                while p.cur.eat(",") {
                    region(p, info, op)?;
                }
            }
            Ok(())
        }
        FormatElem::Region(_) | FormatElem::AllRegions => region(p, info, op),
        FormatElem::Successor(_) | FormatElem::AllSuccessors => loop {
            let block = p.successor()?;
            op.successors.push(block);
            if matches!(elem, FormatElem::Successor(_)) || !p.cur.eat(",") {
                return Ok(());
            }
        },
        FormatElem::AttrDict { keyword } => {
            let next = if *keyword { p.cur.eat_word("attributes") } else { p.next_is(b'{') };
            if next {
                let dict = p.dict()?;
                s.add_attrs(p.ctx, dict);
            }
            Ok(())
        }
        FormatElem::Type(values) => types(p, s, info, *values),
        FormatElem::FunctionalType(inputs, results) => {
            p.expect("(")?;
            let ins = type_list_until(p, b')')?;
            p.expect(")")?;
            p.expect("->")?;
            let outs = result_types(p)?;
            give(s, *inputs, ins);
            give(s, *results, outs);
            Ok(())
        }
        FormatElem::Custom(directive, params) => (directive.parse)(&mut OpParser { p, s, op }, params),
        FormatElem::Group { then, otherwise, .. } => {
            let is_present = present(p, info, then);
            if !is_present {
                no_results(s, info, then);
            }
            elems(p, s, info, op, if is_present { then } else { otherwise })
        }
        FormatElem::Function => super::function::parse_function(p, op, &mut s.props, &mut s.attrs),
    }
}

fn region(p: &mut Parser<'_>, info: &OpInfo, op: &mut ParsedOp) -> PResult<()> {
    let region = p.region(info.traits.has(Traits::ISOLATED), &[])?;
    if p.m.entry(region).is_none() && info.traits.has(Traits::SINGLE_BLOCK.and(Traits::NO_TERMINATOR)) {
        p.m.add_block(region);
    }
    insert_terminator(p, info, region, op.offset);
    op.regions.push(region);
    Ok(())
}

/// Adds the implicit terminator to the single block of a region.
pub(super) fn insert_terminator(p: &mut Parser<'_>, info: &OpInfo, region: Region, offset: usize) {
    if info.implicit_terminator.is_empty() {
        return;
    }
    let block = p.m.entry(region).unwrap_or_else(|| p.m.add_block(region));
    if p.m.last_op(block).is_some_and(|op| p.m.has_trait(op, Traits::TERMINATOR)) || !p.m.has_one_block(region) {
        return;
    }
    let name = p.ctx.op_name(info.implicit_terminator);
    let own = p.ctx.op_info(name);
    let regions = own.map_or(0, |i| i.regions.iter().filter(|r| r.arity == Arity::One).count());
    let op = p.m.create_raw(name, p.place(offset), &[], &[], Attr::EMPTY_DICT, Attr::EMPTY_DICT, &[], regions);
    if own.is_some_and(|i| i.traits.has(Traits::SINGLE_BLOCK.and(Traits::NO_TERMINATOR))) {
        for i in 0..regions {
            p.m.add_block(p.m.regions(op)[i]);
        }
    }
    p.m.append_op(block, op);
}

fn literal(p: &mut Parser<'_>, text: &str) -> PResult<()> {
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic());
    match word {
        true if p.cur.eat_word(text) => Ok(()),
        true => Err(p.missing_word(text)),
        false => p.expect(text),
    }
}

/// Empties the result groups whose types are in an absent optional group.
fn no_results(s: &mut ParsedParts<'_>, info: &OpInfo, group: &[FormatElem]) {
    for elem in group {
        if let FormatElem::Type(values @ ValueGroup::Result(i)) = elem
            && info.results[*i].arity != Arity::One
        {
            give(s, *values, Vec::new());
        }
    }
}

/// Whether the next token begins the optional group.
fn present(p: &mut Parser<'_>, info: &OpInfo, then: &[FormatElem]) -> bool {
    p.cur.skip_space();
    for elem in then {
        return match elem {
            FormatElem::Space(_) => continue,
            FormatElem::Literal(text) => eat(&mut p.cur.clone(), text),
            FormatElem::Operand(_) | FormatElem::AllOperands => p.next_is(b'%') && !p.cur.clone().begins_op(),
            FormatElem::Successor(_) | FormatElem::AllSuccessors => p.next_is(b'^'),
            FormatElem::Region(_) | FormatElem::AllRegions => p.next_is(b'{'),
            FormatElem::Attr(i) => begins(&mut p.cur, &info.attrs[*i].kind.text),
            _ => !matches!(p.cur.peek(), b'{' | b'}' | b':' | 0),
        };
    }
    false
}

fn operand_list<'a>(p: &mut Parser<'a>, arity: Arity) -> PResult<SmallVec<[ValueRef<'a>; 2]>> {
    let mut list = SmallVec::new();
    if arity == Arity::One || p.next_is(b'%') {
        list.push(p.value_ref()?);
    }
    while arity == Arity::Variadic && !list.is_empty() && p.cur.eat(",") {
        list.push(p.value_ref()?);
    }
    Ok(list)
}

/// Distributes operands, written as one list, to the declared groups.
fn spread<'a>(p: &mut Parser<'a>, s: &mut ParsedParts<'a>, info: &OpInfo, list: &[ValueRef<'a>]) -> PResult<()> {
    let specs = info.operands;
    let fixed = specs.iter().filter(|x| x.arity == Arity::One).count();
    if list.len() < fixed || (specs.len() == fixed && list.len() != fixed) {
        return p.error_here(format!("expected {fixed} operands, found {}", list.len()));
    }
    for i in 0..specs.len() {
        s.operands[i] = list[group_range(specs, None, list.len(), i)].into();
    }
    Ok(())
}

fn attr(p: &mut Parser<'_>, s: &mut ParsedParts<'_>, info: &OpInfo, i: usize) -> PResult<()> {
    let spec = &info.attrs[i];
    let ctx = p.ctx.clone();
    p.cur.skip_space();
    let at = p.cur.pos;
    if let AttrText::Cases(_, cases) = spec.kind.text {
        let word = p.cur.clone().word_or_string();
        if !cases.iter().any(|case| case.0 == word) {
            let all: Vec<&str> = cases.iter().map(|case| case.0).collect();
            return unknown_case(p, info, spec, at, (word, &all));
        }
    }
    let value = p.type_attrs.attr_of_kind(&mut p.cur, &spec.kind.text).map_err(|e| p.type_attr_error(0, e))?;
    s.props.push((ctx.str(spec.name), value));
    Ok(())
}

/// Returns the error of a word at byte `at` that is not among the words of an attribute.
fn unknown_case<T>(
    p: &Parser<'_>,
    info: &OpInfo,
    spec: &AttrSpec,
    at: usize,
    (word, all): (&str, &[&str]),
) -> PResult<T> {
    let message = format!(
        "custom op '{}' expected string or keyword containing one of the following enum values for attribute '{}' [{}]",
        info.name,
        spec.name,
        all.join(", ")
    );
    let mut error = p.error(at, message);
    if let Some(near) = suggest(word, all.iter().copied()) {
        *error = error.clone().note(error.loc, format!("did you mean '{near}'?"));
    }
    Err(error)
}

fn types(p: &mut Parser<'_>, s: &mut ParsedParts<'_>, info: &OpInfo, values: ValueGroup) -> PResult<()> {
    let (arity, count) = match values {
        ValueGroup::Operand(i) => (info.operands[i].arity, s.operands[i].len()),
        ValueGroup::Result(i) => (info.results[i].arity, 1),
        ValueGroup::Operands => (Arity::Variadic, s.operands.iter().map(SmallVec::len).sum()),
        ValueGroup::Results => (Arity::Variadic, 1),
    };
    let mut list = Vec::new();
    if arity == Arity::One || count > 0 {
        list.push(p.ty()?);
    }
    while arity == Arity::Variadic && p.cur.eat(",") {
        list.push(p.ty()?);
    }
    give(s, values, list);
    Ok(())
}

pub(super) fn give(s: &mut ParsedParts<'_>, values: ValueGroup, types: Vec<Type>) {
    match values {
        ValueGroup::Operand(i) => s.operand_types[i] = Some(types.into()),
        ValueGroup::Result(i) => s.result_types[i] = Some(types.into()),
        ValueGroup::Operands => s.all_operand_types = Some(types),
        ValueGroup::Results => s.all_result_types = Some(types),
    }
}

pub(super) fn given<'s>(s: &'s ParsedParts<'_>, operand: usize) -> &'s [Type] {
    s.operand_types[operand].as_deref().unwrap_or(&[])
}

/// Parses comma-separated types up to a closing bracket.
pub(super) fn type_list_until(p: &mut Parser<'_>, close: u8) -> PResult<Vec<Type>> {
    let mut list = Vec::new();
    if !p.next_is(close) {
        list.push(p.ty()?);
        while p.cur.eat(",") {
            list.push(p.ty()?);
        }
    }
    Ok(list)
}

/// Parses the types after `->`: one type, or types in parentheses.
pub(crate) fn result_types(p: &mut Parser<'_>) -> PResult<Vec<Type>> {
    if !p.next_is(b'(') {
        return Ok(vec![p.ty()?]);
    }
    p.expect("(")?;
    let list = type_list_until(p, b')')?;
    p.expect(")")?;
    Ok(list)
}

/// Infers the omitted types, then resolves the operands and sets the result types.
fn resolve<'a>(p: &mut Parser<'a>, s: &mut ParsedParts<'a>, info: &'static OpInfo, op: &mut ParsedOp) -> PResult<()> {
    let ctx = p.ctx.clone();
    let same = if info.traits.has(Traits::SAME_TYPE) { known_type(s) } else { None };
    derive_types(&ctx, s, info);
    let all: Vec<ValueRef<'a>> = s.operands.iter().flatten().copied().collect();
    if let Some(types) = &s.all_operand_types
        && types.len() != all.len()
    {
        return Err(p.error(op.offset, format!("{} operands present, but expected {}", all.len(), types.len())));
    }
    let mut at = 0;
    for group in 0..s.operands.len() {
        if let Some(types) = &s.operand_types[group]
            && types.len() != s.operands[group].len()
        {
            let message = format!("{} operands present, but expected {}", s.operands[group].len(), types.len());
            return Err(p.error(op.offset, message));
        }
        for j in 0..s.operands[group].len() {
            let value = s.operands[group][j];
            let explicit = s.operand_types[group].as_ref().map(|t| t[j]);
            let ty = explicit.or_else(|| s.all_operand_types.as_ref().map(|t| t[at])).or(same);
            let ty = ty.or_else(|| p.type_of(value)).ok_or_else(|| {
                p.error(value.offset, "the type of this value is not known here: it is used before its definition")
            })?;
            op.operands.push(p.resolve(value, ty)?);
            at += 1;
        }
    }
    op.attrs = s.attrs;
    if info.traits.has(Traits::OPERAND_SEGMENTS) {
        let sizes: Vec<i32> = s.operands.iter().map(|g| g.len() as i32).collect();
        s.props.push((ctx.str("operandSegmentSizes"), ctx.i32_array_attr(&sizes)));
    }
    op.props = ctx.dict_attr(std::mem::take(&mut s.props));
    (op.props, op.attrs) = p.normalize(info, op.name, op.props, op.attrs, op.offset)?;
    op.result_types = result_types_of(p, s, info, op, same)?;
    Ok(())
}

/// Returns the type of an op all of whose values have one type, if the text gives it.
fn known_type(s: &ParsedParts<'_>) -> Option<Type> {
    let given = s.operand_types.iter().chain(&s.result_types).flatten().flatten();
    given.chain(s.all_operand_types.iter().flatten()).chain(s.all_result_types.iter().flatten()).next().copied()
}

fn result_types_of<'a>(
    p: &mut Parser<'a>,
    s: &ParsedParts<'a>,
    info: &'static OpInfo,
    op: &ParsedOp,
    same: Option<Type>,
) -> PResult<SmallVec<[Type; 2]>> {
    if let Some(types) = &s.all_result_types {
        return Ok(types.as_slice().into());
    }
    if s.result_types.iter().all(Option::is_some) {
        return Ok(s.result_types.iter().flatten().flatten().copied().collect());
    }
    if let Some(ty) = same {
        return Ok(info.results.iter().map(|_| ty).collect());
    }
    let args = OpArgs { module: &p.m, info, op: None, operands: &op.operands, props: op.props, result_types: &[] };
    match typing::infer_results(&args) {
        Ok(types) => Ok(types.into()),
        Err(error) => Err(p.error(op.offset, format!("'{}' op {error}", info.name))),
    }
}

/// Infers types from those in the text: by constraints that allow a single type, and by type relations.
fn derive_types(ctx: &Context, s: &mut ParsedParts<'_>, info: &OpInfo) {
    for (i, spec) in info.operands.iter().enumerate() {
        if let (Some(ty), None) = (spec.ty.only, &s.operand_types[i]) {
            s.operand_types[i] = Some(s.operands[i].iter().map(|_| ty).collect());
        }
    }
    let ParsedParts { operand_types, result_types, operands, .. } = s;
    typing::derive(ctx, info, |to, given| {
        let (i, is_operand) = to;
        let slot = if is_operand { &mut operand_types[i] } else { &mut result_types[i] };
        if let (Some(ty), None) = (given, &*slot) {
            let count = if is_operand { operands[i].len() } else { 1 };
            *slot = Some(std::iter::repeat_n(ty, count).collect());
        }
        slot.as_ref().and_then(|types| types.first().copied())
    });
}

impl Parser<'_> {
    /// Whether `byte` is next, after blanks.
    pub(crate) fn next_is(&mut self, byte: u8) -> bool {
        self.cur.skip_space();
        self.cur.peek() == byte
    }

    /// Returns the type of a value that is already defined; `None` for a forward reference.
    pub(super) fn type_of(&self, value: ValueRef<'_>) -> Option<Type> {
        let (first, count, _) = self.names.get(value.name)?;
        (value.number < count).then(|| self.m.value_type(self.m.nth_value(first, value.number)))
    }
}
