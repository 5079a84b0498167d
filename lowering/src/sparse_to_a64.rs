//! `convert-sparse-to-a64`: generates code of AArch64 and its extension for products with sparse constants.
//!
//! | file | contents |
//! |---|---|
//! | `generate.rs` | the code of a panel of columns |
//! | `patterns.rs` | functions by patterns of nonzeros |
//! | `bundle.rs` | software pipelining |

mod bundle;
mod generate;
mod patterns;

use crate::emit::Emitter;
use crate::sparse_product::{MatMul, Matrix, NOT_CREATED, Packed, bytes_attr, define, replace};
use bundle::bundle;
use generate::{Choices, Generated, MAX_OFFSET, class, generate, max_rows};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{
    Attr, Builder, DType, Diagnostic, Module, Op, OpDecl, Pass, PassContext, PassInfo, Refusal, Type, Value,
};
use gradus_machines::a64::{
    CallOp, CodeOp, DispatchOp, FuncOp, INPUT, Inst, OUTPUT, POOL, Register, RegisterClass, assemble, lift,
};
use gradus_networks::sparse::{MatMulOp, PATTERNS, UNROLLED};

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "convert-sparse-to-a64",
    doc: "Generate code of AArch64 for products with sparse constants

# Before / After

```mlir
func.func @main(%b: tensor<4x1xi32>) -> tensor<1x1xi32> {
  %a = arith.constant dense<[[3, 0, 0, 5]]> : tensor<1x4xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xi32>, tensor<4x1xi32>) -> tensor<1x1xi32>
  return %c : tensor<1x1xi32>
}   // becomes:

func.func @main(%b: tensor<4x1xi32>) -> tensor<1x1xi32> {
  %c = a64.call @sparse0(%b) panel 1 : (tensor<4x1xi32>) -> tensor<1x1xi32>
  return %c : tensor<1x1xi32>
}
a64.func @sparse0 {
^bb0(%b: !a64.x<0>, %c: !a64.x<4>, %pool: !a64.x<5>):
  %0 = a64.ldr [%b] : (!a64.x<0>) -> !a64.w<1>
  %1 = a64.movz imm 3 : () -> !a64.w<2>
  %2 = a64.mul %0, %1 : (!a64.w<1>, !a64.w<2>) -> !a64.w<3>
  %3 = a64.ldr [%b] offset 12 : (!a64.x<0>) -> !a64.w<1>
  %4 = a64.movz imm 5 : () -> !a64.w<2>
  %5 = a64.madd %3, %4, %2 : (!a64.w<1>, !a64.w<2>, !a64.w<3>) -> !a64.w<3>
  a64.str %5 [%c] : (!a64.w<3>, !a64.x<4>) -> ()
  a64.ret
}
```

# Does

Each `sparse.matmul unrolled` of i32, f32 or f64 with a constant becomes calls of straight-line code, which computes a panel of columns: as
many as a vector holds, or one. Values are immediates, of floats elements of a pool, of which a load reads 16 bytes; rows of the dense operand
are loaded once per group of rows. Products with powers of two are sums with a shifted register. Code beyond `code-size` is divided into
functions for parts of the rows, whose results are concatenated. A product with a sparse right operand is that of the transposes.

Each `sparse.matmul patterns` becomes an `a64.dispatch`: chunks of 8 columns (`bits`) select one of 256 functions by their pattern of nonzeros; a
function multiplies the next weights of a packed list.

With `bundles`, instructions are scheduled for a machine that issues a load, a move, a product or sum, and a store together.

# Refuses

The form `csr`, other element types, extents that are unknown or 0, offsets of 16 MiB, and bytes for extensions, which have
no encoding: these products stay as they are. A remark on each says why.

# Cost

Linear in the number of elements of the constant.",
    options: &[
        PassOption {
            name: "isa",
            doc: "Multiply-add of integers",
            kind: OptionKind::Word(
                "base",
                &[
                    ("base", "load, move and madd: AArch64"),
                    ("madd-imm", "load and madd with an immediate of 12 bits: a64_ext"),
                    ("ldr-sc-acc", "one instruction, for immediates of 8 bits: a64_ext"),
                ],
            ),
        },
        PassOption { name: "vectors", doc: "Compute as many columns as a vector holds", kind: OptionKind::Bool(true) },
        PassOption { name: "shifts", doc: "Replace products with powers of two", kind: OptionKind::Bool(true) },
        PassOption { name: "bundles", doc: "Schedule instructions that issue together", kind: OptionKind::Bool(false) },
        PassOption {
            name: "rows",
            doc: "Rows per group, which share loads; 0 for as many as there are registers for sums",
            kind: OptionKind::Int(0),
        },
        PassOption {
            name: "code-size",
            doc: "Bytes of code of a function, such as those of the instruction cache",
            kind: OptionKind::Int(32 << 10),
        },
        PassOption {
            name: "code",
            doc: "Level of the code",
            kind: OptionKind::Word("ops", &[("ops", "instructions, in a64.func"), ("bytes", "bytes, in a64.code")]),
        },
        PassOption { name: "bits", doc: "Columns of a pattern, 1 to 8", kind: OptionKind::Int(8) },
    ],
    statistics: &[("num-lowered", "Number of products"), ("num-instructions", "Number of instructions")],
    stays: "interpreted",
    rewrites: Rewrites::Tags(&["lower"]),
    floats: |_| FloatChange::Reorders,
    make: |options| {
        let positive = |name: &str| usize::try_from(options.int(name)).unwrap_or(0);
        Ok(Box::new(SparseToA64 {
            isa: Isa::of(options.text("isa")),
            vectors: options.bool("vectors"),
            shifts: options.bool("shifts"),
            bundles: options.bool("bundles"),
            rows: positive("rows"),
            code_size: positive("code-size"),
            as_bytes: options.text("code") == "bytes",
            bits: positive("bits"),
        }))
    },
    ..PassInfo::DEFAULT
};

/// Whether code for a sparse product can be generated.
pub fn can_generate(m: &Module, op: Op) -> bool {
    let is_unrolled = MatMulOp::cast(m, op).and_then(|matmul| matmul.strategy(m)) == Some(&UNROLLED);
    let product = MatMulOp::cast(m, op).filter(|_| is_unrolled).and_then(|matmul| MatMul::of(m, matmul).ok());
    product.is_some_and(|(matmul, matrix)| {
        let rows = matrix.rows.max(matrix.depth) as u64;
        rows.saturating_mul(matmul.columns() as u64).saturating_mul(matrix.element() as u64) < MAX_OFFSET as u64
    })
}

/// The instructions of a multiply-add of integers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Isa {
    Base,
    MaddImm,
    LdrScAcc,
}

impl Isa {
    fn of(word: &str) -> Isa {
        match word {
            "madd-imm" => Isa::MaddImm,
            "ldr-sc-acc" => Isa::LdrScAcc,
            _ => Isa::Base,
        }
    }
}

struct SparseToA64 {
    isa: Isa,
    vectors: bool,
    shifts: bool,
    bundles: bool,
    rows: usize,
    code_size: usize,
    as_bytes: bool,
    /// Columns of a chunk.
    bits: usize,
}

impl Pass for SparseToA64 {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let ops: Vec<MatMulOp> = m.ops_under(root).into_iter().filter_map(|op| MatMulOp::cast(m, op)).collect();
        for op in ops {
            let lowered = match op.strategy(m) {
                Some(strategy) if *strategy == UNROLLED => self.lower(m, op, cx),
                Some(strategy) if *strategy == PATTERNS => self.patterns(m, op, cx),
                _ => Err("compressed rows".into()),
            };
            if let Err(refusal) = lowered {
                cx.refuse(m, op.0, &refusal);
            }
        }
        Ok(())
    }
}

impl SparseToA64 {
    fn lower(&self, m: &mut Module, matmul: MatMulOp, cx: &mut PassContext<'_>) -> Result<(), Refusal> {
        let op = matmul.0;
        let (matmul, matrix) = MatMul::of(m, matmul)?;
        let columns = matmul.columns();
        let parts = self.compile(&matrix, columns).ok_or("offsets of 16 MiB, or bytes for an extension")?;
        if !cx.allows("lower", m, op) {
            return Ok(());
        }
        cx.count("num-lowered", 1);
        let mut callees = Vec::with_capacity(parts.len());
        for (rows, part) in parts {
            cx.count("num-instructions", part.code.len() as u64);
            callees.push((self.define(m, op, &part.code).ok_or(NOT_CREATED)?, rows, part.pool));
        }
        let mut b = Builder::before(m, op);
        let mut e = Emitter::of(&mut b, op);
        let panel = self.choices(&matrix, columns).panel;
        let create = || {
            let dense = matmul.operand(&mut e)?;
            let call = |e: &mut Emitter<'_, '_>, (callee, rows, pool): (Attr, usize, Vec<f64>)| {
                call(e, callee, dense, &matrix, [rows, columns, panel], &pool)
            };
            let results = callees.into_iter().map(|callee| call(&mut e, callee)).collect::<Option<Vec<Value>>>()?;
            let value = e.concat(&results, 0)?;
            matmul.result(&mut e, value)
        };
        let value = create().ok_or(NOT_CREATED)?;
        replace(m, op, value);
        Ok(())
    }

    /// Lowers a product to one function per pattern of nonzeros, as bytes.
    fn patterns(&self, m: &mut Module, matmul: MatMulOp, cx: &mut PassContext<'_>) -> Result<(), Refusal> {
        let op = matmul.0;
        let (matmul, matrix) = MatMul::of(m, matmul)?;
        let (columns, lanes) = (matmul.columns(), 16 / matrix.element());
        let panel = if self.vectors && columns.is_multiple_of(lanes) { lanes } else { 1 };
        let bits =
            Some(self.bits).filter(|bits| (1..=8).contains(bits)).ok_or("patterns of other than 1 to 8 columns")?;
        let functions = patterns::functions(matrix.dtype, bits, panel, columns * matrix.element());
        let (code, starts) = functions.ok_or("offsets of 16 MiB, or integers")?;
        if !cx.allows("lower", m, op) {
            return Ok(());
        }
        let value = bytes_attr(m, &code).ok_or(NOT_CREATED)?;
        let (_, symbol) = define(m, op, CodeOp::INFO.name, &[("value", value)], 0).ok_or(NOT_CREATED)?;
        cx.count("num-lowered", 1);
        cx.count("num-instructions", code.len() as u64 / 4);
        let mut b = Builder::before(m, op);
        let mut e = Emitter::of(&mut b, op);
        let mut create = || {
            let dense = matmul.operand(&mut e)?;
            let [weights, patterns] = Packed::of(&matrix, bits).constants(&mut e, &matrix)?;
            let ctx = e.m().ctx.clone();
            let int = |n: usize| ctx.int_attr(Type::I64, n as i64);
            let starts = ctx.i64_array_attr(&starts);
            let attrs = [("callee", symbol), ("bits", int(bits)), ("starts", starts), ("panel", int(panel))];
            let element = ctx.element_type(e.m().value_type(dense));
            let ty = ctx.tensor_type(&[matrix.rows as i64, columns as i64], element);
            let call = e.op(DispatchOp::INFO.name, &[&[weights], &[patterns], &[dense]], &attrs, &[ty])?;
            let value = e.m().result(call, 0);
            matmul.result(&mut e, value)
        };
        let value = create().ok_or(NOT_CREATED)?;
        replace(m, op, value);
        Ok(())
    }

    fn choices(&self, matrix: &Matrix, columns: usize) -> Choices {
        let lanes = 16 / matrix.element();
        let panel = if self.vectors && columns >= lanes { lanes } else { 1 };
        let most = max_rows(class(matrix.dtype, panel)).min(matrix.rows);
        let rows = if self.rows == 0 { most } else { self.rows.min(most) };
        // Groups have almost equal sizes.
        let rows = if self.rows == 0 { matrix.rows.div_ceil(matrix.rows.div_ceil(rows)) } else { rows };
        Choices { isa: self.isa, panel, rows, shifts: self.shifts }
    }

    /// Generates functions for parts of the rows, with the number of these.
    fn compile(&self, matrix: &Matrix, columns: usize) -> Option<Vec<(usize, Generated)>> {
        let choices = self.choices(matrix, columns);
        let (mut parts, mut first) = (Vec::new(), 0);
        // About three instructions per nonzero, of 4 bytes.
        let per_row = 12 * matrix.values().len() / matrix.rows + 4;
        let rows = (self.code_size / per_row / choices.rows).max(1) * choices.rows;
        while first < matrix.rows {
            let end = (first + rows).min(matrix.rows);
            let mut part = generate(matrix, columns, choices, [first, end])?;
            if self.bundles {
                part.code = bundle(&part.code);
            }
            if self.as_bytes {
                assemble(&part.code)?;
            }
            parts.push((end - first, part));
            first = end;
        }
        Some(parts)
    }

    /// Defines a function. Returns its symbol.
    fn define(&self, m: &mut Module, op: Op, code: &[Inst]) -> Option<Attr> {
        if self.as_bytes {
            let value = bytes_attr(m, &assemble(code)?)?;
            return Some(define(m, op, CodeOp::INFO.name, &[("value", value)], 0)?.1);
        }
        let (function, symbol) = define(m, op, FuncOp::INFO.name, &[], 1)?;
        let (region, loc) = (m.regions(function)[0], m.loc(op));
        let arguments = [INPUT, OUTPUT, POOL].map(|number| Register { class: RegisterClass::X, number });
        lift(m, region, code, &arguments, loc)?;
        Some(symbol)
    }
}

/// Creates the call of a function for rows of the result. Returns them.
fn call(
    e: &mut Emitter<'_, '_>,
    callee: Attr,
    b: Value,
    matrix: &Matrix,
    [rows, columns, panel]: [usize; 3],
    pool: &[f64],
) -> Option<Value> {
    // Factors of integers are immediates.
    let pool = match matrix.dtype {
        DType::I32 => None,
        _ => Some(matrix.constant(e, pool)?),
    };
    let ctx = e.m().ctx.clone();
    let attrs = [("callee", callee), ("panel", ctx.int_attr(Type::I64, panel as i64))];
    let ty = ctx.tensor_type(&[rows as i64, columns as i64], matrix.element_type());
    let call = e.op(CallOp::INFO.name, &[&[b], pool.as_slice()], &attrs, &[ty])?;
    Some(e.m().result(call, 0))
}
