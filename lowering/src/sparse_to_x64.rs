//! `convert-sparse-to-x64`: generates machine code for products with sparse constants.

mod generate;
mod matrix;
mod plan;

use generate::generate;
use gradus_dialects::graph::{ReshapeOp, TransposeOp};
use gradus_dialects::sparse::MatMulOp;
use gradus_dialects::x64::{CallOp, CodeOp, FuncOp, Width, lift};
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::symbols::symbol_name;
use gradus_ir::{
    Attr, Builder, DType, Diagnostic, Loc, Module, Op, OpDecl, OpInfo, OpState, Pass, PassContext, PassInfo, Tensor,
    Traits, Type, Value,
};
use matrix::Matrix;
use plan::{ELEMENT, Plan};

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "convert-sparse-to-x64",
    doc: "Generate machine code for products with sparse constants

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

Each `sparse.matmul unrolled` of f32 with a constant becomes a call of code of its own, which has one multiply-add per nonzero and
vector of columns. The register tile (28 rows by 1 vector, 14 by 2 or 6 by 4; 12 by 1 or 6 by 2 with 256-bit vectors) is the one with
the fewest estimated cycles. Long rows are divided into chunks and columns into tiles, so that code stays in the L1 cache and rows of
the dense operand in the L2 cache. Values are in a pool that is read in order; up to 63 magnitudes are shared, and 1 and -1 are
added and subtracted. A product with a sparse right operand is that of the transposes. `code=ops` emits instructions instead of bytes.

# Refuses

Other forms, other element types, extents that are unknown or 0, code or matrices that are too large, and with 256-bit vectors fewer
than 8 columns: these products stay as they are, for the kernel with compressed rows.

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
    ],
    statistics: &[("num-lowered", "Number of products"), ("num-bytes", "Bytes of code")],
    rounds: |_| true,
    make: |options| Ok(Box::new(SparseToX64 { width: width(options.text("isa")), as_ops: options.text("code") == "ops" })),
    ..PassInfo::DEFAULT
};

/// Maximum size of code in bytes; larger products are not generated.
const MAX_CODE: usize = 16 << 20;
/// Size of memory that displacements reach.
const MAX_BYTES: usize = 1 << 30;

/// The widest vectors for which code is generated.
fn width(isa: &str) -> Option<Width> {
    match isa {
        "avx512" => Some(Width::Zmm),
        "avx2" => Some(Width::Ymm),
        _ => native(),
    }
}

#[cfg(target_arch = "x86_64")]
fn native() -> Option<Width> {
    let has_avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq");
    let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    if has_avx512 { Some(Width::Zmm) } else { has_avx2.then_some(Width::Ymm) }
}

#[cfg(not(target_arch = "x86_64"))]
fn native() -> Option<Width> {
    None
}

/// Returns the op that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    [MatMulOp::INFO].into_iter()
}

struct SparseToX64 {
    width: Option<Width>,
    as_ops: bool,
}

impl Pass for SparseToX64 {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let Some(width) = self.width else { return Ok(()) };
        for op in m.ops_under(root) {
            let Some(product) = Product::of(m, op) else { continue };
            let Some(plan) = Plan::of(&product.matrix, product.columns, width) else { continue };
            if product.matrix.values().len() * (plan.form.vectors * 8 + 4) > MAX_CODE || !cx.allows("lower", m, op) {
                continue;
            }
            let generated = generate(&product.matrix, &plan);
            let Some(name) = self.define(m, op, &generated.code) else { continue };
            cx.count("num-lowered", 1);
            cx.count("num-bytes", generated.code.len() as u64);
            if let Some(value) = product.call(m, name, &plan, &generated.pool) {
                let old = m.result(op, 0);
                m.replace_all_uses(old, value);
                m.erase_op(op);
            }
        }
        Ok(())
    }
}

impl SparseToX64 {
    /// Defines the function in the symbol table around an op. Returns its symbol.
    fn define(&self, m: &mut Module, op: Op, code: &[u8]) -> Option<Attr> {
        let table = std::iter::successors(m.parent_op(op), |&op| m.parent_op(op))
            .find(|&op| m.has_trait(op, Traits::SYMBOL_TABLE))?;
        let block = m.entry(*m.regions(table).first()?)?;
        let taken = |m: &Module, name: &str| {
            m.block_ops(block).any(|op| symbol_name(m, op).is_some_and(|have| m.ctx.text(have) == name))
        };
        let name = (0..).map(|i| format!("sparse{i}")).find(|name| !taken(m, name))?;
        let info = if self.as_ops { FuncOp::INFO } else { CodeOp::INFO };
        let loc = m.loc(op);
        let mut state = OpState::new(&m.ctx, info.name, loc);
        state.inherent(&m.ctx, "sym_name", Some(m.ctx.string_attr(&name)));
        if self.as_ops {
            state.regions = 1;
        } else {
            let ty = m.ctx.tensor_type(&[code.len() as i64], m.ctx.int_type(8, gradus_ir::Signedness::Unsigned));
            let tensor = Tensor::new(DType::U8, vec![code.len()], code.to_vec().into()).ok()?;
            state.inherent(&m.ctx, "value", Some(m.ctx.dense_attr(ty, &tensor)));
        }
        let function = Builder::at_end(m, block).create(state);
        if self.as_ops {
            let region = m.regions(function)[0];
            lift(m, region, code, loc).ok()?;
        }
        Some(m.ctx.symbol_attr(&name))
    }
}

/// A product that is lowered.
struct Product {
    matrix: Matrix,
    /// The dense operand.
    dense: Value,
    /// Columns of the dense operand, transposed if the right one is sparse.
    columns: usize,
    is_right: bool,
    result: Type,
    before: Op,
    loc: Loc,
}

impl Product {
    fn of(m: &Module, op: Op) -> Option<Product> {
        let matmul = MatMulOp::cast(m, op).filter(|matmul| matmul.form(m).and_then(|a| m.ctx.as_int(a)) == Some(0))?;
        let is_right = matmul.right(m).is_some();
        let (a, b) = (matmul.a(m), matmul.b(m));
        let (sparse, dense) = if is_right { (b, a) } else { (a, b) };
        let tensor = m.ctx.dense_tensor(m.constant(sparse)?).filter(|tensor| tensor.dtype() == DType::F32)?;
        let &[height, width] = m.ctx.static_shape(m.value_type(dense))? else { return None };
        let columns = usize::try_from(if is_right { height } else { width }).ok().filter(|&n| n > 0)?;
        let [rows, depth] = *tensor.shape() else { return None };
        let larger = if is_right { depth.max(rows) } else { rows.max(depth) };
        larger.checked_mul(columns).and_then(|n| n.checked_mul(ELEMENT)).filter(|&n| n < MAX_BYTES)?;
        let matrix = Matrix::of(&tensor, is_right)?;
        let result = m.value_type(matmul.y(m));
        Some(Product { matrix, dense, columns, is_right, result, before: op, loc: m.loc(op) })
    }

    /// Builds the call, with transpositions for a sparse right operand.
    fn call(&self, m: &mut Module, callee: Attr, plan: &Plan, pool: &[f32]) -> Option<Value> {
        let ctx = m.ctx.clone();
        let vector = ctx.tensor_type(&[pool.len() as i64], Type::F32);
        let pool = ctx.dense_attr(vector, &Tensor::from_vec(&[pool.len()], pool.to_vec()));
        let b = self.turned(m, self.dense, [self.matrix.depth, self.columns], true)?;
        let pool = Builder::before(m, self.before).constant(pool, vector, "arith", self.loc)?;
        let mut state = OpState::new(&ctx, CallOp::INFO.name, self.loc);
        state.operands.extend([pool, b]);
        let int = |n: usize| Some(ctx.int_attr(Type::I64, n as i64));
        state.inherent(&ctx, "callee", Some(callee));
        state.inherent(&ctx, "panel", int(plan.form.panel() * ELEMENT));
        state.inherent(&ctx, "tile", int(plan.tile * ELEMENT));
        state.inherent(&ctx, "masked", plan.masked.then_some(Attr::UNIT));
        let shape = [self.matrix.rows, self.columns];
        let ty = if self.is_right { ctx.tensor_type(&shape.map(|d| d as i64), Type::F32) } else { self.result };
        state.result_types.push(ty);
        let call = Builder::before(m, self.before).create(state);
        let c = m.result(call, 0);
        self.turned(m, c, [self.columns, self.matrix.rows], false)
    }

    /// Transposes a matrix to a shape if the right operand is sparse: a reshape, if it has one row or column.
    fn turned(&self, m: &mut Module, x: Value, shape: [usize; 2], is_operand: bool) -> Option<Value> {
        if !self.is_right {
            return Some(x);
        }
        let ctx = m.ctx.clone();
        let ty = if is_operand { ctx.tensor_type(&shape.map(|d| d as i64), Type::F32) } else { self.result };
        let mut operands = vec![x];
        let name = if shape.contains(&1) {
            let dims = ctx.tensor_type(&[2], Type::I64);
            let shape = ctx.dense_attr(dims, &Tensor::from_vec(&[2], shape.map(|d| d as i64).to_vec()));
            operands.push(Builder::before(m, self.before).constant(shape, dims, "arith", self.loc)?);
            ReshapeOp::INFO.name
        } else {
            TransposeOp::INFO.name
        };
        let mut state = OpState::new(&ctx, name, self.loc);
        state.operands.extend(operands);
        state.result_types.push(ty);
        let op = Builder::before(m, self.before).create(state);
        Some(m.result(op, 0))
    }
}
