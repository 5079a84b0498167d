//! `cf.switch`.

use super::{Target, pass_through, replace_by_branch, target};
use crate::constraint::{ANY, I32_ARRAY, INTEGER, kind};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, AttrData, AttrKind, Block, Builder, Context, Dense, Directive, Loc, Module, Op, OpArgs, OpDecl, OpParser,
    OpPrinter, Param, ParseResult, Pattern, Rewriter, Traits, Type, Value, ValueList, ValueRef, Violation, op,
};
use std::collections::HashSet;
use std::ops::Range;

/// Dense integer elements, such as `dense<[1, 2]> : vector<2xi32>`.
pub const INT_ELEMENTS: AttrKind = kind(
    "integer elements attribute",
    |c, a| matches!(c.attr_data(a), AttrData::Dense(d) if c.int_width(c.element_type(d.ty)).is_some()),
);

/// Switch: branches to the destination of the case equal to the flag, or to the default destination.
///
/// ```mlir
/// func.func @f(%flag: i32, %x: i32) -> i32 {
///   cf.switch %flag : i32, [
///     default: ^none(%x : i32),
///     42: ^some
///   ]
/// ^none(%y: i32):
///   return %y : i32
/// ^some:
///   return %flag : i32
/// }
/// ```
#[op(
    "cf.switch",
    traits = Traits::TERMINATOR.and(Traits::OPERAND_SEGMENTS),
    verify = verify,
    jump = jump,
    successor_operands = carried,
    successor_sizes = "case_operand_segments",
    patterns = &[
        Pattern { name: "only-default", run: only_default },
        Pattern { name: "drop-cases-like-default", run: drop_cases_like_default },
        Pattern { name: "known-flag", run: known_flag },
        Pattern { name: "branch-past-block", run: branch_past_block },
        Pattern { name: "flag-is-known-in-destination", run: propagate_flag },
    ],
    directives = &[&CASES],
    format = "$flag `:` type($flag) `,` `[`
        custom<SwitchOpCases>($defaultOperands, $caseOperands, $case_values, $case_operand_segments) `]` attr-dict"
)]
pub struct SwitchOp {
    /// Flag.
    flag: Operand<INTEGER>,
    /// Block arguments of the default destination.
    #[name = "defaultOperands"]
    default_operands: Operands<ANY>,
    /// Block arguments of the case destinations, concatenated.
    #[name = "caseOperands"]
    case_operands: Operands<ANY>,
    /// Case values.
    case_values: OptAttribute<INT_ELEMENTS>,
    /// Number of operands per case.
    case_operand_segments: Attribute<I32_ARRAY>,
    /// Default destination.
    #[name = "defaultDestination"]
    default_dest: Successor,
    /// Case destinations.
    #[name = "caseDestinations"]
    case_dests: Successors,
}

impl SwitchOp {
    /// Builds a switch without block arguments.
    pub fn build_cases(
        b: &mut Builder<'_>,
        loc: Loc,
        flag: Value,
        default: Block,
        cases: &[i64],
        dests: &[Block],
    ) -> SwitchOp {
        let ctx = b.module.ctx.clone();
        let values = (!cases.is_empty()).then(|| values_attr(&ctx, b.module.value_type(flag), cases));
        let sizes = ctx.i32_array_attr(&vec![0; cases.len()]);
        SwitchOp::build(b, loc, flag, &[], &[], values, sizes, default, dests, &[])
    }
}

const CASES: Directive = Directive { name: "SwitchOpCases", parse: parse_cases, print: print_cases };

fn parse_cases(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    p.expect_word("default")?;
    let (operands, types) = parse_target(p)?;
    p.set_operands(params[0], operands);
    p.set_types(params[0], types);
    let (mut values, mut sizes, mut operands, mut types) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    while p.eat(",") {
        values.push(p.integer()?);
        let (case_operands, case_types) = parse_target(p)?;
        sizes.push(case_operands.len() as i32);
        operands.extend(case_operands);
        types.extend(case_types);
    }
    p.set_operands(params[1], operands);
    p.set_types(params[1], types);
    let flag = p.types_of(Param::Operand(0)).first().copied().unwrap_or(Type::I32);
    if p.ctx().int_width(flag).is_none() || flag == Type::INDEX {
        let found = p.ctx().display_type(flag).to_string();
        return p.error_at_op(format!("invalid kind of type specified: expected builtin.integer, but found '{found}'"));
    }
    if !values.is_empty() {
        let attr = values_attr(p.ctx(), flag, &values);
        p.set_attr(params[2], attr);
    }
    let attr = p.ctx().i32_array_attr(&sizes);
    p.set_attr(params[3], attr);
    Ok(())
}

/// `: ^block(%a, %b : i32, i64)`
fn parse_target<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<(Vec<ValueRef<'a>>, Vec<Type>)> {
    p.expect(":")?;
    p.successor()?;
    if !p.eat("(") {
        return Ok((Vec::new(), Vec::new()));
    }
    let operands = p.values()?;
    p.expect(":")?;
    let at = p.offset();
    let types = p.types_until(b')')?;
    p.expect(")")?;
    if operands.len() != types.len() {
        let (have, want) = (operands.len(), types.len());
        return p.error(at, format!("{have} operands present, but expected {want}"));
    }
    Ok((operands, types))
}

fn print_cases(p: &mut OpPrinter<'_, '_>, _: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), p.op);
    p.newline();
    p.text("  default");
    let targets = targets(m, op);
    print_target(p, &targets[0]);
    let width = m.ctx.int_width(m.value_type(SwitchOp(op).flag(m))).unwrap_or(64).clamp(1, 64);
    let values = case_values(m, op);
    for (i, &value) in values.iter().enumerate() {
        p.text(",");
        p.newline();
        // MLIR prints case values as unsigned.
        p.text(&format!("  {}", value as u64 & (u64::MAX >> (64 - width))));
        print_target(p, &targets[i + 1]);
    }
    if !values.is_empty() {
        p.newline();
    }
    Ok(())
}

fn print_target(p: &mut OpPrinter<'_, '_>, (block, values): &Target) {
    p.text(": ");
    p.block(*block);
    if !values.is_empty() {
        let types: Vec<Type> = values.iter().map(|&v| p.module().value_type(v)).collect();
        p.text("(");
        p.values(values);
        p.text(" : ");
        p.types(&types);
        p.text(")");
    }
}

/// Returns the case values as an attribute, truncated to the width of the flag.
fn values_attr(ctx: &Context, flag: Type, values: &[i64]) -> Attr {
    let size = (ctx.int_width(flag).unwrap_or(64) as usize).div_ceil(8);
    let element = |&v: &i64| {
        let v = ctx.as_int(ctx.int_attr(flag, v)).unwrap_or(v);
        let v = if flag == Type::I1 { v & 1 } else { v };
        (0..size).map(move |i| if i < 8 { v.to_le_bytes()[i] } else { (v >> 63) as u8 })
    };
    let splat = values.iter().all(|v| v == &values[0]);
    let data: Vec<u8> = values[..if splat { 1 } else { values.len() }].iter().flat_map(element).collect();
    let ty = ctx.vector_type(&[values.len() as i64], flag);
    ctx.attr(AttrData::Dense(Box::new(Dense::new(ty, splat, data))))
}

/// Returns the case values, sign-extended.
fn case_values(m: &Module, op: Op) -> Vec<i64> {
    let ctx = &m.ctx;
    let Some(AttrData::Dense(dense)) = SwitchOp(op).case_values(m).map(|a| ctx.attr_data(a)) else { return Vec::new() };
    let width = ctx.int_width(ctx.element_type(dense.ty)).unwrap_or(64).max(1);
    let element = |bytes: &[u8]| {
        let low = bytes.iter().take(8).rev().fold(0i64, |v, &b| v << 8 | i64::from(b));
        let unused = 64u32.saturating_sub(width);
        low << unused >> unused
    };
    let data = dense.data();
    let values = data.chunks_exact((width as usize).div_ceil(8)).map(element);
    if dense.splat { values.cycle().take(m.successors(op).len().saturating_sub(1)).collect() } else { values.collect() }
}

fn segments(m: &Module, op: Op) -> Vec<i64> {
    SwitchOp(op).case_operand_segments(m).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default()
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let switch = SwitchOp(op);
    let cases = switch.case_dests(m).len();
    let (mut count, flag) = (0, m.value_type(switch.flag(m)));
    if let Some(AttrData::Dense(dense)) = switch.case_values(m).map(|a| ctx.attr_data(a)) {
        let elem = ctx.element_type(dense.ty);
        if elem != flag {
            let (flag, elem) = (ctx.display_type(flag), ctx.display_type(elem));
            return Err(format!("'flag' type ('{flag}') should match case value type ('{elem}')").into());
        }
        count = ctx.static_shape(dense.ty).map_or(0, |s| s.iter().product());
    }
    if count != cases as i64 {
        return Err(
            format!("number of case values ({count}) should match number of case destinations ({cases})").into()
        );
    }
    let (sizes, operands) = (segments(m, op), switch.case_operands(m).len());
    let total: i64 = sizes.iter().fold(0i64, |sum, &s| sum.saturating_add(s));
    if sizes.len() != cases || sizes.iter().any(|&s| s < 0) {
        return Err(format!("'case_operand_segments' has {} entries for {cases} case destinations", sizes.len()).into());
    }
    if total != operands as i64 {
        return Err(format!(
            "caseOperands count ({operands}) does not match with the total size ({total}) specified in attribute 'case_operand_segments'"
        ).into());
    }
    Ok(())
}

fn jump(args: &OpArgs<'_>, data: &[Datum]) -> Result<usize, Trap> {
    let flag = data[0].decide()?;
    let op = args.op.ok_or_else(|| Trap::unsupported("a switch outside of a program"))?;
    Ok(case_of(args.module, op, flag))
}

/// Returns the index of the successor for a flag value.
fn case_of(m: &Module, op: Op, flag: i64) -> usize {
    case_values(m, op).iter().position(|&v| v == flag).map_or(0, |i| i + 1)
}

fn carried(m: &Module, op: Op, i: usize) -> Range<usize> {
    let total = m.operands(op).len();
    let first = 1 + SwitchOp(op).default_operands(m).len();
    match i {
        0 => 1..first,
        // Fast path: no case has operands.
        _ if first >= total => total..total,
        _ => {
            let sizes = segments(m, op);
            let size = |i: usize| sizes.get(i).map_or(0, |&s| usize::try_from(s).unwrap_or(0));
            let start = (0..i - 1).map(size).fold(first, usize::saturating_add);
            start..start.saturating_add(size(i - 1))
        }
    }
}

/// Returns the default target, then the case targets.
fn targets(m: &Module, op: Op) -> Vec<Target> {
    let default = SwitchOp(op).default_operands(m).len() as i64;
    let (mut rest, blocks) = (&m.operands(op)[1..], m.successors(op).iter());
    let sizes = std::iter::once(default).chain(segments(m, op));
    let mut take = |size: i64| {
        let (values, others) = rest.split_at(usize::try_from(size).unwrap_or(0).min(rest.len()));
        rest = others;
        ValueList::from(values)
    };
    blocks.zip(sizes).map(|(&block, size)| (block, take(size))).collect()
}

/// Replaces the cases; the first target is the default.
fn set_targets(rw: &mut Rewriter<'_>, op: Op, values: &[i64], targets: &[Target]) {
    let m = rw.module();
    let (ctx, flag) = (m.ctx.clone(), SwitchOp(op).flag(m));
    let sizes: Vec<i32> = targets.iter().map(|t| t.1.len() as i32).collect();
    let groups = [1, sizes[0], sizes[1..].iter().sum()];
    let operands: Vec<Value> = [flag].into_iter().chain(targets.iter().flat_map(|t| t.1.iter().copied())).collect();
    let blocks: Vec<_> = targets.iter().map(|t| t.0).collect();
    let attr = (!values.is_empty()).then(|| values_attr(&ctx, m.value_type(flag), values));
    rw.modify(op, |m| {
        m.set_operands(op, &operands);
        m.set_successors(op, &blocks);
        m.set_attr(op, "case_values", attr);
        m.set_attr(op, "case_operand_segments", Some(ctx.i32_array_attr(&sizes[1..])));
        m.set_attr(op, "operandSegmentSizes", Some(ctx.i32_array_attr(&groups)));
    });
}

/// Keeps the cases for which `keep` holds, given value and target. A case behind another of the same value is never
/// taken and goes as well. Returns whether any was dropped.
fn keep_cases(rw: &mut Rewriter<'_>, op: Op, keep: impl Fn(i64, &Target) -> bool) -> bool {
    let m = rw.module();
    let (values, mut all) = (case_values(m, op), targets(m, op));
    let cases = all.split_off(1);
    let (before, mut seen) = (values.len(), HashSet::new());
    let kept = values.into_iter().zip(cases).filter(|(value, target)| seen.insert(*value) && keep(*value, target));
    let (values, cases): (Vec<i64>, Vec<Target>) = kept.unzip();
    if values.len() == before {
        return false;
    }
    all.extend(cases);
    set_targets(rw, op, &values, &all);
    true
}

fn only_default(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    if m.successors(op).len() != 1 {
        return false;
    }
    let target = target(m, op, 0);
    replace_by_branch(rw, op, &target);
    true
}

fn drop_cases_like_default(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let default = target(rw.module(), op, 0);
    keep_cases(rw, op, |_, target| *target != default)
}

fn known_flag(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(flag) = m.constant_int(SwitchOp(op).flag(m)) else { return false };
    let target = target(m, op, case_of(m, op, flag));
    replace_by_branch(rw, op, &target);
    true
}

fn branch_past_block(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let mut changed = false;
    let past = |old: Target| {
        let new = pass_through(m, &old);
        changed |= new.is_some();
        new.unwrap_or(old)
    };
    let all: Vec<Target> = targets(m, op).into_iter().map(past).collect();
    if changed {
        let values = case_values(m, op);
        set_targets(rw, op, &values, &all);
    }
    changed
}

/// Simplifies a switch on the same flag in a destination with one predecessor edge: it is decided, or cases are
/// excluded.
fn propagate_flag(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let (values, flag, dests) = (case_values(m, op), SwitchOp(op).flag(m), m.successors(op).to_vec());
    let mut changed = false;
    for (i, dest) in dests.into_iter().enumerate() {
        let m = rw.module();
        let inner = m.last_op(dest).and_then(|last| SwitchOp::cast(m, last)).filter(|&inner| inner.0 != op);
        let Some(inner) = inner.filter(|inner| m.num_branches_to(dest) == 1 && inner.flag(m) == flag) else { continue };
        if i == 0 {
            let mut known = values.clone();
            known.sort_unstable();
            changed |= keep_cases(rw, inner.0, |value, _| known.binary_search(&value).is_err());
            continue;
        }
        let target = target(m, inner.0, case_of(m, inner.0, values[i - 1]));
        replace_by_branch(rw, inner.0, &target);
        changed = true;
    }
    changed
}
