//! Op cost descriptors: counts of operations and elements, declared beside the op and priced by each target's cost model.
//!
//! An op declares its descriptor as an extension: `extensions = &[&DeclaredCost(conv_cost)]`. A dialect whose ops
//! compute a contraction by an algorithm of their own declares the algorithm as a [`Strategy`].

use gradus_ir::{DType, Extension, Module, Op, OpArgs, Type};

/// The cost descriptor of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpCost {
    /// No work: the result is a view of an operand's elements, in their order.
    View,
    /// A copy: the number of elements read and written.
    Move(u64),
    /// A copy in another order of axes: the number of elements.
    Relayout(u64),
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
    /// Channels of an image that a filter reads; 0 for a matrix product.
    pub channels: u64,
    /// Element type of the factors.
    pub factors: Factors,
    /// Whether the right operand is packed once, since it is constant, and not in each run.
    pub packed: bool,
    /// Number of elements of the right operand, or of filters, that are packed in each run for a constant left operand or image; 0 otherwise.
    pub packed_for_constant: u64,
    /// Number of runs of contiguous elements of the left operand whose addresses are looked up; 0 if none are.
    pub runs: u64,
    /// Number of elements of a sparse operand that are multiplied; `None` if operands are dense, or if it is unknown.
    pub nonzeros: Option<u64>,
    /// The algorithm; `None` for the target's dense one.
    pub strategy: Option<&'static Strategy>,
}

/// Element types of factors, as far as machines have instructions of their own for them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Factors {
    /// Bytes, with sums of i32.
    Bytes,
    /// bf16, with sums of f32.
    Bf16,
    /// f64.
    F64,
    /// Any other type.
    #[default]
    Other,
}

impl Factors {
    /// The element type of the first operand.
    pub fn of(args: &OpArgs<'_>) -> Factors {
        let element = args.operands.first().map(|_| args.ctx().element_type(args.operand_type(0)));
        match element.and_then(|ty| args.ctx().dtype(ty)) {
            Some(DType::I8 | DType::U8) => Factors::Bytes,
            Some(DType::BF16) => Factors::Bf16,
            Some(DType::F64) => Factors::F64,
            _ => Factors::Other,
        }
    }

    /// Bytes of a sum, in whose type sparse products are computed.
    pub fn bytes_of_sum(self) -> u64 {
        if self == Factors::F64 { 8 } else { 4 }
    }
}

/// An algorithm of contractions, declared as a static by the dialect whose ops compute by it. Statics are compared by
/// address. A target that has no price for a strategy does not implement it.
#[derive(Debug)]
pub struct Strategy {
    /// The name.
    pub name: &'static str,
}

/// The cost descriptor in an op's declaration: its function of operands, attributes and types.
pub struct DeclaredCost(pub fn(&OpArgs<'_>) -> OpCost);

impl Extension for DeclaredCost {}

impl DeclaredCost {
    /// Declares a view.
    pub const VIEW: DeclaredCost = DeclaredCost(|_| OpCost::View);
    /// Declares a copy to the results.
    pub const MOVE: DeclaredCost = DeclaredCost(OpCost::moved);
    /// Declares a copy to the results in another order.
    pub const RELAYOUT: DeclaredCost = DeclaredCost(|args| match OpCost::moved(args) {
        OpCost::Move(elements) => OpCost::Relayout(elements),
        other => other,
    });
}

impl OpCost {
    /// Returns the declared cost of an op; without a declaration, an elementwise computation of its largest result.
    pub fn of(m: &Module, op: Op) -> OpCost {
        m.with_args(op, |args| match args.info.extension::<DeclaredCost>() {
            Some(DeclaredCost(cost)) => cost(args),
            None => OpCost::Map(args.result_types.iter().map(|&ty| elements(args, ty)).max().unwrap_or(1)),
        })
        .unwrap_or(OpCost::Map(1))
    }

    /// Returns the cost of a copy: the number of elements of all results.
    pub fn moved(args: &OpArgs<'_>) -> OpCost {
        OpCost::Move(args.result_types.iter().map(|&ty| elements(args, ty)).fold(0, u64::saturating_add))
    }
}

impl Contraction {
    /// Returns a dense product.
    pub fn dense(groups: u64, rows: u64, depth: u64, columns: u64) -> Contraction {
        Contraction {
            groups,
            rows,
            depth,
            columns,
            taps: 1,
            channels: 0,
            factors: Factors::default(),
            packed: true,
            packed_for_constant: 0,
            runs: 0,
            nonzeros: None,
            strategy: None,
        }
    }

    /// Returns a depthwise convolution of `channels` channels, with `taps` products for each of `positions` results.
    pub fn depthwise(channels: u64, taps: u64, positions: u64) -> Contraction {
        Contraction { taps, ..Contraction::dense(channels, 1, taps, positions) }
    }

    /// Returns the number of multiply-accumulates.
    pub fn products(&self) -> u64 {
        [self.groups, self.rows, self.depth, self.columns].into_iter().fold(1, u64::saturating_mul)
    }

    /// Returns about the number of elements of both operands and the result; an element of an image is counted once, not for each tap.
    pub fn elements(&self) -> u64 {
        let pairs = [(self.rows, self.depth), (self.depth / self.taps.max(1), self.columns), (self.rows, self.columns)];
        let all = pairs.into_iter().fold(0, |n: u64, (a, b)| n.saturating_add(a.saturating_mul(b)));
        self.groups.saturating_mul(all)
    }
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Strategy) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Strategy {}

/// Returns the number of elements of a type; dynamic extents count as 1.
pub fn elements(args: &OpArgs<'_>, ty: Type) -> u64 {
    let shape = args.ctx().shape(ty).unwrap_or(&[]);
    shape.iter().map(|&d| u64::try_from(d).unwrap_or(1)).fold(1, u64::saturating_mul)
}
