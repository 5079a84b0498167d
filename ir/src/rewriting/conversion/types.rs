//! Type converters, materializations and signature conversion.

use super::matching::{Match, MatchFailure};
use crate::builder::Builder;
use crate::context::Context;
use crate::intern::Type;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::representation::Representation;
use crate::text::loc::Loc;
use crate::traits::Traits;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::{Arc, Mutex, PoisonError};

/// A short list of types.
pub type TypeList = SmallVec<[Type; 2]>;

/// The result of a type conversion rule that applies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Converted {
    /// The type is converted to one type.
    To(Type),
    /// The type is converted to these types (1:N); with none, values of the type are dropped.
    Many(TypeList),
    /// The type cannot be converted, and no other rule is tried.
    Never,
}

impl Converted {
    /// Returns the conversion that drops values of the type.
    pub fn dropped() -> Converted {
        Converted::Many(TypeList::new())
    }
}

type Rule = dyn Fn(&TypeConverter, Type) -> Option<Converted> + Send + Sync;

/// Source materialization: builds a value of the original type from converted values; `None` if it cannot.
type SourceFn = dyn Fn(&mut Builder<'_>, Type, &[Value], Loc) -> Option<Value> + Send + Sync;

/// Target materialization: builds values of the converted types from the replacements of the original value. The last
/// argument is the original type.
type TargetFn = dyn Fn(&mut Builder<'_>, &[Type], &[Value], Loc, Type) -> Option<ValueList> + Send + Sync;

/// A type converter: rules of which the one added last is tried first.
///
/// While a conversion runs, a cast connects a value of an original type with an op that expects the converted ones, and
/// vice versa. A cast with users at the end is replaced by a *materialization*; without one, the conversion fails.
pub struct TypeConverter {
    /// The context of the types.
    pub ctx: Arc<Context>,
    rules: Vec<Box<Rule>>,
    source: Vec<Box<SourceFn>>,
    target: Vec<Box<TargetFn>>,
    keep_casts: bool,
    cache: Mutex<FxHashMap<Type, Option<TypeList>>>,
}

impl TypeConverter {
    /// Creates a converter without rules, which converts no type.
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

    /// Creates a converter that keeps all types to which no other rule applies.
    pub fn identity(ctx: Arc<Context>) -> Self {
        let mut converter = Self::new(ctx);
        converter.add(|_, ty| Some(Converted::To(ty)));
        converter
    }

    /// Adds a rule. It returns `None` to defer to the rules added before, and may call the converter for nested types.
    pub fn add(
        &mut self,
        rule: impl Fn(&TypeConverter, Type) -> Option<Converted> + Send + Sync + 'static,
    ) -> &mut Self {
        self.cache.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self.rules.push(Box::new(rule));
        self
    }

    /// Adds the rule of a representation: a type that it represents is converted to the types of the representing values.
    pub fn add_representation(&mut self, representation: &'static Representation) -> &mut Self {
        self.add(|converter, ty| Some(Converted::Many((representation.types)(&converter.ctx, ty)?.into())))
    }

    /// Adds a source materialization: from converted values to a value of the original type.
    pub fn add_source_materialization(
        &mut self,
        make: impl Fn(&mut Builder<'_>, Type, &[Value], Loc) -> Option<Value> + Send + Sync + 'static,
    ) -> &mut Self {
        self.source.push(Box::new(make));
        self
    }

    /// Adds a target materialization: from the replacements of a value to values of the converted types.
    pub fn add_target_materialization(
        &mut self,
        make: impl Fn(&mut Builder<'_>, &[Type], &[Value], Loc, Type) -> Option<ValueList> + Send + Sync + 'static,
    ) -> &mut Self {
        self.target.push(Box::new(make));
        self
    }

    /// Keeps remaining casts without a materialization as `builtin.unrealized_conversion_cast`, for a later conversion
    /// to resolve.
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

    /// Returns the converted types; `None` if the type cannot be converted.
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

    /// Returns the converted type; a match failure unless it is exactly one.
    pub fn convert_one(&self, ty: Type) -> Match<Type> {
        match self.convert(ty).as_deref() {
            Some(&[one]) => Ok(one),
            Some(many) => Err(format!("type '{}' becomes {} types", self.ctx.display_type(ty), many.len()).into()),
            None => Err(self.failure("type", ty)),
        }
    }

    /// Returns the converted types of a list, concatenated.
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

    /// Returns the conversion of arguments of these types.
    pub fn convert_signature(&self, types: impl IntoIterator<Item = Type>) -> Match<SignatureConversion> {
        let mut signature = SignatureConversion::default();
        for ty in types {
            let to = self.convert(ty).ok_or_else(|| self.failure("block argument type", ty))?;
            signature.push(&to);
        }
        Ok(signature)
    }

    /// Whether the type is converted to itself.
    pub fn is_legal(&self, ty: Type) -> bool {
        self.convert(ty).is_some_and(|types| types[..] == [ty])
    }

    fn check(&self, what: &str, i: usize, ty: Type) -> Match {
        if self.is_legal(ty) {
            return Ok(());
        }
        Err(format!("{what} #{i} has type '{}', which has to be converted", self.ctx.display_type(ty)).into())
    }

    /// Checks that the types of operands and results are legal; for dynamic legality.
    pub fn check_op(&self, m: &Module, op: Op) -> Match {
        for (i, &operand) in m.operands(op).iter().enumerate() {
            self.check("operand", i, m.value_type(operand))?;
        }
        m.results(op).enumerate().try_for_each(|(i, result)| self.check("result", i, m.value_type(result)))
    }

    /// Checks that the types of all block arguments of a region are legal; for dynamic legality.
    pub fn check_region(&self, m: &Module, region: Region) -> Match {
        m.region_blocks(region).try_for_each(|block| {
            let mut args = m.block_args(block).iter().enumerate();
            args.try_for_each(|(i, &arg)| self.check("block argument", i, m.value_type(arg)))
        })
    }

    /// Checks that the types of a function and of all its block arguments are legal; for dynamic legality.
    pub fn check_function(&self, m: &Module, op: Op) -> Match {
        let Some((inputs, results)) = function_type(m, op).and_then(|ty| m.ctx.function_parts(ty)) else {
            return Err("it has no function type".into());
        };
        inputs.iter().enumerate().try_for_each(|(i, &ty)| self.check("argument", i, ty))?;
        results.iter().enumerate().try_for_each(|(i, &ty)| self.check("result", i, ty))?;
        m.regions(op).iter().try_for_each(|&region| self.check_region(m, region))
    }
}

/// Returns the type of a function.
pub(super) fn function_type(m: &Module, op: Op) -> Option<Type> {
    if !m.has_trait(op, Traits::FUNCTION) {
        return None;
    }
    m.ctx.as_type(m.attr(op, m.ctx.str("function_type"))?)
}

/// The replacement of a block argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Remapped {
    /// New arguments: index of the first, and their number.
    Args(usize, usize),
    /// Existing values.
    Values(ValueList),
}

/// The conversion of the arguments of a block or function.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct SignatureConversion {
    pub(super) types: TypeList,
    pub(super) map: SmallVec<[Remapped; 2]>,
}

impl SignatureConversion {
    /// Replaces the next original argument by new ones of these types: none, one or more.
    pub fn push(&mut self, types: &[Type]) {
        self.map.push(Remapped::Args(self.types.len(), types.len()));
        self.types.extend_from_slice(types);
    }

    /// Replaces the next original argument by existing values.
    pub fn push_values(&mut self, values: &[Value]) {
        self.map.push(Remapped::Values(values.into()));
    }

    /// Appends new arguments that replace no original one.
    pub fn push_extra(&mut self, types: &[Type]) {
        self.types.extend_from_slice(types);
    }

    /// Returns the types of the new arguments.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// Returns the index of the original argument that each new one replaces.
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

/// Returns the types of a block's arguments.
pub(super) fn arg_types(m: &Module, block: Block) -> TypeList {
    m.block_args(block).iter().map(|&arg| m.value_type(arg)).collect()
}
