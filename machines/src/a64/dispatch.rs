//! `a64.dispatch`: a sparse product by one function per pattern of nonzeros.

use super::call::of_function;
use super::simulate::simulate;
use super::{CodeOp, Inst, InstructionCounts};
use crate::patterns::PatternDispatch;
use gradus_dialects::constraint::{FLAT_SYMBOL, I64, I64_LIST, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{DType, Effects, Module, Op, OpArgs, OpDecl, Tensor, Violation, op};

/// Maximum number of executions of functions, in the simulator.
const MAX_CALLS: usize = 1 << 22;

/// Computes a product with a sparse matrix whose nonzeros are not in the code, as `x64.dispatch` does.
///
/// The function of a pattern adds the products of the next weights and rows of `b` to a panel of a row of the result. It gets the addresses
/// of the panel in the first row of `b` that belongs to the chunk (`x0`) and in the row of the result (`x4`), and that of the weights (`x5`).
///
/// ```mlir
/// a64.code @functions = dense<[192, 3, 95, 214]> : tensor<4xui8>
/// func.func @f(%w: tensor<1xi32>, %p: tensor<1x1xui8>, %b: tensor<1x4xi32>) -> tensor<1x4xi32> {
///   %c = a64.dispatch @functions(%w, %p, %b) bits 1 starts [0, 0, 4] panel 4 : (tensor<1xi32>, tensor<1x1xui8>, tensor<1x4xi32>) -> tensor<1x4xi32>
///   return %c : tensor<1x4xi32>
/// }
/// ```
#[op(
    "a64.dispatch",
    effects = Effects::MayUb,
    format = "$callee `(` $weights `,` $patterns `,` $b `)` `bits` $bits `starts` $starts `panel` $panel attr-dict `:` functional-type(operands, results)",
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
    /// Columns per call; rows are whole panels.
    panel: Attribute<I64>,
    /// Nonzeros by rows, `[W]`.
    weights: Operand<TENSOR>,
    /// Patterns, `[M, C]`, of which each row covers `K` columns.
    patterns: Operand<TENSOR>,
    /// Matrix, `[K, N]`, row-major.
    b: Operand<TENSOR>,
    /// Result, `[M, N]`, row-major.
    y: OpResult<TENSOR>,
}

/// Reads the functions and sizes of an op, with the number of columns per call.
fn read(args: &OpArgs<'_>) -> Result<(PatternDispatch, usize), Violation> {
    let patterns = PatternDispatch::of(args)?;
    let panel = args.int("panel").and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
    match panel.filter(|&panel| patterns.columns.is_multiple_of(panel)) {
        Some(panel) => Ok((patterns, panel)),
        None => Err(format!("requires a panel that divides {} columns", patterns.columns).into()),
    }
}

fn verify_dispatch(m: &Module, op: Op) -> Result<(), Violation> {
    m.with_args(op, read).unwrap_or_else(|| Err("is not declared".into())).map(drop)
}

fn verify_callee(m: &Module, op: Op, tables: &mut SymbolTables) -> Result<(), Violation> {
    match tables.resolve(m, op, DispatchOp(op).callee(m).ok_or("has no callee")?) {
        Some(found) if CodeOp::cast(m, found).is_some() => Ok(()),
        _ => Err("requires the symbol of an 'a64.code'".into()),
    }
}

/// The instructions of each function of a dispatch.
fn functions(m: &Module, op: Op, patterns: &PatternDispatch) -> Result<Vec<Vec<Inst>>, Violation> {
    let callee = DispatchOp::cast(m, op).and_then(|op| op.callee(m)).ok_or("is not a dispatch")?;
    let found = SymbolTables::default().resolve(m, op, callee).ok_or("names no code")?;
    let code = of_function(m, found)?;
    let function = |ends: &[usize]| {
        let is_aligned = ends.iter().all(|end| end.is_multiple_of(4));
        let function = code.get(ends[0] / 4..ends[1] / 4).filter(|_| is_aligned);
        function.map(<[Inst]>::to_vec).ok_or_else(|| Violation::from("has functions beyond the end of the code"))
    };
    patterns.starts.windows(2).map(function).collect()
}

fn dispatch(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let op = args.op.ok_or_else(|| Trap::unsupported("a call outside of a module"))?;
    let (dispatch, panel) = read(args)?;
    let functions = functions(args.module, op, &dispatch)?;
    let (weights, patterns, b) = (data[0].tensor()?, data[1].tensor()?, data[2].tensor()?);
    let steps = dispatch.steps(patterns.bytes()).map_err(|violation| Trap::Ub(violation.into()))?;
    let (row, element) = (dispatch.row_bytes(), dispatch.element);
    if steps.len().saturating_mul(dispatch.columns / panel) > MAX_CALLS {
        return Err(Trap::Limit("the dispatch has too many calls".into()));
    }
    let mut out = vec![0; dispatch.rows * row];
    if b.dtype() != DType::I32 {
        dispatch.begin_sums(&steps, &mut out);
    }
    for step in steps {
        let operands = [&b.bytes()[step.first * row..], &weights.bytes()[step.weight * element..]];
        for offset in (0..row).step_by(panel * element) {
            simulate(&functions[step.pattern], offset, operands, &mut out[step.row * row..][..row])?;
        }
    }
    Ok(vec![Datum::Tensor(Tensor::new(b.dtype(), vec![dispatch.rows, dispatch.columns], out.into())?)])
}

/// Counts the instructions of a dispatch with constant patterns, without those that select functions.
///
/// # Errors
/// The op is not valid, or its patterns are not constant.
pub fn dispatch_counts(m: &Module, op: Op) -> Result<InstructionCounts, Violation> {
    let (dispatch, panel) = m.with_args(op, read).ok_or("is not declared")??;
    let functions = functions(m, op, &dispatch)?;
    let patterns = m.constant(DispatchOp(op).patterns(m)).and_then(|attr| m.ctx.dense_tensor(attr));
    let patterns = patterns.ok_or("requires constant patterns")?;
    let mut all = InstructionCounts::default();
    for step in dispatch.steps(patterns.bytes())? {
        all = all.plus(InstructionCounts::of(&functions[step.pattern]).times((dispatch.columns / panel) as u64));
    }
    Ok(all)
}
