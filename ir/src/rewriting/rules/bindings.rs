//! Substitutions: a binding for each variable of a rule.

use super::{Arg, CompiledRule, Var};
use crate::intern::{Attr, Type};
use smallvec::SmallVec;

/// A substitution: the binding of each variable of a rule, by index. `V` is the value type of the graph in which the
/// rule is matched.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bindings<V>(SmallVec<[Option<Arg<V>>; 8]>);

impl<V: Copy> Bindings<V> {
    /// Creates the initial substitution of a rule, which binds the type variables with a fixed type.
    pub fn of(rule: &CompiledRule) -> Bindings<V> {
        let mut bindings: SmallVec<[Option<Arg<V>>; 8]> = smallvec::smallvec![None; rule.variables];
        rule.fixed.iter().for_each(|&(var, ty)| bindings[var] = Some(Arg::Type(ty)));
        Bindings(bindings)
    }

    /// Returns the binding of a variable.
    pub fn get(&self, var: Var) -> Option<Arg<V>> {
        self.0[var]
    }

    /// Sets or removes the binding of a variable.
    pub fn set(&mut self, var: Var, to: Option<Arg<V>>) {
        self.0[var] = to;
    }

    /// Binds a variable unless it is bound, and returns its binding.
    pub fn get_or_bind(&mut self, var: Var, to: Arg<V>) -> Arg<V> {
        *self.0[var].get_or_insert(to)
    }

    /// Returns the value to which a variable is bound.
    pub fn value(&self, var: Var) -> Option<V> {
        match self.0[var]? {
            Arg::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the attribute to which a variable is bound.
    pub fn attr(&self, var: Var) -> Option<Attr> {
        match self.0[var]? {
            Arg::Attr(attr) => Some(attr),
            _ => None,
        }
    }

    /// Returns the type to which a variable is bound.
    pub fn ty(&self, var: Option<Var>) -> Option<Type> {
        match self.0[var?]? {
            Arg::Type(ty) => Some(ty),
            _ => None,
        }
    }

    /// Returns the substitution with each value mapped by `f`.
    #[must_use]
    pub fn map_values(&self, f: impl Fn(V) -> V) -> Bindings<V> {
        let map = |arg: &Option<Arg<V>>| match *arg {
            Some(Arg::Value(value)) => Some(Arg::Value(f(value))),
            other => other,
        };
        Bindings(self.0.iter().map(map).collect())
    }
}
