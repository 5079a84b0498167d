//! `tensor.generate`.

use super::cast::cast_before;
use super::create::{folded_sizes, verify_sizes};
use super::types::{dynamic_dims, ranked_element, shape};
use super::{data, names};
use crate::constraint::{ANY, INDEX, RANKED_TENSOR};
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, PoisonTensor, Trap};
use gradus_ir::{
    DType, Effects, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Region, Rewriter, Tensor, Traits,
    Type, Violation, op,
};

/// Tensor with elements computed by a region from their indices.
///
/// ```mlir
/// %0 = tensor.generate %n {
/// ^bb0(%i: index, %j: index):
///   %sum = arith.addi %i, %j : index
///   tensor.yield %sum : index
/// } : tensor<4x?xindex>
/// ```
#[op(
    "tensor.generate",
    traits = Traits::SINGLE_BLOCK,
    effects = Effects::Recursive,
    implicit_terminator = "tensor.yield",
    verify = verify_generate,
    control = generate,
    edges = |_, _| element_edges(),
    patterns = &[CONSTANT_EXTENTS],
    result_names = |_, _| names("generated"),
    format = "$dynamicExtents $body attr-dict `:` type($result)"
)]
pub struct GenerateOp {
    /// Dynamic extents.
    #[name = "dynamicExtents"]
    dynamic_extents: Operands<INDEX>,
    /// Computes the element at the given indices.
    body: Region,
    /// Tensor of the computed elements.
    result: OpResult<RANKED_TENSOR>,
}

/// Terminates a region with the computed element.
#[op(
    "tensor.yield",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    parents = &["tensor.generate", "tensor.pad"],
    format = "$value attr-dict `:` type($value)"
)]
pub struct YieldOp {
    /// Element.
    value: Operand<ANY>,
}

/// Makes constant extents static.
const CONSTANT_EXTENTS: Pattern = Pattern { name: "constant extents", run: constant_extents };

/// Returns the control-flow edges of a region executed once per element.
pub(super) fn element_edges() -> smallvec::SmallVec<[Edge; 4]> {
    // No values are carried: the op creates the region's arguments and its own result.
    let (op, body) = (Point::Op, Point::Region(0));
    let made = |from, to| Edge::new(from, to).carrying(usize::MAX, usize::MAX);
    smallvec::smallvec![made(op, body), made(body, body), made(body, op), made(op, op)]
}

fn verify_generate(m: &Module, op: Op) -> Result<(), Violation> {
    let op = GenerateOp(op);
    let ty = m.value_type(op.result(m));
    verify_sizes(m, op.dynamic_extents(m).len(), op.result(m))?;
    let Some(block) = m.entry(op.body(m)) else {
        return Err("region #0 ('body') failed to verify constraint: region with 1 blocks".into());
    };
    let args = m.block_args(block);
    if args.len() != shape(&m.ctx, ty).len() {
        return Err("must have one body argument per input dimension".into());
    }
    if args.iter().any(|&arg| m.value_type(arg) != Type::INDEX) {
        return Err("all body arguments must be index".into());
    }
    let Some(end) = m.last_op(block) else { return Ok(()) };
    let Some(end) = YieldOp::cast(m, end) else {
        return Err(format!("expects regions to end with 'tensor.yield', found '{}'", m.name_text(end)).into());
    };
    if m.operands(end.0).first().map(|&v| m.value_type(v)) != ranked_element(&m.ctx, ty) {
        return Err("body must be terminated with a `yield` operation of the tensor element type".into());
    }
    Ok(())
}

fn constant_extents(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let generate = GenerateOp(op);
    let ty = m.value_type(generate.result(m));
    let Some((ty, extents)) = folded_sizes(m, ty, &generate.dynamic_extents(m)) else { return false };
    debug_assert_eq!(extents.len(), dynamic_dims(shape(&m.ctx, ty)));
    let mut state = OpState::new(&m.ctx, GenerateOp::INFO.name, m.loc(op));
    state.operand_group(&extents);
    state.result_types.push(ty);
    let body = generate.body(m);
    replace_with_body(r, op, state, body)
}

/// Replaces `op` by a new op that takes over its region.
pub(super) fn replace_with_body(r: &mut Rewriter<'_>, op: Op, mut state: OpState, body: Region) -> bool {
    state.regions = 1;
    let Ok(new) = r.create_before(op, state) else { return false };
    r.modify(new, |m| m.move_blocks(body, m.regions(new)[0]));
    let value = r.module().result(new, 0);
    let ty = r.module().value_type(r.module().result(op, 0));
    let Some(value) = cast_before(r, op, value, ty) else { return false };
    r.replace(op, &[value]);
    true
}

fn generate(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    if data.contains(&Datum::Poison) {
        return Err(Trap::Ub("a tensor has a poison extent".into()));
    }
    let shape = data::sizes_of(ctx, ty, data)?;
    let mut elements = ElementChunks::after(event, shape.len(), data::dtype(ctx, ty)?)?;
    if elements.len() < shape.iter().product() {
        let mut next = indices(&shape, elements.len());
        next.append(&mut elements.chunks);
        return Ok(Next::Region(0, next));
    }
    Ok(Next::Done(vec![elements.finish(&shape)]))
}

/// Returns the indices of a linear index.
pub(super) fn indices(shape: &[usize], mut at: usize) -> Vec<Datum> {
    let mut indices = vec![Datum::Int(0); shape.len()];
    for (index, &extent) in indices.iter_mut().zip(shape).rev() {
        *index = Datum::Int((at % extent) as i64);
        at /= extent;
    }
    indices
}

/// The elements computed so far. They follow the region's arguments as chunks of decreasing powers of two, so that
/// appending costs O(log n) amortized.
pub(super) struct ElementChunks {
    pub(super) chunks: Vec<Datum>,
    dtype: DType,
}

impl ElementChunks {
    /// Returns the elements before the region ran, plus the yielded one; `rank` is the number of region arguments. An error if the
    /// former are unknown, as in an analysis: their number decides whether there are more.
    pub(super) fn after(event: Event<'_>, rank: usize, dtype: DType) -> Result<ElementChunks, Trap> {
        let Event::Left { args, yielded, .. } = event else { return Ok(ElementChunks { chunks: Vec::new(), dtype }) };
        if args.iter().skip(rank).any(|chunk| chunk.masked().is_none()) {
            return Err(Trap::unsupported("a number of elements that is unknown"));
        }
        let mut elements = ElementChunks { chunks: args.get(rank..).unwrap_or(&[]).to_vec(), dtype };
        let yielded = yielded.first().ok_or_else(|| Trap::unsupported("a region that yields nothing"))?;
        elements.push(Datum::from_elements(dtype, &[1], std::slice::from_ref(yielded))?);
        Ok(elements)
    }

    /// Returns the number of elements.
    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(count).sum()
    }

    /// Appends elements.
    pub(super) fn push(&mut self, mut next: Datum) {
        while let Some(last) = self.chunks.pop_if(|last| count(last) <= count(&next)) {
            next = joined(self.dtype, &[count(&last) + count(&next)], &[last, next]);
        }
        self.chunks.push(next);
    }

    /// Returns the tensor of all elements.
    pub(super) fn finish(self, shape: &[usize]) -> Datum {
        joined(self.dtype, shape, &self.chunks)
    }
}

/// Returns the number of elements of a chunk.
fn count(chunk: &Datum) -> usize {
    chunk.masked().map_or(0, |(tensor, _)| tensor.len())
}

/// Concatenates the elements of tensors.
fn joined(dtype: DType, shape: &[usize], parts: &[Datum]) -> Datum {
    let parts = || parts.iter().filter_map(Datum::masked);
    let bytes: Vec<u8> = parts().flat_map(|(tensor, _)| tensor.bytes().iter().copied()).collect();
    let tensor = Tensor::new(dtype, shape.to_vec(), bytes.into()).expect("the parts make up the shape");
    if parts().all(|(_, mask)| mask.is_none()) {
        return Datum::Tensor(tensor);
    }
    let mask =
        |(tensor, mask): (&Tensor, Option<&[bool]>)| mask.map_or_else(|| vec![false; tensor.len()], <[bool]>::to_vec);
    PoisonTensor::datum(tensor, parts().flat_map(mask).collect())
}
