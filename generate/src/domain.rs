//! The domains of types and attributes.

use gradus_check::Inputs;
use gradus_ir::random::Random;
use gradus_ir::{Attr, AttrKind, AttrText, Context, DYNAMIC, Type, TypeData};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of constants of a declared type.
const CONSTANTS: usize = 4;

/// Returns the types of parameters: few, so that values are reused.
pub(crate) fn types(ctx: &Context) -> Vec<Type> {
    let mut types = vec![Type::I1, Type::I8, Type::I32, Type::I64, Type::INDEX, Type::F32, Type::F64, Type::F16];
    let elems = [Type::F32, Type::I32, Type::I1, Type::I64, Type::INDEX, Type::I8];
    let tensors: [&[i64]; 6] = [&[], &[4], &[2, 3], &[DYNAMIC], &[1, 4], &[2, 1, 3, 3]];
    for elem in elems {
        types.extend(tensors.iter().map(|shape| ctx.tensor_type(shape, elem)));
        types.extend([&[4][..], &[2, 3], &[1]].map(|shape| ctx.vector_type(shape, elem)));
    }
    for elem in [Type::F32, Type::I32, Type::I8, Type::INDEX] {
        for shape in [&[][..], &[4], &[2, 3], &[DYNAMIC]] {
            types.push(ctx.ty(TypeData::MemRef { shape: shape.into(), elem, layout: None, space: None }));
        }
    }
    types.extend(declared_types(ctx));
    types
}

/// Returns the examples of declared types with values.
pub(crate) fn declared_types(ctx: &Context) -> impl Iterator<Item = Type> {
    let infos = ctx.dialects().iter().flat_map(|dialect| dialect.types);
    let valued = infos.filter(|info| info.repr.is_some() || info.draw.is_some()).map(|info| &info.decl);
    valued.flat_map(|decl| decl.examples.iter().filter_map(|body| ctx.parse_type(&decl.example('!', body)).ok()))
}

/// Returns constants of declared types.
fn constants(ctx: &Context) -> Vec<Attr> {
    let mut random = Random::of("constants");
    let mut drawn = |ty: Type| {
        let value = Inputs::draw_value(ctx, ty, &mut random)?;
        ctx.datum_attr(ty, &value)
    };
    declared_types(ctx).flat_map(|ty| [ty; CONSTANTS]).filter_map(&mut drawn).collect()
}

/// The candidate attributes of each kind, by the address of its declaration; they are parsed once.
#[derive(Default)]
pub(crate) struct Domains(Mutex<FxHashMap<usize, Arc<[Attr]>>>);

impl Domains {
    /// Returns the candidate attributes of a kind.
    pub(crate) fn of(&self, ctx: &Context, kind: &'static AttrKind) -> Arc<[Attr]> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(std::ptr::from_ref(kind).addr()).or_insert_with(|| attrs(ctx, kind).into()).clone()
    }
}

/// Returns candidate attributes of a kind: its enumeration cases, or the plain ones that satisfy its constraint.
fn attrs(ctx: &Context, kind: &AttrKind) -> Vec<Attr> {
    let listed = match kind.text {
        AttrText::Cases(ty, cases) => cases.iter().map(|(_, value)| ctx.int_attr(ty, *value)).collect(),
        AttrText::Words { dialect, mnemonic, words, flags } => {
            let mut lists: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            if let Some(flags) = flags
                && words.len() > 2
            {
                lists.push(format!("{}{}{}", words[1], flags.separator, words[2]));
            }
            lists.iter().filter_map(|list| ctx.parse_attr(&format!("#{dialect}.{mnemonic}<{list}>")).ok()).collect()
        }
        AttrText::Declared(name) => {
            let decl = ctx.attr_info_of(name).map(|info| &info.decl);
            let examples = decl.iter().flat_map(|decl| decl.examples.iter().map(|body| decl.example('#', body)));
            examples.filter_map(|text| ctx.parse_attr(&text).ok()).chain(constants(ctx)).collect()
        }
        _ => Vec::new(),
    };
    let plain = || PLAIN.iter().filter_map(|text| ctx.parse_attr(text).ok()).collect();
    let all: Vec<Attr> = if listed.is_empty() { plain() } else { listed };
    all.into_iter().filter(|&attr| (kind.check)(ctx, attr)).collect()
}

/// Attributes of all kinds.
const PLAIN: &[&str] = &[
    "unit",
    "true",
    "false",
    "\"\"",
    "\"constant\"",
    "\"add\"",
    "i1",
    "i8",
    "i32",
    "i64",
    "index",
    "f32",
    "f64",
    "f16",
    "0 : i64",
    "1 : i64",
    "2 : i64",
    "-1 : i64",
    "3 : i64",
    "0 : i32",
    "1 : i32",
    "2 : i32",
    "0 : index",
    "1 : index",
    "0 : i8",
    "1 : i8",
    "0.0 : f32",
    "1.0 : f32",
    "0.5 : f32",
    "-2.0 : f32",
    "1.0 : f64",
    "0.5 : f64",
    "[]",
    "[0]",
    "[1]",
    "[2]",
    "[0, 1]",
    "[1, 0]",
    "[1, 1]",
    "[2, 2]",
    "[0, 0]",
    "[true]",
    "[false]",
    "[[0], [1]]",
    "[[0, 1]]",
    "array<i64>",
    "array<i64: 0>",
    "array<i64: 1>",
    "array<i64: 2>",
    "array<i64: 0, 1>",
    "array<i64: 1, 0>",
    "array<i64: 1, 1>",
    "array<i64: 2, 2>",
    "array<i64: 2, 3>",
    "array<i64: 0, 0>",
    "array<i64: 0, 2, 1>",
    "array<i64: 1, 1, 1, 1>",
    "array<i64: 1, 1, 0, 0>",
    "array<i64: 0, 0, 0, 0>",
    "array<i32: 0>",
    "array<i32: 1>",
    "array<i32: 1, 1>",
    "dense<[]> : tensor<0xi64>",
    "dense<0> : tensor<1xi64>",
    "dense<1> : tensor<2xi64>",
    "dense<[0, 1]> : tensor<2xi64>",
    "affine_map<() -> (1)>",
    "affine_map<(d0) -> (d0)>",
    "affine_map<(d0) -> (d0 + 1)>",
    "affine_map<(d0) -> (-d0 + 2)>",
    "affine_map<(d0) -> (d0 floordiv 2)>",
    "affine_map<(d0) -> (d0 mod 3)>",
    "affine_map<(d0) -> (d0 ceildiv 2)>",
    "affine_map<()[s0] -> (s0 * 2)>",
    "affine_map<(d0)[s0] -> (d0 + s0)>",
    "affine_map<(d0)[s0] -> (d0 * s0 - 1)>",
    "affine_map<(d0, d1) -> (d0, d1)>",
    "affine_map<(d0, d1) -> (d1, d0)>",
    "affine_map<(d0, d1) -> (d0 + d1)>",
    "affine_map<(d0, d1) -> (d0 * 2 + d1 - 1)>",
    "affine_map<(d0, d1) -> (d0, d1 - 1, 3)>",
    "affine_map<(d0)[s0] -> (d0, s0, 2)>",
];
