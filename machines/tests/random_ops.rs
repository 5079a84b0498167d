//! Random operands and attributes for every op: nothing panics, and results have the inferred types.

use gradus_ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus_ir::{
    Arity, Attr, AttrData, AttrSpec, Builder, Context, DType, Loc, Module, OpArgs, OpInfo, OpState, Tensor, Traits,
    Type, Value,
};
use gradus_networks::graph::DIALECT;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

/// Number of programs per op.
const TRIALS: u64 = 40;

/// A deterministic generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() % n.max(1)
    }

    fn int(&mut self) -> i64 {
        let odd = [i64::MIN, i64::MAX, -7, 100, 1 << 40];
        if self.below(40) == 0 { odd[self.below(odd.len())] } else { self.below(6) as i64 - 2 }
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

static CONTEXT: LazyLock<Arc<Context>> = LazyLock::new(gradus_machines::context);

/// A program of one op under construction.
struct OpProgram {
    module: Module,
    state: OpState,
    data: Vec<Datum>,
    /// Number of operands in each group.
    sizes: Vec<i32>,
    random: Random,
    /// Shape from which most operand shapes are derived.
    base: Vec<usize>,
}

const DTYPES: [DType; 10] = [
    DType::F32,
    DType::F32,
    DType::I64,
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::F64,
    DType::F16,
    DType::I32,
    DType::F8E4M3FN,
];

impl OpProgram {
    fn new(info: &OpInfo, seed: u64) -> OpProgram {
        let ctx = CONTEXT.clone();
        let mut random = Random(seed);
        let rank = random.pick(&[0, 1, 2, 2, 3, 3, 4, 5]);
        let base = (0..rank).map(|_| random.pick(&[1, 2, 2, 3, 4, 0])).collect();
        let state = OpState::new(&ctx, info.name, Loc::UNKNOWN);
        OpProgram { module: Module::new(ctx), state, data: Vec::new(), sizes: Vec::new(), random, base }
    }

    fn shape(&mut self) -> Vec<usize> {
        let mut shape = self.base.clone();
        match self.random.below(6) {
            0 => (0..self.random.below(5)).map(|_| self.random.pick(&[1, 2, 3, 0])).collect(),
            1 => vec![self.base.get(1).copied().unwrap_or(2)],
            2 if !shape.is_empty() => {
                let i = self.random.below(shape.len());
                shape[i] = self.random.pick(&[1, 2, 3, 5]);
                shape
            }
            3 => vec![self.random.pick(&[1, 2, self.base.len()])],
            _ => shape,
        }
    }

    /// Creates an operand of an element type that the group accepts, possibly a constant.
    fn operand(&mut self, info: &OpInfo, group: usize, dtype: DType) -> Option<Value> {
        let ctx = self.module.ctx.clone();
        let accepts = |d: DType| (info.operands[group].ty.check)(&ctx, ctx.tensor_type(&[], ctx.dtype_type(d)));
        let dtype = std::iter::once(dtype).chain(DTYPES).find(|&d| accepts(d))?;
        let shape = self.shape();
        let n = shape.iter().product();
        let ints: Vec<i64> = (0..n).map(|_| self.random.int()).collect();
        let tensor = match dtype.is_float() {
            true => floats_to_tensor(dtype, &shape, ints.iter().map(|&v| v as f64 / 2.0).collect()),
            false => ints_to_tensor(dtype, &shape, &ints),
        };
        let dims: Vec<i64> = shape.iter().map(|&d| d as i64).collect();
        let ty = ctx.tensor_type(&dims, ctx.dtype_type(dtype));
        self.data.push(Datum::Tensor(tensor.clone()));
        let body = self.module.body();
        if self.random.below(2) == 0 {
            return Some(self.module.add_block_arg(body, ty, Loc::UNKNOWN));
        }
        Builder::at_end(&mut self.module, body).constant(ctx.dense_attr(ty, &tensor), ty, "graph", Loc::UNKNOWN)
    }

    fn operands(&mut self, info: &OpInfo) -> Option<()> {
        let dtype = self.random.pick(&DTYPES);
        for (i, group) in info.operands.iter().enumerate() {
            let count = match group.arity {
                Arity::One => 1,
                Arity::Optional => self.random.below(2),
                Arity::Variadic => self.random.below(4),
            };
            // Without operand segments, only trailing operands can be absent.
            let count =
                if info.traits.has(Traits::OPERAND_SEGMENTS) || i + 1 == info.operands.len() { count } else { 1 };
            let values: Option<Vec<Value>> = (0..count).map(|_| self.operand(info, i, dtype)).collect();
            let values = values?;
            self.sizes.push(values.len() as i32);
            self.state.operand_group(&values);
        }
        Some(())
    }

    /// Creates an attribute that the declaration accepts.
    fn attribute(&mut self, spec: &AttrSpec) -> Option<Attr> {
        let ctx = self.module.ctx.clone();
        let words: Vec<&str> = spec.doc.split('`').skip(1).step_by(2).chain(["ij,jk->ik", "...i,...i", "ii"]).collect();
        let ints: Vec<i64> = (0..self.random.below(5)).map(|_| self.random.int()).collect();
        let word = ctx.string_attr(self.random.pick(&words));
        let value = self.random.int();
        let candidates = [
            ctx.int_attr(Type::I64, value),
            ctx.float_attr(Type::F32, value as f64 / 4.0),
            ctx.i64_array_attr(&ints),
            word,
            ctx.type_attr(ctx.dtype_type(self.random.pick(&DTYPES))),
            ctx.dense_attr(ctx.tensor_type(&[1], Type::I64), &Tensor::from_vec(&[1], vec![value])),
            ctx.array_attr(&[word, word]),
            ctx.attr(AttrData::DenseArray { elem: Type::F32, data: 0.5f32.to_le_bytes().into() }),
        ];
        candidates.into_iter().find(|&a| (spec.kind.check)(&ctx, a))
    }

    fn attributes(&mut self, info: &OpInfo) {
        for spec in info.attrs {
            if !spec.optional || self.random.below(3) == 0 {
                let value = self.attribute(spec);
                let ctx = self.module.ctx.clone();
                self.state.inherent(&ctx, spec.name, value);
            }
        }
    }

    /// Infers and executes the op; returns mismatches.
    fn run(&mut self, info: &'static OpInfo) -> Result<bool, String> {
        let ctx: Arc<Context> = self.module.ctx.clone();
        let extra = info.results.iter().filter(|r| r.arity != Arity::One).count();
        let results = info.results.len() - extra + self.random.below(extra * 3 + 1);
        let mut props = self.state.props.clone();
        if info.traits.has(Traits::OPERAND_SEGMENTS) {
            props.push((ctx.str("operandSegmentSizes"), ctx.i32_array_attr(&self.sizes)));
        }
        let (module, operands, open) = (&self.module, &self.state.operands, vec![Type::NONE; results.max(1)]);
        let args = OpArgs { module, info, operands, props: ctx.dict_attr(props), result_types: &open, op: None };
        let types = info.infer.map(|infer| infer(&args)).expect("every op infers");
        // Called directly: the result types are open.
        let eval = info.eval.expect("every op evaluates");
        let Ok(results) = eval(&args, &self.data) else { return Ok(false) };
        let types = types.map_err(|e| format!("executes, but inference says: {e}"))?;
        for (ty, result) in types.iter().zip(&results) {
            if !ctx.is_value(*ty, result) {
                return Err(format!("{} is inferred for {result:?}", ctx.display_type(*ty)));
            }
        }
        Ok(true)
    }
}

#[test]
fn random_operands_are_executed_as_inferred_or_refused() {
    let trials = std::env::var("GRADUS_TRIALS").ok().and_then(|t| t.parse().ok()).unwrap_or(TRIALS);
    let (mut failures, mut executed) = (Vec::new(), 0);
    for (i, info) in DIALECT.ops.iter().enumerate() {
        for trial in 0..trials {
            let one = || -> Result<bool, String> {
                let mut program = OpProgram::new(info, (i as u64) << 32 | trial);
                if program.operands(info).is_none() {
                    return Ok(false);
                }
                program.attributes(info);
                program.run(info)
            };
            match catch_unwind(AssertUnwindSafe(one)) {
                Ok(Ok(done)) => executed += u64::from(done),
                Ok(Err(why)) => failures.push(format!("{} {trial}: {why}", info.name)),
                Err(_) => failures.push(format!("{} {trial}: panics", info.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    // Guards against programs that are all rejected.
    assert!(executed > DIALECT.ops.len() as u64 * trials / 10, "only {executed} programs were executed");
}
