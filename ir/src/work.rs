//! What ops do, in numbers that cost models weigh: declared beside the op, priced by each target.

/// What an op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Nothing: its result is the elements of an operand, in their order.
    View,
    /// Reads and writes so many elements.
    Move(u64),
    /// Computes something for so many elements.
    Map(u64),
    /// Sums products.
    Contract(Contraction),
}

/// Products of matrices, of which convolutions are some: `groups` times `rows` by `depth` by `columns`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contraction {
    /// So many products that have nothing in common: stacked matrices, groups of channels.
    pub groups: u64,
    /// Rows of the left operand: filters of a group.
    pub rows: u64,
    /// What is summed over: channels of a group times taps.
    pub depth: u64,
    /// Columns of the right operand: positions.
    pub columns: u64,
    /// Positions of a filter; 1 of a product of matrices.
    pub taps: u64,
    /// How it is done.
    pub way: Way,
}

/// How sums of products are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// As the target does it.
    Dense,
    /// Leaving out what is multiplied by zero, of which so many factors are none; `u64::MAX` if they are not known.
    Sparse(Sparse, u64),
    /// On an engine for 3x3 convolutions.
    Patches(Patches),
}

/// How products with a constant operand that is mostly zeros are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sparse {
    /// As code in which factors are immediates.
    Unrolled,
    /// As calls of functions chosen by the pattern of what is not zero.
    Patterns,
    /// As a loop over compressed rows.
    Csr,
}

/// How a product of matrices becomes 3x3 convolutions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patches {
    /// Nine factors of a row as a filter of which the channels stay apart.
    Diagonal,
    /// As many rows as there are output channels, and nine times as many columns as there are input channels.
    Dense,
}

impl Contraction {
    /// A dense product.
    pub fn dense(groups: u64, rows: u64, depth: u64, columns: u64) -> Contraction {
        Contraction { groups, rows, depth, columns, taps: 1, way: Way::Dense }
    }

    /// How many products are summed.
    pub fn products(&self) -> u64 {
        [self.groups, self.rows, self.depth, self.columns].into_iter().fold(1, u64::saturating_mul)
    }
}
