//! Interning: each distinct string, type, attribute and op name is one `u32`, so that equality is one comparison.
//!
//! The tables are append-only and readable without a lock while other threads intern, so passes may run on several
//! functions in parallel.

use crate::{entity, entity::Entity};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

entity!(/** An interned string. */ Str, "str");

impl Str {
    /// `value`, the attribute name of constants.
    pub const VALUE: Str = Str(0);
}

entity!(/** An interned type. */ Type, "type");
entity!(/** An interned attribute. */ Attr, "attr");
entity!(/** An interned op name, registered or not. */ OpName, "opname");

/// An append-only set of values with dense keys.
pub(crate) struct Interner<K, T> {
    rows: boxcar::Vec<T>,
    /// Rows by hash. Each entry keeps half of the hash, so that the table grows without reading rows.
    index: Mutex<HashTable<(u32, u32)>>,
    /// A lock-free cache of recent rows, by hash: the row's number plus one (0 for empty) below the hash's upper half,
    /// which filters out rows with other hashes.
    recent: Box<[AtomicU64]>,
    key: std::marker::PhantomData<K>,
}

/// Number of entries of the lock-free cache.
const RECENT: usize = 1 << 12;

impl<K: Entity, T: Eq + Hash> Interner<K, T> {
    pub(crate) fn new() -> Self {
        let recent = (0..RECENT).map(|_| AtomicU64::new(0)).collect();
        Interner { rows: boxcar::Vec::new(), index: Mutex::default(), recent, key: std::marker::PhantomData }
    }

    /// Returns the key of the row that `is` accepts, if the cache holds it.
    #[inline]
    fn recent(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<K> {
        let entry = self.recent[hash as usize % RECENT].load(Ordering::Acquire);
        let i = ((entry ^ hash) >> 32 == 0).then_some(entry as u32)?.checked_sub(1)?;
        is(&self.rows[i as usize]).then(|| K::new(i as usize))
    }

    /// Returns the key of the row that `is` accepts, or adds the row that `make` returns. `hash` must be the row's.
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

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.count()
    }

    /// Returns all keys, except those that other threads are adding.
    pub(crate) fn keys(&self) -> impl Iterator<Item = K> + '_ {
        self.rows.iter().map(|(i, _)| K::new(i))
    }

    #[inline]
    pub(crate) fn get(&self, key: K) -> &T {
        &self.rows[key.index()]
    }
}

/// Returns the half of a hash that table entries keep.
fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Expands the kept half to a full hash: hash tables use bits of both ends.
fn spread(hash: u64) -> u64 {
    u64::from(upper(hash)) * 0x1_0000_0001
}
