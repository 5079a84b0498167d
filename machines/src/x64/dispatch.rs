//! `x64.dispatch`: a sparse product by one function per pattern of nonzeros.

use super::call::bytes_of;
use super::lift::decode_all;
use super::simulate::simulate;
use super::{Abi, CodeOp, FLAG};
use crate::patterns::PatternDispatch;
use gradus_dialects::constraint::{FLAT_SYMBOL, I64, I64_LIST, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{Effects, Module, Op, OpArgs, OpDecl, Tensor, Violation, op};

/// Maximum number of executions of functions, in the simulator.
const MAX_CALLS: usize = 1 << 22;

/// Computes a product with a sparse matrix whose nonzeros are not in the code.
///
/// Rows of the sparse matrix are divided into chunks of `bits` columns. `patterns` has a number for each row and chunk, of which bit `i`
/// tells whether column `i` of the chunk has a nonzero. It selects one of the `2^bits` functions of the code, which begin at `starts`. The
/// function adds the products of the chunk's nonzeros, which come next in `weights`, and rows of `b` to a row of the result, which
/// begins as -0, or as 0 in rows without nonzeros.
///
/// A function gets the addresses of the first row of `b` that belongs to the chunk (`rdi`), of the row of the result (`rsi`) and of
/// the weights (`rdx`), and otherwise what `x64.call` passes. A row must be whole panels unless the code is `masked`.
///
/// ```mlir
/// x64.code @functions = dense<195> : tensor<2xui8>
/// func.func @f(%w: tensor<1xf32>, %p: tensor<1x1xui8>, %b: tensor<1x16xf32>) -> tensor<1x16xf32> {
///   %c = x64.dispatch @functions(%w, %p, %b) bits 1 starts [0, 1, 2] panel 64 tile 64 : (tensor<1xf32>, tensor<1x1xui8>, tensor<1x16xf32>) -> tensor<1x16xf32>
///   return %c : tensor<1x16xf32>
/// }
/// ```
#[op(
    "x64.dispatch",
    effects = Effects::MayUb,
    format = "$callee `(` $weights `,` $patterns `,` $b `)` `bits` $bits `starts` $starts `panel` $panel `tile` $tile (`masked` $masked^)? attr-dict `:` functional-type(operands, results)",
    verify = verify_dispatch,
    verify_symbols = verify_callee,
    eval = dispatch
)]
pub struct DispatchOp {
    /// Code of all functions.
    callee: Attribute<FLAT_SYMBOL>,
    /// Columns of a chunk, 1 to 8.
    bits: Attribute<I64>,
    /// First byte of each function, and the end of the last.
    starts: Attribute<I64_LIST>,
    /// Bytes of a row per step, as in `x64.call`.
    panel: Attribute<I64>,
    /// Bytes of a row per call, a positive multiple of `panel`.
    tile: Attribute<I64>,
    /// Whether the code computes under a mask.
    masked: OptAttribute<FLAG>,
    /// Nonzeros by rows, `[W]`.
    weights: Operand<TENSOR>,
    /// Patterns, `[M, C]`, of which each row covers `K` columns.
    patterns: Operand<TENSOR>,
    /// Matrix, `[K, N]`, row-major.
    b: Operand<TENSOR>,
    /// Result, `[M, N]`, row-major.
    y: OpResult<TENSOR>,
}

/// A dispatch with the sizes of its calls.
pub struct Dispatch {
    /// Functions and sizes.
    pub patterns: PatternDispatch,
    /// Sizes of a call for one chunk of one row: `pool` and `input` are those of whole operands.
    pub abi: Abi,
}

impl Dispatch {
    /// Reads the attributes and types of an op.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(args: &OpArgs<'_>) -> Result<Dispatch, Violation> {
        let patterns = PatternDispatch::of(args)?;
        let int = |name| args.int(name).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let (panel, tile, element) = (int("panel"), int("tile"), patterns.element as u64);
        let is_panel = (1..=256).contains(&panel) && panel % element == 0 && panel / element <= 64;
        if !is_panel || tile == 0 || tile % panel != 0 {
            return Err("requires panels of at most 64 elements and 256 bytes, and tiles of whole panels".into());
        }
        let (masked, row) = (args.flag("masked"), patterns.row_bytes() as u64);
        if !masked && row % panel != 0 {
            return Err(
                format!("has rows of {row} bytes, which are no panels of {panel}, and code without a mask").into()
            );
        }
        let (pool, input) = (patterns.weights as u64 * element, patterns.depth as u64 * row);
        let abi = Abi {
            element,
            pool,
            input,
            output: row,
            residual: 0,
            row,
            bands: 1,
            strips: 1,
            pitch: 0,
            panel,
            tile,
            masked,
        };
        Ok(Dispatch { patterns, abi })
    }

    /// The sizes of a call of a function: its weights, and rows of `b` up to its last nonzero.
    pub fn abi_of(&self, pattern: usize) -> Abi {
        let pool = u64::from(pattern.count_ones()) * self.abi.element;
        Abi { pool, input: PatternDispatch::reach(pattern) as u64 * self.abi.row, ..self.abi }
    }
}

fn verify_dispatch(m: &Module, op: Op) -> Result<(), Violation> {
    m.with_args(op, Dispatch::of).unwrap_or_else(|| Err("is not declared".into())).map(drop)
}

fn verify_callee(m: &Module, op: Op, tables: &mut SymbolTables) -> Result<(), Violation> {
    match tables.resolve(m, op, DispatchOp(op).callee(m).ok_or("has no callee")?) {
        Some(found) if CodeOp::cast(m, found).is_some() => Ok(()),
        _ => Err("requires the symbol of an 'x64.code'".into()),
    }
}

/// Returns the code of all functions of a dispatch.
///
/// # Errors
/// There is no such code, or it ends before the functions.
pub fn functions_of(m: &Module, op: Op, dispatch: &Dispatch) -> Result<Tensor, Violation> {
    let callee = DispatchOp::cast(m, op).and_then(|op| op.callee(m)).ok_or("is not a dispatch")?;
    let found = SymbolTables::default().resolve(m, op, callee).ok_or("names no code")?;
    let code = bytes_of(m, found).ok_or("names no code")?;
    let end = dispatch.patterns.starts.last().copied().unwrap_or(0);
    if end > code.len() { Err("has functions beyond the end of the code".into()) } else { Ok(code) }
}

fn dispatch(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let op = args.op.ok_or_else(|| Trap::unsupported("a call outside of a module"))?;
    let dispatch = Dispatch::of(args)?;
    let code = functions_of(args.module, op, &dispatch)?;
    let (weights, patterns, b) = (data[0].tensor()?, data[1].tensor()?, data[2].tensor()?);
    let steps = dispatch.patterns.steps(patterns.bytes()).map_err(|violation| Trap::Ub(violation.into()))?;
    let (row, element) = (dispatch.patterns.row_bytes(), dispatch.patterns.element);
    if steps.len().saturating_mul(dispatch.abi.tiles().count()) > MAX_CALLS {
        return Err(Trap::Limit("the dispatch has too many calls".into()));
    }
    let mut out = vec![0; dispatch.patterns.rows * row];
    dispatch.patterns.begin_sums(&steps, &mut out);
    for step in steps {
        let function = decode_all(dispatch.patterns.function(step.pattern, code.bytes()));
        let function = function.map_err(|at| format!("byte {at} of a function is no instruction"))?;
        let abi = dispatch.abi_of(step.pattern);
        let weights = &weights.bytes()[step.weight * element..][..abi.pool as usize];
        let b = &b.bytes()[step.first * row..][..abi.input as usize];
        for tile in abi.tiles() {
            simulate(&function, &tile, [weights, b, &[]], &mut out[step.row * row..][..row])?;
        }
    }
    let shape = vec![dispatch.patterns.rows, dispatch.patterns.columns];
    Ok(vec![Datum::Tensor(Tensor::new(b.dtype(), shape, out.into())?)])
}
