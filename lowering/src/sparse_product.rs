//! Products with sparse constants: the nonzeros and the dense operand, for all generators of code.

mod matrix;

pub(crate) use matrix::{Matrix, RowNonzero};

use crate::emit::Emitter;
use crate::operands::constant;
use gradus_ir::symbols::free_symbol;
use gradus_ir::{Attr, Builder, DType, Module, Op, OpState, Refusal, Signedness, Tensor, Type, Value};
use gradus_networks::sparse::MatMulOp;

/// A matrix product with a sparse constant; one with a sparse right operand is that of the transposes.
pub(crate) struct MatMul {
    /// Extents `[rows, depth, columns]`.
    extents: [usize; 3],
    dense: Value,
    /// Whether the right operand is sparse.
    is_right: bool,
    /// Whether elements are bf16, whose products are computed in f32.
    is_bf16: bool,
}

impl MatMul {
    /// Reads a product of f32, f64 or i32 and its sparse operand, of known extents.
    pub(crate) fn of(m: &Module, op: MatMulOp) -> Result<(MatMul, Matrix), Refusal> {
        let (matmul, matrix) = MatMul::read(m, op)?;
        if matmul.is_bf16 { Err("elements of bf16".into()) } else { Ok((matmul, matrix)) }
    }

    /// Reads a product of f32, f64 or bf16. One of bf16 is computed in f32.
    pub(crate) fn of_floats(m: &Module, op: MatMulOp) -> Result<(MatMul, Matrix), Refusal> {
        let (matmul, matrix) = MatMul::read(m, op)?;
        if matrix.dtype == DType::I32 { Err("elements of i32".into()) } else { Ok((matmul, matrix)) }
    }

    fn read(m: &Module, matmul: MatMulOp) -> Result<(MatMul, Matrix), Refusal> {
        let is_right = matmul.right(m).is_some();
        let (a, b) = (matmul.a(m), matmul.b(m));
        let (sparse, dense) = if is_right { (b, a) } else { (a, b) };
        let tensor = constant(m, sparse)?;
        let shape = |value| m.ctx.static_shape(m.value_type(value)).ok_or(Refusal::of(value, "an unknown extent"));
        let &[height, width] = shape(dense)? else { return Err(Refusal::of(dense, "an operand that is no matrix")) };
        shape(matmul.y(m))?;
        let columns = usize::try_from(if is_right { height } else { width }).ok().filter(|&n| n > 0);
        let columns = columns.ok_or(Refusal::of(dense, "no columns"))?;
        let matrix = Matrix::of(&tensor, is_right);
        let matrix = matrix
            .ok_or(Refusal::of(sparse, "a matrix of other elements than f32, f64, bf16 and i32, or too large"))?;
        let matmul = MatMul::new([matrix.rows, matrix.depth, columns], dense, is_right);
        Ok((MatMul { is_bf16: tensor.dtype() == DType::BF16, ..matmul }, matrix))
    }

    /// A product with extents `[rows, depth, columns]`.
    pub(crate) fn new(extents: [usize; 3], dense: Value, is_right: bool) -> MatMul {
        MatMul { extents, dense, is_right, is_bf16: false }
    }

    /// Whether the right operand is sparse, so that the result is transposed.
    pub(crate) fn is_right(&self) -> bool {
        self.is_right
    }

    /// Whether elements are bf16, whose products are computed in f32.
    pub(crate) fn is_bf16(&self) -> bool {
        self.is_bf16
    }

    /// Columns of the result.
    pub(crate) fn columns(&self) -> usize {
        self.extents[2]
    }

    /// The elements from the start of the dense operand to each of its rows.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        let [_, depth, columns] = self.extents;
        (0..depth).map(|k| k * columns).collect()
    }

    /// The dense operand, `[depth, columns]`; f32, if elements are bf16.
    pub(crate) fn operand(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        let [_, depth, columns] = self.extents;
        let value = self.turned(e, self.dense, [depth, columns])?;
        if self.is_bf16 { e.with_element(value, Type::F32) } else { Some(value) }
    }

    /// The result of the op, from that of the code.
    pub(crate) fn result(&self, e: &mut Emitter<'_, '_>, value: Value) -> Option<Value> {
        let [rows, _, columns] = self.extents;
        let value = if self.is_bf16 { e.with_element(value, Type::BF16)? } else { value };
        self.turned(e, value, [columns, rows])
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

/// The nonzeros of a matrix as patterns of chunks and weights, both in the order of their use.
pub(crate) struct Packed {
    patterns: Vec<u8>,
    weights: Vec<f64>,
}

impl Packed {
    pub(crate) fn of(matrix: &Matrix, bits: usize) -> Packed {
        let chunks = matrix.depth.max(1).div_ceil(bits);
        let mut packed = Packed { patterns: vec![0; matrix.rows * chunks], weights: matrix.values().to_vec() };
        for row in 0..matrix.rows {
            for RowNonzero { column, .. } in matrix.group(row, 1) {
                let column = column as usize;
                packed.patterns[row * chunks + column / bits] |= 1 << (column % bits);
            }
        }
        packed
    }

    /// Creates the constants: weights `[W]` and patterns `[M, C]`.
    pub(crate) fn constants(self, e: &mut Emitter<'_, '_>, matrix: &Matrix) -> Option<[Value; 2]> {
        let weights = matrix.constant(e, &self.weights)?;
        let patterns = Tensor::from_vec(&[matrix.rows, self.patterns.len() / matrix.rows], self.patterns);
        let byte = e.m().ctx.int_type(8, Signedness::Unsigned);
        Some([weights, e.constant(&patterns, byte)?])
    }
}

/// Creates a function with a symbol of its own at the end of the symbol table around an op. Returns it with its symbol.
pub(crate) fn define(m: &mut Module, op: Op, name: &str, attrs: &[(&str, Attr)], regions: usize) -> Option<(Op, Attr)> {
    let (block, symbol) = free_symbol(m, op, "sparse")?;
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.inherent(&m.ctx, "sym_name", Some(m.ctx.string_attr(&symbol)));
    attrs.iter().for_each(|&(name, attr)| state.inherent(&m.ctx, name, Some(attr)));
    state.regions = regions;
    let function = Builder::at_end(m, block).create(state);
    Some((function, m.ctx.symbol_attr(&symbol)))
}

/// The constant of the bytes of code, `tensor<Nxui8>`.
pub(crate) fn bytes_attr(m: &Module, code: &[u8]) -> Option<Attr> {
    let ty = m.ctx.tensor_type(&[code.len() as i64], m.ctx.int_type(8, Signedness::Unsigned));
    let tensor = Tensor::new(DType::U8, vec![code.len()], code.to_vec().into()).ok()?;
    Some(m.ctx.dense_attr(ty, &tensor))
}

/// The rule of products whose ops cannot be created.
pub(crate) const NOT_CREATED: &str = "a call that cannot be created";

/// Replaces the only result of an op and erases the op.
pub(crate) fn replace(m: &mut Module, op: Op, by: Value) {
    let old = m.result(op, 0);
    m.replace_all_uses(old, by);
    m.erase_op(op);
}
