//! Interning: each distinct string, type, attribute and op name is one `u32`, so that equality is one comparison.
//!
//! The tables only grow and can be read without a lock while other threads intern, so passes may run on several functions
//! at once.

use crate::{entity, entity::Entity};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

entity!(/** An interned string. */ Str, "str");

impl Str {
    /// `value`, the attribute of constants.
    pub const VALUE: Str = Str(0);
}

entity!(/** An interned type. */ Type, "type");
entity!(/** An interned attribute. */ Attr, "attr");
entity!(/** An interned op name, registered or not. */ OpName, "opname");

/// An append-only set of values with dense numbers.
pub(crate) struct Interner<K, T> {
    rows: boxcar::Vec<T>,
    /// Rows by hash, of which a half is kept: a table that grows need not look at the rows.
    index: Mutex<HashTable<(u32, u32)>>,
    /// Rows asked for lately, by hash: one more than the row's number, 0 for none, below the hash's upper half, so that
    /// rows of other hashes need not be looked at. What threads ask for again and again they find here without the lock.
    recent: Box<[AtomicU64]>,
    key: std::marker::PhantomData<K>,
}

/// Rows that are found without the lock.
const RECENT: usize = 1 << 12;

impl<K: Entity, T: Eq + Hash> Interner<K, T> {
    pub(crate) fn new() -> Self {
        let recent = (0..RECENT).map(|_| AtomicU64::new(0)).collect();
        Interner { rows: boxcar::Vec::new(), index: Mutex::default(), recent, key: std::marker::PhantomData }
    }

    /// The key of the row that `is` accepts, if it was asked for lately.
    #[inline]
    fn recent(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<K> {
        let entry = self.recent[hash as usize % RECENT].load(Ordering::Acquire);
        let i = ((entry ^ hash) >> 32 == 0).then_some(entry as u32)?.checked_sub(1)?;
        is(&self.rows[i as usize]).then(|| K::new(i as usize))
    }

    /// The key of the row that `is` accepts, or of the row that `make` gives. `hash` must be the row's.
    pub(crate) fn intern_with(&self, hash: u64, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> K {
        if let Some(key) = self.recent(hash, &is) {
            return key;
        }
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let found = index.find(spread(hash), |&(half, i)| half == upper(hash) && is(&self.rows[i as usize]));
        let found = found.map(|&(_, i)| i);
        self.note(hash, found.unwrap_or_else(|| self.add(&mut index, hash, make())))
    }

    pub(crate) fn intern(&self, row: T) -> K {
        let hash = FxBuildHasher.hash_one(&row);
        if let Some(key) = self.recent(hash, |other| *other == row) {
            return key;
        }
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let found = index.find(spread(hash), |&(half, i)| half == upper(hash) && self.rows[i as usize] == row);
        let found = found.map(|&(_, i)| i);
        self.note(hash, found.unwrap_or_else(|| self.add(&mut index, hash, row)))
    }

    fn add(&self, index: &mut HashTable<(u32, u32)>, hash: u64, row: T) -> u32 {
        let i = self.rows.push(row) as u32;
        index.insert_unique(spread(hash), (upper(hash), i), |&(half, _)| spread(u64::from(half) << 32));
        i
    }

    fn note(&self, hash: u64, i: u32) -> K {
        self.recent[hash as usize % RECENT].store(hash >> 32 << 32 | u64::from(i + 1), Ordering::Release);
        K::new(i as usize)
    }

    #[inline]
    pub(crate) fn get(&self, key: K) -> &T {
        &self.rows[key.index()]
    }
}

/// The half of a hash that is kept.
fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// A hash made of the half that is kept: tables look at bits of both ends.
fn spread(hash: u64) -> u64 {
    u64::from(upper(hash)) * 0x1_0000_0001
}
