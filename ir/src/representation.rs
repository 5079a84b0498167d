//! Representations of the values of one type by values of others, which type conversions choose.
//!
//! A lowering that converts types changes the types of functions. Checking by execution compares such functions through
//! the representations that dialects declare.
//!
//! ```
//! use gradus_ir::conversion::TypeConverter;
//! use gradus_ir::eval::Datum;
//! use gradus_ir::{Context, Dialect, Representation, Type};
//!
//! /// A machine address of 32 bits.
//! static INDEX_AS_I32: Representation = Representation {
//!     name: "index-as-i32",
//!     types: |_, ty| (ty == Type::INDEX).then(|| vec![Type::I32]),
//!     encode: |_, _, value| Some(vec![Datum::Int(i32::try_from(value.int().ok()?).ok()?.into())]),
//!     decode: |_, _, values| Some(values[0].clone()),
//! };
//! static DIALECT: Dialect = Dialect { name: "machine", representations: &[&INDEX_AS_I32], ..Dialect::DEFAULT };
//!
//! let mut types = TypeConverter::identity(Context::new(&[&DIALECT]));
//! types.add_representation(&INDEX_AS_I32);
//! assert_eq!(types.convert(Type::INDEX).as_deref(), Some(&[Type::I32][..]));
//! ```

use crate::context::Context;
use crate::intern::Type;
use crate::values::datum::Datum;

/// A representation of the values of a type by values of other types.
///
/// It stands beside the type, or beside the rule of the type converter, and is listed in
/// [`Dialect::representations`](crate::Dialect::representations). One declaration serves the lowering and its check:
/// [`TypeConverter::add_representation`](crate::rewriting::conversion::TypeConverter::add_representation) converts types by it, and
/// checking by execution converts inputs and results.
///
/// Memory is represented by its contents: where `types` has a memref, `encode` returns the tensor that the memory holds
/// at first, and `decode` gets the tensor that it holds. A value is never poison as a whole in `encode`; if `decode`
/// returns `None` and one of its values is poison or has poison elements, the represented value is poison.
///
/// Two representations of one type by the same types cannot be told apart by those who see only the types: the first one
/// counts. Values in another form, such as a transformed one, deserve a type of their own.
pub struct Representation {
    /// The name, for messages.
    pub name: &'static str,
    /// Returns the types of the representing values; `None` for types that it does not represent.
    pub types: fn(&Context, Type) -> Option<Vec<Type>>,
    /// Returns the values that represent a value of the type; `None` if there are none, for example out of range.
    pub encode: fn(&Context, Type, &Datum) -> Option<Vec<Datum>>,
    /// Returns the value of the type that values represent; `None` if they represent none.
    pub decode: fn(&Context, Type, &[Datum]) -> Option<Datum>,
}

impl Context {
    /// Returns the representations of all dialects, in registration order.
    pub fn representations(&self) -> impl Iterator<Item = &'static Representation> + '_ {
        self.dialects().iter().flat_map(|dialect| dialect.representations).copied()
    }
}
