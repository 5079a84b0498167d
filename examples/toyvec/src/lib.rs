//! A target outside of Gradus: a vector machine with three instructions, `add`, `mul` and `mac`.
//!
//! This file has all parts of the target: the instructions as ops, the lowering, the simulator, the costs, and the declaration that
//! ties them together. [`tool`] adds it to Gradus.

use gradus::ir::{DType, Tensor, TypeData};
use gradus::prelude::*;
use std::collections::HashMap;

/// Returns the tool: Gradus with one more target.
pub fn tool() -> Tool {
    Tool::new("toyvec").with_targets(&[&TARGET])
}

/// The target.
pub static TARGET: Target = Target {
    cost: CostModel {
        name: "toyvec",
        doc: "a vector machine with three instructions; costs in cycles",
        machine: include_str!("../toyvec.toml"),
        cost: Pricing::Descriptors(|machine| price(Numbers::of(machine), Numbers::cost)),
        ops: || vec!["graph.add", "graph.mul", "toyvec.*"],
        groups: &["toyvec"],
        ..CostModel::DEFAULT
    },
    version: 1,
    pipeline: "builtin.module(canonicalize,saturate{target=toyvec},convert-graph-to-toyvec,canonicalize)",
    dialects: &[&DIALECT],
    passes: &[&LOWERING],
    load: Some(|m, function, machine, _| Ok(Box::new(Simulator::new(m, function, Numbers::of(machine)?)?))),
    listing: Some(listing),
    ..Target::DEFAULT
};

machine_numbers! {
    /// The numbers of the machine.
    struct Numbers {
        lanes,
        start,
    }
}

impl Numbers {
    /// Returns the cycles of an instruction on vectors of `n` elements.
    fn cycles(&self, n: u64) -> u64 {
        self.start + n.div_ceil(self.lanes)
    }

    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Relayout(n) | OpCost::Map(n) => self.cycles(n),
            OpCost::Contract(c) => self.cycles(c.products()),
        }
    }
}

/// The instructions.
static DIALECT: Dialect = Dialect {
    name: "toyvec",
    doc: "The instructions of a vector machine.",
    ops: &[AddOp::INFO, MulOp::INFO, MacOp::INFO],
    rule_groups: &[RuleGroup {
        name: "toyvec",
        doc: "a product and a sum as one instruction",
        rules: &[rule("mac", "graph.add(graph.mul(x: T, y: T): T, z: T): T => mac(x, y, z): T if vector(T)")],
    }],
    rule_functions: &[&RuleFunction::test("vector", "a vector of the machine", &[ArgKind::Type], |m, x| {
        is_vector(&m.ctx, x[0].ty())
    })],
    ..Dialect::DEFAULT
};

/// The values of the machine.
const VECTOR: TypeConstraint =
    TypeConstraint { summary: "1-D tensor of f32 with static extent", check: is_vector, only: None };

fn is_vector(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::Tensor { elem: Type::F32, .. })
        && ctx.static_shape(ty).is_some_and(|shape| shape.len() == 1)
}

macro_rules! instructions {
    ($($(#[doc = $doc:literal])* $Op:ident $name:literal $format:literal $function:ident ($($operand:ident),*))*) => { $(
        $(#[doc = $doc])*
        #[op($name, traits = Traits::SAME_TYPE, eval = eval, extensions = &[&ElementFn($function)], format = $format)]
        pub struct $Op {
            $(#[doc = "An operand."] $operand: Operand<VECTOR>,)*
            /// The result.
            result: OpResult<VECTOR>,
        }
    )* };
}

instructions! {
    /// The sums of the elements.
    AddOp "toyvec.add" "$x `,` $y attr-dict `:` type($result)" add (x, y)
    /// The products of the elements.
    MulOp "toyvec.mul" "$x `,` $y attr-dict `:` type($result)" mul (x, y)
    /// The products of the elements of `x` and `y`, each rounded, plus the elements of `z`.
    MacOp "toyvec.mac" "$x `,` $y `,` $z attr-dict `:` type($result)" mac (x, y, z)
}

/// The function of an instruction on an element of each operand, in its declaration.
struct ElementFn(fn(&[f32]) -> f32);

impl Extension for ElementFn {}

fn add(x: &[f32]) -> f32 {
    x[0] + x[1]
}

fn mul(x: &[f32]) -> f32 {
    x[0] * x[1]
}

fn mac(x: &[f32]) -> f32 {
    x[0] * x[1] + x[2]
}

/// Evaluates an instruction elementwise.
fn eval(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let ElementFn(function) = args.info.extension().ok_or_else(|| Trap::unsupported("is no instruction"))?;
    let tensors = data.iter().map(Datum::tensor).collect::<Result<Vec<_>, _>>()?;
    let operands: Vec<_> = tensors.iter().map(|tensor| tensor.as_slice::<f32>()).collect();
    let each = |i| function(&operands.iter().map(|x| x[i]).collect::<Vec<f32>>());
    let result = (0..tensors[0].len()).map(each).collect();
    Ok(vec![Datum::Tensor(Tensor::from_vec(tensors[0].shape(), result))])
}

/// The lowering.
static LOWERING: PassInfo = PassInfo {
    name: "convert-graph-to-toyvec",
    doc: "Convert sums and products of vectors to instructions

# Before / After

```mlir
%0 = graph.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>   // becomes: %0 = toyvec.add %x, %y : tensor<8xf32>
```

# Does

Converts `graph.add` and `graph.mul` on vectors of equal static extent.

# Refuses

Broadcasting and other types.

# Cost

Linear in the number of ops.",
    make: |_| Ok(Box::new(Lowering)),
    ..PassInfo::DEFAULT
};

struct Lowering;

impl Pass for Lowering {
    fn run(&mut self, m: &mut Module, root: Op, _: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let patterns = [
            ConversionPattern::new("add", "graph.add", |r, op, x| {
                lower(r, op, x, |b, loc, [x, y]| AddOp::build(b, loc, x, y, &[]).result(b.module))
            }),
            ConversionPattern::new("mul", "graph.mul", |r, op, x| {
                lower(r, op, x, |b, loc, [x, y]| MulOp::build(b, loc, x, y, &[]).result(b.module))
            }),
        ];
        let mut target = ConversionTarget::new("toyvec");
        target.unknown_op("graph.add");
        target.unknown_op("graph.mul");
        target.legal_unknown();
        apply_partial_conversion(m, root, &target, &patterns)?;
        Ok(())
    }
}

fn lower(
    r: &mut ConversionRewriter<'_>,
    op: Op,
    operands: &Operands,
    build: impl Fn(&mut Builder<'_>, Loc, [Value; 2]) -> Value,
) -> Match {
    let (m, values) = (r.module(), [operands.one(0)?, operands.one(1)?]);
    let ty = m.value_type(m.result(op, 0));
    if !is_vector(&m.ctx, ty) || values.iter().any(|&v| m.value_type(v) != ty) {
        return Err("its operands are no vectors of its type".into());
    }
    let loc = m.loc(op);
    let value = r.build(InsertPoint::Before(op), |b| build(b, loc, values));
    r.replace(op, &[value]);
    Ok(())
}

/// An instruction of the machine: registers hold vectors.
struct Instruction {
    op: Op,
    function: &'static ElementFn,
    reads: Vec<usize>,
    cycles: u64,
}

/// A function as instructions, and the state of the machine.
struct Simulator {
    function: Op,
    signature: Signature,
    /// Extents of the arguments, which are the first registers.
    arguments: Vec<usize>,
    constants: Vec<Tensor>,
    instructions: Vec<Instruction>,
    results: Vec<usize>,
    /// Number of calls.
    calls: u64,
}

impl Simulator {
    /// Decodes a function, which is straight-line code of instructions.
    fn new(m: &Module, function: Op, numbers: Numbers) -> Result<Simulator, String> {
        let blocks: Vec<Block> = m.regions(function).iter().flat_map(|&region| m.region_blocks(region)).collect();
        let &[block] = &blocks[..] else { return Err("a toyvec program is straight-line code".into()) };
        let mut simulator = Simulator {
            function,
            signature: Signature::of(m, function),
            arguments: Vec::new(),
            constants: Vec::new(),
            instructions: Vec::new(),
            results: Vec::new(),
            calls: 0,
        };
        let mut registers: HashMap<Value, usize> = HashMap::new();
        for &argument in m.block_args(block) {
            simulator.arguments.push(extent(m, argument)?);
            registers.insert(argument, registers.len());
        }
        let constants: Vec<Op> = m.block_ops(block).filter(|&op| m.has_trait(op, Traits::CONSTANT_LIKE)).collect();
        for op in constants {
            extent(m, m.result(op, 0))?;
            let tensor = m.constant(m.result(op, 0)).and_then(|attr| m.ctx.dense_tensor(attr));
            simulator.constants.push(tensor.ok_or("a constant has no elements")?);
            registers.insert(m.result(op, 0), registers.len());
        }
        for op in m.block_ops(block).filter(|&op| !m.has_trait(op, Traits::CONSTANT_LIKE)) {
            let reads = m.operands(op).iter().map(|v| registers.get(v).copied().ok_or("an operand is not computed"));
            let reads = reads.collect::<Result<Vec<usize>, _>>()?;
            if m.has_trait(op, Traits::RETURN_LIKE) {
                simulator.results = reads;
                continue;
            }
            let function = m.info(op).and_then(|info| info.extension());
            let function = function.ok_or_else(|| format!("'{}' is no instruction of toyvec", m.name_text(op)))?;
            let cycles = numbers.cycles(extent(m, m.result(op, 0))? as u64);
            simulator.instructions.push(Instruction { op, function, reads, cycles });
            registers.insert(m.result(op, 0), registers.len());
        }
        Ok(simulator)
    }
}

/// Returns the number of elements of a vector.
fn extent(m: &Module, value: Value) -> Result<usize, String> {
    let ty = m.value_type(value);
    let shape = m.ctx.static_shape(ty).filter(|_| is_vector(&m.ctx, ty));
    let extent = shape.and_then(|shape| usize::try_from(shape[0]).ok());
    extent.ok_or_else(|| format!("'{}' is no vector of toyvec", m.ctx.display_type(ty)))
}

impl Executable for Simulator {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn call(&mut self, args: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        let fits =
            |(datum, &n): (&Datum, &usize)| datum.tensor().is_ok_and(|t| t.dtype() == DType::F32 && t.shape() == [n]);
        if args.len() != self.arguments.len() || !args.iter().zip(&self.arguments).all(fits) {
            return Err(Stop { op: self.function, trap: Trap::unsupported("is called with other vectors") });
        }
        self.calls += 1;
        let mut registers: Vec<Vec<f32>> = Vec::new();
        let constants = self.constants.iter().map(|tensor| Datum::Tensor(tensor.clone()));
        for datum in args.into_iter().chain(constants) {
            registers.extend(datum.tensor().ok().map(|tensor| tensor.as_slice::<f32>().into_owned()));
        }
        for instruction in &self.instructions {
            let reads: Vec<&Vec<f32>> = instruction.reads.iter().filter_map(|&r| registers.get(r)).collect();
            let n = reads.iter().map(|x| x.len()).min().unwrap_or(0);
            let each = |i: usize| (instruction.function.0)(&reads.iter().map(|x| x[i]).collect::<Vec<f32>>());
            let result = (0..n).map(each).collect();
            registers.push(result);
        }
        let result = |&r: &usize| Datum::Tensor(Tensor::from_vec(&[registers[r].len()], registers[r].clone()));
        Ok(self.results.iter().map(result).collect())
    }

    fn statistics(&self) -> Vec<Statistic> {
        let cycles: u64 = self.instructions.iter().map(|instruction| instruction.cycles).sum();
        [("simulated time", cycles, "cycles"), ("executed", self.instructions.len() as u64, "instructions")]
            .map(|(name, value, unit)| Statistic { name: name.to_owned(), value: value as f64, unit })
            .into()
    }

    fn op_times(&self) -> Option<OpTimes> {
        let cycles = |instruction: &Instruction| (instruction.op, (instruction.cycles * self.calls) as f64);
        Some(OpTimes { unit: "cycles", ops: self.instructions.iter().map(cycles).collect() })
    }
}

/// Lists the instructions of a program.
fn listing(m: &Module) -> String {
    let mut registers: HashMap<Value, usize> = HashMap::new();
    let mut text = String::new();
    for op in m.ops_under(m.root()) {
        let number = |registers: &mut HashMap<Value, usize>, value| {
            let next = registers.len();
            *registers.entry(value).or_insert(next)
        };
        let Some(name) = m.name_text(op).strip_prefix("toyvec.") else { continue };
        let reads: Vec<String> = m.operands(op).iter().map(|&v| format!("v{}", number(&mut registers, v))).collect();
        let result = number(&mut registers, m.result(op, 0));
        text += &format!("v{result} = {name} {}\n", reads.join(", "));
    }
    text
}
