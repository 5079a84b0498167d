//! `nna.call`: products by programs, and the packing of their operands.

use super::program::{ProgramOp, code_of, layout_of};
use gradus_dialects::constraint::{BYTE_TENSOR, FLAT_SYMBOL, FLOAT_TENSOR, INT_TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{DType, Effects, Module, Op, OpArgs, OpDecl, Tensor, Traits, Violation, op};
use gradus_simulators::nna::{
    Conditions, Layout, LoopOrder, NnaInst, NnaMachine, ProductPlan, ProductProgram, Shape, Statistics, Terms,
    scale_of, simulate,
};

/// Computes a product by a program: `(a - a_zero)(b - b_zero) + bias`, in i32 or requantized to bytes.
///
/// The host packs the operands into the program's memory, with the terms of zero points and bias as the sums to begin with,
/// and unpacks the result. Unsigned bytes become signed ones, whose zero point is less by 128. A program with a zero point
/// requantizes by `scale`: `clamp(round(sum * scale) + zero)`, half to even. Hazards are rejected.
///
/// ```mlir
/// nna.program @nothing product [1, 1, 1] scalar kernel_outer resident 1 machine [8, 2, 2, 65536, 4, 2, 4, 1, 1, 1, 4, 4, 2, 9, 8] {
///   nna.halt
/// }
/// func.func @f(%a: tensor<1x1xi8>, %b: tensor<1x1xi8>) -> tensor<1x1xi32> {
///   %c = nna.call @nothing %a, %b : (tensor<1x1xi8>, tensor<1x1xi8>) -> tensor<1x1xi32>
///   return %c : tensor<1x1xi32>
/// }
/// ```
#[op(
    "nna.call",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::MayUb,
    format = "$callee $a `,` $b (`a_zero` $a_zero^)? (`b_zero` $b_zero^)? (`bias` $bias^)? (`scale` $scale^)? attr-dict `:` functional-type(operands, results)",
    verify_symbols = verify_callee,
    eval = call
)]
pub struct CallOp {
    /// Program.
    callee: Attribute<FLAT_SYMBOL>,
    /// Left matrix, `[M, K]`.
    a: Operand<BYTE_TENSOR>,
    /// Right matrix, `[K, N]`.
    b: Operand<BYTE_TENSOR>,
    /// Zero point of `a`: a scalar, or one per row.
    a_zero: OptOperand<BYTE_TENSOR>,
    /// Zero point of `b`: a scalar, or one per column.
    b_zero: OptOperand<BYTE_TENSOR>,
    /// Bias of the rows, `[M]`.
    bias: OptOperand<INT_TENSOR>,
    /// Scale of the requantization: a scalar, or one per row.
    scale: OptOperand<FLOAT_TENSOR>,
    /// Product, `[M, N]`.
    y: OpResult<INT_TENSOR>,
}

/// A program that is ready to run.
pub struct Prepared {
    code: Vec<NnaInst>,
    layout: Layout,
    machine: NnaMachine,
    costs: PlanFigures,
}

/// Figures of a program that follow from its plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanFigures {
    /// Products, M * K * N.
    pub products: u64,
    /// Products that the array computes in a cycle.
    pub peak: u64,
    /// Bound of the plan, in cycles.
    pub bound: u64,
    /// Bytes of all kernels in the weight RAM, each written once.
    pub weight_bytes: u64,
    /// Estimated cycles of the plan with a single feature RAM.
    pub without_ping_pong: u64,
}

impl PlanFigures {
    fn of(layout: &Layout, machine: &NnaMachine) -> PlanFigures {
        let Shape { rows, depth, columns } = layout.shape;
        let plan = ProductPlan { ping_pong: false, order: LoopOrder::KernelOuter, ..layout.plan };
        PlanFigures {
            products: (rows * depth * columns) as u64,
            peak: machine.peak(),
            bound: layout.bound(machine),
            weight_bytes: layout.weight_bytes(),
            without_ping_pong: ProductProgram::new(layout.shape, plan, machine).map_or(0, |product| product.cycles),
        }
    }
}

impl Prepared {
    /// Returns the program that a call names.
    ///
    /// # Errors
    /// The symbol names no program, or an instruction does not exist on its machine.
    pub fn of(m: &Module, call: Op) -> Result<Prepared, Violation> {
        let callee = CallOp::cast(m, call).and_then(|call| call.callee(m)).ok_or("is not a call")?;
        let program = SymbolTables::default().resolve(m, call, callee).ok_or("names no program")?;
        let program = ProgramOp::cast(m, program).ok_or("names no program")?;
        let (code, layout, machine) = code_of(m, program.0)?;
        let costs = PlanFigures::of(&layout, &machine);
        Ok(Prepared { code, layout, machine, costs })
    }

    /// Returns the figures of the program.
    pub fn costs(&self) -> PlanFigures {
        self.costs
    }

    /// Runs the program on the operands of a call. Returns the result and the counts of the machine.
    ///
    /// # Errors
    /// An operand has another size, or the program is rejected.
    pub fn run(&self, args: &OpArgs<'_>, data: &[Datum]) -> Result<(Tensor, Statistics), Trap> {
        let operand = |name: &str| -> Result<Option<&Tensor>, Trap> {
            let before = args.info.operands.iter().take_while(|group| group.name != name);
            let at: usize = before.map(|group| args.operand(group.name).len()).sum();
            if args.operand(name).is_empty() { Ok(None) } else { data[at].tensor().map(Some) }
        };
        let [a, b] = [operand("a")?, operand("b")?].map(|x| x.map(signed).unwrap_or_default());
        let (terms, scales) = self.terms(operand)?;
        let initial = if self.layout.plan.initial { terms.initial(self.layout.shape, &a, &b) } else { Vec::new() };
        let conditions = Conditions::REJECT;
        let mut memory = self.layout.image(&a, &b, &initial, &scales, conditions.fill)?;
        let statistics = simulate(&self.code, &self.machine, &mut memory, &conditions)
            .map_err(|fault| format!("the program is rejected: {fault}"))?;
        let missing = |_| "the program writes a part of its result only".to_owned();
        let shape = [self.layout.shape.rows, self.layout.shape.columns];
        let result = if self.layout.plan.requantize.is_none() {
            Tensor::from_vec(&shape, self.layout.sums(&memory).map_err(missing)?)
        } else if args.ctx().dtype(args.ctx().element_type(args.result_types[0])) == Some(DType::U8) {
            let bytes = self.layout.bytes(&memory).map_err(missing)?;
            Tensor::from_vec(&shape, bytes.into_iter().map(|byte| byte as u8 ^ 0x80).collect())
        } else {
            Tensor::from_vec(&shape, self.layout.bytes(&memory).map_err(missing)?)
        };
        Ok((result, statistics))
    }

    /// Returns zero points and bias, and the factors of the requantization, one per row.
    fn terms<'a>(&self, operand: impl Fn(&str) -> Result<Option<&'a Tensor>, Trap>) -> Result<(Terms, Vec<i32>), Trap> {
        let shape = self.layout.shape;
        let offset = |x: Option<&Tensor>| if x.is_some_and(|x| x.dtype() == DType::U8) { 128 } else { 0 };
        let ints = |x: Option<&Tensor>| x.map(|x| x.to_f64().iter().map(|&z| z as i32).collect()).unwrap_or(vec![0]);
        let (a_offset, b_offset) = (offset(operand("a")?), offset(operand("b")?));
        let terms = Terms {
            a_zeros: ints(operand("a_zero")?).iter().map(|z| z - a_offset).collect(),
            b_zeros: ints(operand("b_zero")?).iter().map(|z| z - b_offset).collect(),
            bias: ints(operand("bias")?),
        };
        let fits = |list: &[i32], extent: usize| list.len() == 1 || list.len() == extent;
        if !fits(&terms.a_zeros, shape.rows) || !fits(&terms.b_zeros, shape.columns) || !fits(&terms.bias, shape.rows) {
            return Err("zero points or bias have another extent than the product".to_owned().into());
        }
        if !self.layout.plan.initial && !terms.is_zero() {
            return Err("the program has no initial sums, which zero points and bias need".to_owned().into());
        }
        if self.layout.plan.requantize.is_none() {
            return Ok((terms, Vec::new()));
        }
        let scale = operand("scale")?.ok_or_else(|| "the program requantizes, which needs a scale".to_owned())?;
        let factors: Option<Vec<i32>> = scale.to_f64().iter().map(|&s| scale_of(s as f32)).collect();
        let mut factors = factors.ok_or_else(|| "a scale has no factor of 24 bits".to_owned())?;
        if factors.len() == 1 {
            factors.resize(shape.rows, factors[0]);
        }
        Ok((terms, factors))
    }
}

/// Returns 8-bit integers as signed ones, less by 128 if they are unsigned.
fn signed(x: &Tensor) -> Vec<i8> {
    let flip = if x.dtype() == DType::U8 { 0x80 } else { 0 };
    x.bytes().iter().map(|&byte| (byte ^ flip) as i8).collect()
}

fn verify_callee(m: &Module, op: Op, tables: &mut SymbolTables) -> Result<(), Violation> {
    let callee = CallOp(op).callee(m).ok_or("has no callee")?;
    let program = tables.resolve(m, op, callee).and_then(|found| ProgramOp::cast(m, found));
    let program = program.ok_or("requires the symbol of an 'nna.program'")?;
    let (layout, _) = layout_of(&m.args(program.0).ok_or("is not declared")?)?;
    let shape = [layout.shape.rows, layout.shape.depth, layout.shape.columns].map(|d| d as i64);
    let call = CallOp(op);
    for (value, extents) in
        [(call.a(m), [shape[0], shape[1]]), (call.b(m), [shape[1], shape[2]]), (call.y(m), [shape[0], shape[2]])]
    {
        if m.ctx.static_shape(m.value_type(value)) != Some(&extents[..]) {
            return Err(format!("requires operands and a result of the program's extents {shape:?}").into());
        }
    }
    let result = m.ctx.dtype(m.ctx.element_type(m.value_type(call.y(m))));
    let is_byte = matches!(result, Some(DType::I8 | DType::U8));
    if layout.plan.requantize.is_some() != is_byte || !is_byte && result != Some(DType::I32) {
        return Err("requires a result of bytes if the program requantizes, and of i32 otherwise".into());
    }
    match call.scale(m).is_some() == is_byte {
        true => Ok(()),
        false => Err("requires a scale if the program requantizes, and none otherwise".into()),
    }
}

fn call(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let op = args.op.ok_or_else(|| Trap::unsupported("a call outside of a module"))?;
    Ok(vec![Datum::Tensor(Prepared::of(args.module, op)?.run(args, data)?.0)])
}
