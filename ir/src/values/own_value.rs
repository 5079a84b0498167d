//! Run-time values of declared types that are a Rust type of their own.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A Rust type whose values are run-time values of a declared type. Every type with these traits is one.
pub trait OwnValue: Any + Send + Sync + fmt::Display {
    /// Whether the other value is of the same Rust type and equal.
    fn is_equal(&self, other: &dyn OwnValue) -> bool;
}

impl<T: Any + Send + Sync + fmt::Display + PartialEq> OwnValue for T {
    fn is_equal(&self, other: &dyn OwnValue) -> bool {
        (other as &dyn Any).downcast_ref::<T>().is_some_and(|other| self == other)
    }
}

/// A value of some [`OwnValue`] type. Cheap to clone.
#[derive(Clone)]
pub struct Own(Arc<dyn OwnValue>);

impl Own {
    /// Wraps a value.
    pub fn new(value: impl OwnValue) -> Own {
        Own(Arc::new(value))
    }

    /// Returns the value, if it is of this Rust type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
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
