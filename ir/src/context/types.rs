//! Construction and inspection of types.

use super::Context;
use crate::intern::Type;
use crate::types::{DYNAMIC, Signedness, TypeData, VSCALE};
use crate::values::float::FloatKind;
use crate::values::tensor::DType;
use std::borrow::Cow;

macro_rules! well_known_types {
    ($($name:ident = $index:literal: $data:expr),* $(,)?) => {
        #[allow(missing_docs, reason = "spelled as in the text")]
        impl Type {
            $(pub const $name: Type = Type($index);)*
        }
        impl Context {
            pub(crate) fn intern_well_known_types(&self) {
                $(let key = self.ty($data); assert_eq!(key, Type::$name);)*
            }
        }
    };
}

const fn int(width: u32) -> TypeData {
    TypeData::Integer { width, sign: Signedness::Signless }
}

well_known_types! {
    NONE = 0: TypeData::None,
    INDEX = 1: TypeData::Index,
    I1 = 2: int(1),
    I8 = 3: int(8),
    I16 = 4: int(16),
    I32 = 5: int(32),
    I64 = 6: int(64),
    F16 = 7: TypeData::Float(FloatKind::F16),
    BF16 = 8: TypeData::Float(FloatKind::BF16),
    F32 = 9: TypeData::Float(FloatKind::F32),
    F64 = 10: TypeData::Float(FloatKind::F64),
}

impl Context {
    /// Returns the integer type of `width` bits.
    pub fn int_type(&self, width: u32, sign: Signedness) -> Type {
        self.ty(TypeData::Integer { width, sign })
    }

    /// Returns `(inputs) -> results`.
    pub fn function_type(&self, inputs: &[Type], results: &[Type]) -> Type {
        self.ty(TypeData::Function { inputs: inputs.into(), results: results.into() })
    }

    /// Returns `tensor<shape x elem>`.
    pub fn tensor_type(&self, shape: &[i64], elem: Type) -> Type {
        self.ty(TypeData::Tensor { shape: shape.into(), elem, encoding: None })
    }

    /// Returns `vector<shape x elem>` without scalable dimensions.
    pub fn vector_type(&self, shape: &[i64], elem: Type) -> Type {
        let scalable = vec![false; shape.len()].into();
        self.ty(TypeData::Vector { shape: shape.into(), scalable, elem })
    }

    /// Returns the parameters and results of a function type.
    pub fn function_parts(&self, ty: Type) -> Option<(&[Type], &[Type])> {
        match self.type_data(ty) {
            TypeData::Function { inputs, results } => Some((inputs, results)),
            _ => None,
        }
    }

    /// Returns the extents of a ranked vector, tensor or memref.
    pub fn shape(&self, ty: Type) -> Option<&[i64]> {
        match self.type_data(ty) {
            TypeData::Vector { shape, .. } | TypeData::Tensor { shape, .. } | TypeData::MemRef { shape, .. } => {
                Some(shape)
            }
            _ => None,
        }
    }

    /// Returns the extents if all are static and none is scalable.
    pub fn static_shape(&self, ty: Type) -> Option<&[i64]> {
        if self.is_scalable(ty) {
            return None;
        }
        self.shape(ty).filter(|s| !s.contains(&DYNAMIC))
    }

    /// Returns the extents of values of a shaped type in executions: those of scalable dimensions are multiplied by
    /// [`VSCALE`].
    pub fn executed_shape(&self, ty: Type) -> Option<Cow<'_, [i64]>> {
        match self.type_data(ty) {
            TypeData::Vector { shape, scalable, .. } if scalable.contains(&true) => {
                let extent = |(&n, &scalable): (&i64, &bool)| if scalable { n.saturating_mul(VSCALE) } else { n };
                Some(shape.iter().zip(scalable).map(extent).collect())
            }
            _ => self.shape(ty).map(Cow::Borrowed),
        }
    }

    /// Whether the type is a vector with a scalable dimension.
    pub fn is_scalable(&self, ty: Type) -> bool {
        matches!(self.type_data(ty), TypeData::Vector { scalable, .. } if scalable.contains(&true))
    }

    /// Whether tensors may have elements of a type.
    pub fn is_tensor_element(&self, ty: Type) -> bool {
        use TypeData::{Complex, Declared, Dialect, Float, Index, Integer, Vector};
        matches!(
            self.type_data(ty),
            Complex(_) | Declared { .. } | Dialect { .. } | Float(_) | Index | Integer { .. } | Vector { .. }
        )
    }

    /// Returns the element type of a shaped type; any other type itself.
    pub fn element_type(&self, ty: Type) -> Type {
        match *self.type_data(ty) {
            TypeData::Vector { elem, .. }
            | TypeData::Tensor { elem, .. }
            | TypeData::UnrankedTensor(elem)
            | TypeData::MemRef { elem, .. }
            | TypeData::UnrankedMemRef { elem, .. } => elem,
            _ => ty,
        }
    }

    /// Whether the type is a vector, tensor or memref.
    pub fn is_shaped(&self, ty: Type) -> bool {
        matches!(
            self.type_data(ty),
            TypeData::Vector { .. }
                | TypeData::Tensor { .. }
                | TypeData::UnrankedTensor(_)
                | TypeData::MemRef { .. }
                | TypeData::UnrankedMemRef { .. }
        )
    }

    /// Returns the shaped type with its element type replaced; `elem` itself for other types.
    pub fn with_element(&self, ty: Type, elem: Type) -> Type {
        let mut data = self.type_data(ty).clone();
        match &mut data {
            TypeData::Vector { elem: e, .. }
            | TypeData::Tensor { elem: e, .. }
            | TypeData::UnrankedTensor(e)
            | TypeData::MemRef { elem: e, .. }
            | TypeData::UnrankedMemRef { elem: e, .. } => *e = elem,
            _ => return elem,
        }
        self.ty(data)
    }

    /// Returns the width in bits of an integer type (64 for `index`).
    pub fn int_width(&self, ty: Type) -> Option<u32> {
        match self.type_data(ty) {
            TypeData::Integer { width, .. } => Some(*width),
            TypeData::Index => Some(64),
            _ => None,
        }
    }

    /// Returns the format of a float type.
    pub fn float_kind(&self, ty: Type) -> Option<FloatKind> {
        match self.type_data(ty) {
            TypeData::Float(kind) => Some(*kind),
            _ => None,
        }
    }

    /// Whether the type is explicitly unsigned (`ui8`).
    pub fn is_unsigned(&self, ty: Type) -> bool {
        matches!(self.type_data(ty), TypeData::Integer { sign: Signedness::Unsigned, .. })
    }

    /// Returns the element type for evaluation of elements of type `ty`. Signless integers are signed.
    pub fn dtype(&self, ty: Type) -> Option<DType> {
        let all = || DType::ALL.iter().copied();
        match *self.type_data(ty) {
            TypeData::Index => Some(DType::I64),
            TypeData::Integer { width: 1, .. } => Some(DType::Bool),
            TypeData::Integer { width, sign } => {
                let signed = sign != Signedness::Unsigned;
                all().find(|d| !d.is_float() && d.bits() == width && d.is_signed() == signed)
            }
            TypeData::Float(kind) => all().find(|d| d.float_kind() == Some(kind)),
            _ => None,
        }
    }

    /// Returns the IR type for `dtype`; the inverse of [`Context::dtype`] up to signedness.
    pub fn dtype_type(&self, dtype: DType) -> Type {
        let signless = dtype == DType::Bool || dtype.is_signed();
        match dtype.float_kind() {
            Some(kind) => self.ty(TypeData::Float(kind)),
            None => self.int_type(dtype.bits(), if signless { Signedness::Signless } else { Signedness::Unsigned }),
        }
    }
}
