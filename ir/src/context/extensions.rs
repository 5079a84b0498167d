//! Tables of upper layers attached to a context, such as dialects and rules.

use std::any::Any;
use std::sync::{Mutex, OnceLock, PoisonError};

/// An append-only set of tables, at most one per type.
#[derive(Default)]
pub(crate) struct Extensions {
    /// A `OnceLock` for each type.
    tables: boxcar::Vec<Box<dyn Any + Send + Sync>>,
    adding: Mutex<()>,
}

impl Extensions {
    /// Returns the table of type `T`, if it exists.
    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.find::<T>()?.get()
    }

    /// Returns the table of type `T`, created by `make` at its first use.
    pub(crate) fn get_or_init<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> &T {
        self.slot().get_or_init(make)
    }

    /// Adds a table; returns `false` if one of its type exists.
    pub(crate) fn set<T: Any + Send + Sync>(&self, table: T) -> bool {
        self.slot().set(table).is_ok()
    }

    fn find<T: Any>(&self) -> Option<&OnceLock<T>> {
        self.tables.iter().find_map(|(_, slot)| slot.downcast_ref())
    }

    fn slot<T: Any + Send + Sync>(&self) -> &OnceLock<T> {
        if let Some(slot) = self.find() {
            return slot;
        }
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        if self.find::<T>().is_none() {
            self.tables.push(Box::new(OnceLock::<T>::new()));
        }
        self.find().expect("the slot was added")
    }
}
