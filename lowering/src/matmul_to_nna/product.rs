//! Products that programs compute, and their calls.

use super::inputs::{MatrixProduct, PatchProduct};
use super::terms::{Requantize, TermList, elements};
use crate::emit::Emitter;
use gradus_ir::{Attr, Module, OpDecl, Refusal, Type, Value};
use gradus_machines::nna::CallOp;
use gradus_simulators::nna::{MAX_DEPTH, Mapping, Shape};
use std::ops::Range;

/// A product that a program computes, or several: those of batches, or of a convolution's groups.
pub(super) struct Lowered {
    /// Extents of each product.
    pub shape: Shape,
    /// The products: of each, the number of its part of the left and of the right matrix. Their rows follow each other in the result.
    pub parts: Vec<[usize; 2]>,
    /// The given mapping.
    pub mapping: Option<Mapping>,
    pub left_zero: Option<TermList>,
    pub right_zero: Option<TermList>,
    pub bias: Option<TermList>,
    /// Whether sums begin with terms of zero points and bias.
    pub initial: bool,
    pub requantize: Option<Requantize>,
    /// Element type of the result.
    pub element: Type,
    pub inputs: ProductInputs,
}

/// The operands as they are in the program: all left parts as `[.., K]`, all right parts below each other as `[.., N]`.
pub(super) enum ProductInputs {
    Matrices(MatrixProduct),
    Convolution(PatchProduct),
}

impl Lowered {
    /// Whether the right matrix takes the place of the weights.
    pub fn is_turned(&self) -> bool {
        matches!(&self.inputs, ProductInputs::Matrices(product) if product.is_turned)
    }

    /// Returns the parts into which the reduction is divided, so that sums fit in 32 bits.
    pub fn depths(&self) -> Vec<Range<usize>> {
        let depth = self.shape.depth;
        let each = depth.div_ceil(depth.div_ceil(MAX_DEPTH).max(1)).max(1);
        (0..depth).step_by(each).map(|start| start..depth.min(start + each)).collect()
    }

    /// Returns the number of elements that the host moves, and adds, around the programs.
    pub fn moved(&self, m: &Module) -> u64 {
        let Shape { rows, depth, columns } = self.shape;
        let (parts, depths) = (self.parts.len() as u64, self.depths().len() as u64);
        let result = elements([self.parts.len(), rows, columns]);
        let columns_of_left = if depths > 1 && rows > 1 { elements([self.parts.len(), rows, depth]) } else { 0 };
        let (inputs, is_turned) = match &self.inputs {
            ProductInputs::Matrices(product) => (product.moved(m), product.turns_result()),
            ProductInputs::Convolution(product) => (product.moved(), product.turns_result()),
        };
        let results = depths - 1 + u64::from(parts > 1) + u64::from(is_turned);
        inputs.saturating_add(columns_of_left).saturating_add(result.saturating_mul(results))
    }

    /// Emits the calls of the programs, one for each part of the reduction, and returns the op's result.
    pub fn emit(&self, e: &mut Emitter<'_, '_>, programs: &[Attr]) -> Option<Value> {
        let Shape { rows, depth, columns } = self.shape;
        let [left, right] = match &self.inputs {
            ProductInputs::Matrices(product) => product.operands(e)?,
            ProductInputs::Convolution(product) => product.operands(e)?,
        };
        let [left, right] = [e.parts(left, 0, rows)?, e.parts(right, 0, depth)?];
        let mut lists = Vec::new();
        for (parameters, len) in [(&self.left_zero, rows), (&self.right_zero, columns), (&self.bias, rows)] {
            lists.push(parameters.as_ref().map_or(Some(Vec::new()), |list| list.parts(e, len))?);
        }
        let mut results = Vec::with_capacity(self.parts.len());
        for (part, &[i, j]) in self.parts.iter().enumerate() {
            let scale = match &self.requantize {
                Some(requantize) => Some(requantize.scale(e, part, rows)?),
                None => None,
            };
            let of_part = |list: &[Value], i: usize| list.get(if list.len() == 1 { 0 } else { i }).copied();
            let terms = [of_part(&lists[0], i), of_part(&lists[1], j), of_part(&lists[2], i), scale];
            results.push(self.sum(e, [left[i], right[j]], terms, programs)?);
        }
        let all = e.concat(&results, 0)?;
        match &self.inputs {
            ProductInputs::Matrices(product) => product.result(e, all),
            ProductInputs::Convolution(product) => product.result(e, all),
        }
    }

    /// Emits a product as the sum of those of the parts of the reduction. Terms are zero points, bias and scale.
    fn sum(
        &self,
        e: &mut Emitter<'_, '_>,
        [left, right]: [Value; 2],
        terms: [Option<Value>; 4],
        programs: &[Attr],
    ) -> Option<Value> {
        let ty = e.m().ctx.tensor_type(&[self.shape.rows as i64, self.shape.columns as i64], self.element);
        let mut sum = None;
        for (range, &program) in self.depths().into_iter().zip(programs) {
            let (a, b) = (e.part(left, 1, range.clone())?, e.part(right, 0, range)?);
            let [a_zero, b_zero, bias, scale] = &terms;
            let groups = [&[a], &[b], a_zero.as_slice(), b_zero.as_slice(), bias.as_slice(), scale.as_slice()];
            let call = e.op(CallOp::INFO.name, &groups, &[("callee", program)], &[ty])?;
            let product = e.m().result(call, 0);
            sum = Some(match sum {
                Some(sum) => e.add(sum, product)?,
                None => product,
            });
        }
        sum
    }
}

/// Returns the alternatives that are possible.
///
/// # Errors
/// None is possible; the reason of the last one.
pub(super) fn possible(alternatives: impl Iterator<Item = Result<Lowered, Refusal>>) -> Result<Vec<Lowered>, Refusal> {
    let (mut possible, mut refused) = (Vec::new(), Refusal::from("no mapping"));
    for alternative in alternatives {
        match alternative {
            Ok(lowered) => possible.push(lowered),
            Err(refusal) => refused = refusal,
        }
    }
    if possible.is_empty() { Err(refused) } else { Ok(possible) }
}
