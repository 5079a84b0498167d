//! Functions and calls: `a64.func`, `a64.code`, `a64.call`.

use super::instruction::Inst;
use super::lift::instructions_of;
use super::ops::RetOp;
use super::simulate::simulate;
use super::{decode_all, listing};
use gradus_dialects::constraint::{BYTES, FLAT_SYMBOL, I64, SYMBOL_NAME, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{DType, Effects, Module, Op, OpArgs, OpDecl, Tensor, Traits, Type, Violation, op};

/// Maximum number of instructions of a call.
const MAX_STEPS: usize = 1 << 28;

/// A function as instructions: one block, whose arguments are the registers that `a64.call` passes.
///
/// Values are registers: each operand must still be in the register of its type. Instructions with `bundled` issue together with the
/// one before them; those of a bundle read registers before any of them writes one, and use different units: loads, moves, products
/// and sums, stores.
///
/// ```mlir
/// a64.func @twice {
/// ^bb0(%b: !a64.x<0>, %c: !a64.x<4>):
///   %0 = a64.ldr [%b] : (!a64.x<0>) -> !a64.w<1>
///   %1 = a64.orr %0 shift 1 : (!a64.w<1>) -> !a64.w<3>
///   a64.str %1 [%c] : (!a64.w<3>, !a64.x<4>) -> ()
///   a64.ret
/// }
/// ```
#[op(
    "a64.func",
    traits = Traits::ISOLATED.and(Traits::SYMBOL).and(Traits::MACHINE_CODE),
    effects = Effects::Unknown,
    format = "$sym_name attr-dict-with-keyword $body",
    verify_regions = verify_func
)]
pub struct FuncOp {
    /// Name.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Instructions.
    body: Region,
}

/// A function as bytes, four per instruction.
#[op(
    "a64.code",
    traits = Traits::SYMBOL,
    effects = Effects::Unknown,
    format = "$sym_name attr-dict `=` $value",
    verify = verify_code
)]
pub struct CodeOp {
    /// Name.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Bytes.
    value: Attribute<BYTES>,
}

/// Computes a matrix by a function that works on a panel of columns of `b`.
///
/// There is a call for each `panel` columns. The function gets the addresses of the panel's first column in `b` (`x0`) and in the
/// result (`x4`), and that of the pool (`x5`). Columns that do not fill a panel are computed by the last full panel of a row.
///
/// ```mlir
/// a64.code @empty = dense<[192, 3, 95, 214]> : tensor<4xui8>
/// func.func @f(%b: tensor<64x100xi32>) -> tensor<8x100xi32> {
///   %c = a64.call @empty(%b) panel 4 : (tensor<64x100xi32>) -> tensor<8x100xi32>
///   return %c : tensor<8x100xi32>
/// }
/// ```
#[op(
    "a64.call",
    traits = Traits::MACHINE_CODE,
    effects = Effects::MayUb,
    format = "$callee `(` $b (`,` $pool^)? `)` `panel` $panel attr-dict `:` functional-type(operands, results)",
    verify = verify_call,
    verify_symbols = verify_callee,
    eval = call
)]
pub struct CallOp {
    /// Function.
    callee: Attribute<FLAT_SYMBOL>,
    /// Columns per call.
    panel: Attribute<I64>,
    /// Matrix, row-major.
    b: Operand<TENSOR>,
    /// Constants that the code reads, `[P]`.
    pool: OptOperand<TENSOR>,
    /// Result, `[M, N]`, row-major.
    y: OpResult<TENSOR>,
}

/// The panels of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Panels {
    /// Columns of the result.
    pub columns: usize,
    /// Columns per call of the function.
    pub panel: usize,
    /// Size of an element in bytes.
    pub element: usize,
}

impl Panels {
    /// Reads the panels of a call.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(args: &OpArgs<'_>) -> Result<Panels, Violation> {
        let (ctx, Some(&result)) = (args.ctx(), args.result_types.first()) else { return Err("has no result".into()) };
        let operands = (0..args.operands.len()).map(|i| args.operand_type(i));
        let dtype = ctx.dtype(ctx.element_type(result)).filter(|dtype| matches!(dtype.size(), 4 | 8));
        let dtype = dtype.ok_or("requires elements of 4 or 8 bytes")?;
        for ty in operands.chain([result]) {
            if ctx.dtype(ctx.element_type(ty)) != Some(dtype) || ctx.static_shape(ty).is_none() {
                return Err("requires tensors of static shape and one element type".into());
            }
        }
        let Some(&[rows, columns]) = ctx.static_shape(result) else { return Err("requires a matrix as result".into()) };
        let bytes = rows.checked_mul(columns).and_then(|n| n.checked_mul(dtype.size() as i64));
        if bytes.is_none_or(|bytes| bytes >= 1 << 31) {
            return Err("requires a result of less than 2 GiB".into());
        }
        let columns = usize::try_from(columns).map_err(|_| "requires a matrix of static shape")?;
        let panel = args.int("panel").and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=columns).contains(n));
        let panel = panel.ok_or_else(|| format!("requires a panel of 1 to {columns} columns"))?;
        Ok(Panels { columns, panel, element: dtype.size() })
    }

    /// Number of calls of the function.
    pub fn count(&self) -> usize {
        self.columns.div_ceil(self.panel)
    }

    /// The offset in bytes of each panel in a row.
    pub fn offsets(&self) -> impl Iterator<Item = usize> {
        let Panels { columns, panel, element } = *self;
        (0..self.count()).map(move |i| (i * panel).min(columns - panel) * element)
    }
}

fn verify_func(m: &Module, op: Op) -> Result<(), Violation> {
    let body = FuncOp(op).body(m);
    let mut blocks = m.region_blocks(body);
    let (Some(block), None) = (blocks.next(), blocks.next()) else { return Err("requires one block".into()) };
    if m.last_op(block).and_then(|last| RetOp::cast(m, last)).is_none() {
        return Err("requires that its block ends in 'a64.ret'".into());
    }
    instructions_of(m, body).map(drop).map_err(|(at, why)| format!("'{}' {why}", m.name_text(at)).into())
}

fn verify_code(m: &Module, op: Op) -> Result<(), Violation> {
    let tensor = CodeOp(op).value(m).and_then(|value| m.ctx.dense_tensor(value)).ok_or("requires bytes")?;
    let wrong = |at| format!("byte {at} is not the start of an instruction of this dialect").into();
    decode_all(tensor.bytes()).map(drop).map_err(wrong)
}

fn verify_call(m: &Module, op: Op) -> Result<(), Violation> {
    m.with_args(op, Panels::of).unwrap_or_else(|| Err("is not declared".into())).map(drop)
}

fn verify_callee(m: &Module, op: Op, tables: &mut SymbolTables) -> Result<(), Violation> {
    match tables.resolve(m, op, CallOp(op).callee(m).ok_or("has no callee")?) {
        Some(found) if FuncOp::cast(m, found).is_some() || CodeOp::cast(m, found).is_some() => Ok(()),
        _ => Err("requires the symbol of an 'a64.func' or 'a64.code'".into()),
    }
}

/// Returns the instructions of an `a64.func` or `a64.code`.
pub(super) fn of_function(m: &Module, function: Op) -> Result<Vec<Inst>, Violation> {
    if let Some(func) = FuncOp::cast(m, function) {
        return instructions_of(m, func.body(m)).map_err(|(at, why)| format!("'{}' {why}", m.name_text(at)).into());
    }
    let value = CodeOp::cast(m, function).and_then(|code| code.value(m));
    let bytes = value.and_then(|value| m.ctx.dense_tensor(value)).ok_or("is no function")?;
    decode_all(bytes.bytes()).map_err(|at| format!("byte {at} of the code is not the start of an instruction").into())
}

/// Returns the instructions of the function that a call names.
///
/// # Errors
/// There is no such function, or it is not valid.
pub fn callee_of(m: &Module, call: Op) -> Result<Vec<Inst>, Violation> {
    let callee = CallOp::cast(m, call).and_then(|call| call.callee(m)).ok_or("is not a call")?;
    let found = SymbolTables::default().resolve(m, call, callee).ok_or("names no function")?;
    of_function(m, found)
}

/// Lists all functions of a program as assembly text.
pub fn disassembly(m: &Module) -> String {
    let mut text = String::new();
    for op in m.ops_under(m.root()) {
        if let (Ok(all), Some(name)) = (of_function(m, op), gradus_ir::symbol_name(m, op)) {
            text += &format!("{}:\n{}", m.ctx.text(name), listing(&all));
        }
    }
    text
}

fn call(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let call = args.op.ok_or_else(|| Trap::unsupported("a call outside of a module"))?;
    let (panels, code) = (Panels::of(args)?, callee_of(args.module, call)?);
    if code.len().saturating_mul(panels.count()) > MAX_STEPS {
        return Err(Trap::Limit("the call has too many instructions".into()));
    }
    let b = data[0].tensor()?;
    let pool = match data.get(1) {
        Some(pool) => pool.tensor()?.bytes(),
        None => &[][..],
    };
    let shape: Vec<usize> =
        args.ctx().static_shape(args.result_types[0]).unwrap_or(&[]).iter().map(|&d| d as usize).collect();
    let mut out = vec![0; shape.iter().product::<usize>() * panels.element];
    for offset in panels.offsets() {
        simulate(&code, offset, [b.bytes(), pool], &mut out)?;
    }
    Ok(vec![Datum::Tensor(Tensor::new(dtype(args)?, shape, out.into())?)])
}

fn dtype(args: &OpArgs<'_>) -> Result<DType, Trap> {
    let ty: Type = args.ctx().element_type(args.result_types[0]);
    args.ctx().dtype(ty).ok_or_else(|| Trap::unsupported("elements without a size in bytes"))
}
