//! Products with a sparse constant, and matrix products as calls of their code.

use super::generate::{Epilogue, Generated, generate};
use super::matrix::Matrix;
use super::plan::Plan;
use crate::emit::Emitter;
use gradus_dialects::sparse::MatMulOp;
use gradus_dialects::x64::{CallOp, Width};
use gradus_ir::{Attr, DType, Module, Op, OpDecl, Tensor, Type, Value};

/// Maximum size of code in bytes; larger products are not generated.
const MAX_CODE: usize = 16 << 20;
/// Size of memory that displacements reach.
const MAX_BYTES: usize = 1 << 30;

/// The product of a sparse matrix and a dense operand.
pub(super) struct Product {
    pub matrix: Matrix,
    /// Columns of the result.
    pub columns: usize,
    /// Elements from the start of the dense operand to its rows.
    pub offsets: Vec<usize>,
    pub epilogue: Epilogue,
}

impl Product {
    /// Plans the code; `None` if it, the operand or the result is too large.
    pub fn plan(&self, width: Width) -> Option<Plan> {
        let last = self.offsets.iter().max()?.checked_add(self.columns)?;
        let larger = last.max(self.matrix.rows.checked_mul(self.columns)?);
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
            _ => (Tensor::from_vec(&shape, self.pool.iter().map(|&x| x as f32).collect()), Type::F32),
        };
        let pool = e.constant(&pool, element)?;
        let ctx = e.m().ctx.clone();
        let int = |n: usize| ctx.int_attr(Type::I64, n as i64);
        let (panel, tile) = (self.plan.form.panel_bytes(), self.plan.tile * matrix.element());
        let mut attrs = vec![("callee", self.name), ("panel", int(panel)), ("tile", int(tile))];
        attrs.extend(self.plan.masked.then_some(("masked", Attr::UNIT)));
        let shape = [matrix.rows, product.columns].map(|d| d as i64);
        let ty = ctx.tensor_type(&shape, element);
        let call = e.op(CallOp::INFO.name, &[&[pool], &[b], add.as_slice()], &attrs, &[ty])?;
        Some(e.m().result(call, 0))
    }
}

/// A matrix product that is lowered.
pub(super) struct MatMul {
    pub product: Product,
    dense: Value,
    /// Whether the right operand is sparse, so that the product is that of the transposes.
    is_right: bool,
}

impl MatMul {
    pub fn of(m: &Module, op: Op) -> Option<MatMul> {
        let matmul = MatMulOp::cast(m, op).filter(|matmul| matmul.form(m).and_then(|a| m.ctx.as_int(a)) == Some(0))?;
        let is_right = matmul.right(m).is_some();
        let (a, b) = (matmul.a(m), matmul.b(m));
        let (sparse, dense) = if is_right { (b, a) } else { (a, b) };
        let tensor = m.ctx.dense_tensor(m.constant(sparse)?)?;
        let &[height, width] = m.ctx.static_shape(m.value_type(dense))? else { return None };
        m.ctx.static_shape(m.value_type(matmul.y(m)))?;
        let columns = usize::try_from(if is_right { height } else { width }).ok().filter(|&n| n > 0)?;
        let matrix = Matrix::of(&tensor, is_right)?;
        let offsets = (0..matrix.depth).map(|k| k * columns).collect();
        Some(MatMul { product: Product { matrix, columns, offsets, epilogue: Epilogue::default() }, dense, is_right })
    }

    /// The dense operand, `[depth, columns]`.
    pub fn operand(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        self.turned(e, self.dense, [self.product.matrix.depth, self.product.columns])
    }

    /// The result of the op, from that of the code.
    pub fn result(&self, e: &mut Emitter<'_, '_>, value: Value) -> Option<Value> {
        self.turned(e, value, [self.product.columns, self.product.matrix.rows])
    }

    /// Transposes a matrix to a shape if the right operand is sparse: a reshape, if it has one row or column.
    fn turned(&self, e: &mut Emitter<'_, '_>, x: Value, shape: [usize; 2]) -> Option<Value> {
        match self.is_right {
            false => Some(x),
            true if shape.contains(&1) => e.reshape(x, &shape.map(|d| d as i64)),
            true => e.permute(x, &[1, 0]),
        }
    }
}
