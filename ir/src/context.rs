//! The state that modules share: interned strings, types, attributes and op names, and source files.
//!
//! The context is below the layers that declare ops, match rules and parse text. It stores their data type-erased: a
//! [`Declaration`] per op name, and [`Extensions`].

mod attrs;
mod extensions;
mod release;
mod types;

use crate::attrs::AttrData;
use crate::intern::{Attr, Interner, OpName, Str, Type};
use crate::text::source::SourceFile;
use crate::traits::Traits;
use crate::types::TypeData;
use extensions::Extensions;
use rustc_hash::FxBuildHasher;
use std::any::Any;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

/// An op's declaration, type-erased for the layer above; see `Context::op_info`.
pub(crate) type Declaration = &'static (dyn Any + Send + Sync);

/// The row of an op name.
pub(crate) struct OpNameData {
    pub(crate) name: Str,
    /// Length of the dialect prefix, without the dot; 0 when the name has no dot.
    pub(crate) dialect_len: u32,
    /// The declared traits; empty for unregistered ops.
    pub(crate) traits: Traits,
    pub(crate) declaration: Option<Declaration>,
    /// The declared assembly format, parsed at its first use; type-erased for `text`.
    pub(crate) format: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl OpNameData {
    fn new(name: Str, text: &str, declared: Option<(Traits, Declaration)>) -> Self {
        let dialect_len = text.find('.').unwrap_or(0) as u32;
        let (traits, declaration) = declared.map_or((Traits::NONE, None), |(traits, info)| (traits, Some(info)));
        OpNameData { name, dialect_len, traits, declaration, format: OnceLock::new() }
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

/// The shared tables. Every [`Module`](crate::Module) holds them in an `Arc`.
pub struct Context {
    strings: Interner<Str, Box<str>>,
    types: Interner<Type, TypeData>,
    attrs: Interner<Attr, AttrData>,
    op_names: Interner<OpName, OpNameData>,
    sources: boxcar::Vec<SourceFile>,
    /// Tables of upper layers.
    pub(crate) extensions: Extensions,
    pub(crate) next_distinct: AtomicU32,
}

impl Context {
    /// Creates a context without registered ops.
    pub(crate) fn bare() -> Context {
        let ctx = Context {
            strings: Interner::new(),
            types: Interner::new(),
            attrs: Interner::new(),
            op_names: Interner::new(),
            sources: boxcar::Vec::new(),
            extensions: Extensions::default(),
            next_distinct: AtomicU32::new(0),
        };
        assert_eq!(ctx.str("value"), Str::VALUE);
        ctx.intern_well_known_types();
        ctx.intern_well_known_attrs();
        ctx
    }

    /// Registers the declaration of an op, before its name is used.
    pub(crate) fn declare_op(&self, name: &str, traits: Traits, declaration: Declaration) {
        self.op_names.intern(OpNameData::new(self.str(name), name, Some((traits, declaration))));
    }

    /// Interns a string.
    pub fn str(&self, s: &str) -> Str {
        let hash = FxBuildHasher.hash_one(s);
        self.strings.intern_with(hash, |row| **row == *s, || s.into())
    }

    /// Returns the text of an interned string.
    #[inline]
    pub fn text(&self, s: Str) -> &str {
        self.strings.get(s)
    }

    /// Interns an op name such as `arith.addi`.
    pub fn op_name(&self, name: &str) -> OpName {
        self.op_names.intern(OpNameData::new(self.str(name), name, None))
    }

    pub(crate) fn op_row(&self, name: OpName) -> &OpNameData {
        self.op_names.get(name)
    }

    /// Returns the spelling of an op name.
    #[inline]
    pub fn op_name_text(&self, name: OpName) -> &str {
        self.text(self.op_names.get(name).name)
    }

    /// Returns the dialect prefix of an op name; empty when it has none.
    pub fn op_dialect(&self, name: OpName) -> &str {
        &self.op_name_text(name)[..self.op_names.get(name).dialect_len as usize]
    }

    /// Returns the declared traits of an op name; empty for unregistered ops.
    #[inline]
    pub(crate) fn op_traits(&self, name: OpName) -> Traits {
        self.op_names.get(name).traits
    }

    /// Whether a registered dialect declares the op name.
    #[inline]
    pub(crate) fn is_declared(&self, name: OpName) -> bool {
        self.op_names.get(name).declaration.is_some()
    }

    /// Returns the structure of a type.
    #[inline]
    pub fn type_data(&self, ty: Type) -> &TypeData {
        self.types.get(ty)
    }

    /// Returns the structure of an attribute.
    #[inline]
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        self.attrs.get(attr)
    }

    /// Returns the number of interned types and attributes.
    pub(crate) fn num_types_and_attrs(&self) -> usize {
        self.types.len() + self.attrs.len()
    }

    /// Returns all interned types.
    pub(crate) fn all_types(&self) -> impl Iterator<Item = Type> + '_ {
        self.types.keys()
    }

    /// Returns all interned attributes.
    pub(crate) fn all_attrs(&self) -> impl Iterator<Item = Attr> + '_ {
        self.attrs.keys()
    }

    /// Interns a type.
    pub fn ty(&self, data: TypeData) -> Type {
        self.types.intern(data)
    }

    /// Interns an attribute.
    pub fn attr(&self, data: AttrData) -> Attr {
        self.attrs.intern(data)
    }

    /// Returns the table of type `T` that an upper layer added, such as the cost models of targets.
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// Adds a table of an upper layer. Returns `false` if one of its type exists.
    pub fn extend<T: Any + Send + Sync>(&self, table: T) -> bool {
        self.extensions.set(table)
    }

    /// Adds a source text for locations and returns its index.
    pub fn add_source(&self, name: &str, text: Arc<String>) -> u32 {
        self.add_source_part(name, text, (1, 1))
    }

    /// Adds a part of a file that starts at a line and column of it, and returns its index.
    pub fn add_source_part(&self, name: &str, text: Arc<String>, start: (u32, u32)) -> u32 {
        let name = self.str(name);
        self.sources.push(SourceFile::new(name, text, start)) as u32
    }

    /// Returns a source text.
    pub fn source(&self, index: u32) -> &SourceFile {
        &self.sources[index as usize]
    }
}
