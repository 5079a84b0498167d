//! Functions and calls: `x64.func`, `x64.code`, `x64.call`.

use super::FLAG;
use super::lift::{assemble, check_code, decode_all, lift};
use super::ops::RetOp;
use super::simulate::{ColumnRange, simulate};
use gradus_dialects::constraint::{BYTES, FLAT_SYMBOL, I64, SYMBOL_NAME, TENSOR};
use gradus_ir::eval::{Datum, PoisonTensor, Trap};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{
    Attr, Builder, Diagnostic, Effects, Module, Op, OpArgs, OpDecl, OpState, Tensor, Traits, Violation, op,
};
use gradus_networks::columns::{Columns, extents};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// A function as instructions.
///
/// Values are registers: each operand must still be in the register of its type. Blocks follow each other in order, so that
/// the second successor of a conditional jump is the next block. The entry block's arguments are the registers that
/// `x64.call` passes.
///
/// ```mlir
/// x64.func @zero {
/// ^bb0(%c: !x64.gpr<rsi>, %x: !x64.zmm<0>):
///   %0 = x64.vxorps %x, %x : (!x64.zmm<0>, !x64.zmm<0>) -> !x64.zmm<0>
///   x64.vmovups_store %0 [%c] : (!x64.zmm<0>, !x64.gpr<rsi>) -> ()
///   x64.ret
/// }
/// ```
#[op(
    "x64.func",
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

/// A function as bytes.
#[op(
    "x64.code",
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

/// Computes a matrix by a function that works on columns of `b`.
///
/// The function gets the addresses of `b` (`rdi`), of the result (`rsi`), of the pool (`rdx`), of the residual (`r10`) and
/// of itself (`rax`), and computes the columns whose byte offsets in a row of the result are from `rcx` to `r8`. There is a call for each `tile` bytes
/// of a row; it works in steps of `panel` bytes. Columns that do not fill a panel are computed under a mask, a bit of `r9` for
/// each element, if the code is `masked`, and otherwise by the last full panel of a row.
///
/// With `strips`, columns are divided into as many strips of equal width, the rows of an image, which are computed one by one as rows are
/// without: for strip `i`, `rdi` is `i * pitch` bytes behind the start of `b`, and `rsi` and `r10` are at the first column of the strip.
///
/// A result of rank 3 has bands: matrices of equal size, one after the other, with as many strips each. Threads that compute a band
/// each write to memory of their own.
///
/// The code determines which elements of `b` it reads: a matrix product reads column `j` of `b` for column `j` of the result, a
/// convolution the elements of an image at the same distances from its output position. The residual is added element by element: where
/// it is poison, so is the result.
///
/// ```mlir
/// x64.code @empty = dense<195> : tensor<1xui8>
/// func.func @f(%pool: tensor<12xf32>, %b: tensor<64x100xf32>) -> tensor<8x100xf32> {
///   %c = x64.call @empty(%pool, %b) panel 64 tile 2048 masked : (tensor<12xf32>, tensor<64x100xf32>) -> tensor<8x100xf32>
///   return %c : tensor<8x100xf32>
/// }
/// ```
#[op(
    "x64.call",
    traits = Traits::MACHINE_CODE.and(Traits::SEES_POISON),
    effects = Effects::MayUb,
    format = "$callee `(` $pool `,` $b `)` (`plus` $add^)? (`strips` $strips^ `pitch` $pitch)? `panel` $panel `tile` $tile (`masked` $masked^)? attr-dict `:` functional-type(operands, results)",
    verify = verify_call,
    verify_symbols = verify_callee,
    eval = call
)]
pub struct CallOp {
    /// Function.
    callee: Attribute<FLAT_SYMBOL>,
    /// Number of strips of all bands, which divides the number of columns; 1 without the attribute.
    strips: OptAttribute<I64>,
    /// Bytes of `b` from a strip to the next; 0 without the attribute.
    pitch: OptAttribute<I64>,
    /// Bytes of a row per step, a positive multiple of the size of an element, at most 256.
    panel: Attribute<I64>,
    /// Bytes of a row per call, a positive multiple of `panel`.
    tile: Attribute<I64>,
    /// Whether the code computes under a mask.
    masked: OptAttribute<FLAG>,
    /// Constants that the code reads, `[P]`.
    pool: Operand<TENSOR>,
    /// Matrix or image, row-major.
    b: Operand<TENSOR>,
    /// Residual, which the code adds to the result: a tensor of its type.
    add: OptOperand<TENSOR>,
    /// Result, `[M, N]` or in bands `[B, M, N / B]`, row-major.
    y: OpResult<TENSOR>,
}

/// The sizes of a call, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abi {
    /// Size of an element.
    pub element: u64,
    /// Size of the pool.
    pub pool: u64,
    /// Size of `b`.
    pub input: u64,
    /// Size of the result.
    pub output: u64,
    /// Size of the residual: that of the result; 0 without a residual.
    pub residual: u64,
    /// Size of a row of the result.
    pub row: u64,
    /// Number of bands of the result, at least 1.
    pub bands: u64,
    /// Number of strips of all bands, at least 1 for each.
    pub strips: u64,
    /// Bytes of `b` from a strip to the next.
    pub pitch: u64,
    /// Bytes of a row per step.
    pub panel: u64,
    /// Bytes of a row per call.
    pub tile: u64,
    /// Whether the code computes under a mask.
    pub masked: bool,
}

impl Abi {
    /// Reads the sizes of a call.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(args: &OpArgs<'_>) -> Result<Abi, Violation> {
        let (ctx, types) = (
            args.ctx(),
            [args.operand_type(0), args.operand_type(1), *args.result_types.first().ok_or("has no result")?],
        );
        let [pool, input, output] = types.map(|ty| extents(ctx, ty));
        let (Some(pool @ &[_]), Some(input), Some(result @ (&[_, n] | &[_, _, n]))) =
            (pool.as_deref(), input.as_deref(), output.as_deref())
        else {
            return Err("requires a vector, a tensor and a matrix, or bands of one, of static shape".into());
        };
        let dtype = ctx.dtype(ctx.element_type(types[1])).ok_or("requires elements that have a size in bytes")?;
        if types.iter().any(|&ty| ctx.dtype(ctx.element_type(ty)) != Some(dtype)) {
            return Err("requires elements of one type".into());
        }
        let residual = args.operand("add").first().map(|&v| args.module.value_type(v));
        if residual.is_some_and(|ty| ty != types[2]) {
            return Err("requires a residual of the type of the result".into());
        }
        let element = dtype.size() as u64;
        let bytes =
            |extents: &[u64]| extents.iter().try_fold(element, |n, &d| n.checked_mul(d)).filter(|&n| n < 1 << 31);
        let (Some(pool), Some(input), Some(output)) = (bytes(pool), bytes(input), bytes(result)) else {
            return Err("requires operands and a result of less than 2 GiB".into());
        };
        let residual = if residual.is_some() { output } else { 0 };
        let int = |name| args.int(name).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let (panel, tile, masked) = (int("panel"), int("tile"), args.flag("masked"));
        if !(1..=256).contains(&panel) || panel % element != 0 || tile == 0 || tile % panel != 0 || panel / element > 64
        {
            return Err("requires panels of at most 64 elements and 256 bytes, and tiles of whole panels".into());
        }
        let Columns { bands, strips, pitch, .. } = Columns::of(args, result, input)?;
        let [bands, strips, pitch] = [bands, strips, pitch].map(|n| n as u64);
        let row = n * element;
        let abi = Abi { element, pool, input, output, residual, row, bands, strips, pitch, panel, tile, masked };
        if !masked && abi.strip() < panel {
            return Err(format!("has strips of {} bytes, but code without a mask needs {panel}", abi.strip()).into());
        }
        Ok(abi)
    }

    /// Bytes of a row in a strip.
    pub fn strip(&self) -> u64 {
        self.row / (self.strips / self.bands)
    }

    /// Offset of the first column of a strip in the result.
    pub fn start(&self, strip: u64) -> u64 {
        let in_band = self.strips / self.bands;
        strip / in_band * (self.output / self.bands) + strip % in_band * self.strip()
    }

    /// The sizes from a strip on, of which those of the last strip are the least. A result without rows has no bytes there either.
    pub fn from_strip(&self, strip: u64) -> Abi {
        let result = self.start(strip);
        let [output, residual] = [self.output, self.residual].map(|size| size.saturating_sub(result));
        Abi { input: self.input.saturating_sub(strip * self.pitch), output, residual, ..*self }
    }

    /// Bytes of a strip in full panels.
    pub fn full(&self) -> u64 {
        self.strip() / self.panel * self.panel
    }

    /// A mask of all elements of a panel.
    pub fn all(&self) -> u64 {
        u64::MAX >> (64 - self.panel / self.element)
    }

    /// The call for the columns that do not fill a panel.
    pub fn tail(&self) -> Option<ColumnRange> {
        let (full, rest) = (self.full(), self.strip() % self.panel);
        match self.masked {
            _ if rest == 0 => None,
            true => Some(ColumnRange {
                start: full,
                end: full + self.panel,
                mask: self.all() >> ((self.panel - rest) / self.element),
            }),
            false => Some(ColumnRange { start: self.strip() - self.panel, end: self.strip(), mask: self.all() }),
        }
    }

    /// All calls for a strip; the last one, for the tail, may compute columns again.
    pub fn tiles(&self) -> impl Iterator<Item = ColumnRange> {
        let (full, tile, mask) = (self.full(), self.tile, self.all());
        let starts = (0..full.div_ceil(tile)).map(move |i| i * tile);
        starts.map(move |start| ColumnRange { start, end: (start + tile).min(full), mask }).chain(self.tail())
    }
}

fn verify_func(m: &Module, op: Op) -> Result<(), Violation> {
    let body = FuncOp(op).body(m);
    let last = m.region_blocks(body).next_back().and_then(|block| m.last_op(block)).ok_or("requires instructions")?;
    if RetOp::cast(m, last).is_none() {
        return Err("requires that its last block ends in 'x64.ret'".into());
    }
    assemble(m, body).map(drop).map_err(|(at, why)| format!("'{}' {why}", m.name_text(at)).into())
}

fn verify_code(m: &Module, op: Op) -> Result<(), Violation> {
    let value = CodeOp(op).value(m).ok_or("requires bytes")?;
    m.ctx.extend(CheckedCode::default());
    let checked = m.ctx.extension::<CheckedCode>().map(|checked| &checked.0);
    let lock = || checked.map(|checked| checked.lock().unwrap_or_else(PoisonError::into_inner));
    let known = lock().and_then(|all| all.get(&value).copied());
    let result = match known {
        Some(result) => result,
        None => check_code(bytes_of(m, op).ok_or("requires bytes")?.bytes()),
    };
    if let Some(mut all) = lock() {
        all.insert(value, result);
    }
    result.map_err(|at| format!("byte {at} is not the start of an instruction of this dialect").into())
}

/// Results of decoding constants, each of which is decoded once although it is verified after each pass.
#[derive(Default)]
struct CheckedCode(Mutex<FxHashMap<Attr, Result<(), usize>>>);

fn verify_call(m: &Module, op: Op) -> Result<(), Violation> {
    m.with_args(op, Abi::of).unwrap_or_else(|| Err("is not declared".into())).map(drop)
}

fn verify_callee(m: &Module, op: Op, tables: &mut SymbolTables) -> Result<(), Violation> {
    match tables.resolve(m, op, CallOp(op).callee(m).ok_or("has no callee")?) {
        Some(found) if FuncOp::cast(m, found).is_some() || CodeOp::cast(m, found).is_some() => Ok(()),
        _ => Err("requires the symbol of an 'x64.func' or 'x64.code'".into()),
    }
}

/// The bytes of an `x64.code`.
pub(super) fn bytes_of(m: &Module, op: Op) -> Option<Tensor> {
    m.ctx.dense_tensor(CodeOp::cast(m, op)?.value(m)?)
}

/// Replaces all `x64.code` by `x64.func`. Returns the functions, in program order.
///
/// # Errors
/// The op whose bytes are not instructions of the dialect, or jump out of it.
pub fn disassemble(m: &mut Module) -> Result<Vec<Op>, Diagnostic> {
    let mut functions = Vec::new();
    for op in m.ops_under(m.root()) {
        functions.extend(FuncOp::cast(m, op).map(|func| func.0));
        let (Some(code), Some(name)) = (bytes_of(m, op), CodeOp::cast(m, op).and_then(|code| code.sym_name(m))) else {
            continue;
        };
        let loc = m.loc(op);
        let mut state = OpState::new(&m.ctx, FuncOp::INFO.name, loc);
        state.inherent(&m.ctx, "sym_name", Some(name));
        state.regions = 1;
        let func = Builder::before(m, op).create(state);
        let region = m.regions(func)[0];
        let failed = |at| Diagnostic::error(loc, format!("byte {at} of the code cannot be disassembled"));
        lift(m, region, code.bytes(), loc).map_err(failed)?;
        m.erase_op(op);
        functions.push(func);
    }
    Ok(functions)
}

/// Returns the code of the function that a call names, assembled if it stands as instructions.
///
/// # Errors
/// There is no such function, or it cannot be assembled.
pub fn code_of(m: &Module, call: Op) -> Result<Vec<u8>, Violation> {
    let callee = CallOp::cast(m, call).and_then(|call| call.callee(m)).ok_or("is not a call")?;
    let found = SymbolTables::default().resolve(m, call, callee).ok_or("names no function")?;
    if let Some(code) = bytes_of(m, found) {
        return Ok(code.bytes().to_vec());
    }
    let func = FuncOp::cast(m, found).ok_or("names no function")?;
    assemble(m, func.body(m)).map_err(|(at, why)| format!("calls code in which '{}' {why}", m.name_text(at)).into())
}

fn call(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    if data[..2].iter().any(Datum::has_poison) || data.get(2) == Some(&Datum::Poison) {
        return Ok(vec![args.ctx().poison_of(args.result_types[0])]);
    }
    let (pool, b) = (data[0].tensor()?, data[1].tensor()?);
    let Some(residual) = data.get(2) else { return Ok(vec![Datum::Tensor(compute(args, pool, b, &[])?)]) };
    // The code adds it element by element; whatever stands where it is poison is not seen.
    let (residual, mask) = residual.masked().ok_or_else(|| Trap::unsupported("a residual that is no tensor"))?;
    let result = compute(args, pool, b, residual.bytes())?;
    Ok(vec![match mask {
        Some(mask) => PoisonTensor::datum(result, mask.to_vec()),
        None => Datum::Tensor(result),
    }])
}

/// Runs the code on all strips. Without a residual its bytes are empty.
fn compute(args: &OpArgs<'_>, pool: &Tensor, b: &Tensor, residual: &[u8]) -> Result<Tensor, Trap> {
    let call = args.op.ok_or_else(|| Trap::unsupported("a call outside of a module"))?;
    let abi = Abi::of(args)?;
    let code = code_of(args.module, call)?;
    let code = decode_all(&code).map_err(|at| format!("byte {at} of the code is not the start of an instruction"))?;
    let mut out = vec![0; abi.output as usize];
    for strip in 0..abi.strips {
        let rest = abi.from_strip(strip);
        let b = &b.bytes()[(abi.input - rest.input) as usize..];
        let residual = &residual[(abi.residual - rest.residual) as usize..];
        let out = &mut out[(abi.output - rest.output) as usize..];
        for tile in abi.tiles() {
            simulate(&code, &tile, [pool.bytes(), b, residual], out)?;
        }
    }
    let shape = args.ctx().static_shape(args.result_types[0]).unwrap_or(&[]);
    let shape = shape.iter().map(|&d| d as usize).collect();
    Ok(Tensor::new(b.dtype(), shape, out.into())?)
}
