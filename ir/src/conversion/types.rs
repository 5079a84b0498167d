//! Type conversion: which types become which, and how values cross between both worlds.

use super::matching::{Match, MatchFailure};
use crate::builder::Builder;
use crate::context::Context;
use crate::intern::Type;
use crate::loc::Loc;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::traits::Traits;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::{Arc, Mutex, PoisonError};

/// A short list of types.
pub type TypeList = SmallVec<[Type; 2]>;

/// What a conversion rule says of a type that it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Converted {
    /// It becomes this type.
    To(Type),
    /// It becomes these types; none means that values of the type vanish.
    Many(TypeList),
    /// It cannot be converted, whatever other rules say.
    Never,
}

impl Converted {
    /// Values of the type vanish.
    pub fn dropped() -> Converted {
        Converted::Many(TypeList::new())
    }
}

type Rule = dyn Fn(&TypeConverter, Type) -> Option<Converted> + Send + Sync;

/// Makes a value of the old type out of values of the new types; `None` when it cannot.
type SourceFn = dyn Fn(&mut Builder<'_>, Type, &[Value], Loc) -> Option<Value> + Send + Sync;

/// Makes values of the new types out of what the old value became; the last argument is the old type.
type TargetFn = dyn Fn(&mut Builder<'_>, &[Type], &[Value], Loc, Type) -> Option<ValueList> + Send + Sync;

/// Converts types by rules, of which the one added last is asked first.
///
/// Where a value of an old type meets an op that expects the new ones (or the other way round), a cast stands in during
/// the conversion. A cast that is still needed at the end is made real by a *materialization*; without one, the
/// conversion fails.
pub struct TypeConverter {
    /// Where the types live.
    pub ctx: Arc<Context>,
    rules: Vec<Box<Rule>>,
    source: Vec<Box<SourceFn>>,
    target: Vec<Box<TargetFn>>,
    keep_casts: bool,
    cache: Mutex<FxHashMap<Type, Option<TypeList>>>,
}

impl TypeConverter {
    /// A converter that can convert nothing.
    pub fn new(ctx: Arc<Context>) -> Self {
        TypeConverter {
            ctx,
            rules: Vec::new(),
            source: Vec::new(),
            target: Vec::new(),
            keep_casts: false,
            cache: Mutex::default(),
        }
    }

    /// A converter that leaves all types as they are, where no other rule is about them.
    pub fn identity(ctx: Arc<Context>) -> Self {
        let mut converter = Self::new(ctx);
        converter.add(|_, ty| Some(Converted::To(ty)));
        converter
    }

    /// Adds a rule; `None` is for the rules before it to decide. A rule may ask the converter for the types inside.
    pub fn add(
        &mut self,
        rule: impl Fn(&TypeConverter, Type) -> Option<Converted> + Send + Sync + 'static,
    ) -> &mut Self {
        self.cache.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self.rules.push(Box::new(rule));
        self
    }

    /// Adds a way to make a value of an old type from values of the new ones.
    pub fn add_source_materialization(
        &mut self,
        make: impl Fn(&mut Builder<'_>, Type, &[Value], Loc) -> Option<Value> + Send + Sync + 'static,
    ) -> &mut Self {
        self.source.push(Box::new(make));
        self
    }

    /// Adds a way to make values of the new types from what a value of an old type became.
    pub fn add_target_materialization(
        &mut self,
        make: impl Fn(&mut Builder<'_>, &[Type], &[Value], Loc, Type) -> Option<ValueList> + Send + Sync + 'static,
    ) -> &mut Self {
        self.target.push(Box::new(make));
        self
    }

    /// Casts that remain and that no materialization makes real stay as `builtin.unrealized_conversion_cast`, for a later
    /// conversion to resolve.
    pub fn keep_casts(&mut self) -> &mut Self {
        self.keep_casts = true;
        self
    }

    pub(super) fn keeps_casts(&self) -> bool {
        self.keep_casts
    }

    pub(super) fn to_source(&self, b: &mut Builder<'_>, ty: Type, inputs: &[Value], loc: Loc) -> Option<Value> {
        self.source.iter().rev().find_map(|make| make(b, ty, inputs, loc))
    }

    pub(super) fn to_target(
        &self,
        b: &mut Builder<'_>,
        types: &[Type],
        inputs: &[Value],
        loc: Loc,
        original: Type,
    ) -> Option<ValueList> {
        self.target.iter().rev().find_map(|make| make(b, types, inputs, loc, original))
    }

    /// What the type becomes; `None` when it cannot be converted.
    pub fn convert(&self, ty: Type) -> Option<TypeList> {
        let cache = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = cache().get(&ty) {
            return found.clone();
        }
        let types = match self.rules.iter().rev().find_map(|rule| rule(self, ty)) {
            Some(Converted::To(to)) => Some(smallvec![to]),
            Some(Converted::Many(types)) => Some(types),
            Some(Converted::Never) | None => None,
        };
        cache().insert(ty, types.clone());
        types
    }

    /// The one type that the type becomes.
    pub fn convert_one(&self, ty: Type) -> Match<Type> {
        match self.convert(ty).as_deref() {
            Some(&[one]) => Ok(one),
            Some(many) => Err(format!("type '{}' becomes {} types", self.ctx.display_type(ty), many.len()).into()),
            None => Err(self.failure("type", ty)),
        }
    }

    /// What all these types become, one after the other.
    pub fn convert_all(&self, types: impl IntoIterator<Item = Type>) -> Match<TypeList> {
        let mut out = TypeList::new();
        for ty in types {
            out.extend(self.convert(ty).ok_or_else(|| self.failure("type", ty))?);
        }
        Ok(out)
    }

    fn failure(&self, what: &str, ty: Type) -> MatchFailure {
        format!("unable to convert {what} '{}'", self.ctx.display_type(ty)).into()
    }

    /// How arguments of these types change.
    pub fn convert_signature(&self, types: impl IntoIterator<Item = Type>) -> Match<SignatureConversion> {
        let mut signature = SignatureConversion::default();
        for ty in types {
            let to = self.convert(ty).ok_or_else(|| self.failure("block argument type", ty))?;
            signature.push(&to);
        }
        Ok(signature)
    }

    /// Whether the type stays as it is.
    pub fn is_legal(&self, ty: Type) -> bool {
        self.convert(ty).is_some_and(|types| types[..] == [ty])
    }

    fn check(&self, what: &str, i: usize, ty: Type) -> Match {
        if self.is_legal(ty) {
            return Ok(());
        }
        Err(format!("{what} #{i} has type '{}', which has to be converted", self.ctx.display_type(ty)).into())
    }

    /// For dynamic legality: that the types of operands and results stay as they are.
    pub fn check_op(&self, m: &Module, op: Op) -> Match {
        for (i, &operand) in m.operands(op).iter().enumerate() {
            self.check("operand", i, m.value_type(operand))?;
        }
        m.results(op).enumerate().try_for_each(|(i, result)| self.check("result", i, m.value_type(result)))
    }

    /// For dynamic legality: that the types of all block arguments of a region stay as they are.
    pub fn check_region(&self, m: &Module, region: Region) -> Match {
        m.region_blocks(region).try_for_each(|block| {
            let mut args = m.block_args(block).iter().enumerate();
            args.try_for_each(|(i, &arg)| self.check("block argument", i, m.value_type(arg)))
        })
    }

    /// For dynamic legality: that the types of a function and of its blocks' arguments stay as they are.
    pub fn check_function(&self, m: &Module, op: Op) -> Match {
        let Some((inputs, results)) = function_type(m, op).and_then(|ty| m.ctx.function_parts(ty)) else {
            return Err("it has no function type".into());
        };
        inputs.iter().enumerate().try_for_each(|(i, &ty)| self.check("argument", i, ty))?;
        results.iter().enumerate().try_for_each(|(i, &ty)| self.check("result", i, ty))?;
        m.regions(op).iter().try_for_each(|&region| self.check_region(m, region))
    }
}

/// The type of a function.
pub(super) fn function_type(m: &Module, op: Op) -> Option<Type> {
    if !m.has_trait(op, Traits::FUNCTION) {
        return None;
    }
    m.ctx.as_type(m.attr(op, m.ctx.str("function_type"))?)
}

/// What an argument becomes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Remapped {
    /// New arguments: the first, and how many.
    Args(usize, usize),
    /// Values that exist already.
    Values(ValueList),
}

/// How the arguments of a block or function change.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct SignatureConversion {
    pub(super) types: TypeList,
    pub(super) map: SmallVec<[Remapped; 2]>,
}

impl SignatureConversion {
    /// The next old argument becomes new ones of these types: none, one or more.
    pub fn push(&mut self, types: &[Type]) {
        self.map.push(Remapped::Args(self.types.len(), types.len()));
        self.types.extend_from_slice(types);
    }

    /// The next old argument is replaced by values that exist already.
    pub fn push_values(&mut self, values: &[Value]) {
        self.map.push(Remapped::Values(values.into()));
    }

    /// New arguments of these types follow, which stand for no old one.
    pub fn push_extra(&mut self, types: &[Type]) {
        self.types.extend_from_slice(types);
    }

    /// The types of the new arguments.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The old argument that each new one stands for.
    pub(super) fn origins(&self) -> SmallVec<[Option<usize>; 4]> {
        let mut origins: SmallVec<[Option<usize>; 4]> = smallvec![None; self.types.len()];
        for (old, to) in self.map.iter().enumerate() {
            if let Remapped::Args(start, n) = *to {
                origins[start..start + n].fill(Some(old));
            }
        }
        origins
    }
}

/// The types of a block's arguments.
pub(super) fn arg_types(m: &Module, block: Block) -> TypeList {
    m.block_args(block).iter().map(|&arg| m.value_type(arg)).collect()
}
