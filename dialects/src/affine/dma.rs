//! Asynchronous copies: `affine.dma_start`, `affine.dma_wait`.

use super::results;
use super::scope::Scope;
use super::text::{map_data, print_subscripts, subscripts};
use crate::constraint::ANY;
use crate::memref::{CopyEndpoint, fold_casts, transfer};
use gradus_ir::affine::AffineMap;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{
    Directive, Effects, Module, Op, OpArgs, OpDecl, OpParser, OpPrinter, Param, ParseResult, Pattern, Type, TypeData,
    Value, ValueRef, Violation, op,
};
use smallvec::SmallVec;
use std::ops::Range;

/// Starts an asynchronous copy, which an `affine.dma_wait` on the same tag completes.
///
/// ```mlir
/// affine.dma_start %src[%i, 3], %dst[%i + 7], %tag[0], %n : memref<10x?xf32>, memref<100xf32, 2>, memref<1xi32>
/// affine.dma_start %src[%i, 3], %dst[%i + 7], %tag[0], %n, %stride, %k : memref<10x?xf32>, memref<100xf32, 2>, memref<1xi32>
/// ```
#[op(
    "affine.dma_start",
    effects = Effects::Unknown,
    format = "custom<DmaStart>($operands)",
    directives = &[&START],
    verify = verify_start,
    exec = start,
    patterns = &[FOLD_CAST]
)]
pub struct DmaStartOp {
    /// Source, destination and tag, each a memref followed by map operands; the number of elements; for strided copies,
    /// the stride and the number of elements per stride.
    operands: Operands<ANY>,
}

/// Waits for the completion of an asynchronous copy.
///
/// ```mlir
/// affine.dma_wait %tag[%i], %n : memref<1xi32>
/// ```
#[op(
    "affine.dma_wait",
    effects = Effects::Unknown,
    format = "custom<DmaWait>($operands)",
    directives = &[&WAIT],
    verify = verify_wait,
    exec = |_, _, _| Ok(Vec::new()),
    patterns = &[FOLD_CAST]
)]
pub struct DmaWaitOp {
    /// Tag memref with map operands, and the number of elements.
    operands: Operands<ANY>,
}

/// A memref operand with its subscript map.
#[derive(Clone, Debug)]
pub struct MemRefAccess<'m> {
    /// Operand number of the memref.
    pub memref: usize,
    /// Subscript map.
    pub map: &'m AffineMap,
    /// Operand range of the map.
    pub indices: Range<usize>,
}

/// Names of the map attributes of `affine.dma_start`, which are discardable.
const MAPS: [&str; 3] = ["src_map", "dst_map", "tag_map"];

impl DmaStartOp {
    /// Returns source, destination and tag, and the number of the next operand; `None` for an invalid op.
    pub fn memref_accesses(self, m: &Module) -> Option<([MemRefAccess<'_>; 3], usize)> {
        let source = place(m, self.0, 0, MAPS[0])?;
        let target = place(m, self.0, source.indices.end, MAPS[1])?;
        let tag = place(m, self.0, target.indices.end, MAPS[2])?;
        let next = tag.indices.end;
        Some(([source, target, tag], next))
    }
}

impl DmaWaitOp {
    /// Returns the tag; `None` for an invalid op.
    pub fn tag(self, m: &Module) -> Option<MemRefAccess<'_>> {
        place(m, self.0, 0, "tag_map")
    }
}

/// Returns the memrefs of a DMA op; `None` for other ops.
pub fn memref_accesses(m: &Module, op: Op) -> Option<SmallVec<[MemRefAccess<'_>; 3]>> {
    match (DmaStartOp::cast(m, op), DmaWaitOp::cast(m, op)) {
        (Some(start), _) => Some(start.memref_accesses(m)?.0.into()),
        (_, Some(wait)) => Some(smallvec::smallvec![wait.tag(m)?]),
        _ => None,
    }
}

/// Returns the memref at operand `at`.
fn place<'m>(m: &'m Module, op: Op, at: usize, map: &str) -> Option<MemRefAccess<'m>> {
    let map = map_data(&m.ctx, m.attr(op, m.ctx.str(map))?)?;
    let end = at.checked_add(1)?.checked_add(map.num_inputs())?;
    (end <= m.operands(op).len()).then(|| MemRefAccess { memref: at, map, indices: at + 1..end })
}

/// `%src[%i], %dst[%j], %tag[0], %n : types`
const START: Directive = Directive { name: "DmaStart", parse: parse_start, print: print_start };
/// `%tag[0], %n : type`
const WAIT: Directive = Directive { name: "DmaWait", parse: parse_wait, print: print_wait };

/// Parses `%m[%i + 1]` and appends the memref and map operands.
fn parse_place<'a>(p: &mut OpParser<'_, 'a>, map_name: &str, operands: &mut DmaOperands<'a>) -> ParseResult<()> {
    let memref = p.value()?;
    let (map, values) = subscripts(p)?;
    p.set_discardable(p.ctx().str(map_name), map);
    operands.memrefs.push(operands.values.len());
    operands.values.push(memref);
    operands.values.extend(values);
    p.expect(",")
}

/// Parsed operands, and which of them are memrefs.
#[derive(Default)]
struct DmaOperands<'a> {
    values: Vec<ValueRef<'a>>,
    memrefs: Vec<usize>,
}

impl<'a> DmaOperands<'a> {
    /// Parses attributes and types, and adds everything to the op.
    fn finish(self, p: &mut OpParser<'_, 'a>, to: Param) -> ParseResult<()> {
        p.attr_dict()?;
        p.expect(":")?;
        let mut given = vec![p.ty()?];
        while p.eat(",") {
            given.push(p.ty()?);
        }
        if given.len() != self.memrefs.len() {
            return p.error_of_op(if self.memrefs.len() == 1 { "expected one type" } else { "expected three types" });
        }
        let mut types = vec![Type::INDEX; self.values.len()];
        for (&at, ty) in self.memrefs.iter().zip(given) {
            types[at] = ty;
        }
        p.set_operands(to, self.values);
        p.set_types(to, types);
        Ok(())
    }
}

fn parse_start(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let mut operands = DmaOperands::default();
    for map in MAPS {
        parse_place(p, map, &mut operands)?;
    }
    operands.values.push(p.value()?);
    if p.eat(",") {
        let strides = p.values()?;
        if strides.len() != 2 {
            return p.error_of_op("expected two stride related operands");
        }
        operands.values.extend(strides);
    }
    operands.finish(p, params[0])
}

fn parse_wait(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let mut operands = DmaOperands::default();
    parse_place(p, "tag_map", &mut operands)?;
    operands.values.push(p.value()?);
    operands.finish(p, params[0])
}

fn print_start(p: &mut OpPrinter<'_, '_>, _: &[Param]) -> std::io::Result<()> {
    let m = p.module();
    let Some((memref_accesses, rest)) = DmaStartOp(p.op).memref_accesses(m) else { return Ok(()) };
    print_places(p, &memref_accesses, &MAPS, rest);
    Ok(())
}

fn print_wait(p: &mut OpPrinter<'_, '_>, _: &[Param]) -> std::io::Result<()> {
    let m = p.module();
    let Some(tag) = DmaWaitOp(p.op).tag(m) else { return Ok(()) };
    let rest = tag.indices.end;
    print_places(p, &[tag], &["tag_map"], rest);
    Ok(())
}

fn print_places(p: &mut OpPrinter<'_, '_>, memref_accesses: &[MemRefAccess<'_>], maps: &[&str], rest: usize) {
    let m = p.module();
    let operands = m.operands(p.op);
    for (place, name) in memref_accesses.iter().zip(maps) {
        p.value(operands[place.memref]);
        let map = m.attr(p.op, m.ctx.str(name));
        print_subscripts(p, map, &operands[place.indices.clone()]);
        p.text(", ");
    }
    p.values(&operands[rest..]);
    p.attr_dict_without(maps);
    p.text(" : ");
    let types: Vec<Type> = memref_accesses.iter().map(|place| m.value_type(operands[place.memref])).collect();
    p.types(&types);
}

fn is_memref(m: &Module, value: Value) -> bool {
    matches!(m.ctx.type_data(m.value_type(value)), TypeData::MemRef { .. })
}

fn verify_start(m: &Module, op: Op) -> Result<(), Violation> {
    let Some((memref_accesses, rest)) = DmaStartOp(op).memref_accesses(m) else {
        return Err("incorrect number of operands".into());
    };
    let operands = m.operands(op);
    for (place, what) in memref_accesses.iter().zip(["source", "destination", "tag"]) {
        if !is_memref(m, operands[place.memref]) {
            return Err(format!("expected DMA {what} to be of memref type").into());
        }
    }
    if !matches!(operands.len() - rest, 1 | 3) {
        return Err("incorrect number of operands".into());
    }
    let mut scope = Scope::around(m, op);
    for (place, what) in memref_accesses.iter().zip(["src index", "dst index", "tag index"]) {
        check_indices(m, &mut scope, &operands[place.indices.clone()], what, "dma_start")?;
    }
    Ok(())
}

fn verify_wait(m: &Module, op: Op) -> Result<(), Violation> {
    let operands = m.operands(op);
    if operands.first().is_none_or(|&tag| !is_memref(m, tag)) {
        return Err("expected DMA tag to be of memref type".into());
    }
    let tag = DmaWaitOp(op).tag(m).filter(|tag| operands.len() == tag.indices.end + 1);
    let Some(tag) = tag else { return Err("incorrect number of operands".into()) };
    check_indices(m, &mut Scope::around(m, op), &operands[tag.indices.clone()], "index", "dma_wait")
}

fn check_indices(m: &Module, scope: &mut Scope<'_>, indices: &[Value], what: &str, op: &str) -> Result<(), Violation> {
    for &index in indices {
        if m.value_type(index) != Type::INDEX {
            return Err(format!("{what} to {op} must have 'index' type").into());
        }
        if !scope.is_dim(index) {
            return Err(format!("{what} must be a valid dimension or symbol identifier").into());
        }
    }
    Ok(())
}

/// Copies synchronously.
fn start(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let memref_accesses = args.op.and_then(|op| DmaStartOp(op).memref_accesses(args.module));
    let ([source, target, tag], rest) = memref_accesses.ok_or_else(|| Trap::unsupported("a copy of nothing"))?;
    let end = |place: &MemRefAccess<'_>| -> Result<CopyEndpoint<'_>, Trap> {
        let view = data[place.memref].memref()?;
        let at = match place.map.results.is_empty() {
            true => Vec::new(),
            false => results(place.map, &data[place.indices.clone()])?,
        };
        Ok(CopyEndpoint { view, address: view.address(&at)?, ty: args.operand_type(place.memref) })
    };
    let (from, to) = (end(&source)?, end(&target)?);
    end(&tag)?;
    let numbers = data[rest..].iter().map(Datum::decide).collect::<Result<Vec<i64>, Trap>>()?;
    let stride = numbers.get(1).zip(numbers.get(2)).map(|(&stride, &chunk)| (stride, chunk));
    transfer(args.ctx(), memory, &from, &to, numbers[0], stride)?;
    Ok(Vec::new())
}

/// Replaces the cast memrefs of a copy by the casts' sources.
const FOLD_CAST: Pattern = Pattern { name: "fold-cast", run: |rw, op| fold_casts(rw, op, None) };
