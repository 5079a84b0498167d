//! `convert-sparse-to-x64`: generates machine code for products and convolutions with sparse constants.
//!
//! | file | contents |
//! |---|---|
//! | `form.rs`, `cost.rs`, `plan.rs` | register tiles; estimated cycles of them, of chunks and of tiles; the choice |
//! | `generate.rs`, `template.rs` | the code of a product; instructions that differ in displacements |
//! | `lanes.rs` | the code of a product with one column |
//! | `epilogue.rs` | bias, residual and clamp of sums, and the ops that they replace |
//! | `patterns.rs` | functions by patterns of nonzeros |
//! | `product.rs` | products as calls of code |
//! | `rows.rs` | products by compressed rows |
//! | `conv.rs` | convolutions as products: offsets of the taps in an image, and the epilogue |
//! | `integer.rs` | products of bytes, by words |

mod conv;
mod cost;
mod epilogue;
mod form;
mod generate;
mod integer;
mod lanes;
mod patterns;
mod plan;
mod product;
mod rows;
mod template;

use crate::emit::Emitter;
use crate::sparse_product::{MatMul, NOT_CREATED, bytes_attr, define, replace};
use conv::SparseConv;
pub use cost::Core;
use cost::Cores;
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{Attr, Builder, Diagnostic, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, Refusal, Value};
use gradus_machines::x64::{CodeOp, FuncOp, Width, lift};
use gradus_networks::sparse::{ConvOp, IntegerMatMulOp, MatMulOp, PATTERNS};
use integer::Integer;
use patterns::Patterns;
use product::{ByRows, Function, Shape, SparseProduct};

/// Columns of a pattern of nonzeros.
pub const BITS: usize = 8;

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "convert-sparse-to-x64",
    doc: "Generate machine code for products and convolutions with sparse constants, or compressed rows

# Before / After

```mlir
func.func @main(%b: tensor<4x16xf32>) -> tensor<1x16xf32> {
  %a = arith.constant dense<[[1.0, 0.0, 0.0, 2.0]]> : tensor<1x4xf32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xf32>, tensor<4x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}   // becomes:

func.func @main(%b: tensor<4x16xf32>) -> tensor<1x16xf32> {
  %pool = arith.constant dense<[-0.0, 2.0]> : tensor<2xf32>
  %c = x64.call @sparse0(%pool, %b) panel 64 tile 131072 : (tensor<2xf32>, tensor<4x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}
x64.code @sparse0 = dense<[...]> : tensor<70xui8>
```

# Does

Each `sparse.matmul unrolled` of f32, f64 or bf16 with a constant becomes a call of code of its own, which has one multiply-add per nonzero and
vector of columns. The register tile (28 rows by 1 vector, 14 by 2, 9 by 3 or 6 by 4; 12 by 1 or 6 by 2 with 256-bit vectors) is the one with
the fewest estimated cycles. Four to seven columns of 32 bits, which fill no 256-bit vector, take vectors of 128 bits. Long rows are divided into chunks and columns into tiles, so that the code of a group of rows and the lines of the dense
operand that it reads stay in the L1 cache from a vector of columns to the next, and tiles in the L2 cache. Values are in a pool that is read in order; up to 63 magnitudes (31 of f64 with 256-bit vectors) are shared, and 1 and -1 are
added and subtracted. With 256-bit vectors, a row of the dense operand that one nonzero of a group multiplies is read by its multiply-add. A product with a sparse right operand is that of the transposes. One of bf16 is a product of f32 between casts of the dense
operand and of the result, which is rounded once. The rows of products with up to 1024 columns are divided among two or four functions of equal types, whose
results are concatenated: threads run them at the same time, and each fetches its own code. `code=ops` emits instructions instead of bytes.

With one column of f32, rows are in lanes instead: sixteen rows, or eight with 256-bit vectors, are computed at a time, and in each step every row
adds the product of its next nonzero, whose factor is taken from two vectors of the dense operand, or one of 256 bits, by an index in the pool.

A constant for each row that is added to the product, and `graph.relu` or `graph.clip` with constant bounds after it, are computed before the
store, unless the product is of bf16 (bounds: of f32).

Each `sparse.matmul_integer` becomes a product of words of 32 bits along the depth, with one instruction per word of the constant that is not
zero: four bytes with AVX-512 VNNI, otherwise two 16-bit integers. `sparse.words` packs the other operand. A constant zero point and the
offset of signed bytes are in the values with which sums begin; the term of another zero point is subtracted from the result.

Each `sparse.matmul patterns` becomes an `x64.dispatch`: chunks of 8 columns (`bits`) select one of 256 functions by their pattern of
nonzeros; a function multiplies the next weights of a packed list. The code depends on the number of columns of the dense operand only.

Each `sparse.matmul csr` of f32 or f64 becomes an `addr.sparse_gemm`, whose nonzeros and addresses are constants: compressed rows. So does an unrolled
product for which no code can be generated.

Each `sparse.conv` of f32 on one image with constant filters and bias becomes a product of the filters and the image in its row-major
layout, by code or by compressed rows (`convs`). Code is fetched again in each run where the sparse constants of a program have more than a million elements:
compressed rows, of 8 bytes for each nonzero, then cost less for images of few elements. In the product, the row of the dense operand for a channel and tap begins at the element that the tap reads for output position 0, and columns
are positions. Around windows the image is padded first; then each row of the output is a `strip` of columns, or the columns between
rows are computed too and sliced off, by estimated cycles. With strides, the image is divided into one image for each phase, or sliced
if filters are 1x1. The bias, an addition of a tensor of the
result's type, and `graph.relu` or `graph.clip` with constant bounds are computed before the store. With the attributes `layout.images`
(1x1 filters) and `layout.results`, images in bands of rows such as `NHC7hW` are read and written: each band is a strip, or the rows of the
output are, and `layout.pack` and `layout.unpack` are inserted, which `propagate-layouts` moves.

# Refuses

Other element types, `csr` of other types than f32 and f64, extents that are unknown or 0, matrices that are too large, and if compressed rows do not take its
place, code that is too large, or with 256-bit vectors has fewer than 4 columns other than one of f32 (with at least 8 rows and elements), or for `patterns` columns
that do not fill vectors: these products and convolutions stay as they are, and are interpreted; a remark on each says why, and cost models do not choose them.

# Cost

Linear in the number of elements of the constant.",
    options: &[
        PassOption {
            name: "isa",
            doc: "Extension of the instruction set",
            kind: OptionKind::Word(
                "native",
                &[
                    ("native", "the widest of this machine; none leaves all products as they are"),
                    ("vnni", "512-bit vectors, with dot products of bytes"),
                    ("avx512", "512-bit vectors"),
                    ("avx2", "256-bit vectors"),
                ],
            ),
        },
        PassOption {
            name: "code",
            doc: "Level of the code",
            kind: OptionKind::Word("bytes", &[("bytes", "bytes, in x64.code"), ("ops", "instructions, in x64.func")]),
        },
        PassOption {
            name: "convs",
            doc: "What computes convolutions",
            kind: OptionKind::Word(
                "cheaper",
                &[
                    ("cheaper", "code or compressed rows, by estimated cycles"),
                    ("code", "code, if it can be generated"),
                    ("rows", "compressed rows"),
                ],
            ),
        },
        PassOption { name: "bits", doc: "Columns of a pattern, 1 to 8", kind: OptionKind::Int(BITS as i64) },
    ],
    statistics: &[("num-lowered", "Number of products"), ("num-bytes", "Bytes of code")],
    stays: "interpreted",
    rewrites: Rewrites::Tags(&["lower"]),
    floats: |_| FloatChange::Reorders,
    make: |options| {
        let bits = usize::try_from(options.int("bits")).unwrap_or(0);
        let convs = match options.text("convs") {
            "code" => ByRows::Otherwise,
            "rows" => ByRows::Always,
            _ => ByRows::Cheaper,
        };
        let (isa, as_ops) = (Isa::of(options.text("isa")), options.text("code") == "ops");
        Ok(Box::new(SparseToX64 { isa, as_ops, convs, bits, elements: 0.0 }))
    },
    ..PassInfo::DEFAULT
};

/// The rule of machines.
const NO_VECTORS: &str = "a machine without AVX2";
/// The rule of products.
const NO_CODE: &str = "code of more than 16 MiB, operands of more than 1 GiB, or too few columns for a vector";

/// The instructions for which code is generated.
#[derive(Clone, Copy)]
struct Isa {
    /// The widest vectors.
    width: Width,
    /// Whether there are dot products of bytes.
    has_dots: bool,
}

impl Isa {
    fn of(isa: &str) -> Option<Isa> {
        match isa {
            "vnni" => Some(Isa { width: Width::Zmm, has_dots: true }),
            "avx512" => Some(Isa { width: Width::Zmm, has_dots: false }),
            "avx2" => Some(Isa { width: Width::Ymm, has_dots: false }),
            _ => native(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn native() -> Option<Isa> {
    let has_avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq");
    let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let has_dots = has_avx512 && is_x86_feature_detected!("avx512vnni");
    let width = if has_avx512 { Some(Width::Zmm) } else { has_avx2.then_some(Width::Ymm) };
    width.map(|width| Isa { width, has_dots })
}

#[cfg(not(target_arch = "x86_64"))]
fn native() -> Option<Isa> {
    None
}

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    [MatMulOp::INFO, IntegerMatMulOp::INFO, ConvOp::INFO].into_iter()
}

/// Whether a sparse product or convolution is lowered on this machine in its form: a convolution is in one or another, an unrolled product
/// if code can be generated.
pub fn can_generate(m: &Module, op: Op) -> bool {
    let Ok(cores) = Cores::of(&m.ctx) else { return false };
    let isa = native();
    let width = isa.map(|isa| isa.width);
    if IntegerMatMulOp::cast(m, op).is_some() {
        let integer = isa.and_then(|isa| Integer::of(m, op, isa).ok());
        return integer.is_some_and(|integer| integer.product.code(cores, integer.width).is_some());
    }
    if let Some(conv) = ConvOp::cast(m, op) {
        return SparseConv::of(m, cores, conv, width)
            .is_ok_and(|conv| conv.product.shape(cores, width, false).is_some());
    }
    let Some(matmul) = MatMulOp::cast(m, op) else { return false };
    if has_patterns(m, op) {
        let product = MatMul::of_floats(m, matmul).ok().zip(width);
        return product
            .is_some_and(|((matmul, matrix), width)| Patterns::of(&matrix, matmul.columns(), BITS, width).is_some());
    }
    SparseProduct::of(m, matmul).is_ok_and(|(_, product, _)| match product.by_rows {
        ByRows::Always => product.shape(cores, width, false).is_some(),
        _ => width.is_some_and(|width| product.code(cores, width).is_some()),
    })
}

/// Whether code has 256-bit vectors on this machine, since it has no wider ones.
pub fn has_narrow_vectors() -> bool {
    native().is_some_and(|isa| isa.width == Width::Ymm)
}

/// The form in which a product is computed.
enum Called {
    /// Functions, with their symbols.
    Code(Vec<(Attr, Function)>),
    /// Compressed rows.
    Rows,
}

impl Called {
    /// Creates the ops. Returns the result, `[rows, columns]`, or with bands `[bands, rows, columns / bands]`.
    fn create(self, e: &mut Emitter<'_, '_>, product: &SparseProduct, b: Value, add: Option<Value>) -> Option<Value> {
        match self {
            Called::Code(functions) => product.call(functions, e, b, add),
            Called::Rows => product.rows_call(e, b, add),
        }
    }
}

struct SparseToX64 {
    isa: Option<Isa>,
    as_ops: bool,
    /// When convolutions are computed by compressed rows.
    convs: ByRows,
    /// Columns of a chunk.
    bits: usize,
    /// Elements of the sparse constants of the module.
    elements: f64,
}

impl Pass for SparseToX64 {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let by_patterns: Vec<Op> = m.ops_under(root).into_iter().filter(|&op| has_patterns(m, op)).collect();
        for &op in &by_patterns {
            if let Err(refusal) = self.patterns(m, MatMulOp(op), cx) {
                cx.refuse(m, op, &refusal);
            }
        }
        // Lowering erases the ops of epilogues, but none of these.
        let infos = [MatMulOp::INFO, IntegerMatMulOp::INFO, ConvOp::INFO];
        let is_sparse = |&op: &Op| m.info(op).is_some_and(|info| infos.iter().any(|one| std::ptr::eq(*one, info)));
        let ops: Vec<Op> = m.ops_under(root).into_iter().filter(|op| is_sparse(op) && !has_patterns(m, *op)).collect();
        if ops.is_empty() {
            return Ok(());
        }
        let ctx = m.ctx.clone();
        let cores = Cores::of(&ctx).map_err(|error| Diagnostic::error(m.loc(root), error.to_string()))?;
        self.elements = ops.iter().map(|&op| constant_elements(m, op)).sum();
        for op in ops {
            // An op that is refused stays: the dense op would multiply the zeros of the constant, also by infinities and NaNs.
            let lowered = match (ConvOp::cast(m, op), MatMulOp::cast(m, op)) {
                (Some(conv), _) => self.conv(m, conv, cores, cx),
                (_, Some(matmul)) => self.matmul(m, matmul, cores, cx),
                _ => self.integer(m, op, cores, cx),
            };
            if let Err(refusal) = lowered {
                cx.refuse(m, op, &refusal);
            }
        }
        Ok(())
    }
}

/// Number of elements of the constants that an op reads.
fn constant_elements(m: &Module, op: Op) -> f64 {
    let shape = |&v: &Value| m.constant(v).and_then(|_| m.ctx.static_shape(m.value_type(v)));
    m.operands(op).iter().filter_map(shape).map(|shape| shape.iter().map(|&d| d as f64).product::<f64>()).sum()
}

/// Whether an op is a product in the form `patterns`.
fn has_patterns(m: &Module, op: Op) -> bool {
    MatMulOp::cast(m, op).and_then(|matmul| matmul.strategy(m)) == Some(&PATTERNS)
}

impl SparseToX64 {
    /// Lowers a matrix product to one function per pattern of nonzeros.
    fn patterns(&self, m: &mut Module, matmul: MatMulOp, cx: &mut PassContext<'_>) -> Result<(), Refusal> {
        let op = matmul.0;
        let (matmul, matrix) = MatMul::of_floats(m, matmul)?;
        let width = self.width().ok_or(NO_VECTORS)?;
        let patterns = Patterns::of(&matrix, matmul.columns(), self.bits, width);
        let patterns = patterns.ok_or("columns that do not fill vectors, or are out of reach")?;
        if !cx.allows("lower", m, op) {
            return Ok(());
        }
        let (code, starts) = patterns.generate();
        let value = bytes_attr(m, &code).ok_or(NOT_CREATED)?;
        let (_, symbol) = define(m, op, CodeOp::INFO.name, &[("value", value)], 0).ok_or(NOT_CREATED)?;
        cx.count("num-lowered", 1);
        cx.count("num-bytes", code.len() as u64);
        let mut b = Builder::before(m, op);
        let mut e = Emitter::of(&mut b, op);
        let mut create = || {
            let dense = matmul.operand(&mut e)?;
            let value = patterns.call(&mut e, (symbol, &starts), &matrix, dense)?;
            matmul.result(&mut e, value)
        };
        let value = create().ok_or(NOT_CREATED)?;
        replace(m, op, value);
        Ok(())
    }

    /// Lowers a matrix product.
    fn matmul(&self, m: &mut Module, matmul: MatMulOp, cores: &Cores, cx: &mut PassContext<'_>) -> Result<(), Refusal> {
        let op = matmul.0;
        let (matmul, product, chain) = SparseProduct::of(m, matmul)?;
        let Some(called) = self.compile(m, op, (&product, self.width()), cores, cx)? else { return Ok(()) };
        let mut b = Builder::before(m, chain.last());
        let mut e = Emitter::of(&mut b, chain.last());
        let create = || {
            let dense = matmul.operand(&mut e)?;
            let value = called.create(&mut e, &product, dense, None)?;
            matmul.result(&mut e, value)
        };
        let value = create().ok_or(NOT_CREATED)?;
        chain.replace(m, value);
        Ok(())
    }

    /// Lowers a matrix product of bytes.
    fn integer(&self, m: &mut Module, op: Op, cores: &Cores, cx: &mut PassContext<'_>) -> Result<(), Refusal> {
        let integer = Integer::of(m, op, self.isa.ok_or(NO_VECTORS)?)?;
        let Some(called) = self.compile(m, op, (&integer.product, Some(integer.width)), cores, cx)? else {
            return Ok(());
        };
        let mut b = Builder::before(m, op);
        let mut e = Emitter::of(&mut b, op);
        let create = || {
            let words = integer.operand(&mut e)?;
            let value = called.create(&mut e, &integer.product, words, None)?;
            integer.result(&mut e, value)
        };
        let value = create().ok_or(NOT_CREATED)?;
        replace(m, op, value);
        Ok(())
    }

    /// Lowers a convolution with the ops of its epilogue.
    fn conv(&self, m: &mut Module, conv: ConvOp, cores: &Cores, cx: &mut PassContext<'_>) -> Result<(), Refusal> {
        let op = conv.0;
        let mut conv = SparseConv::of(m, cores, conv, self.width())?;
        conv.product.by_rows = self.convs;
        let Some(called) = self.compile(m, op, (&conv.product, self.width()), cores, cx)? else { return Ok(()) };
        let last = conv.chain.last();
        let mut b = Builder::before(m, last);
        let mut e = Emitter::of(&mut b, last);
        let create = || {
            let [image, residual] = conv.operands(&mut e)?;
            let value = called.create(&mut e, &conv.product, image?, residual)?;
            conv.result(&mut e, value)
        };
        let value = create().ok_or(NOT_CREATED)?;
        conv.chain.replace(m, value);
        Ok(())
    }

    /// The vectors of code, if the machine has code.
    fn width(&self) -> Option<Width> {
        self.isa.map(|isa| isa.width)
    }

    /// Generates the functions of a product and defines them, unless it is computed by compressed rows. `None` if the rewrite is skipped.
    fn compile(
        &self,
        m: &mut Module,
        op: Op,
        (product, width): (&SparseProduct, Option<Width>),
        cores: &Cores,
        cx: &mut PassContext<'_>,
    ) -> Result<Option<Called>, Refusal> {
        let is_crowded = self.elements > cores.with(width.unwrap_or(Width::Ymm)).crowded_elements as f64;
        let shape = product.shape(cores, width, is_crowded).ok_or(NO_CODE)?;
        if !cx.allows("lower", m, op) {
            return Ok(None);
        }
        cx.count("num-lowered", 1);
        if matches!(shape, Shape::Rows) {
            return Ok(Some(Called::Rows));
        }
        let define = |function: Function| {
            let code = &function.generated.code;
            cx.count("num-bytes", code.len() as u64);
            Some((self.define(m, op, code)?, function))
        };
        let functions = product.functions(shape, is_crowded).into_iter().map(define).collect::<Option<_>>();
        functions.map(|functions| Some(Called::Code(functions))).ok_or(NOT_CREATED.into())
    }

    /// Defines the function in the symbol table around an op. Returns its symbol.
    fn define(&self, m: &mut Module, op: Op, code: &[u8]) -> Option<Attr> {
        if !self.as_ops {
            let value = bytes_attr(m, code)?;
            return Some(define(m, op, CodeOp::INFO.name, &[("value", value)], 0)?.1);
        }
        let (function, symbol) = define(m, op, FuncOp::INFO.name, &[], 1)?;
        let (region, loc) = (m.regions(function)[0], m.loc(op));
        lift(m, region, code, loc).ok()?;
        Some(symbol)
    }
}
