//! Run-time values of declared types that are a Rust type of their own.

use crate::values::tensor::Tensor;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A Rust type whose values are run-time values of a declared type.
///
/// ```
/// # use gradus_ir::OwnValue;
/// #[derive(PartialEq)]
/// struct Residue(u128);
///
/// impl std::fmt::Display for Residue {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         self.0.fmt(f)
///     }
/// }
///
/// impl OwnValue for Residue {}
/// ```
pub trait OwnValue: Any + Send + Sync + fmt::Display + PartialEq {
    /// Returns the tensors that it consists of, if it does: two values of the same number of parts are compared part by part, so that a
    /// comparison has a tolerance for floats; others are compared by `PartialEq`.
    fn parts(&self) -> Option<&[Tensor]> {
        None
    }
}

/// An [`OwnValue`] whose Rust type is not known.
trait AnyOwnValue: Any + Send + Sync + fmt::Display {
    fn is_equal(&self, other: &dyn AnyOwnValue) -> bool;

    fn parts(&self) -> Option<&[Tensor]>;
}

impl<T: OwnValue> AnyOwnValue for T {
    fn is_equal(&self, other: &dyn AnyOwnValue) -> bool {
        (other as &dyn Any).downcast_ref::<T>().is_some_and(|other| self == other)
    }

    fn parts(&self) -> Option<&[Tensor]> {
        OwnValue::parts(self)
    }
}

/// A value of some [`OwnValue`] type. Cheap to clone.
#[derive(Clone)]
pub struct Own(Arc<dyn AnyOwnValue>);

impl Own {
    /// Wraps a value.
    pub fn new(value: impl OwnValue) -> Own {
        Own(Arc::new(value))
    }

    /// Returns the value, if it is of this Rust type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// Returns the tensors that it consists of, if it has such [`OwnValue::parts`].
    pub fn parts(&self) -> Option<&[Tensor]> {
        self.0.parts()
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        self.0.is_equal(&*other.0)
    }
}

impl fmt::Display for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
