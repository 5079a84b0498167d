//! Ops drawn from their declarations: operands of accepted types, attributes of accepted kinds, filtered by the
//! verifier.

use gradus::ir::eval::{Datum, Trap, eval_op, floats_to_tensor, ints_to_tensor};
use gradus::ir::memory::{MemRef, Memory, Storage};
use gradus::ir::random::Random;
use gradus::ir::{
    Arity, Attr, AttrData, AttrKind, AttrSpec, AttrText, Block, Builder, Context, DYNAMIC, Loc, Module, Op, OpInfo,
    OpState, PrintOptions, Traits, Type, TypeConstraint, TypeData, Value, ValueSpec, parse_module, verify::verify_op,
};
use std::sync::Arc;

/// Element types.
const ELEMENTS: [&str; 11] = ["i1", "i4", "i8", "i32", "i64", "index", "f32", "f64", "f16", "ui8", "si32"];
/// Shapes; a negative extent is dynamic.
const SHAPES: [&[i64]; 11] =
    [&[2], &[3], &[2, 2], &[2, 3], &[], &[1], &[-1], &[-1, 2], &[1, 2, 2], &[1, 2, 3], &[1, 1, 3, 3]];
/// Integers in attributes.
const NUMBERS: [i64; 8] = [0, 1, 2, 1, 1, -1, 3, DYNAMIC];

/// An op with its context.
pub struct Instance {
    pub module: Module,
    pub op: Op,
}

/// The outcome of an op.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    pub results: Result<Vec<Datum>, Trap>,
    /// The final contents of the argument memory.
    pub memory: Vec<Vec<Datum>>,
}

/// Operand values, and the memory of memrefs.
#[derive(Clone, Debug)]
pub struct Values {
    pub operands: Vec<Datum>,
    pub memory: Vec<Vec<Datum>>,
}

/// The domain of types, and attributes that often satisfy kinds.
pub struct Domain {
    ctx: Arc<Context>,
    types: Vec<Type>,
    elements: Vec<Type>,
}

/// The type that most operands of an op share.
struct Like {
    elem: Type,
    shape: &'static [i64],
    form: usize,
    /// Percentage of types equal to it.
    chance: u64,
}

impl Domain {
    pub fn new(ctx: Arc<Context>) -> Domain {
        let elements: Vec<Type> = ELEMENTS.iter().map(|text| ctx.parse_type(text).expect("is a type")).collect();
        let shaped = |&elem: &Type| SHAPES.iter().flat_map(move |&shape| (1..4).map(move |form| (elem, shape, form)));
        let mut types = elements.clone();
        types.extend(
            elements.iter().flat_map(shaped).filter_map(|(elem, shape, form)| of_form(&ctx, elem, shape, form)),
        );
        let declared = ctx.dialects().iter().flat_map(|dialect| dialect.types).filter(|info| info.contains.is_some());
        let examples = declared.flat_map(|info| info.decl.examples.iter().map(|body| info.decl.example('!', body)));
        types.extend(examples.map(|text| ctx.parse_type(&text).expect("examples are types")));
        Domain { ctx, types, elements }
    }

    /// Draws an op from its declaration; the error is the reason why there is none.
    pub fn draw(&self, info: &'static OpInfo, random: &mut Random) -> Result<Instance, String> {
        let ctx = &self.ctx;
        let text = "func.func @f() {\n  return\n}\n".to_owned();
        let mut module = parse_module(ctx, "drawn", text, Default::default()).expect("is a program");
        let function = module.block_ops(module.body()).next().expect("there is a function");
        let entry = module.entry(module.regions(function)[0]).expect("it has a body");
        let like = Like {
            elem: random.pick(&self.elements),
            shape: random.pick(&SHAPES),
            form: random.below(4) as usize,
            chance: random.pick(&[100, 75]),
        };
        let mut state = OpState::new(ctx, info.name, Loc::UNKNOWN);
        for (i, spec) in info.operands.iter().enumerate() {
            let free = info.traits.has(Traits::OPERAND_SEGMENTS) || i + 1 == info.operands.len();
            let values = self.operands(&mut module, entry, spec, &like, free, random)?;
            state.operand_group(&values);
        }
        for spec in info.attrs {
            if spec.optional && random.percent(60) {
                continue;
            }
            let attr = self.attribute(spec.kind, spec, &like, random);
            let attr = attr.ok_or_else(|| format!("no attribute '{}' is {}", spec.name, spec.kind.summary))?;
            state.inherent(ctx, spec.name, Some(attr));
        }
        let place = module.terminator(entry).expect("it returns");
        let inferred = Builder::before(&mut module, place).try_create(state.clone());
        let op = match inferred {
            Ok(op) => op,
            Err(_) => {
                // Casts change only the element type.
                let elem = if random.percent(50) { random.pick(&self.elements) } else { like.elem };
                let like = Like { elem, ..like };
                for spec in info.results {
                    for _ in 0..count(spec.arity, true, random) {
                        state.result_types.push(self.ty(spec.ty, &like, random).ok_or("no result type fits")?);
                    }
                }
                Builder::before(&mut module, place).try_create(state)?
            }
        };
        verify_op(&module, op).map_err(|errors| errors[0].message.clone())?;
        Ok(Instance { module, op })
    }

    fn operands(
        &self,
        m: &mut Module,
        entry: Block,
        spec: &ValueSpec,
        like: &Like,
        free: bool,
        random: &mut Random,
    ) -> Result<Vec<Value>, String> {
        let mut values = Vec::new();
        for _ in 0..count(spec.arity, free, random) {
            let ty = self.ty(spec.ty, like, random);
            let ty = ty.ok_or_else(|| format!("no operand is {}", spec.ty.summary))?;
            let same = m.block_args(entry).iter().copied().find(|&v| m.value_type(v) == ty);
            let again = same.filter(|_| random.percent(15));
            values.push(again.unwrap_or_else(|| m.add_block_arg(entry, ty, Loc::UNKNOWN)));
        }
        Ok(values)
    }

    /// Draws a type that satisfies a constraint, usually similar to the others.
    fn ty(&self, of: &TypeConstraint, like: &Like, random: &mut Random) -> Option<Type> {
        let ctx = &self.ctx;
        let fits = |&ty: &Type| (of.check)(ctx, ty);
        if random.percent(like.chance) {
            let first = if random.percent(20) { 0 } else { like.form };
            let mut forms =
                [first, like.form, 0, 1, 2, 3].into_iter().filter_map(|form| of_form(ctx, like.elem, like.shape, form));
            let alike = forms.find(fits);
            let mut bits = [like.form, 0].into_iter().filter_map(|form| of_form(ctx, Type::I1, like.shape, form));
            let alike = alike.or_else(|| bits.find(fits));
            if alike.is_some() {
                return alike;
            }
        }
        let all: Vec<Type> = self.types.iter().copied().filter(fits).chain(of.only).collect();
        (!all.is_empty()).then(|| random.pick(&all))
    }

    fn attribute(&self, kind: &AttrKind, spec: &AttrSpec, like: &Like, random: &mut Random) -> Option<Attr> {
        let ctx = &self.ctx;
        let drawn = match kind.text {
            AttrText::Cases(ty, cases) => Some(ctx.int_attr(ty, random.pick(cases).1)),
            AttrText::Words { dialect, mnemonic, words, flags } => {
                let first = random.pick(words);
                let second =
                    flags.filter(|_| random.percent(30)).map(|f| format!("{}{}", f.separator, random.pick(words)));
                ctx.parse_attr(&format!("#{dialect}.{mnemonic}<{first}{}>", second.unwrap_or_default())).ok()
            }
            AttrText::Flag => Some(Attr::UNIT),
            _ => None,
        };
        let mut fitting: Vec<Attr> = self.small_attributes(spec, like, random);
        fitting.extend(drawn);
        fitting.retain(|&attr| (kind.check)(ctx, attr));
        match drawn.filter(|attr| fitting.contains(attr)) {
            Some(drawn) => Some(drawn),
            None if fitting.is_empty() => None,
            None => Some(random.pick(&fitting)),
        }
    }

    /// Returns candidate attributes, one of each common kind.
    fn small_attributes(&self, spec: &AttrSpec, like: &Like, random: &mut Random) -> Vec<Attr> {
        let ctx = &self.ctx;
        let rank = if random.percent(60) { like.shape.len() } else { random.below(4) as usize };
        let ints: Vec<i64> = (0..rank).map(|_| random.pick(&NUMBERS)).collect();
        let small: Vec<i32> = ints.iter().map(|&n| n.clamp(-9, 9) as i32).collect();
        let steps: Vec<i64> = (0..rank as i64).collect();
        let number = random.pick(&NUMBERS[..7]);
        let words: Vec<&str> = spec.doc.split('`').skip(1).step_by(2).chain(["ij,jk->ik"]).collect();
        let word = ctx.string_attr(random.pick(&words));
        let like_type = of_form(ctx, like.elem, like.shape, like.form).unwrap_or(like.elem);
        let nested = ctx.array_attr(&[ctx.i64_array_attr(&ints)]);
        let texts = [
            "affine_map<(d0) -> (d0)>",
            "affine_map<(d0, d1) -> (d1, d0)>",
            "affine_map<(d0)[s0] -> (d0 mod s0 + 1)>",
            "affine_map<(d0, d1) -> (d0 + d1)>",
            "affine_map<()[s0, s1] -> (s0 floordiv s1)>",
            "[[0, 1]]",
            "[[0], [1]]",
            "[0, 1]",
            "true",
            "[true]",
            "[false, true]",
            "dense<1> : vector<2xi8>",
            "[\"a\"]",
            "@f",
        ];
        let mut all = vec![
            ctx.int_attr(Type::I64, number),
            ctx.int_attr(Type::I32, number),
            ctx.int_attr(Type::INDEX, number),
            ctx.float_attr(Type::F32, number as f64 / 2.0),
            ctx.i64_array_attr(&ints),
            ctx.i64_array_attr(&steps),
            ctx.i32_array_attr(&small),
            word,
            ctx.type_attr(like_type),
            ctx.type_attr(like.elem),
            ctx.array_attr(&[word, word]),
            nested,
            ctx.attr(AttrData::DenseArray { elem: Type::F32, data: 0.5f32.to_le_bytes().into() }),
        ];
        all.extend(texts.iter().filter_map(|text| ctx.parse_attr(text).ok()));
        let value = self.value(like_type, 3, random).and_then(|(datum, _)| ctx.datum_attr(like_type, &datum));
        all.extend(value);
        all
    }

    /// Draws operand values; equal operands get equal values. `None` if a type has none.
    pub fn values(&self, instance: &Instance, random: &mut Random) -> Option<Values> {
        let m = &instance.module;
        let operands = m.operands(instance.op);
        let mut values = Values { operands: Vec::new(), memory: Vec::new() };
        let extent = 1 + random.below(3) as i64;
        for (i, &operand) in operands.iter().enumerate() {
            if let Some(earlier) = operands[..i].iter().position(|&other| other == operand) {
                values.operands.push(values.operands[earlier].clone());
                continue;
            }
            let (mut datum, memory) = self.value(m.value_type(operand), extent, random)?;
            if let (Datum::MemRef(view), Some(memory)) = (&mut datum, memory) {
                view.buffer = values.memory.len() as u32;
                values.memory.push(memory);
            }
            values.operands.push(datum);
        }
        Some(values)
    }

    /// Returns a value of a type, and its memory.
    fn value(&self, ty: Type, extent: i64, random: &mut Random) -> Option<(Datum, Option<Vec<Datum>>)> {
        let ctx = &self.ctx;
        if let Some(width) = ctx.int_width(ty) {
            return Some((Datum::Int(int(width, ctx.is_unsigned(ty), random)), None));
        }
        if let Some(kind) = ctx.float_kind(ty) {
            use gradus::ir::float::{from_f64, to_f64};
            return Some((Datum::Float(to_f64(kind, from_f64(kind, random.float()))), None));
        }
        if let Some(draw) = ctx.type_info(ty).and_then(|info| info.draw) {
            return Some((draw(&ctx.type_params(ty)?, random), None));
        }
        let dtype = ctx.dtype(ctx.element_type(ty))?;
        let sizes: Vec<i64> = ctx.shape(ty)?.iter().map(|&d| if d == DYNAMIC { extent } else { d }).collect();
        let shape: Vec<usize> = sizes.iter().map(|&d| d as usize).collect();
        let n: usize = shape.iter().product();
        let tensor = match dtype.is_float() {
            true => floats_to_tensor(dtype, &shape, (0..n).map(|_| random.float()).collect()),
            false => {
                // Integers in tensors are often extents, so large ones would give large results.
                let is_tensor = matches!(ctx.type_data(ty), TypeData::Tensor { .. });
                let bits = if is_tensor { dtype.bits().min(5) } else { dtype.bits() };
                let ints: Vec<i64> = (0..n).map(|_| int(bits, false, random)).collect();
                ints_to_tensor(dtype, &shape, &ints)
            }
        };
        let datum = Datum::Tensor(tensor);
        if !matches!(ctx.type_data(ty), TypeData::MemRef { .. }) {
            return Some((datum, None));
        }
        let elements = datum.elements()?;
        Some((Datum::MemRef(Box::new(MemRef::row_major(0, &sizes))), Some(elements)))
    }
}

impl Instance {
    /// Runs the op.
    pub fn run(&self, values: &Values) -> Run {
        let mut memory = Memory::default();
        memory.limit = 1 << 12;
        for contents in &values.memory {
            memory.insert(contents.clone(), Storage::Heap).expect("there is room");
        }
        let results = self.module.with_args(self.op, |args| match args.info.exec {
            Some(exec) => exec(args, &values.operands, &mut memory),
            None => eval_op(args, &values.operands),
        });
        let held = |i: usize| memory.elements(i as u32).unwrap_or_default();
        Run { results: results.expect("it is registered"), memory: (0..values.memory.len()).map(held).collect() }
    }

    /// Returns the op as text.
    pub fn text(&self) -> String {
        self.module.op_text(self.op, PrintOptions::default())
    }
}

/// Draws an integer, usually small, since many are sizes and indices.
fn int(width: u32, unsigned: bool, random: &mut Random) -> i64 {
    let value = if random.percent(60) { random.below(5) as i64 - 1 } else { random.int(width) };
    extended(value, width, unsigned)
}

/// Extends the low `width` bits.
pub fn extended(value: i64, width: u32, unsigned: bool) -> i64 {
    let shift = 64 - width;
    if unsigned { ((value << shift).cast_unsigned() >> shift).cast_signed() } else { value << shift >> shift }
}

/// Returns the number of values of a group; 1 unless `free`.
fn count(arity: Arity, free: bool, random: &mut Random) -> u64 {
    match arity {
        Arity::One => 1,
        _ if !free => 1,
        Arity::Optional => random.below(2),
        Arity::Variadic => random.below(4),
    }
}

/// Returns a type of a form: 0 is the element type, then vector, tensor and memref.
fn of_form(ctx: &Context, elem: Type, shape: &[i64], form: usize) -> Option<Type> {
    let dims: Vec<i64> = shape.iter().map(|&d| if d < 0 { DYNAMIC } else { d }).collect();
    let is_fixed = !shape.is_empty() && shape.iter().all(|&d| d > 0);
    match form {
        0 => Some(elem),
        1 => (is_fixed && !ctx.is_unsigned(elem)).then(|| ctx.vector_type(&dims, elem)),
        2 => Some(ctx.tensor_type(&dims, elem)),
        _ => Some(ctx.memref_type(&dims, elem, None, None)),
    }
}
