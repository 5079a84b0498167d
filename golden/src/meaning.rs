//! The same meaning: what a chunk's functions compute is not changed by its passes.
//!
//! Every function that the interpreter can execute is called with random and with extreme arguments, before the passes
//! and after. Where the program was undefined or a result was poison before, anything may come after; otherwise the
//! results are the same bits, NaN being equal to NaN; so is what the memory of memrefs holds that were given or returned.
//! A chunk that runs no pass is canonicalized, so that a file that is
//! only about text checks its ops' folding too. The arguments depend on nothing but the function's name.

use crate::case::Case;
use crate::run;
use gradus::ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus::ir::float::{from_f64, to_f64};
use gradus::ir::layout::StridedLayout;
use gradus::ir::memory::{MemRef, Memory, Storage};
use gradus::ir::symbols::is_private;
use gradus::ir::{
    Context, DType, DYNAMIC, Module, Op, ParseOptions, Tensor, Traits, Type, TypeData, parse_module, symbol_name,
};
use gradus::runtime::interpreter::Interpreter;
use std::sync::Arc;

/// How often each function is called.
const ROUNDS: u64 = 200;

/// Memrefs of more elements are not made.
const MAX_ELEMENTS: i64 = 4096;

/// Calls that use more elements of memory are not compared.
const MAX_MEMORY: usize = 1 << 14;

/// A call that is still running after so many ops is given up.
const FUEL: u64 = 4096;

/// How many times as many a call may take after the passes.
const MORE_FUEL: u64 = 16;

/// What a function is called with.
#[derive(Clone, Debug)]
enum Arg {
    Value(Datum),
    /// A memref of a buffer of its own.
    Memory {
        sizes: Vec<i64>,
        layout: StridedLayout,
        contents: Vec<Datum>,
    },
}

/// What a call came to.
#[derive(Debug)]
enum Outcome {
    /// Each result, then what each memref that was given holds: its own value, or sizes and elements.
    Values(Vec<Vec<Datum>>),
    Undefined,
    /// The program stopped itself, for this reason.
    Aborted(String),
    OutOfFuel,
    Unsupported(String),
}

/// Whether there is a function with a body.
pub fn has_functions(case: &Case) -> bool {
    let ctx = case.tool.context();
    load(&ctx, &std::fs::read_to_string(&case.input).unwrap_or_default()).is_ok_and(|m| !functions(&m).is_empty())
}

/// Whether any function of the chunk can be executed.
pub fn can_execute(case: &Case) -> bool {
    let ctx = case.tool.context();
    let Ok(m) = load(&ctx, &std::fs::read_to_string(&case.input).unwrap_or_default()) else { return false };
    let supported = |name: &String| {
        let args = |round| arguments(&m, name, round);
        (0..20).filter_map(args).any(|a| !matches!(call(&m, name, a, FUEL), Outcome::Unsupported(_)))
    };
    functions(&m).iter().any(supported)
}

/// Compares before and after.
pub fn check(case: &Case) -> Result<(), String> {
    let mut command = case.command();
    if !case.has_passes() {
        command.extend(["--canonicalize", "--cse"].map(str::to_owned));
    }
    let output = run(&case.tool, &command);
    if output.code != 0 {
        return Err(output.err);
    }
    let ctx = case.tool.context();
    let before = load(&ctx, &std::fs::read_to_string(&case.input).map_err(|e| e.to_string())?)?;
    let after = load(&ctx, &output.out)?;
    for name in functions(&before) {
        if functions(&after).contains(&name) {
            compare_function(&before, &after, &name)?;
        }
    }
    Ok(())
}

fn compare_function(before: &Module, after: &Module, name: &str) -> Result<(), String> {
    for round in 0..ROUNDS {
        let Some(args) = arguments(before, name, round) else { return Ok(()) };
        let first = call(before, name, args.clone(), FUEL);
        if matches!(first, Outcome::Undefined | Outcome::OutOfFuel | Outcome::Unsupported(_)) {
            continue;
        }
        let second = call(after, name, args.clone(), MORE_FUEL * FUEL);
        if let Outcome::Unsupported(why) = &second {
            return Err(format!("@{name} cannot be executed after the passes: {why}"));
        }
        if !same_outcome(&first, &second) {
            return Err(format!("@{name}{args:?} is {first:?}, but {second:?} after the passes"));
        }
    }
    Ok(())
}

fn same_outcome(before: &Outcome, after: &Outcome) -> bool {
    match (before, after) {
        (Outcome::Values(a), Outcome::Values(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| refine(a, b)),
        (Outcome::Aborted(a), Outcome::Aborted(b)) => a == b,
        _ => false,
    }
}

fn load(ctx: &Arc<Context>, text: &str) -> Result<Module, String> {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let all = |d: Vec<gradus::ir::Diagnostic>| d.iter().map(|d| d.render(ctx)).collect::<String>();
    parse_module(ctx, "chunk", text.to_owned(), options).map_err(all)
}

/// The names of the functions with a body in the outermost module.
/// Functions with a body that can be called from outside: of private ones a pass may assume that it sees all calls.
fn functions(m: &Module) -> Vec<String> {
    let callable = |op: &Op| m.has_trait(*op, Traits::FUNCTION) && body_args(m, *op).is_some() && !is_private(m, *op);
    let bodies = m.block_ops(m.body()).filter(callable);
    bodies.filter_map(|op| symbol_name(m, op)).map(|s| m.ctx.text(s).to_owned()).collect()
}

fn body_args(m: &Module, function: Op) -> Option<Vec<Type>> {
    let entry = m.entry(*m.regions(function).first()?)?;
    Some(m.block_args(entry).iter().map(|&v| m.value_type(v)).collect())
}

fn call(m: &Module, name: &str, args: Vec<Arg>, fuel: u64) -> Outcome {
    let mut interpreter = Interpreter::new(m).fuel(fuel);
    interpreter.memory.limit = MAX_MEMORY;
    let Some(function) = interpreter.function(name) else { return Outcome::Unsupported("it is gone".into()) };
    let mut data = Vec::new();
    for arg in args {
        data.push(match arg {
            Arg::Value(datum) => datum,
            Arg::Memory { sizes, layout, contents } => match interpreter.memory.insert(contents, Storage::Heap) {
                Ok(buffer) => Datum::MemRef(Box::new(MemRef::strided(buffer, &sizes, layout))),
                Err(trap) => return Outcome::Unsupported(trap.to_string()),
            },
        });
    }
    let given: Vec<Datum> = data.iter().filter(|d| matches!(d, Datum::MemRef(_))).cloned().collect();
    match interpreter.call(function, data) {
        Ok(values) => Outcome::Values(values.iter().chain(&given).map(|d| seen(&interpreter.memory, d)).collect()),
        Err(d) if d.message.contains("undefined behavior") => Outcome::Undefined,
        Err(d) if d.message.starts_with("still running") => Outcome::OutOfFuel,
        Err(d) if d.message.contains("aborted: ") => Outcome::Aborted(d.message),
        Err(d) => Outcome::Unsupported(d.message),
    }
}

/// A value as the caller sees it: of a memref its sizes and elements, or poison if it has none any more.
fn seen(memory: &Memory, datum: &Datum) -> Vec<Datum> {
    let Datum::MemRef(view) = datum else { return vec![datum.clone()] };
    match memory.contents(view) {
        Ok(elements) => view.sizes.iter().map(|&n| Datum::Int(n)).chain(elements).collect(),
        Err(_) => vec![Datum::Poison],
    }
}

/// Whether a value as seen after may stand for the one before.
fn refine(before: &[Datum], after: &[Datum]) -> bool {
    matches!(before, [Datum::Poison])
        || (before.len() == after.len() && before.iter().zip(after).all(|(a, b)| refines(a, b)))
}

/// Whether `after` may stand for `before`.
fn refines(before: &Datum, after: &Datum) -> bool {
    let float = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (before, after) {
        (Datum::Poison, _) => true,
        (Datum::Float(a), Datum::Float(b)) => float(*a, *b),
        (Datum::Tensor(a), Datum::Tensor(b)) if a.dtype().is_float() && a.dtype() == b.dtype() => {
            a.shape() == b.shape() && a.to_f64().into_iter().zip(b.to_f64()).all(|(a, b)| float(a, b))
        }
        (a, b) => a == b,
    }
}

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.next() as usize % from.len()]
    }

    /// An integer as bits: often one at which something changes, else small or anything.
    fn int(&mut self, width: u32) -> i64 {
        let low = -1i64 << (width - 1);
        match self.next() % 4 {
            0 => self.pick(&[0, 1, -1, 2, low, !low, low + 1, i64::from(width), i64::from(width) - 1]),
            1 => self.next() as i64 % 16,
            2 => self.next() as i64,
            _ => self.next() as i64 >> (self.next() % 64),
        }
    }

    fn float(&mut self) -> f64 {
        const EDGES: [f64; 14] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            -3.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-40,
            65504.0,
            3e38,
            1e300,
        ];
        match self.next() % 3 {
            0 => self.pick(&EDGES),
            1 => (self.next() % 2001) as f64 / 8.0 - 125.0,
            _ => f64::from_bits(self.next()),
        }
    }
}

/// The arguments of a round; `None` when a type has no values here.
fn arguments(m: &Module, name: &str, round: u64) -> Option<Vec<Arg>> {
    let function = Interpreter::new(m).function(name)?;
    let seed = name.bytes().fold(round, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
    let mut random = Random(seed);
    // One extent for all dynamic dimensions of a call: operands of different extents would rarely mean anything.
    let extent = 1 + random.next() as usize % 3;
    body_args(m, function)?.into_iter().map(|ty| arg(&m.ctx, ty, extent, &mut random)).collect()
}

fn arg(ctx: &Context, ty: Type, extent: usize, random: &mut Random) -> Option<Arg> {
    let sizes: Vec<i64> = match ctx.type_data(ty) {
        TypeData::MemRef { shape, .. } => shape.iter().map(|&d| if d == DYNAMIC { extent as i64 } else { d }).collect(),
        TypeData::UnrankedMemRef { .. } => vec![extent as i64; random.next() as usize % 3],
        // Indices are often those of memory: mostly small.
        TypeData::Index if random.next().is_multiple_of(2) => {
            return Some(Arg::Value(Datum::Int(random.next() as i64 & 3)));
        }
        _ => return datum(ctx, ty, extent, random).map(Arg::Value),
    };
    let dtype = ctx.dtype(ctx.element_type(ty))?;
    let layout = layout(ctx, ty, &sizes, random);
    let last = sizes.iter().zip(&layout.strides).try_fold(layout.offset, |sum, (size, stride)| {
        sum.checked_add((size - 1).max(0).checked_mul(*stride).filter(|&n| n >= 0)?)
    })?;
    let length = usize::try_from(last).ok().filter(|_| last < MAX_ELEMENTS)? + 1;
    let contents = Datum::Tensor(tensor(dtype, &[length], random)).elements()?;
    Some(Arg::Memory { sizes, layout, contents })
}

/// A layout that the type allows, with gaps where it leaves them open.
fn layout(ctx: &Context, ty: Type, sizes: &[i64], random: &mut Random) -> StridedLayout {
    let Some(mut layout) = ctx.strided_layout(ty) else { return StridedLayout::row_major(sizes) };
    if ctx.has_identity_layout(ty) {
        return StridedLayout::row_major(sizes);
    }
    if layout.offset == DYNAMIC {
        layout.offset = random.next() as i64 & 3;
    }
    let mut next = 1;
    for (stride, &size) in layout.strides.iter_mut().zip(sizes).rev() {
        if *stride == DYNAMIC {
            *stride = next + (random.next() as i64 & 1);
        }
        next = next.max(stride.saturating_mul(size));
    }
    layout
}

fn datum(ctx: &Context, ty: Type, extent: usize, random: &mut Random) -> Option<Datum> {
    if let Some(width) = ctx.int_width(ty) {
        return (1..=64).contains(&width).then(|| Datum::Int(wrap(random.int(width), width, ctx.is_unsigned(ty))));
    }
    if let Some(kind) = ctx.float_kind(ty) {
        return Some(Datum::Float(to_f64(kind, from_f64(kind, random.float()))));
    }
    if !matches!(ctx.type_data(ty), TypeData::Tensor { .. } | TypeData::Vector { .. }) {
        return None;
    }
    let dtype = ctx.dtype(ctx.element_type(ty))?;
    let shape: Vec<usize> = ctx.shape(ty)?.iter().map(|&d| usize::try_from(d).unwrap_or(extent)).collect();
    Some(Datum::Tensor(tensor(dtype, &shape, random)))
}

fn tensor(dtype: DType, shape: &[usize], random: &mut Random) -> Tensor {
    let n = shape.iter().product();
    // Tensors of integers are often shapes, axes and indices: mostly small.
    let small = !random.next().is_multiple_of(3);
    if dtype.is_float() {
        return floats_to_tensor(dtype, shape, (0..n).map(|_| random.float()).collect());
    }
    let width = dtype.bits();
    let mut int = || if small { random.next() as i64 & 3 } else { random.int(width) };
    let values: Vec<i64> = (0..n).map(|_| int()).collect();
    ints_to_tensor(dtype, shape, &values)
}

fn wrap(v: i64, width: u32, unsigned: bool) -> i64 {
    let shift = 64 - width;
    if unsigned { ((v as u64) << shift >> shift) as i64 } else { v << shift >> shift }
}
