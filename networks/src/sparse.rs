//! `sparse`: products and convolutions with sparse constants, for which code is generated.
//!
//! Source: the seed on sparse matrices that are compiled into code.

mod elementwise;
mod integer;

pub use elementwise::{DotOp, ElementAddOp, ElementMulOp, ElementSubOp};
pub use integer::{DOTS, IntegerMatMulOp, IntegerProduct, Packing, WordPacking, WordsOp};

use crate::graph::{conv_cost, conv_op, convolution, eval_conv_by, infer_conv, infer_product, verify_conv};
use gradus_dialects::constraint::{FLOAT_TENSOR, I64, I64_ARRAY, STRING, TENSOR, UNIT, kind};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost, Strategy, elements};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::rules::{Arg, ArgKind, Rule, RuleFunction, RuleGroup, approx};
use gradus_ir::{AttrData, AttrKind, AttrText, Dialect, Module, Op, OpArgs, OpDecl, Type, op};
use gradus_reference_kernels as kernels;

/// Straight-line code with one multiply-add per nonzero factor and vector.
pub static UNROLLED: Strategy = Strategy { name: "unrolled" };
/// Calls of functions chosen by the pattern of nonzero factors.
pub static PATTERNS: Strategy = Strategy { name: "patterns" };
/// A loop over compressed sparse rows.
pub static CSR: Strategy = Strategy { name: "csr" };

/// The one of straight-line code and compressed rows that takes less time.
pub static UNROLLED_OR_CSR: Strategy = Strategy { name: "unrolled or csr" };

/// The implementation of a sparse product.
const FORM: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[(UNROLLED.name, 0), (PATTERNS.name, 1), (CSR.name, 2)]),
    ..kind("unrolled, patterns or csr", |c, a| {
        c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..3).contains(&v))
    })
};

/// A keyword that sets a unit attribute.
const FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// Matrix product with a sparse constant. Products with its zeros are omitted, even of infinities and NaNs.
///
/// `unrolled` is straight-line code with one multiply-add per nonzero factor and vector, `patterns` calls one function per pattern of zeros, and `csr`
/// loops over compressed sparse rows. The left operand is the sparse one, or the right operand if `right` is present.
///
/// ```mlir
/// %c = sparse.matmul unrolled right %a, %b : (tensor<1x64xf32>, tensor<64x256xf32>) -> tensor<1x256xf32>
/// ```
#[op(
    "sparse.matmul",
    infer = infer_product,
    extensions = &[&DeclaredCost(cost)],
    eval = matmul,
    format = "$form (`right` $right^)? operands attr-dict `:` functional-type(operands, results)"
)]
pub struct MatMulOp {
    /// Implementation: `unrolled`, `patterns` or `csr`.
    form: Attribute<FORM>,
    /// Whether the right operand is the sparse one.
    right: OptAttribute<FLAG>,
    /// Left matrix, `[M, K]`.
    a: Operand<TENSOR>,
    /// Right matrix, `[K, N]`.
    b: Operand<TENSOR>,
    /// Product, `[M, N]`.
    y: OpResult<TENSOR>,
}

/// The implementation with a number.
fn strategy(form: i64) -> &'static Strategy {
    match form {
        0 => &UNROLLED,
        1 => &PATTERNS,
        _ => &CSR,
    }
}

impl MatMulOp {
    /// Returns the implementation.
    pub fn strategy(self, m: &Module) -> Option<&'static Strategy> {
        self.form(m).and_then(|form| m.ctx.as_int(form)).map(strategy)
    }
}

fn matmul(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let right = args.attr("right").is_some();
    Ok(vec![Datum::Tensor(kernels::sparse_matmul(data[0].tensor()?, data[1].tensor()?, right)?)])
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let m = args.module;
    let constant = m.constant(args.operands[usize::from(args.attr("right").is_some())]);
    let nonzeros = constant.and_then(|attr| zeros(m, Arg::Attr(attr))).map(|(zeros, all)| all - zeros);
    let strategy = args.int("form").map_or(&CSR, strategy);
    let product = Contraction { nonzeros, strategy: Some(strategy), ..crate::graph::product(args) };
    OpCost::Contract(if args.attr("right").is_some() { transposed(product) } else { product })
}

conv_op! {
    /// Convolution with sparse constant filters, by generated code or compressed rows. Products with zeros of the filters are omitted, even of
    /// infinities and NaNs.
    ///
    /// Operands and attributes are those of `graph.conv`.
    ///
    /// ```mlir
    /// %y = sparse.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    /// ```
    #[op(
        "sparse.conv",
        infer = infer_conv,
        extensions = &[&DeclaredCost(filters_cost)],
        eval = |args, data| eval_conv_by(args, data, kernels::sparse_conv),
        format = "operands attr-dict `:` functional-type(operands, results)",
        verify = verify_conv
    )]
    pub struct ConvOp {
        /// Input, `[N, C, D...]`.
        x: Operand<FLOAT_TENSOR>,
        /// Filters, `[M, C / group, K...]`, the sparse operand.
        w: Operand<FLOAT_TENSOR>,
        /// Bias, `[M]`.
        b: OptOperand<FLOAT_TENSOR>,
    } -> FLOAT_TENSOR
}

/// The cost of a convolution by generated code or compressed rows. Around windows, the image is copied with its padding and the result without the
/// columns between its rows.
fn filters_cost(args: &OpArgs<'_>) -> OpCost {
    let OpCost::Contract(conv) = conv_cost(args) else { return OpCost::Map(1) };
    let (m, ty) = (args.module, |name| args.opt_operand(name).map(|v| args.module.value_type(v)));
    let nonzeros = args.opt_operand("w").and_then(|w| m.constant(w)).and_then(|attr| zeros(m, Arg::Attr(attr)));
    let is_copied = args.op.and_then(|op| convolution(m, op).ok()).is_none_or(|(_, window)| !window.is_pointwise());
    let [x, y] = [ty("x"), args.result_types.first().copied()].map(|ty| ty.map_or(0, |ty| elements(args, ty)));
    OpCost::Contract(Contraction {
        groups: 1,
        rows: conv.rows.saturating_mul(conv.groups),
        depth: conv.depth.saturating_mul(conv.groups),
        runs: if is_copied { x.saturating_add(y) } else { 0 },
        nonzeros: nonzeros.map(|(zeros, all)| all - zeros),
        strategy: Some(&UNROLLED_OR_CSR),
        ..conv
    })
}

/// The product of the transposes, whose left operand is sparse. Unless one side is a vector, the dense operand and the
/// result are transposed element by element.
fn transposed(c: Contraction) -> Contraction {
    let moved = c.rows.saturating_mul(c.depth.saturating_add(c.columns));
    Contraction { rows: c.columns, columns: c.rows, runs: if c.rows == 1 { 0 } else { moved }, ..c }
}

/// Whether generated code may compute a convolution: an op with the operands of `graph.conv`, with one image of f32 and constant filters
/// that are mostly zeros.
pub fn suits_conv(m: &Module, op: Op) -> bool {
    let Some(args) = m.args(op) else { return false };
    let [x, w] = ["x", "w"].map(|name| args.opt_operand(name));
    let filters = w.and_then(|w| m.constant(w));
    x.is_some_and(|x| is_one_image(m, m.value_type(x))) && filters.is_some_and(|w| is_mostly_zero(m, Arg::Attr(w)))
}

/// Whether a type is a batch of one image of f32, of static shape.
fn is_one_image(m: &Module, ty: Type) -> bool {
    m.ctx.static_shape(ty).and_then(<[i64]>::first) == Some(&1) && m.ctx.element_type(ty) == Type::F32
}

fn is_mostly_zero(m: &Module, constant: Arg) -> bool {
    zeros(m, constant).is_some_and(|(zeros, all)| all > 0 && 2 * zeros >= all)
}

/// Whether straight-line code for a constant is small even if it has no zeros. Dense kernels are of f32 only, and pack the other operand.
fn is_small(m: &Module, constant: Arg) -> bool {
    let most = match m.ctx.attr_type(constant.attr()).map(|ty| m.ctx.element_type(ty)) {
        Some(Type::F32) => 1 << 12,
        Some(Type::F64) => 1 << 16,
        _ => 0,
    };
    zeros(m, constant).is_some_and(|(_, all)| (1..=most).contains(&all))
}

/// Counts the zeros of a constant. Returns the number of zeros and the number of elements.
fn zeros(m: &Module, constant: Arg) -> Option<(u64, u64)> {
    let (ctx, attr) = (&m.ctx, constant.attr());
    let ty = ctx.attr_type(attr)?;
    let dtype = ctx.dtype(ctx.element_type(ty)).filter(|dtype| !dtype.is_narrow())?;
    let extents = ctx.static_shape(ty)?.iter();
    let all = extents.map(|&d| u64::try_from(d).ok()).try_fold(1u64, |n, d| n.checked_mul(d?))?;
    let count = |data: &[u8]| match dtype.size() {
        1 => Some(zero_words::<1>(data, dtype.is_float())),
        2 => Some(zero_words::<2>(data, dtype.is_float())),
        4 => Some(zero_words::<4>(data, dtype.is_float())),
        8 => Some(zero_words::<8>(data, dtype.is_float())),
        _ => None,
    };
    let zeros = match ctx.attr_data(attr) {
        AttrData::Dense(dense) if dense.splat => count(&dense.data())?.checked_mul(all)?,
        AttrData::Dense(dense) => count(&dense.data())?,
        _ => count(ctx.dense_tensor(attr)?.bytes())?,
    };
    Some((zeros, all))
}

/// Counts the elements of `N` bytes that are zero. Without their sign, negative zeros count.
fn zero_words<const N: usize>(data: &[u8], is_signed: bool) -> u64 {
    let mut mask = [0xff; N];
    mask[N - 1] = if is_signed { 0x7f } else { 0xff };
    let widened = |word: [u8; N]| {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(&word);
        u64::from_le_bytes(bytes)
    };
    let mask = widened(mask);
    // Blocks whose counts fit 32 bits, of which a vector holds more.
    let block = |words: &[[u8; N]]| words.iter().map(|&word| u32::from(widened(word) & mask == 0)).sum::<u32>();
    data.as_chunks::<N>().0.chunks(1 << 16).map(|words| u64::from(block(words))).sum()
}

#[rustfmt::skip]
const RULES: &[Rule] = &[
    approx("left-unrolled",  "graph.matmul(A: S, b: T) => sparse.matmul{form = unrolled}(A, b)               if matrices(S, T), suits_code(A)"),
    approx("left-patterns",  "graph.matmul(A: S, b: T) => sparse.matmul{form = patterns}(A, b)               if matrices(S, T), mostly_zeros(A)"),
    approx("left-csr",       "graph.matmul(A: S, b: T) => sparse.matmul{form = csr}(A, b)                    if matrices(S, T), mostly_zeros(A)"),
    approx("right-unrolled", "graph.matmul(a: S, B: T) => sparse.matmul{form = unrolled, right = unit}(a, B) if matrices(S, T), suits_code(B)"),
    approx("right-patterns", "graph.matmul(a: S, B: T) => sparse.matmul{form = patterns, right = unit}(a, B) if matrices(S, T), mostly_zeros(B)"),
    approx("right-csr",      "graph.matmul(a: S, B: T) => sparse.matmul{form = csr, right = unit}(a, B)      if matrices(S, T), mostly_zeros(B)"),
    approx("conv-unrolled",  "graph.conv{* = P}(x: S, W): R => sparse.conv{* = P}(x, W): R                           if one_image(S), mostly_zeros(W)"),
    approx("conv-bias-unrolled", "graph.conv{* = P}(x: S, W, B): R => sparse.conv{* = P}(x, W, B): R                 if one_image(S), mostly_zeros(W)"),
];

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "sparse",
    doc: "Products, convolutions and elementwise ops with sparse constants.",
    ops: &[
        ConvOp::INFO,
        DotOp::INFO,
        ElementAddOp::INFO,
        ElementMulOp::INFO,
        ElementSubOp::INFO,
        IntegerMatMulOp::INFO,
        MatMulOp::INFO,
        WordsOp::INFO,
    ],
    rule_groups: &[
        RuleGroup {
            name: "sparse",
            doc: "products and convolutions with sparse constants: unrolled code, patterns of zeros, compressed rows",
            rules: RULES,
        },
        RuleGroup { name: "sparse-integer", doc: "products of bytes with sparse constants", rules: integer::RULES },
        RuleGroup {
            name: "sparse-elementwise",
            doc: "products, sums and differences of elements with sparse constants",
            rules: elementwise::RULES,
        },
    ],
    rule_functions: &[
        &RuleFunction::test(
            "mostly_zeros",
            "a constant of which at least half of the elements are zero",
            &[ArgKind::Attr],
            |m, x| is_mostly_zero(m, x[0]),
        ),
        &RuleFunction::test(
            "suits_code",
            "a constant of which at least half of the elements are zero, or one of f32 with at most 4,096 or of f64 with at most 65,536 elements",
            &[ArgKind::Attr],
            |m, x| is_mostly_zero(m, x[0]) || is_small(m, x[0]),
        ),
        &RuleFunction::test("one_image", "a batch of one image of f32, of static shape", &[ArgKind::Type], |m, x| {
            is_one_image(m, x[0].ty())
        }),
    ],
    ..Dialect::DEFAULT
};
