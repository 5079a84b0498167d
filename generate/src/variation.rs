//! Variation of attributes, constants and types: neighbours of a given one, and limits of its domain.

use crate::domain::Domains;
use gradus_ir::eval::ints_to_tensor;
use gradus_ir::random::Random;
use gradus_ir::{Attr, AttrData, AttrKind, AttrText, Context, DYNAMIC, Type, TypeData};

/// Maximum number of elements of a varied type.
const MAX_ELEMENTS: i64 = 2048;
/// Extents of varied types.
const EXTENTS: [i64; 7] = [1, 2, 3, 4, 5, 6, 8];
/// Elements of varied lists, such as pads, strides and axes.
const ELEMENTS: [i64; 6] = [0, 1, 2, 3, 4, -1];

/// Returns another value of an attribute's domain: one step from `old` where it has steps, or any candidate.
pub(crate) fn other(
    ctx: &Context,
    domains: &Domains,
    kind: &'static AttrKind,
    old: Option<Attr>,
    random: &mut Random,
) -> Option<Attr> {
    let near = old.and_then(|old| match kind.text {
        AttrText::Cases(..) | AttrText::Words { .. } => None,
        AttrText::Declared(_) => respelled(ctx, old, random),
        _ => list_beside(ctx, old, random).or_else(|| beside(ctx, old, ctx.attr_type(old)?, random)),
    });
    if let Some(near) = near.filter(|&near| random.percent(70) && (kind.check)(ctx, near)) {
        return Some(near);
    }
    let all = domains.of(ctx, kind);
    (!all.is_empty()).then(|| random.pick(&all))
}

/// Returns a list of integers with another element, or with two elements swapped.
fn list_beside(ctx: &Context, attr: Attr, random: &mut Random) -> Option<Attr> {
    let AttrData::DenseArray { elem, .. } = ctx.attr_data(attr) else { return None };
    let mut numbers = ctx.as_ints(attr)?;
    let at = (!numbers.is_empty()).then(|| random.below(numbers.len() as u64) as usize)?;
    match random.below(4) {
        0 => numbers[at] = random.pick(&ELEMENTS),
        1 => numbers[at] = numbers[at].saturating_add(1),
        2 => numbers[at] = numbers[at].saturating_sub(1),
        _ => {
            let other = random.below(numbers.len() as u64) as usize;
            numbers.swap(at, other);
        }
    }
    match *elem {
        Type::I64 => Some(ctx.i64_array_attr(&numbers)),
        Type::I32 => Some(ctx.i32_array_attr(&numbers.iter().map(|&n| n as i32).collect::<Vec<_>>())),
        _ => None,
    }
}

/// Returns a declared attribute with another text: two neighbouring letters swapped, a digit changed, or a letter with its
/// number left out. Its declaration decides whether that is an attribute.
fn respelled(ctx: &Context, attr: Attr, random: &mut Random) -> Option<Attr> {
    let mut text: Vec<u8> = ctx.display_attr(attr).into_bytes();
    let from = text.iter().position(|&b| b == b'<')? + 1;
    let places: Vec<usize> = (from..text.len()).filter(|&i| text[i].is_ascii_alphanumeric()).collect();
    let at = (!places.is_empty()).then(|| random.pick(&places))?;
    if text[at].is_ascii_digit() {
        text[at] = random.pick(b"12348");
    } else if random.percent(70) {
        let other = random.pick(&places);
        text.swap(at, other);
    } else {
        text.remove(at);
    }
    ctx.parse_attr(&String::from_utf8(text).ok()?).ok()
}

/// Returns a constant that differs by little: the next or the previous integer, its negation, or a limit of its type; a tensor
/// with one such element.
pub(crate) fn beside(ctx: &Context, attr: Attr, ty: Type, random: &mut Random) -> Option<Attr> {
    if let Some(number) = ctx.as_int(attr) {
        let width = ctx.int_width(ty).unwrap_or(64).clamp(1, 64);
        let number = match random.below(6) {
            0 | 1 => number.wrapping_add(1),
            2 | 3 => number.wrapping_sub(1),
            4 => number.wrapping_neg(),
            _ => border(width, random),
        };
        let unused = 64 - width;
        let wrapped = number.wrapping_shl(unused) >> unused;
        return Some(
            ctx.int_attr(ty, if ctx.is_unsigned(ty) { wrapped & (u64::MAX >> unused).cast_signed() } else { wrapped }),
        );
    }
    let tensor = ctx.dense_tensor(attr)?;
    let shape = tensor.shape().to_vec();
    let mut numbers = tensor.to_i64()?;
    let at = (!numbers.is_empty()).then(|| random.below(numbers.len() as u64) as usize)?;
    numbers[at] = numbers[at].wrapping_add(if random.percent(50) { 1 } else { -1 });
    Some(ctx.dense_attr(ty, &ints_to_tensor(tensor.dtype(), &shape, &numbers)))
}

/// Draws a limit of an integer type: 0, 1, -1, the least, the greatest, the width and the number below, or a power of two.
pub(crate) fn border(width: u32, random: &mut Random) -> i64 {
    let bits = width.clamp(1, 64);
    let (smallest, largest) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
    match random.below(16) {
        0 | 1 => 0,
        2 | 3 => 1,
        4 | 5 => -1,
        6 => smallest,
        7 => largest,
        8 => i64::from(bits) - 1,
        9 => i64::from(bits),
        10 => 2,
        11 => 3,
        12 | 13 => 1i64.wrapping_shl(random.below(u64::from(bits)) as u32),
        _ => random.int(bits),
    }
}

/// A renaming of extents and element types, which keeps most relations among the types of an op.
pub(crate) struct Renaming {
    extents: Vec<(i64, i64)>,
    elems: Vec<(Type, Type)>,
}

impl Renaming {
    /// Returns the renaming that turns a type into another of the same kind and rank, if there is one.
    pub(crate) fn between(ctx: &Context, from: Type, to: Type) -> Option<Renaming> {
        let same_kind = std::mem::discriminant(ctx.type_data(from)) == std::mem::discriminant(ctx.type_data(to));
        let elems = vec![(ctx.element_type(from), ctx.element_type(to))];
        let (Some(a), Some(b)) = (ctx.shape(from), ctx.shape(to)) else { return None };
        (same_kind && a.len() == b.len())
            .then(|| Renaming { extents: a.iter().copied().zip(b.iter().copied()).collect(), elems })
    }

    /// Draws a renaming of one extent that occurs in some types, or of their element type.
    pub(crate) fn draw(ctx: &Context, types: &[Type], random: &mut Random) -> Option<Renaming> {
        let extents: Vec<i64> = types.iter().filter_map(|&ty| ctx.shape(ty)).flatten().copied().collect();
        if extents.is_empty() || random.percent(15) {
            let elem = ctx.element_type(*types.first()?);
            let to = random.pick(&[Type::F32, Type::I32, Type::I8, Type::I64, Type::F64, Type::I1]);
            return Some(Renaming { extents: Vec::new(), elems: vec![(elem, to)] });
        }
        // Two extents become equal on purpose, or one becomes unknown.
        let to = match random.below(20) {
            0 => DYNAMIC,
            1..7 => random.pick(&extents),
            _ => random.pick(&EXTENTS),
        };
        Some(Renaming { extents: vec![(random.pick(&extents), to)], elems: Vec::new() })
    }

    /// Returns a type with the names changed; `None` if it would be too large.
    pub(crate) fn of(&self, ctx: &Context, ty: Type) -> Option<Type> {
        let elem = ctx.element_type(ty);
        let new = self.elems.iter().find(|(from, _)| *from == elem).map_or(elem, |(_, to)| *to);
        let Some(shape) = ctx.shape(ty) else { return Some(new) };
        let known = |d: &i64| self.extents.iter().find(|(from, _)| from == d).map_or(*d, |(_, to)| *to);
        let shape: Vec<i64> = shape.iter().map(known).collect();
        let elements = shape.iter().filter(|&&d| d != DYNAMIC).product::<i64>();
        if elements > MAX_ELEMENTS {
            return None;
        }
        match ctx.type_data(ty) {
            TypeData::Tensor { .. } => Some(ctx.tensor_type(&shape, new)),
            TypeData::Vector { .. } => (!shape.contains(&DYNAMIC)).then(|| ctx.vector_type(&shape, new)),
            TypeData::MemRef { layout: None, space, .. } => {
                Some(ctx.ty(TypeData::MemRef { shape: shape.into(), elem: new, layout: None, space: *space }))
            }
            _ => None,
        }
    }
}
