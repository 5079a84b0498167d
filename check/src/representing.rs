//! Which values of other types represent a value, by the declared representations and what follows from them.

use gradus_ir::eval::Datum;
use gradus_ir::{Context, DYNAMIC, Representation, Type, TypeData};

/// Maximum number of representations applied one after another.
const DEPTH: usize = 4;

/// A value of the original that is represented by consecutive values.
#[derive(Debug)]
pub(crate) struct RepresentedValue {
    /// The type of the value.
    pub(crate) ty: Type,
    /// The types of the values that represent it. Memory is represented by a tensor of its contents.
    pub(crate) new: Vec<Type>,
    plan: ValueEncoding,
}

/// The way in which a value is represented.
enum ValueEncoding {
    /// By itself: values of both types are the same at run time.
    Same,
    /// Each element of a tensor, vector or memory by one value.
    Elements(Box<RepresentedValue>),
    /// As a dialect declares, and each of these values in turn.
    Declared(&'static Representation, Vec<RepresentedValue>),
}

impl std::fmt::Debug for ValueEncoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueEncoding::Same => f.write_str("Same"),
            ValueEncoding::Elements(part) => f.debug_tuple("Elements").field(part).finish(),
            ValueEncoding::Declared(declared, parts) => f.debug_tuple(declared.name).field(parts).finish(),
        }
    }
}

/// Returns how values of a type are represented by values of the first of `new`, and the number of these; `None` if no
/// representation is declared.
pub(crate) fn represent(ctx: &Context, ty: Type, new: &[Type]) -> Option<(RepresentedValue, usize)> {
    if is_memref(ctx, ty) {
        // Its memory may be shared, so that it is passed as it is.
        let &first = new.first().filter(|&&new| same_values(ctx, ty, new) && allows_layout(ctx, ty, new))?;
        return Some((RepresentedValue { ty, new: vec![first], plan: ValueEncoding::Same }, 1));
    }
    component(ctx, ty, new, DEPTH)
}

/// Does the same for a value of a representation, where a memref stands for its contents.
fn component(ctx: &Context, ty: Type, new: &[Type], depth: usize) -> Option<(RepresentedValue, usize)> {
    let part = |count: usize, plan| Some((RepresentedValue { ty, new: new[..count].to_vec(), plan }, count));
    if new.first().is_some_and(|&new| same_values(ctx, ty, new)) {
        return part(1, ValueEncoding::Same);
    }
    if depth == 0 {
        return None;
    }
    if let Some(element) = elements(ctx, ty, new, depth) {
        return part(1, ValueEncoding::Elements(Box::new(element)));
    }
    ctx.representations().find_map(|declared| {
        let types = (declared.types)(ctx, ty).filter(|types| types[..] != [ty])?;
        let (mut parts, mut next) = (Vec::new(), 0);
        for ty in types {
            let (part, count) = component(ctx, ty, &new[next..], depth - 1)?;
            parts.push(part);
            next += count;
        }
        part(next, ValueEncoding::Declared(declared, parts))
    })
}

/// Returns the representation of the elements if the first of `new` is `ty` with other elements.
fn elements(ctx: &Context, ty: Type, new: &[Type], depth: usize) -> Option<RepresentedValue> {
    let &first = new.first().filter(|&&new| ctx.is_shaped(ty) && ctx.is_shaped(new))?;
    let (from, to) = (ctx.element_type(ty), ctx.element_type(first));
    let is_alike = from != to && same_values(ctx, ctx.with_element(ty, to), first);
    component(ctx, from, &[to], if is_alike { depth - 1 } else { return None }).map(|(part, _)| part)
}

impl RepresentedValue {
    /// Whether the value represents itself.
    pub(crate) fn is_same(&self) -> bool {
        matches!(self.plan, ValueEncoding::Same)
    }

    /// Returns the values that represent a value; `None` if there are none.
    pub(crate) fn encode(&self, ctx: &Context, value: &Datum) -> Option<Vec<Datum>> {
        match &self.plan {
            ValueEncoding::Same if *value == Datum::Poison => Some(vec![poison(ctx, self.new[0])?]),
            ValueEncoding::Same => Some(vec![value.clone()]).filter(|values| is_value(ctx, self.new[0], &values[0])),
            ValueEncoding::Elements(_) if *value == Datum::Poison => Some(vec![poison(ctx, self.new[0])?]),
            ValueEncoding::Elements(part) => {
                let encoded = |element: Datum| part.encode(ctx, &element)?.pop();
                let encoded: Vec<Datum> = value.elements()?.into_iter().map(encoded).collect::<Option<_>>()?;
                let dtype = ctx.dtype(ctx.element_type(self.new[0]))?;
                Some(vec![Datum::from_elements(dtype, value.shape()?, &encoded).ok()?])
            }
            ValueEncoding::Declared(declared, parts) => {
                let values = match value {
                    Datum::Poison => vec![Datum::Poison; parts.len()],
                    value => (declared.encode)(ctx, self.ty, value).filter(|values| values.len() == parts.len())?,
                };
                let all = parts.iter().zip(&values).map(|(part, value)| part.encode(ctx, value));
                Some(all.collect::<Option<Vec<_>>>()?.concat())
            }
        }
    }

    /// Returns the value that values represent; `None` if they represent none.
    pub(crate) fn decode(&self, ctx: &Context, values: &[Datum]) -> Option<Datum> {
        let decoded = match &self.plan {
            ValueEncoding::Same => values.first().cloned(),
            ValueEncoding::Elements(_) if values.first() == Some(&Datum::Poison) => Some(Datum::Poison),
            ValueEncoding::Elements(part) => {
                let value = values.first()?;
                let decoded = |element| part.decode(ctx, &[element]);
                let decoded: Option<Vec<Datum>> = value.elements()?.into_iter().map(decoded).collect();
                Datum::from_elements(ctx.dtype(ctx.element_type(self.ty))?, value.shape()?, &decoded?).ok()
            }
            ValueEncoding::Declared(declared, parts) => {
                let mut next = 0;
                let decoded = parts.iter().map(|part| {
                    next += part.new.len();
                    part.decode(ctx, values.get(next - part.new.len()..next)?)
                });
                let decoded: Vec<Datum> = decoded.collect::<Option<_>>()?;
                let poison = || decoded.iter().any(Datum::has_poison).then(|| ctx.poison_of(self.ty));
                (declared.decode)(ctx, self.ty, &decoded).or_else(poison)
            }
        };
        decoded.filter(|value| is_value(ctx, self.ty, value))
    }
}

/// Returns poison of a type, of memory its contents; `None` if its extents are not known.
fn poison(ctx: &Context, ty: Type) -> Option<Datum> {
    match is_memref(ctx, ty) {
        true => {
            let tensor = ctx.tensor_type(ctx.static_shape(ty)?, ctx.element_type(ty));
            Some(ctx.poison_of(tensor)).filter(|poison| *poison != Datum::Poison)
        }
        false => Some(ctx.poison_of(ty)),
    }
}

/// Whether a value is one of a type, where a tensor stands for the contents of memory.
fn is_value(ctx: &Context, ty: Type, value: &Datum) -> bool {
    match value {
        Datum::Tensor(_) | Datum::PoisonTensor(_) => ctx.has_shape(ty, value),
        Datum::MemRef(view) => ctx.shape(ty).is_none_or(|shape| shape.iter().zip(&view.sizes).all(fits)),
        _ => ctx.is_value(ty, value),
    }
}

pub(crate) fn is_memref(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. })
}

/// Whether a tensor type has all static extents of another, so that its values are values of that.
pub(crate) fn refines(ctx: &Context, old: Type, new: Type) -> bool {
    match (ctx.type_data(old), ctx.type_data(new)) {
        (TypeData::Tensor { shape, .. }, TypeData::Tensor { shape: other, .. }) => {
            same_values(ctx, old, new) && shape.iter().zip(other).all(fits)
        }
        _ => false,
    }
}

/// Whether the values of two types are the same at run time: the types are equal, or differ only in what a value of its own knows,
/// such as extents, or in the name of a number.
fn same_values(ctx: &Context, old: Type, new: Type) -> bool {
    if old == new {
        return true;
    }
    let (old, new) = (ctx.repr(old), ctx.repr(new));
    let same_elements = || same_values(ctx, ctx.element_type(old), ctx.element_type(new));
    match (ctx.type_data(old), ctx.type_data(new)) {
        (TypeData::Vector { shape, scalable, .. }, TypeData::Vector { shape: other, scalable: others, .. }) => {
            shape == other && scalable == others && same_elements()
        }
        // Elements may be in another order in a tensor with an encoding.
        (TypeData::Tensor { encoding, .. }, TypeData::Tensor { encoding: other, .. }) if encoding != other => false,
        (TypeData::Tensor { shape, .. }, TypeData::Tensor { shape: other, .. })
        | (TypeData::MemRef { shape, .. }, TypeData::MemRef { shape: other, .. }) => {
            let fit = |(a, b): (&i64, &i64)| fits((a, b)) || fits((b, a));
            shape.len() == other.len() && shape.iter().zip(other).all(fit) && same_elements()
        }
        (
            TypeData::Tensor { .. } | TypeData::UnrankedTensor(_),
            TypeData::Tensor { .. } | TypeData::UnrankedTensor(_),
        )
        | (
            TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. },
            TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. },
        ) => same_elements(),
        (TypeData::Integer { .. } | TypeData::Index, TypeData::Integer { .. } | TypeData::Index) => {
            ctx.int_width(old) == ctx.int_width(new) && ctx.is_unsigned(old) == ctx.is_unsigned(new)
        }
        _ => old == new,
    }
}

/// Whether each layout of a memref type is one of another.
fn allows_layout(ctx: &Context, old: Type, new: Type) -> bool {
    if old == new || matches!(ctx.type_data(new), TypeData::UnrankedMemRef { .. }) {
        return true;
    }
    let (Some(old), Some(new)) = (ctx.strided_layout(old), ctx.strided_layout(new)) else { return false };
    fits((&new.offset, &old.offset)) && new.strides.iter().zip(&old.strides).all(fits)
}

/// Whether a number of a type, such as an extent, allows another one.
fn fits((&of_type, &number): (&i64, &i64)) -> bool {
    of_type == DYNAMIC || of_type == number
}
