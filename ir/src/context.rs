//! What modules share: interned strings, types, attributes and op names, the registered dialects, and source files.
//!
//! Interning makes equality a comparison of two `u32`. The tables only grow and can be read without a lock while other
//! threads intern, so passes may run on several functions at once.

use crate::attrs::AttrData;
use crate::loc::SourceFile;
use crate::op_info::{Dialect, OpInfo};
use crate::types::TypeData;
use crate::{entity, entity::Entity};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    fn intern_with(&self, hash: u64, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> K {
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

/// The row of an op name.
pub(crate) struct OpNameData {
    pub(crate) name: Str,
    /// Length of the dialect prefix, without the dot; 0 when the name has no dot.
    pub(crate) dialect_len: u32,
    pub(crate) info: Option<&'static OpInfo>,
    /// The declaration's format, read when it is first needed.
    pub(crate) format: std::sync::OnceLock<Result<crate::text::Format, String>>,
}

impl OpNameData {
    fn new(name: Str, text: &str, info: Option<&'static OpInfo>) -> Self {
        let dialect_len = text.find('.').unwrap_or(0) as u32;
        OpNameData { name, dialect_len, info, format: std::sync::OnceLock::new() }
    }
}

impl PartialEq for OpNameData {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
impl Eq for OpNameData {}
impl Hash for OpNameData {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// The shared tables. Every [`Module`](crate::Module) holds one behind an `Arc`.
pub struct Context {
    strings: Interner<Str, Box<str>>,
    pub(crate) types: Interner<Type, TypeData>,
    pub(crate) attrs: Interner<Attr, AttrData>,
    op_names: Interner<OpName, OpNameData>,
    dialects: Vec<&'static Dialect>,
    pub(crate) sources: boxcar::Vec<SourceFile>,
    rules: std::sync::OnceLock<crate::rules::RuleTable>,
    /// Rules that no dialect declares.
    pub(crate) loaded: std::sync::OnceLock<Arc<crate::rules::RuleSet>>,
    /// Declared defaults that were read, by the address of their text.
    defaults: Mutex<rustc_hash::FxHashMap<usize, Attr>>,
    pub(crate) next_distinct: AtomicU32,
}

impl Context {
    /// A context that knows `dialects`; all other ops, types and attributes are unregistered and kept as they are.
    pub fn new(dialects: &[&'static Dialect]) -> Arc<Context> {
        let ctx = Context {
            strings: Interner::new(),
            types: Interner::new(),
            attrs: Interner::new(),
            op_names: Interner::new(),
            dialects: dialects.to_vec(),
            sources: boxcar::Vec::new(),
            rules: std::sync::OnceLock::new(),
            loaded: std::sync::OnceLock::new(),
            defaults: Mutex::default(),
            next_distinct: AtomicU32::new(0),
        };
        assert_eq!(ctx.str("value"), Str::VALUE);
        ctx.intern_well_known_types();
        ctx.intern_well_known_attrs();
        for dialect in dialects {
            for info in dialect.ops {
                let name = ctx.str(info.name);
                ctx.op_names.intern(OpNameData::new(name, info.name, Some(info)));
            }
        }
        Arc::new(ctx)
    }

    /// The rules of all dialects, read once.
    pub(crate) fn rules(&self) -> &crate::rules::RuleTable {
        self.rules.get_or_init(|| crate::rules::RuleTable::new(self))
    }

    /// The key of a string.
    pub fn str(&self, s: &str) -> Str {
        let hash = FxBuildHasher.hash_one(s);
        self.strings.intern_with(hash, |row| **row == *s, || s.into())
    }

    /// The text of an interned string.
    #[inline]
    pub fn text(&self, s: Str) -> &str {
        self.strings.get(s)
    }

    /// The key of an op name such as `arith.addi`.
    pub fn op_name(&self, name: &str) -> OpName {
        self.op_names.intern(OpNameData::new(self.str(name), name, None))
    }

    pub(crate) fn op_row(&self, name: OpName) -> &OpNameData {
        self.op_names.get(name)
    }

    /// The spelling of an op name.
    #[inline]
    pub fn op_name_text(&self, name: OpName) -> &str {
        self.text(self.op_names.get(name).name)
    }

    /// The dialect prefix of an op name; empty when it has none.
    pub fn op_dialect(&self, name: OpName) -> &str {
        &self.op_name_text(name)[..self.op_names.get(name).dialect_len as usize]
    }

    /// The declaration of an op name, when a registered dialect has one.
    #[inline]
    pub fn op_info(&self, name: OpName) -> Option<&'static OpInfo> {
        self.op_names.get(name).info
    }

    /// The value of a declared default. Panics when it cannot be read: a mistake in the declaration.
    pub fn default_attr(&self, text: &'static str) -> Attr {
        let mut defaults = self.defaults.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || self.parse_attr(text).unwrap_or_else(|e| panic!("default '{text}': {e}"));
        *defaults.entry(text.as_ptr() as usize).or_insert_with(read)
    }

    /// The registered dialects, in registration order.
    pub fn dialects(&self) -> &[&'static Dialect] {
        &self.dialects
    }

    /// The registered dialect of that name.
    pub fn dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.dialects.iter().copied().find(|d| d.name == name)
    }

    /// What a type is.
    #[inline]
    pub fn type_data(&self, ty: Type) -> &TypeData {
        self.types.get(ty)
    }

    /// What an attribute is.
    #[inline]
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        self.attrs.get(attr)
    }

    /// The key of a type.
    pub fn ty(&self, data: TypeData) -> Type {
        self.types.intern(data)
    }

    /// The key of an attribute.
    pub fn attr(&self, data: AttrData) -> Attr {
        self.attrs.intern(data)
    }
}
