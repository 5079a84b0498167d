//! The journal of merges, for explanations.
//!
//! Every added e-node has an id and is a term: its operands were added before it. A *join* merges two classes, by a
//! rule application (a *step*) or by congruence, and names a node of each. Joins are the edges of a forest, so two
//! equal nodes are connected by one path, which existed when its last join was made: [`Paths`] finds it. The equality
//! of operands is explained recursively by earlier joins, so the recursion ends.

use egg::Id;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;

/// The cause of an equality.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The rule with this index.
    Rule(u32),
    /// A built-in cause, by name.
    Other(&'static str),
}

/// A rule application that made something new equal.
#[derive(Clone, Copy, Debug)]
pub struct RuleApplication {
    /// The rule.
    pub by: By,
    /// The 0-based iteration.
    pub iteration: u32,
    /// The matched node.
    pub left: Id,
    /// The node of the right side.
    pub right: Id,
    /// Range of its premises: the equalities without which the rule would not have matched.
    premises: (u32, u32),
}

/// The reason for a join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// The step with this index.
    Step(u32),
    /// Congruence: equal keys and equal operands.
    Operands,
}

/// A merge of two classes.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// A node of each class.
    pub nodes: [Id; 2],
    /// The reason.
    pub why: Why,
}

/// Pairs of an operand and the node matched in its class.
pub type Premises = SmallVec<[(Id, Id); 4]>;

/// All steps and joins, in order.
#[derive(Debug)]
pub struct Journal {
    /// The rule applications.
    pub steps: Vec<RuleApplication>,
    /// The merges.
    pub joins: Vec<Join>,
    premises: Vec<(Id, Id)>,
    /// The current application: cause, iteration and premises.
    now: (By, u32, (u32, u32)),
    /// Nodes that are about to be merged, and whether by congruence.
    next: Cell<Option<([Id; 2], bool)>>,
}

impl Default for Journal {
    fn default() -> Journal {
        let (steps, joins, premises) = Default::default();
        Journal { steps, joins, premises, now: (By::Other("unknown"), 0, (0, 0)), next: Cell::new(None) }
    }
}

impl Journal {
    /// Starts an application; joins until [`end`](Journal::end) belong to it.
    pub fn begin(&mut self, by: By, iteration: u32, premises: impl IntoIterator<Item = (Id, Id)>) {
        let from = self.premises.len();
        self.premises.extend(premises);
        self.now = (by, iteration, (from as u32, self.premises.len() as u32));
    }

    /// Ends the application.
    pub fn end(&mut self) {
        let used = self.steps.last().map_or(0, |step| step.premises.1);
        self.premises.truncate(used as usize);
    }

    /// Announces that two nodes will be merged, unless they are equal.
    pub fn announce(&self, nodes: [Id; 2], by_operands: bool) {
        self.next.set(Some((nodes, by_operands)));
    }

    /// Records the announced merge.
    pub fn join(&mut self) {
        let Some((nodes, by_operands)) = self.next.take() else { return };
        let why = if by_operands { Why::Operands } else { Why::Step(self.steps.len() as u32) };
        self.joins.push(Join { nodes, why });
        if !by_operands {
            let ([left, right], (by, iteration, premises)) = (nodes, self.now);
            self.steps.push(RuleApplication { by, iteration, left, right, premises });
        }
    }

    /// Returns the premises of a step.
    pub fn premises(&self, step: u32) -> &[(Id, Id)] {
        let (from, to) = self.steps[step as usize].premises;
        &self.premises[Range { start: from as usize, end: to as usize }]
    }
}
