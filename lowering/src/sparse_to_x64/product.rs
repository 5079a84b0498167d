//! Products with a sparse constant as calls of their code.

use super::generate::{Epilogue, Generated, generate};
use super::plan::{Columns, Plan};
use crate::emit::Emitter;
use crate::sparse_product::{MatMul, Matrix};
use gradus_dialects::sparse::{MatMulOp, UNROLLED};
use gradus_dialects::x64::{CallOp, Width};
use gradus_ir::{Attr, DType, Module, Op, OpDecl, Tensor, Type, Value};

/// Maximum size of code in bytes; larger products are not generated.
const MAX_CODE: usize = 16 << 20;
/// Size of memory that displacements reach.
const MAX_BYTES: usize = 1 << 30;

/// The product of a sparse matrix and a dense operand.
pub(super) struct Product {
    pub matrix: Matrix,
    pub columns: Columns,
    /// Elements from the start of the dense operand to its rows.
    pub offsets: Vec<usize>,
    pub epilogue: Epilogue,
}

impl Product {
    /// Reads an unrolled product of floats.
    pub fn of(m: &Module, op: Op) -> Option<(MatMul, Product)> {
        MatMulOp::cast(m, op)?.strategy(m).filter(|strategy| **strategy == UNROLLED)?;
        let (matmul, matrix) = MatMul::of(m, op).filter(|(_, matrix)| matrix.dtype != DType::I32)?;
        let matmul = matmul.padded(&matrix);
        let (columns, offsets) = (Columns::adjacent(matmul.columns()), matmul.offsets());
        Some((matmul, Product { matrix, columns, offsets, epilogue: Epilogue::default() }))
    }

    /// Plans the code; `None` if it, the operand or the result is too large.
    pub fn plan(&self, width: Width) -> Option<Plan> {
        let last = self.offsets.iter().max()?.checked_add(self.columns.reach()?)?;
        let larger = last.max(self.matrix.rows.checked_mul(self.columns.all)?);
        larger.checked_mul(self.matrix.element()).filter(|&n| n < MAX_BYTES)?;
        let plan = Plan::of(&self.matrix, self.columns, width)?;
        (self.matrix.values().len() * (plan.form.vectors * 8 + 4) <= MAX_CODE).then_some(plan)
    }

    /// Generates the code.
    pub fn generate(&self, plan: &Plan) -> Generated {
        generate(&self.matrix, plan, &self.offsets, &self.epilogue)
    }
}

/// A function with what its call passes.
pub(super) struct Callee {
    /// Symbol of the function.
    pub name: Attr,
    pub plan: Plan,
    pub pool: Vec<f64>,
}

impl Callee {
    /// Creates the call. Returns its result, `[rows, columns]`.
    pub fn call(self, e: &mut Emitter<'_, '_>, product: &Product, b: Value, add: Option<Value>) -> Option<Value> {
        let (matrix, shape) = (&product.matrix, [self.pool.len()]);
        let (pool, element) = match matrix.dtype {
            DType::F64 => (Tensor::from_vec(&shape, self.pool), Type::F64),
            DType::I32 => (Tensor::from_vec(&shape, self.pool.iter().map(|&x| x as i32).collect()), Type::I32),
            _ => (Tensor::from_vec(&shape, self.pool.iter().map(|&x| x as f32).collect()), Type::F32),
        };
        let pool = e.constant(&pool, element)?;
        let ctx = e.m().ctx.clone();
        let int = |n: usize| ctx.int_attr(Type::I64, n as i64);
        let (panel, tile) = (self.plan.form.panel_bytes(), self.plan.tile * matrix.element());
        let mut attrs = vec![("callee", self.name), ("panel", int(panel)), ("tile", int(tile))];
        attrs.extend(self.plan.masked.then_some(("masked", Attr::UNIT)));
        let Columns { all, strips, pitch } = product.columns;
        if strips > 1 {
            attrs.extend([("strips", int(strips)), ("pitch", int(pitch * matrix.element()))]);
        }
        let shape = [matrix.rows, all].map(|d| d as i64);
        let ty = ctx.tensor_type(&shape, element);
        let call = e.op(CallOp::INFO.name, &[&[pool], &[b], add.as_slice()], &attrs, &[ty])?;
        Some(e.m().result(call, 0))
    }
}
