//! The registered dialects of a context, and the declarations of its ops.

use crate::context::Context;
use crate::intern::{Attr, OpName};
use crate::op_info::{Dialect, OpInfo};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The registered dialects.
struct Registry {
    dialects: Vec<&'static Dialect>,
    /// Declared defaults that were read, by the address of their text.
    defaults: Mutex<FxHashMap<usize, Attr>>,
}

impl Context {
    /// Returns a context that knows `dialects`; all other ops, types and attributes are unregistered and kept as they
    /// are.
    pub fn new(dialects: &[&'static Dialect]) -> Arc<Context> {
        let ctx = Context::bare();
        for info in dialects.iter().flat_map(|dialect| dialect.ops) {
            ctx.declare_op(info.name, info.traits, *info);
        }
        ctx.extensions.set(Registry { dialects: dialects.to_vec(), defaults: Mutex::default() });
        Arc::new(ctx)
    }

    fn registry(&self) -> &Registry {
        self.extensions.get().expect("a context is made with its dialects")
    }

    /// Returns the declaration of an op name, when a registered dialect has one.
    #[inline]
    pub fn op_info(&self, name: OpName) -> Option<&'static OpInfo> {
        self.op_row(name).declaration?.downcast_ref()
    }

    /// Returns the value of a declared default. Panics when it cannot be read: a mistake in the declaration.
    pub fn default_attr(&self, text: &'static str) -> Attr {
        let mut defaults = self.registry().defaults.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || self.parse_attr(text).unwrap_or_else(|e| panic!("default '{text}': {e}"));
        *defaults.entry(text.as_ptr() as usize).or_insert_with(read)
    }

    /// Returns the registered dialects, in registration order.
    pub fn dialects(&self) -> &[&'static Dialect] {
        &self.registry().dialects
    }

    /// Returns the registered dialect of that name.
    pub fn dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.dialects().iter().copied().find(|d| d.name == name)
    }
}
