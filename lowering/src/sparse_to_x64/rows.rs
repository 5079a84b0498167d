//! Products by compressed rows, `addr.sparse_gemm`, in place of code.

use super::product::SparseProduct;
use crate::emit::Emitter;
use gradus_ir::{OpDecl, Tensor, Type, Value};
use gradus_networks::addr::SparseGemmOp;

impl SparseProduct {
    /// Creates the product. Returns the result, `[rows, columns]`, or with bands `[bands, rows, columns / bands]`.
    pub fn rows_call(&self, e: &mut Emitter<'_, '_>, a: Value, add: Option<Value>) -> Option<Value> {
        let (matrix, columns) = (&self.matrix, self.columns);
        let (mut offsets, mut ends) = (Vec::with_capacity(matrix.values().len()), Vec::with_capacity(matrix.rows));
        for row in 0..matrix.rows {
            for (k, _) in matrix.row(row) {
                offsets.push(i32::try_from(self.offsets[k]).ok()?);
            }
            ends.push(i32::try_from(offsets.len()).ok()?);
        }
        let offsets = e.constant(&Tensor::from_vec(&[offsets.len()], offsets), Type::I32)?;
        let values = matrix.constant(e, matrix.values())?;
        let ends = e.constant(&Tensor::from_vec(&[ends.len()], ends), Type::I32)?;
        let bias = match &self.epilogue.bias {
            Some(bias) => Some(matrix.constant(e, bias)?),
            None => None,
        };
        let ctx = e.m().ctx.clone();
        let mut attrs = Vec::new();
        if columns.strips > 1 {
            let int = |n: usize| ctx.int_attr(Type::I64, n as i64);
            attrs.extend([("strips", int(columns.strips)), ("pitch", int(columns.pitch))]);
        }
        let bounds = [("low", self.epilogue.low), ("high", self.epilogue.high)];
        let bounds = bounds.into_iter().filter_map(|(name, bound)| Some((name, bound?)));
        attrs.extend(bounds.map(|(name, bound)| (name, ctx.float_attr(Type::F32, f64::from(bound)))));
        let ty = ctx.tensor_type(&self.result_extents(matrix.rows), matrix.element_type());
        let groups = [&[a][..], &[offsets], &[values], &[ends], bias.as_slice(), add.as_slice()];
        let op = e.op(SparseGemmOp::INFO.name, &groups, &attrs, &[ty])?;
        Some(e.m().result(op, 0))
    }
}
