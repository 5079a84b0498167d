//! Tables that upper layers keep with a context, such as its dialects or the rules that they declare.

use std::any::Any;
use std::sync::{Mutex, OnceLock, PoisonError};

/// At most one table of each type. Tables are added, and never replaced.
#[derive(Default)]
pub(crate) struct Extensions {
    /// A `OnceLock` of each type.
    tables: boxcar::Vec<Box<dyn Any + Send + Sync>>,
    adding: Mutex<()>,
}

impl Extensions {
    /// Returns the table of type `T`, if it was made.
    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.find::<T>()?.get()
    }

    /// Returns the table of type `T`, which `make` makes when it is first asked for.
    pub(crate) fn get_or_init<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> &T {
        self.slot().get_or_init(make)
    }

    /// Adds a table; `false` if there is one of its type.
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
