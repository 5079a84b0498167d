//! What is known of each class, in a vector.

use crate::graph::Graph;
use egg::Id;

/// Something for each of some classes of a graph, which no longer grows.
#[derive(Clone)]
pub struct ByClass<T>(Vec<Option<T>>);

impl<T: Copy> ByClass<T> {
    /// Nothing of any class.
    pub fn new(graph: &Graph) -> ByClass<T> {
        ByClass(vec![None; graph.nodes().len()])
    }

    /// What is known of a class.
    pub fn get(&self, class: Id) -> Option<T> {
        self.0[usize::from(class)]
    }

    /// Whether something is known of a class.
    pub fn has(&self, class: Id) -> bool {
        self.0[usize::from(class)].is_some()
    }

    /// Notes something of a class, and says what was known.
    pub fn set(&mut self, class: Id, to: Option<T>) -> Option<T> {
        std::mem::replace(&mut self.0[usize::from(class)], to)
    }
}

/// A set of classes.
pub type Classes = ByClass<()>;

impl Classes {
    /// Adds a class, and says whether it was not there.
    pub fn add(&mut self, class: Id) -> bool {
        self.set(class, Some(())).is_none()
    }
}
