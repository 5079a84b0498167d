//! Dense maps from e-classes.

use crate::graph::Graph;
use egg::Id;

/// A map from the e-classes of a graph that no longer grows.
#[derive(Clone)]
pub struct ByClass<T>(Vec<Option<T>>);

impl<T: Copy> ByClass<T> {
    /// Creates an empty map.
    pub fn new(graph: &Graph) -> ByClass<T> {
        ByClass(vec![None; graph.nodes().len()])
    }

    /// Returns the value of a class.
    pub fn get(&self, class: Id) -> Option<T> {
        self.0[usize::from(class)]
    }

    /// Whether a class has a value.
    pub fn has(&self, class: Id) -> bool {
        self.0[usize::from(class)].is_some()
    }

    /// Sets the value of a class and returns the previous one.
    pub fn set(&mut self, class: Id, to: Option<T>) -> Option<T> {
        std::mem::replace(&mut self.0[usize::from(class)], to)
    }
}

/// A set of e-classes.
pub type Classes = ByClass<()>;

impl Classes {
    /// Inserts a class; returns whether it is new.
    pub fn add(&mut self, class: Id) -> bool {
        self.set(class, Some(())).is_none()
    }
}
