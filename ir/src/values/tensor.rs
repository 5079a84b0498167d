//! Tensors: the values of constants, evaluation and kernels.
//!
//! Bytes are reference counted: cloning a [`Tensor`], mapping constants of a file, and turning a constant into an
//! operand share them. Elements are stored row-major, little-endian, each in a whole number of bytes.

use crate::values::float::{self, FloatKind};
use bytemuck::Pod;
use bytes::Bytes;
use half::{bf16, f16};
use std::borrow::Cow;
use std::fmt;

/// Defines the element types: integers by name, bits and signedness; floats by MLIR format.
macro_rules! dtypes {
    (integers { $($i:ident $text:literal $bits:literal $signed:literal;)* } floats { $($f:ident)* }) => {
        /// An element type with computation support. Types that MLIR can spell but nothing executes (such as `i7` or
        /// `f80`) have no `DType`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "the names are the field's own")]
        pub enum DType {
            $($i,)*
            $($f,)*
        }

        impl DType {
            /// All element types.
            pub const ALL: &[DType] = &[$(DType::$i,)* $(DType::$f,)*];

            /// Returns the spelling of the type in MLIR's syntax.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$i => $text,)* $(DType::$f => FloatKind::$f.name(),)* }
            }

            /// Returns the number of bits of an element; a tensor stores whole bytes.
            pub const fn bits(self) -> u32 {
                match self { $(DType::$i => $bits,)* $(DType::$f => FloatKind::$f.width(),)* }
            }

            /// Whether the type is a signed integer.
            pub const fn is_signed(self) -> bool {
                match self { $(DType::$i => $signed,)* $(DType::$f => false,)* }
            }

            /// Returns the format of a floating-point type.
            pub const fn float_kind(self) -> Option<FloatKind> {
                match self { $(DType::$i => None,)* $(DType::$f => Some(FloatKind::$f),)* }
            }
        }
    };
}

dtypes! {
    integers {
        Bool "i1" 1 false;
        I2 "i2" 2 true;
        I4 "i4" 4 true;
        I8 "i8" 8 true;
        I16 "i16" 16 true;
        I32 "i32" 32 true;
        I64 "i64" 64 true;
        U2 "ui2" 2 false;
        U4 "ui4" 4 false;
        U8 "ui8" 8 false;
        U16 "ui16" 16 false;
        U32 "ui32" 32 false;
        U64 "ui64" 64 false;
    }
    floats {
        F4E2M1FN F6E2M3FN F6E3M2FN
        F8E5M2 F8E4M3 F8E4M3FN F8E5M2FNUZ F8E4M3FNUZ F8E4M3B11FNUZ F8E3M4 F8E8M0FNU
        BF16 F16 F32 F64
    }
}

impl DType {
    /// Returns the number of bytes per element.
    pub const fn size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Whether the type is one of the floating-point types.
    pub const fn is_float(self) -> bool {
        self.float_kind().is_some()
    }

    /// Whether an element has fewer bits than any Rust type for it, as `i4` and floats of at most 8 bits do: it is
    /// stored in the low bits of a byte, the others zero, and has no [`Elem`].
    pub const fn is_narrow(self) -> bool {
        self.bits() < 8 && !matches!(self, DType::Bool) || self.is_float() && self.bits() == 8
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type for the elements of a [`Tensor`]. `bool` is stored as a `u8` of 0 or 1 and has no `Elem` of its own.
pub trait Elem: Pod + Send + Sync + PartialEq + PartialOrd + fmt::Debug + Default {
    /// The element type of this Rust type.
    const DTYPE: DType;
}

macro_rules! elem {
    ($($t:ty => $d:ident),* $(,)?) => { $(impl Elem for $t { const DTYPE: DType = DType::$d; })* };
}
elem! { i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
f16 => F16, bf16 => BF16, f32 => F32, f64 => F64 }

/// The owner of a `Vec` of elements behind [`Bytes`], so that a kernel's output becomes a tensor without a copy.
struct Owner<T>(Vec<T>);

impl<T: Pod> AsRef<[u8]> for Owner<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// A dense, row-major tensor. Cheap to clone.
#[derive(Clone, PartialEq)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<usize>,
    data: Bytes,
}

/// Bytes that cannot be a tensor: the size of the tensor is another, or overflows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorError {
    /// The element type.
    pub dtype: DType,
    /// The extents.
    pub shape: Vec<usize>,
    /// Number of bytes.
    pub bytes: usize,
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes cannot be a {} tensor of shape {:?}", self.bytes, self.dtype, self.shape)
    }
}

crate::declared_error!(TensorError);

impl Tensor {
    /// Creates a tensor over `data`.
    ///
    /// # Errors
    /// The size of `data` does not match `shape`, or overflows.
    pub fn new(dtype: DType, shape: Vec<usize>, data: Bytes) -> Result<Tensor, TensorError> {
        let bytes = checked_len(&shape).and_then(|n| n.checked_mul(dtype.size()));
        if bytes != Some(data.len()) {
            return Err(TensorError { dtype, shape, bytes: data.len() });
        }
        Ok(Tensor { dtype, shape, data })
    }

    /// Creates a tensor that takes over `data`. Panics if `data` does not have `shape`'s number of elements: a caller's
    /// bug.
    pub fn from_vec<T: Elem>(shape: &[usize], data: Vec<T>) -> Tensor {
        assert_eq!(checked_len(shape), Some(data.len()), "shape {shape:?}");
        Tensor { dtype: T::DTYPE, shape: shape.to_vec(), data: Bytes::from_owner(Owner(data)) }
    }

    /// Creates a tensor of booleans, each 0 or 1.
    pub fn from_bools(shape: &[usize], data: Vec<u8>) -> Tensor {
        debug_assert!(data.iter().all(|&b| b <= 1));
        Tensor { dtype: DType::Bool, ..Tensor::from_vec(shape, data) }
    }

    /// Creates a tensor of a [narrow](DType::is_narrow) type from the bits of its elements; excess bits are dropped.
    pub fn from_bits(dtype: DType, shape: &[usize], mut data: Vec<u8>) -> Tensor {
        debug_assert!(dtype.is_narrow());
        let mask = u8::MAX >> (8 - dtype.bits());
        data.iter_mut().for_each(|b| *b &= mask);
        Tensor { dtype, ..Tensor::from_vec(shape, data) }
    }

    /// Creates a tensor of rank 0.
    pub fn scalar<T: Elem>(value: T) -> Tensor {
        Tensor::from_vec(&[], vec![value])
    }

    /// Returns the element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the extent of each dimension, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.data.len() / self.dtype.size()
    }

    /// Whether the tensor has no elements.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Returns the raw bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.data
    }

    /// Returns the elements: borrowed if the bytes are aligned for `T`, as all but slices of files are; else copied.
    /// Panics if `T` is not the tensor's type (`u8` also reads booleans and the bits of narrow types): a caller's bug.
    pub fn as_slice<T: Elem>(&self) -> Cow<'_, [T]> {
        let as_u8 = (self.dtype == DType::Bool || self.dtype.is_narrow()) && T::DTYPE == DType::U8;
        assert!(T::DTYPE == self.dtype || as_u8, "{} read as {}", self.dtype, T::DTYPE);
        match bytemuck::try_cast_slice(&self.data) {
            Ok(slice) => Cow::Borrowed(slice),
            Err(_) => Cow::Owned(bytemuck::pod_collect_to_vec(&self.data)),
        }
    }

    /// Returns a view of the elements with another shape.
    ///
    /// # Errors
    /// The number of elements differs.
    pub fn reshape(&self, shape: Vec<usize>) -> Result<Tensor, TensorError> {
        Tensor::new(self.dtype, shape, self.data.clone())
    }

    /// Returns the elements as `f64`; exact for all types except 64-bit integers beyond 2^53.
    pub fn to_f64(&self) -> Vec<f64> {
        fn all<T: Elem>(t: &Tensor, f: impl Fn(T) -> f64) -> Vec<f64> {
            t.as_slice::<T>().iter().map(|&x| f(x)).collect()
        }
        match self.dtype {
            DType::Bool | DType::U2 | DType::U4 | DType::U8 => all::<u8>(self, f64::from),
            DType::I2 | DType::I4 => all::<u8>(self, |x| sign_extend(x, self.dtype.bits()).into()),
            DType::I8 => all::<i8>(self, f64::from),
            DType::I16 => all::<i16>(self, f64::from),
            DType::I32 => all::<i32>(self, f64::from),
            DType::I64 => all::<i64>(self, |x| x as f64),
            DType::U16 => all::<u16>(self, f64::from),
            DType::U32 => all::<u32>(self, f64::from),
            DType::U64 => all::<u64>(self, |x| x as f64),
            DType::F16 => all::<f16>(self, f64::from),
            DType::BF16 => all::<bf16>(self, f64::from),
            DType::F32 => all::<f32>(self, f64::from),
            DType::F64 => all::<f64>(self, |x| x),
            narrow => match narrow.float_kind() {
                Some(kind) => all::<u8>(self, |x| float::to_f64(kind, x.into())),
                None => vec![],
            },
        }
    }

    /// Returns the elements as `i64`, for integer and boolean tensors (shapes, axes, indices). `None` for floats and
    /// for unsigned values that overflow.
    pub fn to_i64(&self) -> Option<Vec<i64>> {
        fn all<T: Elem>(t: &Tensor, f: impl Fn(T) -> Option<i64>) -> Option<Vec<i64>> {
            t.as_slice::<T>().iter().map(|&x| f(x)).collect()
        }
        match self.dtype {
            DType::Bool | DType::U2 | DType::U4 | DType::U8 => all::<u8>(self, |x| Some(x.into())),
            DType::I2 | DType::I4 => all::<u8>(self, |x| Some(sign_extend(x, self.dtype.bits()).into())),
            DType::I8 => all::<i8>(self, |x| Some(x.into())),
            DType::I16 => all::<i16>(self, |x| Some(x.into())),
            DType::I32 => all::<i32>(self, |x| Some(x.into())),
            DType::I64 => all::<i64>(self, Some),
            DType::U16 => all::<u16>(self, |x| Some(x.into())),
            DType::U32 => all::<u32>(self, |x| Some(x.into())),
            DType::U64 => all::<u64>(self, |x| i64::try_from(x).ok()),
            _ => None,
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor<{:?}x{}>", self.shape, self.dtype)
    }
}

/// Sign-extends the low bits of a byte.
fn sign_extend(byte: u8, bits: u32) -> i8 {
    let unused = 8 - bits;
    (byte << unused).cast_signed() >> unused
}

/// Returns the number of elements of `shape`; `None` on overflow.
pub fn checked_len(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))
}

/// Returns the row-major strides of `shape`, in elements.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut out = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        out[i - 1] = out[i] * shape[i];
    }
    out
}
