//! `x64.dispatch`: a sparse product by one function per pattern of nonzeros.

use super::call::bytes_of;
use super::lift::decode_all;
use super::simulate::simulate;
use super::{Abi, CodeOp, FLAG, Inst};
use crate::constraint::{FLAT_SYMBOL, I64, I64_LIST, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{DType, Effects, Module, Op, OpArgs, OpDecl, Tensor, op};

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

/// The functions and sizes of a dispatch.
pub struct Dispatch {
    /// Columns of a chunk.
    pub bits: usize,
    /// First byte of each function, and the end of the last.
    pub starts: Vec<usize>,
    /// Sizes of a call for one chunk of one row: `pool` and `input` are those of whole operands.
    pub abi: Abi,
    /// Number of rows of the result.
    pub rows: usize,
    /// Number of rows of `b`.
    pub depth: usize,
    /// Number of weights.
    pub weights: usize,
}

/// An execution of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Number of the function.
    pub pattern: usize,
    /// Row of the result.
    pub row: usize,
    /// First row of `b` of the chunk.
    pub first: usize,
    /// First weight.
    pub weight: usize,
}

impl Dispatch {
    /// Reads the attributes and types of an op.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(args: &OpArgs<'_>) -> Result<Dispatch, String> {
        let ctx = args.ctx();
        let bits = args.int("bits").filter(|bits| (1..=8).contains(bits)).ok_or("requires 1 to 8 bits")? as usize;
        let starts: Option<Vec<usize>> = args.ints("starts").and_then(|all| all.into_iter().map(|n| usize::try_from(n).ok()).collect());
        let starts = starts.filter(|all| all.len() == (1 << bits) + 1 && all.is_sorted());
        let starts = starts.ok_or("requires a start for each pattern and the end, in order")?;
        let shape = |i: usize| ctx.static_shape(args.operand_type(i));
        let (Some(&[weights]), Some(&[rows, chunks]), Some(&[depth, columns])) = (shape(0), shape(1), shape(2)) else {
            return Err("requires a vector and two matrices of static shape".into());
        };
        let result = *args.result_types.first().ok_or("has no result")?;
        if ctx.static_shape(result) != Some(&[rows, columns]) || depth.max(1).unsigned_abs().div_ceil(bits as u64) != chunks.unsigned_abs() {
            return Err("requires patterns for all rows of the result and of 'b'".into());
        }
        let dtype = ctx.dtype(ctx.element_type(result));
        let is_same = [0, 2].iter().all(|&i| ctx.dtype(ctx.element_type(args.operand_type(i))) == dtype);
        if !is_same || ctx.dtype(ctx.element_type(args.operand_type(1))) != Some(DType::U8) {
            return Err("requires patterns of ui8 and other elements of one type".into());
        }
        let element = dtype.filter(|dtype| matches!(dtype.size(), 4 | 8)).ok_or("requires elements of 4 or 8 bytes")?.size();
        let sizes = [weights, rows, depth, columns].map(|d| usize::try_from(d).unwrap_or(0));
        let [weights, rows, depth, columns] = sizes;
        let abi = Dispatch::abi(args, [weights, depth, columns], element)?;
        Ok(Dispatch { bits, starts, abi, rows, depth, weights })
    }

    fn abi(args: &OpArgs<'_>, [weights, depth, columns]: [usize; 3], element: usize) -> Result<Abi, String> {
        let int = |name| args.int(name).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let (panel, tile, element) = (int("panel"), int("tile"), element as u64);
        let bytes = |n: usize| (n as u64).checked_mul(element).filter(|&n| n < 1 << 31);
        let input = depth.checked_mul(columns).and_then(bytes);
        let (Some(pool), Some(input), Some(row)) = (bytes(weights), input, bytes(columns)) else {
            return Err("requires operands of less than 2 GiB".into());
        };
        let is_panel = (1..=256).contains(&panel) && panel % element == 0 && panel / element <= 64;
        if !is_panel || tile == 0 || tile % panel != 0 {
            return Err("requires panels of at most 64 elements and 256 bytes, and tiles of whole panels".into());
        }
        let masked = args.flag("masked");
        if !masked && row % panel != 0 {
            return Err(format!("has rows of {row} bytes, which are no panels of {panel}, and code without a mask"));
        }
        Ok(Abi { element, pool, input, output: row, residual: 0, row, panel, tile, masked })
    }

    /// The sizes of a call of a function: its weights, and rows of `b` up to its last nonzero.
    pub fn abi_of(&self, pattern: usize) -> Abi {
        let rows = u64::from(usize::BITS - pattern.leading_zeros());
        let pool = u64::from(pattern.count_ones()) * self.abi.element;
        Abi { pool, input: rows * self.abi.row, ..self.abi }
    }

    /// The executions of functions for all rows and chunks, without those of the empty pattern.
    ///
    /// # Errors
    /// A pattern that is no number of `bits` bits, or that has nonzeros beyond `b` or the weights.
    pub fn steps(&self, patterns: &[u8]) -> Result<Vec<Step>, String> {
        let (chunks, mut weight) = (self.depth.max(1).div_ceil(self.bits), 0);
        let mut steps = Vec::new();
        for (i, &pattern) in patterns.iter().enumerate() {
            let (pattern, first) = (usize::from(pattern), i % chunks * self.bits);
            let reach = first + (usize::BITS - pattern.leading_zeros()) as usize;
            if pattern >> self.bits != 0 || pattern != 0 && reach > self.depth {
                return Err(format!("pattern {i} has nonzeros beyond its columns"));
            }
            if pattern != 0 {
                steps.push(Step { pattern, row: i / chunks, first, weight });
            }
            weight += pattern.count_ones() as usize;
        }
        if weight > self.weights { Err("patterns have more nonzeros than there are weights".into()) } else { Ok(steps) }
    }
}

fn verify_dispatch(m: &Module, op: Op) -> Result<(), String> {
    m.with_args(op, Dispatch::of).unwrap_or_else(|| Err("is not declared".into())).map(drop)
}

fn verify_callee(m: &Module, op: Op, tables: &mut SymbolTables) -> Result<(), String> {
    match tables.resolve(m, op, DispatchOp(op).callee(m).ok_or("has no callee")?) {
        Some(found) if CodeOp::cast(m, found).is_some() => Ok(()),
        _ => Err("requires the symbol of an 'x64.code'".into()),
    }
}

/// Returns the code of all functions of a dispatch.
///
/// # Errors
/// There is no such code, or it ends before the functions.
pub fn functions_of(m: &Module, op: Op, dispatch: &Dispatch) -> Result<Tensor, String> {
    let callee = DispatchOp::cast(m, op).and_then(|op| op.callee(m)).ok_or("is not a dispatch")?;
    let found = SymbolTables::default().resolve(m, op, callee).ok_or("names no code")?;
    let code = bytes_of(m, found).ok_or("names no code")?;
    let end = dispatch.starts.last().copied().unwrap_or(0);
    if end > code.len() { Err("has functions beyond the end of the code".into()) } else { Ok(code) }
}

/// Fills the result as sums begin: -0, or 0 in rows without nonzeros.
pub fn begin_sums(dispatch: &Dispatch, steps: &[Step], out: &mut [u8]) {
    let (element, row) = (dispatch.abi.element as usize, dispatch.abi.row as usize);
    out.fill(0);
    for rows in steps.chunk_by(|a, b| a.row == b.row) {
        let sums = &mut out[rows[0].row * row..][..row];
        sums.chunks_exact_mut(element).for_each(|sum| sum[element - 1] = 0x80);
    }
}

fn dispatch(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let op = args.op.ok_or_else(|| Trap::unsupported("a call outside of a module"))?;
    let dispatch = Dispatch::of(args)?;
    let code = functions_of(args.module, op, &dispatch)?;
    let (weights, patterns, b) = (data[0].tensor()?, data[1].tensor()?, data[2].tensor()?);
    let steps = dispatch.steps(patterns.bytes()).map_err(Trap::Ub)?;
    let (row, element) = (dispatch.abi.row as usize, dispatch.abi.element as usize);
    if steps.len().saturating_mul(dispatch.abi.tiles().count()) > MAX_CALLS {
        return Err(Trap::Limit("the dispatch has too many calls".into()));
    }
    let mut out = vec![0; dispatch.rows * row];
    begin_sums(&dispatch, &steps, &mut out);
    for step in steps {
        let function = &code.bytes()[dispatch.starts[step.pattern]..dispatch.starts[step.pattern + 1]];
        let function: Vec<(usize, Inst)> = decode_all(function).map_err(|at| format!("byte {at} of a function is no instruction"))?;
        let abi = dispatch.abi_of(step.pattern);
        let operands = [&weights.bytes()[step.weight * element..][..abi.pool as usize], &b.bytes()[step.first * row..][..abi.input as usize], &[]];
        for tile in abi.tiles() {
            simulate(&function, &tile, operands, &mut out[step.row * row..][..row])?;
        }
    }
    let shape = vec![dispatch.rows, row.checked_div(element).unwrap_or(0)];
    Ok(vec![Datum::Tensor(Tensor::new(b.dtype(), shape, out.into())?)])
}
