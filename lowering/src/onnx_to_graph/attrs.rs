//! Conversion of ONNX types and attributes.

use crate::onnx::attribute_type;
use crate::onnx::proto::{AttributeProto, AttributeType, DimensionValue, TypeProto, TypeValue, ValueInfoProto};
use crate::onnx::tensor::{dtype, to_tensor};
use gradus_ir::{Attr, AttrData, AttrSpec, AttrText, Context, DYNAMIC, Tensor, Type, TypeData};
use gradus_networks::graph::SequenceType;
use std::path::Path;

/// Returns the type of a tensor, or of a sequence of tensors; that of an optional value is the type of the value.
pub(super) fn value_type(ctx: &Context, ty: &TypeProto, dims: &[(String, i64)]) -> Result<Type, String> {
    let missing = "a type without an element type";
    match &ty.value {
        Some(TypeValue::Sequence(sequence)) => {
            let element = sequence.elem_type.as_ref().ok_or(missing)?;
            Ok(SequenceType::of(ctx, tensor_type(ctx, element, dims)?))
        }
        Some(TypeValue::Optional(optional)) => value_type(ctx, optional.elem_type.as_ref().ok_or(missing)?, dims),
        _ => tensor_type(ctx, ty, dims),
    }
}

/// Returns the type of a tensor; dimension parameters take their value from `dims` or stay dynamic.
fn tensor_type(ctx: &Context, ty: &TypeProto, dims: &[(String, i64)]) -> Result<Type, String> {
    let tensor = match &ty.value {
        Some(TypeValue::Tensor(t)) => t,
        Some(TypeValue::SparseTensor(_)) => return Err("sparse tensors are not supported".into()),
        Some(_) => return Err("values that are no tensors or sequences of tensors are not supported".into()),
        None => return Err("the type is missing or unknown".into()),
    };
    let elem = ctx.dtype_type(dtype(tensor.elem_type)?);
    let Some(shape) = &tensor.shape else { return Ok(ctx.ty(TypeData::UnrankedTensor(elem))) };
    let extent = |value: &Option<DimensionValue>| match value {
        Some(DimensionValue::DimValue(n)) if *n >= 0 => *n,
        Some(DimensionValue::DimParam(p)) => dims.iter().find(|d| d.0 == *p && d.1 >= 0).map_or(DYNAMIC, |d| d.1),
        _ => DYNAMIC,
    };
    let shape: Vec<i64> = shape.dim.iter().map(|d| extent(&d.value)).collect();
    Ok(ctx.tensor_type(&shape, elem))
}

/// Returns the dimension parameters in an input's type.
pub(super) fn dim_params(input: &ValueInfoProto) -> impl Iterator<Item = &str> {
    let shape = match input.r#type.as_ref().and_then(|t| t.value.as_ref()) {
        Some(TypeValue::Tensor(t)) => t.shape.as_ref(),
        _ => None,
    };
    shape.into_iter().flat_map(|s| &s.dim).filter_map(|d| match &d.value {
        Some(DimensionValue::DimParam(p)) => Some(p.as_str()),
        _ => None,
    })
}

/// Whether two types are compatible: alike, and no differing known extents.
pub(super) fn compatible(ctx: &Context, a: Type, b: Type) -> bool {
    let [x, y] = [a, b].map(|ty| tensor_of(ctx, ty));
    let fit = match (ctx.shape(x), ctx.shape(y)) {
        (Some(x), Some(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x == y || *x == DYNAMIC || *y == DYNAMIC)
        }
        _ => true,
    };
    fit && are_alike(ctx, a, b)
}

/// Whether two types are of tensors, or of sequences of tensors, with the same elements.
pub(super) fn are_alike(ctx: &Context, a: Type, b: Type) -> bool {
    let [x, y] = [a, b].map(|ty| tensor_of(ctx, ty));
    (x == a) == (y == b) && ctx.element_type(x) == ctx.element_type(y)
}

/// Returns the type of the elements of a sequence; another type itself.
fn tensor_of(ctx: &Context, ty: Type) -> Type {
    SequenceType::element_of(ctx, ty).unwrap_or(ty)
}

/// Returns the tensor as an attribute that shares its bytes.
pub(super) fn dense(ctx: &Context, tensor: &Tensor) -> Attr {
    let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
    ctx.dense_attr(ctx.tensor_type(&shape, ctx.dtype_type(tensor.dtype())), tensor)
}

/// Converts an attribute to the form of its declaration; `None` if its value means absent.
pub(super) fn convert(
    ctx: &Context,
    spec: &AttrSpec,
    a: &AttributeProto,
    dir: Option<&Path>,
) -> Result<Option<Attr>, String> {
    let fits = |attr: &Attr| (spec.kind.check)(ctx, *attr);
    let candidate = match attribute_type(a) {
        AttributeType::Int if fits(&ctx.type_attr(Type::F32)) && !fits(&ctx.int_attr(Type::I64, a.i)) => {
            // Data type 0 is ONNX's undefined type.
            if a.i == 0 {
                return Ok(None);
            }
            let number = i32::try_from(a.i).map_err(|_| format!("unknown element type {}", a.i));
            ctx.type_attr(ctx.dtype_type(number.and_then(dtype).map_err(|e| format!("attribute '{}': {e}", a.name))?))
        }
        AttributeType::Int => {
            let forms = [ctx.int_attr(Type::I64, a.i), ctx.bool_attr(a.i != 0)];
            forms.into_iter().find(fits).unwrap_or(forms[0])
        }
        AttributeType::Float => ctx.float_attr(Type::F32, f64::from(a.f)),
        AttributeType::String => string(ctx, spec, &a.s),
        AttributeType::Ints => ctx.i64_array_attr(&a.ints),
        AttributeType::Floats => {
            let data = a.floats.iter().flat_map(|f| f.to_le_bytes()).collect();
            ctx.attr(AttrData::DenseArray { elem: Type::F32, data })
        }
        AttributeType::Strings => {
            let strings: Vec<Attr> = a.strings.iter().map(|s| string(ctx, spec, s)).collect();
            ctx.array_attr(&strings)
        }
        AttributeType::Tensor => match &a.t {
            Some(t) => dense(ctx, &to_tensor(t, dir).map_err(|e| format!("attribute '{}': {e}", a.name))?),
            None => return Err(format!("attribute '{}' has no value", a.name)),
        },
        other => return Err(format!("attribute '{}': attributes of kind {other:?} are not supported", a.name)),
    };
    if fits(&candidate) {
        Ok(Some(candidate))
    } else {
        // Elements are omitted from messages.
        let have = match ctx.attr_data(candidate) {
            AttrData::Dense(d) => format!("a tensor of type {}", ctx.display_type(d.ty)),
            _ => ctx.display_attr(candidate),
        };
        Err(format!("attribute '{}' must be {}, but is {have}", a.name, spec.kind.summary))
    }
}

/// Returns a string, or the integer of an enumeration case.
fn string(ctx: &Context, spec: &AttrSpec, s: &[u8]) -> Attr {
    if let AttrText::Cases(ty, cases) = spec.kind.text
        && let Some((_, value)) = cases.iter().find(|c| c.0.as_bytes() == s)
    {
        return ctx.int_attr(ty, *value);
    }
    ctx.attr(AttrData::String { value: s.into(), ty: Type::NONE })
}
