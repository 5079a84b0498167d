//! Asynchronous copies: `dma_start`, `dma_wait`.

use super::cast::fold_casts;
use super::{index, indices, rank};
use crate::constraint::{ANY, INDEX, MEMREF};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{MemRef, Memory};
use gradus_ir::{
    AttrData, Context, Directive, Effects, Int, Module, Op, OpArgs, OpParser, Param, ParseResult, Pattern, Type,
    TypeData, Value, ValueRef, Violation, op,
};
use std::ops::Range;

/// Starts an asynchronous copy of elements, completed by `memref.dma_wait` on the same tag. A strided copy transfers a
/// number of elements per stride of the slower memory.
///
/// ```mlir
/// memref.dma_start %src[%i], %dst[%j], %n, %tag[%t] : memref<16xf32>, memref<16xf32, 1>, memref<1xi32>
/// ```
#[op(
    "memref.dma_start",
    effects = Effects::Unknown,
    directives = &[&TRANSFER],
    format = "custom<Transfer>($operands)",
    verify = verify_start,
    exec = start,
    patterns = &[Pattern { name: "fold-cast", run: |r, op| fold_casts(r, op, None) }]
)]
pub struct DmaStartOp {
    /// Source and indices, destination and indices, number of elements, tag and indices; optionally stride and number
    /// of elements per stride.
    operands: Operands<ANY>,
}

/// Waits for the completion of the copy with a tag.
///
/// ```mlir
/// memref.dma_wait %tag[%t], %n : memref<1xi32>
/// ```
#[op(
    "memref.dma_wait",
    effects = Effects::Unknown,
    format = "$tagMemRef `[` $tagIndices `]` `,` $numElements attr-dict `:` type($tagMemRef)",
    verify = verify_wait,
    exec = |_, _, _| Ok(vec![]),
    patterns = &[Pattern { name: "fold-cast", run: |r, op| fold_casts(r, op, None) }]
)]
pub struct DmaWaitOp {
    /// Tag memref.
    #[name = "tagMemRef"]
    tag_memref: Operand<MEMREF>,
    /// Indices of the tag, one per dimension.
    #[name = "tagIndices"]
    tag_indices: Operands<INDEX>,
    /// Number of elements copied.
    #[name = "numElements"]
    num_elements: Operand<INDEX>,
}

/// Operand ranges of `memref.dma_start`; a memref is followed by its indices.
struct Parts {
    source: Range<usize>,
    target: Range<usize>,
    count: usize,
    tag: Range<usize>,
    stride: Option<usize>,
}

/// Splits and verifies the operands.
fn parts(m: &Module, operands: &[Value]) -> Result<Parts, Violation> {
    let mut next = 0;
    // Source, destination, tag and number of elements.
    let mut needed = 4;
    if operands.len() < needed {
        return Err("expected at least 4 operands".into());
    }
    let mut memref = |next: &mut usize, what: &str| -> Result<Range<usize>, Violation> {
        let start = *next;
        let TypeData::MemRef { shape, .. } = m.ctx.type_data(m.value_type(operands[start])) else {
            return Err(format!("expected {what} to be of memref type").into());
        };
        needed += shape.len();
        if operands.len() < needed {
            return Err(format!("expected at least {needed} operands").into());
        }
        *next = start + 1 + shape.len();
        all_index(m, &operands[start + 1..*next], &format!("{what} indices to be of index type"))?;
        Ok(start..*next)
    };
    let source = memref(&mut next, "source")?;
    let target = memref(&mut next, "destination")?;
    let count = next;
    all_index(m, &operands[count..=count], "num elements to be of index type")?;
    next += 1;
    let tag = memref(&mut next, "tag")?;
    let stride = match operands.len() - next {
        0 => None,
        2 => Some(next),
        _ => return Err("incorrect number of operands".into()),
    };
    all_index(m, &operands[next..], "stride and num elements per stride to be of type index")?;
    Ok(Parts { source, target, count, tag, stride })
}

fn all_index(m: &Module, values: &[Value], expected: &str) -> Result<(), Violation> {
    let fits = values.iter().all(|&v| m.value_type(v) == Type::INDEX);
    if fits { Ok(()) } else { Err(format!("expected {expected}").into()) }
}

fn verify_start(m: &Module, op: Op) -> Result<(), Violation> {
    parts(m, m.operands(op)).map(|_| ())
}

fn verify_wait(m: &Module, op: Op) -> Result<(), Violation> {
    let (want, have) = (rank(m, DmaWaitOp(op).tag_memref(m)), DmaWaitOp(op).tag_indices(m).len());
    if want == have {
        return Ok(());
    }
    Err(format!(
        "expected tagIndices to have the same number of elements as the tagMemRef rank, expected {want}, but got {have}"
    )
    .into())
}

/// `%src[%i], %dst[%j], %n, %tag[%k], %stride, %per_stride : types of the three memrefs`
const TRANSFER: Directive = Directive { name: "Transfer", parse: parse_transfer, print: print_transfer };

fn parse_transfer(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let (source, mut values) = element(p)?;
    p.expect(",")?;
    let (target, more) = element(p)?;
    values.extend(more);
    p.expect(",")?;
    values.push(p.value()?);
    p.expect(",")?;
    let (tag, more) = element(p)?;
    values.extend(more);
    let mut strides = 0;
    while p.eat(",") {
        values.push(p.value()?);
        strides += 1;
    }
    if strides != 0 && strides != 2 {
        return p.error_at_op("expected two stride related operands");
    }
    p.attr_dict()?;
    p.expect(":")?;
    let mut types = vec![p.ty()?];
    while p.eat(",") {
        types.push(p.ty()?);
    }
    let &[from, to, tags] = types.as_slice() else { return p.error_at_op("fewer/more types expected") };
    let indices = |n: usize| std::iter::repeat_n(Type::INDEX, n);
    let mut all = vec![from];
    all.extend(indices(source));
    all.push(to);
    all.extend(indices(target + 1));
    all.push(tags);
    all.extend(indices(tag + strides));
    p.set_operands(params[0], values);
    p.set_types(params[0], all);
    Ok(())
}

/// Parses `%memref[%i, %j]`; returns the number of indices, and all values.
fn element<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<(usize, Vec<ValueRef<'a>>)> {
    let mut values = vec![p.value()?];
    p.expect("[")?;
    values.extend(p.values()?);
    p.expect("]")?;
    Ok((values.len() - 1, values))
}

fn print_transfer(p: &mut gradus_ir::OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let operands = p.group(params[0]);
    let parts = parts(p.module(), &operands).map_err(std::io::Error::other)?;
    let element = |p: &mut gradus_ir::OpPrinter<'_, '_>, range: &Range<usize>| {
        p.value(operands[range.start]);
        p.text("[");
        p.values(&operands[range.start + 1..range.end]);
        p.text("]");
    };
    element(p, &parts.source);
    p.text(", ");
    element(p, &parts.target);
    p.text(", ");
    p.value(operands[parts.count]);
    p.text(", ");
    element(p, &parts.tag);
    if let Some(stride) = parts.stride {
        p.text(", ");
        p.values(&operands[stride..]);
    }
    p.attr_dict();
    p.text(" : ");
    let m = p.module();
    p.types(&[parts.source, parts.target, parts.tag].map(|part| m.value_type(operands[part.start])));
    Ok(())
}

fn start(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let parts = parts(args.module, args.operands)?;
    let begin = |part: &Range<usize>| -> Result<(&MemRef, i64), Trap> {
        let view = data[part.start].memref()?;
        Ok((view, view.address(&indices(&data[part.start + 1..part.end])?)?))
    };
    let end = |part: &Range<usize>| -> Result<CopyEndpoint<'_>, Trap> {
        let (view, address) = begin(part)?;
        Ok(CopyEndpoint { view, address, ty: args.operand_type(part.start) })
    };
    let (source, target) = (end(&parts.source)?, end(&parts.target)?);
    begin(&parts.tag)?;
    let stride = match parts.stride {
        Some(at) => Some((index(&data[at])?, index(&data[at + 1])?)),
        None => None,
    };
    transfer(args.ctx(), memory, &source, &target, index(&data[parts.count])?, stride)?;
    Ok(vec![])
}

/// Start of a copy.
pub struct CopyEndpoint<'a> {
    /// View that the transfer starts in.
    pub view: &'a MemRef,
    /// Address of the first element.
    pub address: i64,
    /// Memref type.
    pub ty: Type,
}

/// Copies `count` elements; a strided copy has gaps in the slower memory.
pub fn transfer(
    ctx: &Context,
    memory: &mut Memory,
    source: &CopyEndpoint<'_>,
    target: &CopyEndpoint<'_>,
    count: i64,
    stride: Option<(i64, i64)>,
) -> Result<(), Trap> {
    let (stride, chunk) = stride.unwrap_or((1, 1));
    if count < 0 || chunk <= 0 {
        return Err(Trap::Ub("a copy has too many elements".into()));
    }
    let source_is_slower = space(ctx, source.ty) <= space(ctx, target.ty);
    for i in 0..count {
        let spread = (i / chunk).wrapping_mul(stride).wrapping_add(i % chunk);
        let (from, to) = if source_is_slower { (spread, i) } else { (i, spread) };
        let element = memory.load_at(source.view, source.address.wrapping_add(from))?;
        memory.store_at(element, target.view, target.address.wrapping_add(to))?;
    }
    Ok(())
}

/// Returns the number of a memory space; higher ones are faster.
fn space(ctx: &Context, ty: Type) -> i64 {
    match ctx.memory_space(ty).map(|a| ctx.attr_data(a)) {
        Some(AttrData::Integer { value: Int::Small(n), .. }) => *n,
        _ => 0,
    }
}
