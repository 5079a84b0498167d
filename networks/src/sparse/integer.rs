//! Products of bytes with a sparse constant, and the words of which their code consumes one per instruction.

use super::FLAG;
use crate::graph::{infer_integer_product, matmul_integer, product};
use gradus_dialects::constraint::{BYTE_TENSOR, INT_TENSOR, kind};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost, Strategy};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::rules::{Rule, rule};
use gradus_ir::{AttrKind, AttrText, DType, Module, Op, OpArgs, OpDecl, Tensor, Traits, Type, Value, Violation, op};

/// Straight-line code with one dot product of four bytes per word that is not zero, and vector.
pub static DOTS: Strategy = Strategy { name: "dots" };

/// Elements along the depth of a product in a word of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Four unsigned bytes; signed ones are offset by 128.
    Quads,
    /// Two 16-bit integers.
    Pairs,
}

impl Packing {
    /// Number of elements in a word.
    pub fn elements(self) -> usize {
        match self {
            Packing::Quads => 4,
            Packing::Pairs => 2,
        }
    }

    /// The number in the attribute of `sparse.words`.
    pub fn number(self) -> i64 {
        self as i64
    }

    fn of(number: Option<i64>) -> Option<Packing> {
        [Packing::Quads, Packing::Pairs].into_iter().find(|packing| Some(packing.number()) == number)
    }

    /// Returns the number that is added to elements of a type before they are packed, so that they are unsigned where the instruction
    /// requires it.
    pub fn offset(self, dtype: DType) -> i32 {
        if self == Packing::Quads && dtype == DType::I8 { 128 } else { 0 }
    }

    /// The word of elements of weights, the first in the lowest bits; missing ones are 0.
    pub fn word(self, elements: &[i16]) -> i32 {
        let (bits, mask) = (32 / self.elements(), u32::MAX >> (32 - 32 / self.elements()));
        let place = |(i, &x): (usize, &i16)| (i32::from(x).cast_unsigned() & mask) << (i * bits);
        elements.iter().take(self.elements()).enumerate().map(place).fold(0, |word, part| word | part).cast_signed()
    }
}

const PACKING: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[("quads", Packing::Quads as i64), ("pairs", Packing::Pairs as i64)]),
    ..kind("quads or pairs", |c, a| c.attr_type(a) == Some(Type::I64) && Packing::of(c.as_int(a)).is_some())
};

/// Matrix product of 8-bit integers in i32 with a sparse constant, as generated code: `(a - a_zero_point)(b - b_zero_point)`.
///
/// The code has one instruction for each word of four elements of the constant along the depth that is not zero. The left operand
/// is the sparse one, or the right operand if `right` is present. Zero points are those of `graph.matmul_integer`.
///
/// ```mlir
/// %c = sparse.matmul_integer right %x, %w a_zero %z : (tensor<8x64xui8>, tensor<64x32xi8>, tensor<ui8>) -> tensor<8x32xi32>
/// ```
#[op(
    "sparse.matmul_integer",
    traits = Traits::OPERAND_SEGMENTS,
    infer = infer_integer_product,
    extensions = &[&DeclaredCost(cost)],
    eval = matmul_integer,
    format = "(`right` $right^)? $a `,` $b (`a_zero` $a_zero_point^)? (`b_zero` $b_zero_point^)? attr-dict `:` functional-type(operands, results)"
)]
pub struct IntegerMatMulOp {
    /// Whether the right operand is the sparse one.
    right: OptAttribute<FLAG>,
    /// Left matrix, `[M, K]`.
    a: Operand<BYTE_TENSOR>,
    /// Right matrix, `[K, N]`.
    b: Operand<BYTE_TENSOR>,
    /// Zero point of `a`: a scalar, or one per row.
    a_zero_point: OptOperand<BYTE_TENSOR>,
    /// Zero point of `b`: a scalar, or one per column.
    b_zero_point: OptOperand<BYTE_TENSOR>,
    /// Product, `[M, N]`.
    y: OpResult<INT_TENSOR>,
}

/// Packs rows of a matrix of bytes into words of 32 bits, as the code of `sparse.matmul_integer` reads them.
///
/// Element `[w, n]` of the result has the elements of column `n` in the next rows from `w * 4` on (`quads`), or from `w * 2` on
/// (`pairs`), the first in the lowest bits, and zeros behind the last row. The operand is the transposed matrix if `transposed` is present.
///
/// ```mlir
/// %y = sparse.words quads %x : (tensor<64x32xui8>) -> tensor<16x32xi32>
/// ```
#[op(
    "sparse.words",
    infer = infer_words,
    extensions = &[&DeclaredCost::MOVE],
    eval = words,
    format = "$packing (`transposed` $transposed^)? $x attr-dict `:` functional-type(operands, results)"
)]
pub struct WordsOp {
    /// Elements of a word: `quads` of bytes or `pairs` of 16 bits.
    packing: Attribute<PACKING>,
    /// Whether the operand is the transposed matrix.
    transposed: OptAttribute<FLAG>,
    /// Matrix of bytes.
    x: Operand<BYTE_TENSOR>,
    /// Words.
    y: OpResult<INT_TENSOR>,
}

fn infer_words(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let (ctx, packing) = (args.ctx(), WordPacking::of(args).ok_or("requires a matrix of bytes of static shape")?);
    let [height, width] = packing.shape.map(|d| d as i64);
    Ok(vec![ctx.tensor_type(&[height, width], Type::I32)])
}

/// How `sparse.words` packs.
#[derive(Clone, Copy, Debug)]
pub struct WordPacking {
    /// Elements of a word.
    pub packing: Packing,
    /// Whether the operand is transposed.
    pub transposed: bool,
    /// Number of rows of the matrix.
    pub depth: usize,
    /// Shape of the result.
    pub shape: [usize; 2],
    /// Type of the elements.
    pub dtype: DType,
}

impl WordPacking {
    /// Reads the op.
    pub fn of(args: &OpArgs<'_>) -> Option<WordPacking> {
        let (ctx, ty) = (args.ctx(), args.operand_type(0));
        let (packing, transposed) = (Packing::of(args.int("packing"))?, args.flag("transposed"));
        let dtype = ctx.dtype(ctx.element_type(ty)).filter(|dtype| matches!(dtype, DType::I8 | DType::U8))?;
        let &[height, width] = ctx.static_shape(ty)? else { return None };
        let (depth, columns) = if transposed { (width, height) } else { (height, width) };
        let [depth, columns] = [usize::try_from(depth).ok()?, usize::try_from(columns).ok()?];
        Some(WordPacking { packing, transposed, depth, shape: [depth.div_ceil(packing.elements()), columns], dtype })
    }

    /// The element of a byte, as it is packed.
    pub fn element(&self, byte: u8) -> u32 {
        match (self.packing, self.dtype) {
            (Packing::Quads, DType::I8) => u32::from(byte ^ 0x80),
            (Packing::Pairs, DType::I8) => u32::from(i16::from(byte.cast_signed()).cast_unsigned()),
            _ => byte.into(),
        }
    }

    /// Packs elements, which `at` returns for a row and a column of the matrix.
    pub fn word(&self, [word, column]: [usize; 2], at: impl Fn(usize, usize) -> u8) -> u32 {
        let count = self.packing.elements();
        let rows = (word * count..self.depth).take(count).enumerate();
        rows.fold(0, |all, (i, row)| all | self.element(at(row, column)) << (i * 32 / count))
    }
}

fn words(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let words = WordPacking::of(args).ok_or_else(|| Trap::unsupported("words of other types"))?;
    let (x, [height, columns]) = (data[0].tensor()?.bytes(), words.shape);
    let at = |row: usize, column: usize| {
        if words.transposed { x[column * words.depth + row] } else { x[row * columns + column] }
    };
    let all = (0..height * columns).map(|i| words.word([i / columns, i % columns], at).cast_signed());
    Ok(vec![Datum::Tensor(Tensor::from_vec(&words.shape, all.collect::<Vec<i32>>()))])
}

/// An integer product with a sparse constant without zero point; one with a sparse right operand is that of the transposes.
pub struct IntegerProduct {
    /// Extents `[rows, depth, columns]`.
    pub extents: [usize; 3],
    /// Elements of the constant, `[rows, depth]`.
    pub weights: Vec<i16>,
    /// The other operand.
    pub dense: Value,
    /// Its zero point, a scalar.
    pub zero: Option<Value>,
    /// Whether the right operand is sparse.
    pub is_right: bool,
}

impl IntegerProduct {
    /// Reads `sparse.matmul_integer`; `None` if extents are unknown or 0, or zero points are others.
    pub fn of(m: &Module, op: Op) -> Option<IntegerProduct> {
        let product = IntegerMatMulOp::cast(m, op)?;
        let is_right = product.right(m).is_some();
        let left = (product.a(m), product.a_zero_point(m));
        let right = (product.b(m), product.b_zero_point(m));
        let ((sparse, own_zero), (dense, zero)) = if is_right { (right, left) } else { (left, right) };
        let constant = |v: Value| m.ctx.dense_tensor(m.constant(v)?);
        let is_zero = |v: Value| constant(v).is_some_and(|zero| zero.bytes().iter().all(|&byte| byte == 0));
        let is_scalar = |v: Value| m.ctx.static_shape(m.value_type(v)).is_some_and(|d| d.iter().all(|&d| d == 1));
        (own_zero.is_none_or(is_zero) && zero.is_none_or(is_scalar)).then_some(())?;
        let tensor = constant(sparse)?;
        let (elements, &[height, width]) = (bytes(&tensor)?, tensor.shape()) else { return None };
        let &[other, another] = m.ctx.static_shape(m.value_type(dense))? else { return None };
        m.ctx.static_shape(m.value_type(product.y(m)))?;
        let columns = usize::try_from(if is_right { other } else { another }).ok()?;
        let (rows, depth) = if is_right { (width, height) } else { (height, width) };
        let extents = [rows, depth, columns];
        (!extents.contains(&0)).then_some(())?;
        let weights = match is_right {
            false => elements,
            true => (0..width)
                .flat_map(|n| (0..height).map(move |k| (k, n)))
                .map(|(k, n)| elements[k * width + n])
                .collect(),
        };
        Some(IntegerProduct { extents, weights, dense, zero, is_right })
    }

    /// Whether all elements of the constant are signed bytes.
    pub fn are_signed_bytes(&self) -> bool {
        self.weights.iter().all(|&x| i8::try_from(x).is_ok())
    }
}

/// The elements of a tensor of bytes.
fn bytes(tensor: &Tensor) -> Option<Vec<i16>> {
    match tensor.dtype() {
        DType::I8 => Some(tensor.as_slice::<i8>().iter().map(|&x| x.into()).collect()),
        DType::U8 => Some(tensor.as_slice::<u8>().iter().map(|&x| x.into()).collect()),
        _ => None,
    }
}

/// The cost: a product for each word of the constant that is not zero, and copies that pack the other operand, and that transpose it
/// and the result if the right operand is sparse.
fn cost(args: &OpArgs<'_>) -> OpCost {
    let (m, c, elements) = (args.module, product(args), Packing::Quads.elements());
    let read = args.op.and_then(|op| IntegerProduct::of(m, op));
    let count = |product: IntegerProduct| {
        let rows = product.weights.chunks_exact(product.extents[1]);
        rows.flat_map(|row| row.chunks(elements)).filter(|word| word.iter().any(|&x| x != 0)).count() as u64
    };
    let (depth, nonzeros) = (c.depth.div_ceil(elements as u64), read.map(count));
    let (rows, columns) = if args.flag("right") { (c.columns, c.rows) } else { (c.rows, c.columns) };
    let packed = depth.saturating_mul(columns);
    let runs = if args.flag("right") { packed.saturating_add(rows.saturating_mul(columns)) } else { packed / 4 };
    OpCost::Contract(Contraction { rows, depth, columns, runs, nonzeros, strategy: Some(&DOTS), ..c })
}

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("left-dots",        "graph.matmul_integer(A: S, b: T)       => sparse.matmul_integer(A, b)                     if matrices(S, T), mostly_zeros(A)"),
    rule("left-dots-zero",   "graph.matmul_integer{operandSegmentSizes = G}(A: S, b: T, z) => sparse.matmul_integer{operandSegmentSizes = G}(A, b, z) if matrices(S, T), mostly_zeros(A)"),
    rule("left-dots-zeros",  "graph.matmul_integer(A: S, b: T, y, z) => sparse.matmul_integer(A, b, y, z)               if matrices(S, T), mostly_zeros(A)"),
    rule("right-dots",       "graph.matmul_integer(a: S, B: T)       => sparse.matmul_integer{right = unit}(a, B)       if matrices(S, T), mostly_zeros(B)"),
    rule("right-dots-zero",  "graph.matmul_integer{operandSegmentSizes = G}(a: S, B: T, z) => sparse.matmul_integer{right = unit, operandSegmentSizes = G}(a, B, z) if matrices(S, T), mostly_zeros(B)"),
    rule("right-dots-zeros", "graph.matmul_integer(a: S, B: T, y, z) => sparse.matmul_integer{right = unit}(a, B, y, z) if matrices(S, T), mostly_zeros(B)"),
];
