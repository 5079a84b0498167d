//! Op cost descriptors: declared beside the op, priced by each target's cost model.

/// The cost descriptor of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpCost {
    /// No work: the result is a view of an operand's elements, in their order.
    View,
    /// A copy: the number of elements read and written.
    Move(u64),
    /// An elementwise computation: the number of elements.
    Map(u64),
    /// A contraction: sums of products.
    Contract(Contraction),
}

/// A matrix product or a convolution: `groups` products of `[rows, depth]` by `[depth, columns]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contraction {
    /// Number of independent products: batch, or groups of a convolution.
    pub groups: u64,
    /// Rows of the left operand; for a convolution, filters per group.
    pub rows: u64,
    /// Length of the summed dimension; for a convolution, channels per group times taps.
    pub depth: u64,
    /// Columns of the right operand; for a convolution, output positions.
    pub columns: u64,
    /// Taps of a filter (kernel height times width); 1 for a matrix product.
    pub taps: u64,
    /// The algorithm.
    pub kind: ContractionKind,
}

/// The algorithm of a contraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContractionKind {
    /// The target's dense algorithm.
    Dense,
    /// A sparse algorithm, and the number of nonzero factors; `u64::MAX` if unknown.
    Sparse(Sparse, u64),
    /// A mapping onto an engine for 3x3 convolutions.
    Conv3x3(Conv3x3Mapping),
}

/// The algorithm of a product with a constant, mostly zero operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sparse {
    /// Straight-line code with the factors as immediates.
    Unrolled,
    /// Calls of functions chosen by the pattern of nonzero factors.
    Patterns,
    /// A loop over compressed sparse rows (CSR).
    Csr,
}

/// The mapping of a matrix product onto 3x3 convolutions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conv3x3Mapping {
    /// Depthwise: nine factors of a row form the filter of one channel.
    Diagonal,
    /// Dense: one output channel per row, one input channel per nine columns.
    Dense,
}

impl Contraction {
    /// Returns a dense product.
    pub fn dense(groups: u64, rows: u64, depth: u64, columns: u64) -> Contraction {
        Contraction { groups, rows, depth, columns, taps: 1, kind: ContractionKind::Dense }
    }

    /// Returns the number of multiply-accumulates.
    pub fn products(&self) -> u64 {
        [self.groups, self.rows, self.depth, self.columns].into_iter().fold(1, u64::saturating_mul)
    }
}
