//! Products with a sparse constant as calls of their code.

use super::cost::{Cores, MatrixCounts, rows_cycles};
use super::epilogue::{Chain, Epilogue};
use super::generate::{Generated, generate};
use super::lanes;
use super::plan::CodePlan;
use crate::emit::Emitter;
use crate::sparse_product::{MatMul, Matrix};
use gradus_ir::{Attr, Module, OpDecl, Refusal, Type, Value};
use gradus_machines::x64::{CallOp, Width};
use gradus_networks::Columns;
use gradus_networks::sparse::{CSR, MatMulOp, UNROLLED};
use std::ops::Range;

/// Maximum size of code in bytes; larger products are not generated.
const MAX_CODE: usize = 16 << 20;
/// Columns up to which threads divide the rows, and least number of rows for a thread.
const MAX_COLUMNS: usize = 1024;
const MIN_ROWS: usize = 24;
/// Number of groups of rows per additional group that this division may cost.
const MORE_GROUPS: usize = 10;
/// Size of memory that displacements reach.
const MAX_BYTES: usize = 1 << 30;

/// The shape of the code.
pub(super) enum Shape {
    /// Rows are in the lanes of vectors of a width.
    Lanes(Width),
    /// Columns are in the lanes of vectors.
    Panels(CodePlan),
    /// There is no code, but compressed rows.
    Rows,
}

/// When a product is computed by compressed rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ByRows {
    Never,
    /// If no code can be generated.
    Otherwise,
    /// If they take fewer estimated cycles than code.
    Cheaper,
    Always,
}

/// The product of a sparse matrix and a dense operand.
pub(super) struct SparseProduct {
    pub matrix: Matrix,
    pub columns: Columns,
    /// Elements from the start of the dense operand to its rows.
    pub offsets: Vec<usize>,
    pub epilogue: Epilogue,
    /// Whether it is computed by bands of an image, which threads share, so that rows are not divided among them.
    pub is_part: bool,
    pub by_rows: ByRows,
}

impl SparseProduct {
    /// Reads a product of floats, unrolled or by compressed rows, with the bias and the clamp after it.
    pub fn of(m: &Module, op: MatMulOp) -> Result<(MatMul, SparseProduct, Chain), Refusal> {
        let strategy = op.strategy(m).filter(|form| [&UNROLLED, &CSR].contains(form));
        let strategy = strategy.ok_or("a form without code")?;
        let (matmul, matrix) = MatMul::of_floats(m, op)?;
        let by_rows = if *strategy == CSR { ByRows::Always } else { ByRows::Otherwise };
        let (columns, offsets) = (Columns::adjacent(matmul.columns()), matmul.offsets());
        let (mut chain, mut epilogue) = (Chain::of(op.0), Epilogue::default());
        // A result of bf16 is rounded before the next op.
        if !matmul.is_bf16() {
            epilogue.bias = chain.take_bias(m, matrix.rows, matmul.is_right());
            [epilogue.low, epilogue.high] = chain.take_bounds(m);
        }
        Ok((matmul, SparseProduct { matrix, columns, offsets, epilogue, is_part: false, by_rows }, chain))
    }

    /// Plans the product for a machine with vectors of a width, if it has code; `None` if code, the operand or the result is too large.
    /// `is_crowded` is whether other code crowds its own out of the caches between two calls.
    pub fn shape(&self, cores: &Cores, width: Option<Width>, is_crowded: bool) -> Option<Shape> {
        let last = self.offsets.iter().max()?.checked_add(self.columns.reach()?)?;
        let larger = last.max(self.matrix.rows.checked_mul(self.columns.all)?);
        larger.checked_mul(self.matrix.element()).filter(|&n| n < MAX_BYTES)?;
        let code =
            width.filter(|_| self.by_rows != ByRows::Always).and_then(|width| Some((width, self.code(cores, width)?)));
        let Some((width, code)) = code else { return (self.by_rows != ByRows::Never).then_some(Shape::Rows) };
        let is_slower = match &code {
            Shape::Panels(plan) if self.by_rows == ByRows::Cheaper => {
                let counts = MatrixCounts::of(&self.matrix);
                rows_cycles(cores.with(width), &counts, self.columns, width) < plan.cycles(is_crowded)
            }
            _ => false,
        };
        Some(if is_slower { Shape::Rows } else { code })
    }

    /// Plans the code; `None` if it is too large.
    pub fn code(&self, cores: &Cores, width: Width) -> Option<Shape> {
        if lanes::suits(&self.matrix, self.columns, &self.offsets, width) {
            return (self.matrix.values().len() <= MAX_CODE / 32).then_some(Shape::Lanes(width));
        }
        let plan = CodePlan::of(cores, &self.matrix, self.columns, &self.offsets, width)?;
        (self.matrix.values().len() * (plan.form.vectors * 8 + 4) <= MAX_CODE).then_some(Shape::Panels(plan))
    }

    /// Divides the rows among several functions, which threads run at the same time, if there are few columns, and no bands: threads that
    /// divide the columns would each fetch all code, and write to the same lines of the result. The parts have as many groups of rows as the
    /// whole, or almost. Empty if the rows are not divided.
    fn parts(&self, plan: &CodePlan) -> Vec<SparseProduct> {
        let rows = self.matrix.rows;
        if self.columns.bands > 1 || self.is_part {
            return Vec::new();
        }
        let groups = |parts: usize| parts * (rows / parts).div_ceil(plan.form.rows);
        let is_possible = |&parts: &usize| {
            let is_even = rows.is_multiple_of(parts) && rows / parts >= MIN_ROWS && self.columns.all <= MAX_COLUMNS;
            is_even && MORE_GROUPS * groups(parts) <= (MORE_GROUPS + 1) * groups(1)
        };
        let parts = [4, 2].into_iter().filter(is_possible).min_by_key(|&parts| groups(parts));
        let part = |parts: usize| move |i: usize| self.part(i * rows / parts..(i + 1) * rows / parts);
        parts.map_or_else(Vec::new, |parts| (0..parts).map(part(parts)).collect())
    }

    /// The product of some rows.
    fn part(&self, rows: Range<usize>) -> SparseProduct {
        let bias = self.epilogue.bias.as_ref().map(|bias| bias[rows.clone()].to_vec());
        let epilogue = Epilogue { bias, ..self.epilogue };
        SparseProduct { matrix: self.matrix.rows_of(rows), offsets: self.offsets.clone(), epilogue, ..*self }
    }

    /// Generates the functions: one by lanes of rows, or one for each part. `is_crowded` is whether other code crowds them
    /// out of the caches between two calls.
    pub fn functions(&self, shape: Shape, is_crowded: bool) -> Vec<Function> {
        let plan = match shape {
            Shape::Lanes(width) => {
                let generated = lanes::generate(&self.matrix, &self.epilogue, width);
                let (element, rows) = (self.matrix.element(), self.matrix.rows);
                return vec![Function { generated, panel: element, tile: element, masked: false, rows }];
            }
            Shape::Panels(plan) => plan.prefetching(&self.matrix, is_crowded),
            Shape::Rows => return Vec::new(),
        };
        let parts = self.parts(&plan);
        if parts.is_empty() {
            return vec![self.function(&plan)];
        }
        parts.iter().map(|part| part.function(&plan.of_part(&part.matrix))).collect()
    }

    fn function(&self, plan: &CodePlan) -> Function {
        Function {
            generated: generate(&self.matrix, plan, &self.offsets, &self.epilogue),
            panel: plan.form.panel_bytes(),
            tile: plan.tile * self.matrix.element(),
            masked: plan.masked,
            rows: self.matrix.rows,
        }
    }
}

/// A function for some rows of a product.
pub(super) struct Function {
    pub generated: Generated,
    /// Bytes of a row of the result per step and per call.
    panel: usize,
    tile: usize,
    /// Whether columns are computed under a mask.
    masked: bool,
    rows: usize,
}

impl SparseProduct {
    /// The extents of the result of some rows.
    pub fn result_extents(&self, rows: usize) -> Vec<i64> {
        let Columns { bands, .. } = self.columns;
        let of_band = [rows, self.columns.band()];
        [bands].into_iter().filter(|&n| n > 1).chain(of_band).map(|d| d as i64).collect()
    }

    /// Creates the calls of the parts. Returns the result, `[rows, columns]`, or with bands `[bands, rows, columns / bands]`.
    pub fn call(
        &self,
        mut parts: Vec<(Attr, Function)>,
        e: &mut Emitter<'_, '_>,
        b: Value,
        add: Option<Value>,
    ) -> Option<Value> {
        // Calls of one type may run at the same time.
        let largest = parts.iter().map(|(_, part)| part.generated.pool.len()).max()?;
        let (is_whole, mut first, mut results) = (parts.len() == 1, 0, Vec::with_capacity(parts.len()));
        parts.iter_mut().for_each(|(_, part)| part.generated.pool.resize(largest, 0.0));
        for (callee, part) in parts {
            let (end, columns) = (first + part.rows as i64, self.columns.all as i64);
            let add = match add {
                Some(add) if !is_whole => Some(e.slice_from(add, &[first, 0], &[end, columns], &[1, 1])?),
                add => add,
            };
            results.push(part.call(e, (self, callee), b, add)?);
            first = end;
        }
        if is_whole { results.pop() } else { e.concat(&results, 0) }
    }
}

impl Function {
    /// Creates the call of the function with a symbol. Returns its result, `[rows, columns]` or with bands.
    fn call(
        self,
        e: &mut Emitter<'_, '_>,
        (product, callee): (&SparseProduct, Attr),
        b: Value,
        add: Option<Value>,
    ) -> Option<Value> {
        let (SparseProduct { matrix, columns, .. }, pool) = (product, self.generated.pool);
        let pool = matrix.constant(e, &pool)?;
        let ctx = e.m().ctx.clone();
        let int = |n: usize| ctx.int_attr(Type::I64, n as i64);
        let mut attrs = vec![("callee", callee), ("panel", int(self.panel)), ("tile", int(self.tile))];
        attrs.extend(self.masked.then_some(("masked", Attr::UNIT)));
        let &Columns { strips, pitch, .. } = columns;
        if strips > 1 {
            attrs.extend([("strips", int(strips)), ("pitch", int(pitch * matrix.element()))]);
        }
        let ty = ctx.tensor_type(&product.result_extents(self.rows), matrix.element_type());
        let call = e.op(CallOp::INFO.name, &[&[pool], &[b], add.as_slice()], &attrs, &[ty])?;
        Some(e.m().result(call, 0))
    }
}
