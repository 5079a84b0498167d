//! The registered dialects of a context: the declarations of their ops, types and attributes.

use crate::attrs::AttrData;
use crate::context::Context;
use crate::intern::{Attr, OpName, Type};
use crate::op_info::{Dialect, OpInfo};
use crate::parametric::{AttrInfo, ParamArgs, ParamError, Parametric, TypeInfo};
use crate::types::TypeData;
use rustc_hash::FxHashMap;
use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The registered dialects.
struct Registry {
    dialects: Vec<&'static Dialect>,
    types: FxHashMap<&'static str, &'static TypeInfo>,
    attrs: FxHashMap<&'static str, &'static AttrInfo>,
    /// Parsed formats of declared types and attributes, by the address of the declaration; type-erased for `text`.
    formats: FxHashMap<usize, OnceLock<Format>>,
    /// Parsed declared defaults, by the address of their text.
    defaults: Mutex<FxHashMap<usize, Attr>>,
}

/// A parsed format, type-erased for `text`.
type Format = Box<dyn Any + Send + Sync>;

impl Registry {
    fn new(dialects: &[&'static Dialect]) -> Registry {
        let types = || dialects.iter().flat_map(|dialect| dialect.types);
        let attrs = || dialects.iter().flat_map(|dialect| dialect.attrs);
        let decls = types().map(|info| &info.decl).chain(attrs().map(|info| &info.decl));
        Registry {
            dialects: dialects.to_vec(),
            types: types().map(|info| (info.decl.name, *info)).collect(),
            attrs: attrs().map(|info| (info.decl.name, *info)).collect(),
            formats: decls.map(|decl| (address(decl), OnceLock::new())).collect(),
            defaults: Mutex::default(),
        }
    }
}

fn address(decl: &'static Parametric) -> usize {
    std::ptr::from_ref(decl) as usize
}

impl Context {
    /// Creates a context with these dialects; all other ops, types and attributes are unregistered and preserved as
    /// they are.
    pub fn new(dialects: &[&'static Dialect]) -> Arc<Context> {
        let ctx = Context::bare();
        for info in dialects.iter().flat_map(|dialect| dialect.ops) {
            ctx.declare_op(info.name, info.traits, *info);
        }
        ctx.extensions.set(Registry::new(dialects));
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

    /// Returns the declaration of a declared type; `None` for other types.
    pub fn type_info(&self, ty: Type) -> Option<&'static TypeInfo> {
        let TypeData::Declared { name, .. } = self.type_data(ty) else { return None };
        self.registry().types.get(self.text(*name)).copied()
    }

    /// Returns the declaration of a declared attribute; `None` for other attributes.
    pub fn attr_info(&self, attr: Attr) -> Option<&'static AttrInfo> {
        let AttrData::Declared { name, .. } = self.attr_data(attr) else { return None };
        self.registry().attrs.get(self.text(*name)).copied()
    }

    /// Returns the declaration of the attribute with this name, such as `layout.tiled`.
    pub fn attr_info_of(&self, name: &str) -> Option<&'static AttrInfo> {
        self.registry().attrs.get(name).copied()
    }

    /// Returns the declaration and the parameters of a declared type; `None` for other types.
    pub fn declared(&self, ty: Type) -> Option<(&'static TypeInfo, ParamArgs<'_>)> {
        let info = self.type_info(ty)?;
        let TypeData::Declared { params, .. } = self.type_data(ty) else { return None };
        Some((info, ParamArgs { ctx: self, decl: &info.decl, params, of_type: Type::NONE }))
    }

    /// Returns the parameters of a declared type; `None` for other types.
    pub fn type_params(&self, ty: Type) -> Option<ParamArgs<'_>> {
        self.declared(ty).map(|(_, params)| params)
    }

    /// Returns the parameters of a declared attribute; `None` for other attributes.
    pub fn attr_params(&self, attr: Attr) -> Option<ParamArgs<'_>> {
        let decl = &self.attr_info(attr)?.decl;
        let AttrData::Declared { params, ty, .. } = self.attr_data(attr) else { return None };
        Some(ParamArgs { ctx: self, decl, params, of_type: *ty })
    }

    /// Returns the declared type with these parameters, and defaults for absent ones.
    ///
    /// # Errors
    /// When a parameter is missing or violates its constraint, or the declaration rejects the parameters.
    pub fn declared_type(&self, info: &'static TypeInfo, params: &[Option<Attr>]) -> Result<Type, ParamError> {
        let params = self.valid_params(&info.decl, params, Type::NONE)?;
        Ok(self.ty(TypeData::Declared { name: self.str(info.decl.name), params }))
    }

    /// Returns the declared attribute with these parameters, and defaults for absent ones.
    ///
    /// # Errors
    /// When a parameter is missing or violates its constraint, or the declaration rejects the parameters.
    pub fn declared_attr(&self, info: &'static AttrInfo, params: &[Option<Attr>]) -> Result<Attr, ParamError> {
        self.declared_typed_attr(info, params, Type::NONE)
    }

    /// Returns the declared attribute of a type with these parameters, and defaults for absent ones.
    ///
    /// # Errors
    /// When a parameter is missing or violates its constraint, the declaration rejects the parameters, or the attribute is
    /// not the value of a constant, and so has no type.
    pub fn declared_typed_attr(
        &self,
        info: &'static AttrInfo,
        params: &[Option<Attr>],
        ty: Type,
    ) -> Result<Attr, ParamError> {
        if ty != Type::NONE && info.value.is_none() {
            return Err(format!("#{} has no type", info.decl.name).into());
        }
        let params = self.valid_params(&info.decl, params, ty)?;
        Ok(self.attr(AttrData::Declared { name: self.str(info.decl.name), params, ty }))
    }

    fn valid_params(
        &self,
        decl: &'static Parametric,
        given: &[Option<Attr>],
        of_type: Type,
    ) -> Result<Box<[Option<Attr>]>, ParamError> {
        let mut params = Vec::with_capacity(decl.params.len());
        for (i, spec) in decl.params.iter().enumerate() {
            let value = given.get(i).copied().flatten().or_else(|| Some(self.default_attr(spec.default?)));
            match value {
                None if !spec.optional => return Err(format!("requires parameter '{}'", spec.name).into()),
                Some(value) if !(spec.kind.check)(self, value) => {
                    let message =
                        format!("parameter '{}' failed to satisfy constraint: {}", spec.name, spec.kind.summary);
                    return Err(ParamError::of(spec.name, 0, message));
                }
                value => params.push(value),
            }
        }
        let args = ParamArgs { ctx: self, decl, params: &params, of_type };
        decl.verify.map_or(Ok(()), |verify| verify(&args))?;
        Ok(params.into())
    }

    /// Returns the parsed format of a registered declaration, made by `parse` at its first use.
    pub(crate) fn param_format<T: Any + Send + Sync>(
        &self,
        decl: &'static Parametric,
        parse: impl FnOnce() -> T,
    ) -> Option<&T> {
        self.registry().formats.get(&address(decl))?.get_or_init(|| Box::new(parse())).downcast_ref()
    }

    /// Returns the value of a declared default. Panics if the declaration is malformed.
    pub fn default_attr(&self, text: &'static str) -> Attr {
        let known = |defaults: &FxHashMap<usize, Attr>| defaults.get(&(text.as_ptr() as usize)).copied();
        let lock = || self.registry().defaults.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(attr) = known(&lock()) {
            return attr;
        }
        // Not under the lock: the default of an op may be a declared attribute with defaults of its own.
        let attr = self.parse_attr(text).unwrap_or_else(|e| panic!("default '{text}': {e}"));
        lock().insert(text.as_ptr() as usize, attr);
        attr
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
