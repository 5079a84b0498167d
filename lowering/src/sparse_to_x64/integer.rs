//! Products of bytes with a sparse constant: words of both operands, and what zero points add.

use super::Isa;
use super::epilogue::Epilogue;
use super::product::{ByRows, SparseProduct};
use crate::emit::Emitter;
use crate::sparse_product::{MatMul, Matrix};
use gradus_ir::{Attr, Module, Op, OpDecl, Refusal, Tensor, Type, Value};
use gradus_machines::x64::Width;
use gradus_networks::Columns;
use gradus_networks::graph::{MulOp, SubOp};
use gradus_networks::sparse::{IntegerProduct, Packing, WordsOp};

/// A product of bytes that is lowered.
pub(super) struct Integer {
    pub product: SparseProduct,
    /// Width of its vectors.
    pub width: Width,
    read: IntegerProduct,
    packing: Packing,
    /// Sum of the weights of each row.
    sums: Vec<i32>,
    /// Whether the zero point is not constant, so that its term is added to the result.
    adds_zero: bool,
}

impl Integer {
    /// Reads a product. Without dot products of bytes, or if they cannot hold the constant, words are pairs in 256-bit vectors.
    pub fn of(m: &Module, op: Op, isa: Isa) -> Result<Integer, Refusal> {
        let read = IntegerProduct::of(m, op).ok_or("weights that are not constant, or unknown extents")?;
        let (packing, width) = match isa.has_dots && read.are_signed_bytes() {
            true => (Packing::Quads, isa.width),
            false => (Packing::Pairs, Width::Ymm),
        };
        let [rows, depth, columns] = read.extents;
        let matrix =
            Matrix::of_words(&read.weights, [rows, depth], packing).ok_or("a matrix that is empty or too large")?;
        let sum = |row: &[i16]| row.iter().fold(0, |sum: i32, &x| sum.wrapping_add(x.into()));
        let sums: Vec<i32> = read.weights.chunks_exact(depth).map(sum).collect();
        let dtype = m.ctx.dtype(m.ctx.element_type(m.value_type(read.dense)));
        let dtype = dtype.ok_or(Refusal::of(read.dense, "elements without a size"))?;
        let constant = |zero: Value| m.ctx.dense_tensor(m.constant(zero)?)?.to_i64()?.first().copied();
        let known = read.zero.map_or(Some(0), constant);
        let added = packing.offset(dtype) + known.unwrap_or(0) as i32;
        let bias = sums.iter().map(|sum| f64::from(sum.wrapping_mul(added).wrapping_neg())).collect();
        let offsets = (0..matrix.depth).map(|k| k * columns).collect();
        let epilogue = Epilogue { bias: (added != 0).then_some(bias), ..Epilogue::default() };
        let columns = Columns::adjacent(columns);
        let product = SparseProduct { matrix, columns, offsets, epilogue, is_part: false, by_rows: ByRows::Never };
        Ok(Integer { product, width, read, packing, sums, adds_zero: known.is_none() })
    }

    /// The dense operand in words.
    pub fn operand(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        let number = e.m().ctx.int_attr(Type::I64, self.packing.number());
        let mut attrs = vec![("packing", number)];
        attrs.extend(self.read.is_right.then_some(("transposed", Attr::UNIT)));
        let words = e.op(WordsOp::INFO.name, &[&[self.read.dense]], &attrs, &[])?;
        Some(e.m().result(words, 0))
    }

    /// The result of the op, from that of the code.
    pub fn result(&self, e: &mut Emitter<'_, '_>, value: Value) -> Option<Value> {
        let value = match self.read.zero.filter(|_| self.adds_zero) {
            Some(zero) => self.without_zero(e, value, zero)?,
            None => value,
        };
        MatMul::new(self.read.extents, self.read.dense, self.read.is_right).result(e, value)
    }

    /// Subtracts the products with a zero point.
    fn without_zero(&self, e: &mut Emitter<'_, '_>, value: Value, zero: Value) -> Option<Value> {
        let zero = e.reshape(zero, &[1, 1])?;
        let zero = e.cast(zero, e.m().ctx.tensor_type(&[1, 1], Type::I32))?;
        let sums = e.constant(&Tensor::from_vec(&[self.sums.len(), 1], self.sums.clone()), Type::I32)?;
        let term = e.op(MulOp::INFO.name, &[&[zero], &[sums]], &[], &[])?;
        let term = e.m().result(term, 0);
        let difference = e.op(SubOp::INFO.name, &[&[value], &[term]], &[], &[])?;
        Some(e.m().result(difference, 0))
    }
}
