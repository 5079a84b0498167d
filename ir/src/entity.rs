//! Typed `u32` keys and the tables that they index.
//!
//! All entities of a [`Module`](crate::Module) refer to each other by such keys: keys are `Copy`, compare in one
//! instruction, need no lifetime, and stay valid while the tables grow. A [`Table`] allocates its keys; a [`SideTable`]
//! attaches data to keys of another table.

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A key of a [`Table`].
pub trait Entity: Copy + Eq + Display {
    /// Returns the key of row `index`.
    fn new(index: usize) -> Self;
    /// Returns the index of this key's row.
    fn index(self) -> usize;
}

/// Declares `pub struct Name(u32)` as an [`Entity`] whose `Display` is its spelling in dumps.
#[macro_export]
macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $crate::entity::Entity for $name {
            fn new(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                $name(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}

/// An `Option` of a key in four bytes: `u32::MAX` is `None`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PackedOption<K>(u32, PhantomData<K>);

impl<K: Entity> PackedOption<K> {
    /// The absent key.
    pub const NONE: Self = PackedOption(u32::MAX, PhantomData);

    /// Returns the key, if present.
    pub fn get(self) -> Option<K> {
        (self.0 != u32::MAX).then(|| K::new(self.0 as usize))
    }

    /// Applies `f` to the key, if present.
    pub fn map<L: Entity>(self, f: impl FnOnce(K) -> L) -> PackedOption<L> {
        self.get().map(f).into()
    }
}

impl<K: Entity> From<Option<K>> for PackedOption<K> {
    fn from(key: Option<K>) -> Self {
        key.map_or(Self::NONE, |k| PackedOption(k.index() as u32, PhantomData))
    }
}

impl<K: Entity> From<K> for PackedOption<K> {
    fn from(key: K) -> Self {
        PackedOption(key.index() as u32, PhantomData)
    }
}

impl<K: Entity + std::fmt::Debug> std::fmt::Debug for PackedOption<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// An arena of rows that allocates their keys.
///
/// Release builds reuse the keys of erased rows, so memory follows the maximum number of live rows; a stale key then
/// silently names another row. Debug builds never reuse a key, and indexing with the key of an erased row panics.
#[derive(Clone, Debug)]
pub struct Table<K, V> {
    rows: Vec<V>,
    free: Vec<u32>,
    #[cfg(debug_assertions)]
    is_erased: Vec<bool>,
    key: PhantomData<K>,
}

impl<K: Entity, V> Default for Table<K, V> {
    fn default() -> Self {
        Table {
            rows: Vec::new(),
            free: Vec::new(),
            #[cfg(debug_assertions)]
            is_erased: Vec::new(),
            key: PhantomData,
        }
    }
}

impl<K: Entity, V> Table<K, V> {
    /// Adds a row; release builds reuse an erased one if possible.
    pub fn push(&mut self, row: V) -> K {
        if cfg!(debug_assertions) {
            return self.push_new(row);
        }
        match self.free.pop() {
            Some(i) => {
                self.rows[i as usize] = row;
                K::new(i as usize)
            }
            None => self.push_new(row),
        }
    }

    /// Appends a row, so that successive rows have consecutive keys.
    pub(crate) fn push_new(&mut self, row: V) -> K {
        self.rows.push(row);
        K::new(self.rows.len() - 1)
    }

    /// Erases the row. Its key is stale from then on.
    pub fn free(&mut self, key: K) {
        self.check(key);
        self.free.push(key.index() as u32);
        #[cfg(debug_assertions)]
        {
            self.is_erased.resize(self.rows.len(), false);
            self.is_erased[key.index()] = true;
        }
    }

    /// Panics in debug builds if the row of `key` was erased.
    #[inline]
    #[track_caller]
    fn check(&self, key: K) {
        #[cfg(debug_assertions)]
        assert!(self.is_erased.get(key.index()) != Some(&true), "{key} was erased");
        let _ = key;
    }

    /// Removes all rows and keeps the allocation.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.free.clear();
        #[cfg(debug_assertions)]
        self.is_erased.clear();
    }

    /// Appends copies of rows.
    pub(crate) fn extend_from(&mut self, rows: &[V])
    where
        V: Clone,
    {
        self.rows.reserve_exact(rows.len());
        self.rows.extend_from_slice(rows);
    }

    /// Returns all rows by index, including erased ones.
    pub fn rows(&self) -> &[V] {
        &self.rows
    }

    /// Returns the keys of the erased rows.
    pub fn erased(&self) -> impl ExactSizeIterator<Item = K> + '_ {
        self.free.iter().map(|&i| K::new(i as usize))
    }

    /// Returns the number of rows, including erased ones.
    pub fn capacity(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of live rows.
    pub fn live(&self) -> usize {
        self.rows.len() - self.free.len()
    }
}

impl<K: Entity, V> Index<K> for Table<K, V> {
    type Output = V;
    #[inline]
    #[track_caller]
    fn index(&self, key: K) -> &V {
        self.check(key);
        &self.rows[key.index()]
    }
}

impl<K: Entity, V> IndexMut<K> for Table<K, V> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, key: K) -> &mut V {
        self.check(key);
        &mut self.rows[key.index()]
    }
}

/// A map from keys of another table to data. Unwritten keys have the default value. Rows are allocated in pages at the
/// first write, so that data about a few keys of a large table is cheap.
#[derive(Clone, Debug)]
pub struct SideTable<K, V> {
    pages: Vec<Option<Box<[V; PAGE]>>>,
    default: V,
    key: PhantomData<K>,
}

/// Rows per page of a [`SideTable`].
const PAGE: usize = 512;

impl<K: Entity, V: Clone> SideTable<K, V> {
    /// Creates a table in which every key has the value `default`.
    pub fn new(default: V) -> Self {
        SideTable { pages: Vec::new(), default, key: PhantomData }
    }

    #[cold]
    fn make_page(&mut self, page: usize) {
        if page >= self.pages.len() {
            self.pages.resize(page + 1, None);
        }
        let rows: Box<[V]> = vec![self.default.clone(); PAGE].into();
        self.pages[page] = rows.try_into().ok();
    }
}

impl<K: Entity, V: Clone> Index<K> for SideTable<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, key: K) -> &V {
        match self.pages.get(key.index() / PAGE) {
            Some(Some(page)) => &page[key.index() % PAGE],
            _ => &self.default,
        }
    }
}

impl<K: Entity, V: Clone> IndexMut<K> for SideTable<K, V> {
    #[inline]
    fn index_mut(&mut self, key: K) -> &mut V {
        let page = key.index() / PAGE;
        if !matches!(self.pages.get(page), Some(Some(_))) {
            self.make_page(page);
        }
        let rows = self.pages[page].as_mut().expect("just made");
        &mut rows[key.index() % PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    entity!(/** a key */ Key, "k");

    #[test]
    #[cfg(not(debug_assertions))]
    fn release_builds_reuse_rows() {
        let mut t: Table<Key, i32> = Table::default();
        let (a, b) = (t.push(1), t.push(2));
        t.free(a);
        let c = t.push(3);
        assert_eq!((a, t[c], t[b], t.live(), t.capacity()), (c, 3, 2, 2, 2));
    }

    #[test]
    #[cfg(debug_assertions)]
    fn debug_builds_never_reuse_keys() {
        let mut t: Table<Key, i32> = Table::default();
        let (a, b) = (t.push(1), t.push(2));
        t.free(a);
        let c = t.push(3);
        assert_eq!((t[b], t[c], t.live(), t.capacity()), (2, 3, 2, 3));
        assert!(a != c);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "k0 was erased")]
    fn debug_builds_catch_the_key_of_an_erased_row() {
        let mut t: Table<Key, i32> = Table::default();
        let a = t.push(1);
        t.free(a);
        t.push(2);
        let _ = t[a];
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "k0 was erased")]
    fn debug_builds_catch_a_row_that_is_erased_twice() {
        let mut t: Table<Key, i32> = Table::default();
        let a = t.push(1);
        t.free(a);
        t.free(a);
    }

    #[test]
    fn side_tables_default() {
        let (a, b) = (Key::new(0), Key::new(1));
        let mut s = SideTable::new(-1);
        s[b] = 7;
        assert_eq!((s[a], s[b], s[Key::new(90)], s[Key::new(9000)]), (-1, 7, -1, -1));
        s[Key::new(9000)] = 8;
        assert_eq!((s[b], s[Key::new(9000)]), (7, 8));
        assert_eq!(PackedOption::from(b).get(), Some(b));
        assert_eq!(PackedOption::<Key>::NONE.get(), None);
        assert_eq!(format!("{b}"), "k1");
    }
}
