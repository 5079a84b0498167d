//! Construction and inspection of attributes.

use super::Context;
use crate::attrs::{AttrData, Dense, Int, Piece};
use crate::intern::{Attr, Str, Type};
use crate::values::numbers::floats_to_tensor;
use crate::values::tensor::{DType, Elem, Tensor};

macro_rules! well_known_attrs {
    ($($name:ident = $index:literal: $data:expr),* $(,)?) => {
        #[allow(missing_docs, reason = "spelled as in the text")]
        impl Attr {
            $(pub const $name: Attr = Attr($index);)*
        }
        impl Context {
            pub(crate) fn intern_well_known_attrs(&self) {
                $(let key = self.attr($data); assert_eq!(key, Attr::$name);)*
            }
        }
    };
}

well_known_attrs! {
    UNIT = 0: AttrData::Unit,
    EMPTY_DICT = 1: AttrData::Dict(Box::new([])),
    FALSE = 2: AttrData::Integer { ty: Type::I1, value: Int::Small(0) },
    TRUE = 3: AttrData::Integer { ty: Type::I1, value: Int::Small(-1) },
    LOC_UNKNOWN = 4: AttrData::LocUnknown,
    EMPTY_ARRAY = 5: AttrData::Array(Box::new([])),
}

impl Context {
    /// Returns `value : ty`, wrapped to the type's width; sign-extended for types over 64 bits.
    pub fn int_attr(&self, ty: Type, value: i64) -> Attr {
        let width = self.int_width(ty).unwrap_or(64);
        let value = match width {
            0 => 0,
            1..64 => {
                let shifted = value << (64 - width);
                if self.is_unsigned(ty) { ((shifted as u64) >> (64 - width)) as i64 } else { shifted >> (64 - width) }
            }
            _ => value,
        };
        self.attr(AttrData::Integer { ty, value: Int::Small(value) })
    }

    /// Returns `true` or `false`.
    pub fn bool_attr(&self, value: bool) -> Attr {
        if value { Attr::TRUE } else { Attr::FALSE }
    }

    /// Returns `value : ty`, rounded to the float type `ty`.
    pub fn float_attr(&self, ty: Type, value: f64) -> Attr {
        let bits = self.float_kind(ty).map_or(0, |kind| crate::values::float::from_f64(kind, value));
        self.attr(AttrData::Float { ty, bits: [bits as u64, (bits >> 64) as u64] })
    }

    /// Returns `"text"`.
    pub fn string_attr(&self, text: &str) -> Attr {
        self.attr(AttrData::String { value: text.as_bytes().into(), ty: Type::NONE })
    }

    /// Returns `[a, b]`.
    pub fn array_attr(&self, elems: &[Attr]) -> Attr {
        self.attr(AttrData::Array(elems.into()))
    }

    /// Returns a type attribute.
    pub fn type_attr(&self, ty: Type) -> Attr {
        self.attr(AttrData::Type(ty))
    }

    /// Returns `@name`.
    pub fn symbol_attr(&self, name: &str) -> Attr {
        self.attr(AttrData::Symbol { root: self.str(name), nested: Box::new([]) })
    }

    /// Returns `array<i64: ...>`.
    pub fn i64_array_attr(&self, values: &[i64]) -> Attr {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.attr(AttrData::DenseArray { elem: Type::I64, data })
    }

    /// Returns `array<i32: ...>`.
    pub fn i32_array_attr(&self, values: &[i32]) -> Attr {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.attr(AttrData::DenseArray { elem: Type::I32, data })
    }

    /// Returns the dictionary of `entries`, sorted by name; the last of duplicate names wins.
    pub fn dict_attr(&self, mut entries: Vec<(Str, Attr)>) -> Attr {
        if entries.is_empty() {
            return Attr::EMPTY_DICT;
        }
        if !entries.is_sorted_by(|a, b| self.text(a.0) < self.text(b.0)) {
            entries.sort_by(|a, b| self.text(a.0).cmp(self.text(b.0)));
            entries.reverse();
            entries.dedup_by_key(|e| e.0);
            entries.reverse();
        }
        self.attr(AttrData::Dict(entries.into()))
    }

    /// Returns the entries of a dictionary; empty for any other attribute.
    pub fn dict_entries(&self, attr: Attr) -> &[(Str, Attr)] {
        match self.attr_data(attr) {
            AttrData::Dict(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the dictionary's entry of this name.
    #[inline]
    pub fn dict_get(&self, dict: Attr, name: Str) -> Option<Attr> {
        self.dict_entries(dict).iter().find(|e| e.0 == name).map(|e| e.1)
    }

    /// Returns the dictionary with `name` set to `value`, or removed.
    pub fn dict_with(&self, dict: Attr, name: Str, value: Option<Attr>) -> Attr {
        let mut entries = self.dict_entries(dict).to_vec();
        match (entries.iter().position(|e| e.0 == name), value) {
            (Some(i), Some(v)) => entries[i].1 = v,
            (Some(i), None) => drop(entries.remove(i)),
            (None, Some(v)) => {
                let at = entries.partition_point(|e| self.text(e.0) < self.text(name));
                entries.insert(at, (name, v));
            }
            (None, None) => return dict,
        }
        self.attr(AttrData::Dict(entries.into()))
    }

    /// Returns the value of an integer attribute that fits into 64 bits.
    pub fn as_int(&self, attr: Attr) -> Option<i64> {
        match self.attr_data(attr) {
            AttrData::Integer { value: Int::Small(v), .. } => Some(*v),
            _ => None,
        }
    }

    /// Returns the value of a boolean attribute.
    pub fn as_bool(&self, attr: Attr) -> Option<bool> {
        match attr {
            Attr::TRUE => Some(true),
            Attr::FALSE => Some(false),
            _ => None,
        }
    }

    /// Returns the value of a float attribute.
    pub fn as_float(&self, attr: Attr) -> Option<f64> {
        match *self.attr_data(attr) {
            AttrData::Float { ty, bits } => {
                let bits = u128::from(bits[0]) | u128::from(bits[1]) << 64;
                Some(crate::values::float::to_f64(self.float_kind(ty)?, bits))
            }
            _ => None,
        }
    }

    /// Returns the value of a scalar or splat constant: an integer, sign-extended, or a float. `None` for integers that
    /// `f64` does not represent exactly.
    pub fn as_uniform(&self, attr: Attr) -> Option<f64> {
        let exact = |v: i64| (v as f64 as i64 == v && v != i64::MAX).then_some(v as f64);
        match self.attr_data(attr) {
            AttrData::Integer { value: Int::Small(v), .. } => exact(*v),
            AttrData::Float { .. } => self.as_float(attr),
            AttrData::Dense(dense) if dense.splat => {
                let elem = self.element_type(dense.ty);
                let mut bytes = [0; 16];
                let data = dense.data();
                bytes.get_mut(..data.len())?.copy_from_slice(&data);
                let bits = u128::from_le_bytes(bytes);
                if let Some(kind) = self.float_kind(elem) {
                    return Some(crate::values::float::to_f64(kind, bits));
                }
                let width = self.int_width(elem).filter(|w| (1..=64).contains(w))?;
                let shift = 64 - width;
                exact(((bits as u64) << shift) as i64 >> shift)
            }
            _ => None,
        }
    }

    /// Whether a scalar or splat constant equals `number`. Integers wrap to their width, so that 1 also matches `true`;
    /// floats compare bitwise, so that 0 does not match -0.
    pub fn is_uniform(&self, attr: Attr, number: f64) -> bool {
        let Some(have) = self.as_uniform(attr) else { return false };
        let elem = self.attr_type(attr).map(|ty| self.element_type(ty));
        match elem.and_then(|ty| self.int_width(ty)) {
            Some(1) => (have != 0.0) == (number != 0.0) && number.abs() <= 1.0,
            _ => {
                have.to_bits() == number.to_bits()
                    || have == 0.0 && number == 0.0 && elem.is_some_and(|ty| self.float_kind(ty).is_none())
            }
        }
    }

    /// Returns the scalar or splat constant `number` of type `ty`. `None` for other types, and for fractions as
    /// integers.
    pub fn uniform_attr(&self, ty: Type, number: f64) -> Option<Attr> {
        let elem = self.element_type(ty);
        let scalar = match self.int_width(elem) {
            Some(_) if number.fract() == 0.0 => self.int_attr(elem, number as i64),
            None if self.float_kind(elem).is_some() => self.float_attr(elem, number),
            _ => return None,
        };
        self.splat_attr(ty, scalar)
    }

    /// Returns `scalar` for a scalar type, or its splat for a vector or tensor of static shape.
    pub fn splat_attr(&self, ty: Type, scalar: Attr) -> Option<Attr> {
        if !self.is_shaped(ty) {
            return Some(scalar);
        }
        self.static_shape(ty)?;
        let elem = self.element_type(ty);
        let data: Vec<u8> = match self.attr_data(scalar) {
            AttrData::Integer { value: Int::Small(v), .. } => {
                let size = (self.int_width(elem)? as usize).div_ceil(8);
                let narrow = self.dtype(elem).filter(|d| elem == Type::I1 || d.is_narrow());
                let stored = narrow.map_or(*v, |_| v & ((1 << self.int_width(elem).unwrap_or(0)) - 1));
                stored.to_le_bytes().get(..size)?.to_vec()
            }
            AttrData::Float { bits, .. } => {
                let size = (self.float_kind(elem)?.width() as usize).div_ceil(8);
                let all = u128::from(bits[0]) | u128::from(bits[1]) << 64;
                all.to_le_bytes().get(..size)?.to_vec()
            }
            _ => return None,
        };
        Some(self.attr(AttrData::Dense(Box::new(Dense::new(ty, true, data)))))
    }

    /// Returns the text of a string attribute, if it is UTF-8.
    pub fn as_str(&self, attr: Attr) -> Option<&str> {
        match self.attr_data(attr) {
            AttrData::String { value, .. } => std::str::from_utf8(value).ok(),
            _ => None,
        }
    }

    /// Returns the text between the angle brackets of `#dialect.mnemonic<...>`; `None` for other attributes.
    pub fn as_body(&self, attr: Attr, dialect: &str, mnemonic: &str) -> Option<&str> {
        let AttrData::Dialect { dialect: d, body, .. } = self.attr_data(attr) else { return None };
        let [Piece::Text(body)] = &**body else { return None };
        let body = body.strip_prefix(mnemonic)?.strip_prefix('<')?.strip_suffix('>')?;
        (self.text(*d) == dialect).then_some(body)
    }

    /// Returns the elements of an array attribute.
    pub fn as_array(&self, attr: Attr) -> Option<&[Attr]> {
        match self.attr_data(attr) {
            AttrData::Array(elems) => Some(elems),
            _ => None,
        }
    }

    /// Returns the type in a type attribute.
    pub fn as_type(&self, attr: Attr) -> Option<Type> {
        match self.attr_data(attr) {
            AttrData::Type(ty) => Some(*ty),
            _ => None,
        }
    }

    /// Returns the root and nested names of a symbol reference.
    pub fn as_symbol(&self, attr: Attr) -> Option<(Str, &[Str])> {
        match self.attr_data(attr) {
            AttrData::Symbol { root, nested } => Some((*root, nested)),
            _ => None,
        }
    }

    /// Returns the values of `array<iN: ...>` for N of 8, 16, 32 or 64, or of an array of integers that fit into 64
    /// bits.
    pub fn as_ints(&self, attr: Attr) -> Option<Vec<i64>> {
        self.collect_ints(attr)
    }

    /// Returns the values of [`Context::as_ints`] in any collection.
    pub(crate) fn collect_ints<C: FromIterator<i64>>(&self, attr: Attr) -> Option<C> {
        match self.attr_data(attr) {
            AttrData::DenseArray { elem, data } => {
                let size = (self.int_width(*elem)? as usize).div_ceil(8);
                (size <= 8).then(|| data.chunks_exact(size.max(1)).map(sign_extend).collect())
            }
            AttrData::Array(elems) => elems.iter().map(|&e| self.as_int(e)).collect(),
            _ => None,
        }
    }

    /// Returns the type of a typed attribute (integer, float, elements); `None` for other attributes.
    pub fn attr_type(&self, attr: Attr) -> Option<Type> {
        match self.attr_data(attr) {
            AttrData::Integer { ty, .. }
            | AttrData::Float { ty, .. }
            | AttrData::DenseStrings { ty, .. }
            | AttrData::DenseResource { ty, .. }
            | AttrData::Sparse { ty, .. } => Some(*ty),
            AttrData::Dense(dense) => Some(dense.ty),
            AttrData::String { ty, .. } | AttrData::Dialect { ty, .. } | AttrData::Declared { ty, .. }
                if *ty != Type::NONE =>
            {
                Some(*ty)
            }
            _ => None,
        }
    }

    /// Returns the tensor of a dense attribute whose element type has a [`DType`], or of a sparse one. Splats are expanded.
    pub fn dense_tensor(&self, attr: Attr) -> Option<Tensor> {
        let AttrData::Dense(dense) = self.attr_data(attr) else { return self.sparse_tensor(attr) };
        let dtype = self.dtype(self.element_type(dense.ty))?;
        dense_of_shape(dense, dtype, self.static_shape(dense.ty)?)
    }

    /// Returns the tensor of a splat of a scalable vector type, with the extents of executions.
    pub(crate) fn scalable_tensor(&self, attr: Attr) -> Option<Tensor> {
        let AttrData::Dense(dense) = self.attr_data(attr) else { return None };
        let dtype = self.dtype(self.element_type(dense.ty)).filter(|_| dense.splat && self.is_scalable(dense.ty))?;
        dense_of_shape(dense, dtype, &self.executed_shape(dense.ty)?)
    }

    /// Returns the tensor of a sparse attribute; `None` if nothing computes with its elements or it is too large. Of
    /// several values for one element the first counts.
    fn sparse_tensor(&self, attr: Attr) -> Option<Tensor> {
        let AttrData::Sparse { ty, indices, values } = *self.attr_data(attr) else { return None };
        let dtype = self.dtype(self.element_type(ty))?;
        let shape: Option<Vec<usize>> = self.static_shape(ty)?.iter().map(|&d| usize::try_from(d).ok()).collect();
        let (shape, size) = (shape?, dtype.size());
        let bytes = crate::values::tensor::checked_len(&shape)?.checked_mul(size).filter(|&n| n <= MAX_SPLAT_BYTES)?;
        let (rows, values) = (self.dense_tensor(indices)?.to_i64()?, self.dense_tensor(values)?);
        let mut data = vec![0; bytes];
        for (row, value) in rows.chunks_exact(shape.len().max(1)).zip(values.bytes().chunks_exact(size)).rev() {
            let inside = |(&i, &d): (&i64, &usize)| usize::try_from(i).ok().filter(|&i| i < d);
            let at = row.iter().zip(&shape).try_fold(0, |at, pair| Some(at * pair.1 + inside(pair)?))?;
            data.get_mut(at * size..(at + 1) * size)?.copy_from_slice(value);
        }
        Tensor::new(dtype, shape, data.into()).ok()
    }

    /// Returns the elements of a dense attribute of element type `T`, row-major. Splats are expanded.
    pub fn dense_elements<T: Elem>(&self, attr: Attr) -> Option<Vec<T>> {
        let AttrData::Dense(dense) = self.attr_data(attr) else { return None };
        if self.dtype(self.element_type(dense.ty)) != Some(T::DTYPE) {
            return None;
        }
        Some(self.dense_tensor(attr)?.as_slice().into_owned())
    }

    /// Returns the dense attribute of type `ty` (which gives the signedness of integers) over the tensor's bytes.
    pub fn dense_attr(&self, ty: Type, tensor: &Tensor) -> Attr {
        let size = tensor.dtype().size();
        let data = tensor.bytes();
        let splat = tensor.len() == 1 || (tensor.len() > 1 && data[size..] == data[..data.len() - size]);
        let data = if splat { data.slice(..size) } else { data.clone() };
        self.attr(AttrData::Dense(Box::new(Dense::new(ty, splat, data))))
    }

    /// Returns a dense attribute of floats, rounded to the element type of type `ty` of the same extents. Splats stay splats.
    pub fn convert_dense(&self, attr: Attr, ty: Type) -> Option<Attr> {
        if let Some(number) = self.as_uniform(attr) {
            return self.uniform_attr(ty, number);
        }
        let (tensor, dtype) = (self.dense_tensor(attr)?, self.dtype(self.element_type(ty))?);
        Some(self.dense_attr(ty, &floats_to_tensor(dtype, tensor.shape(), tensor.to_f64())))
    }
}

/// Returns the elements of a dense attribute as a tensor of extents `shape`.
fn dense_of_shape(dense: &Dense, dtype: DType, shape: &[i64]) -> Option<Tensor> {
    let shape = shape.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<Vec<usize>>>()?;
    let data = if dense.splat {
        let n = crate::values::tensor::checked_len(&shape)?;
        if n.checked_mul(dtype.size())? > MAX_SPLAT_BYTES {
            return None;
        }
        if n == 1 { dense.data() } else { dense.data().repeat(n).into() }
    } else {
        dense.data()
    };
    if dtype.is_narrow() {
        return Some(Tensor::from_bits(dtype, &shape, data.to_vec()));
    }
    Tensor::new(dtype, shape, data).ok()
}

/// Maximum size in bytes of an expanded splat: a few bytes of text can declare any size.
const MAX_SPLAT_BYTES: usize = 1 << 31;

/// Reads a little-endian two's complement integer of 1 to 8 bytes.
fn sign_extend(bytes: &[u8]) -> i64 {
    let mut wide = [if bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 }; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(wide)
}
