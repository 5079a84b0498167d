//! The registered dialects of a context, and the declarations of their ops.

use crate::context::Context;
use crate::intern::{Attr, OpName};
use crate::op_info::{Dialect, OpInfo};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The registered dialects.
struct Registry {
    dialects: Vec<&'static Dialect>,
    /// Parsed declared defaults, by the address of their text.
    defaults: Mutex<FxHashMap<usize, Attr>>,
}

impl Context {
    /// Creates a context with these dialects; all other ops, types and attributes are unregistered and preserved as
    /// they are.
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

    /// Returns the declaration of an op name, if it is registered.
    #[inline]
    pub fn op_info(&self, name: OpName) -> Option<&'static OpInfo> {
        self.op_row(name).declaration?.downcast_ref()
    }

    /// Returns the value of a declared default. Panics if the declaration is malformed.
    pub fn default_attr(&self, text: &'static str) -> Attr {
        let mut defaults = self.registry().defaults.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || self.parse_attr(text).unwrap_or_else(|e| panic!("default '{text}': {e}"));
        *defaults.entry(text.as_ptr() as usize).or_insert_with(read)
    }

    /// Returns the registered dialects, in registration order.
    pub fn dialects(&self) -> &[&'static Dialect] {
        &self.registry().dialects
    }

    /// Returns the registered dialect with this name.
    pub fn dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.dialects().iter().copied().find(|d| d.name == name)
    }
}
