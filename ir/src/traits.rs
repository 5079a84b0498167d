//! Op traits, by which passes and the verifier recognize ops without matching names.

/// A set of op traits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traits(u64);

macro_rules! traits {
    ($($(#[$doc:meta])* $name:ident = $bit:literal,)*) => {
        impl Traits {
            /// The empty set.
            pub const NONE: Traits = Traits(0);
            $($(#[$doc])* pub const $name: Traits = Traits(1 << $bit);)*
            /// The traits by name, in declaration order, for documentation.
            pub const NAMES: &'static [(&'static str, Traits)] = &[$((stringify!($name), Traits::$name)),*];
        }
    };
}

traits! {
    /// Terminator: the last op of its block.
    TERMINATOR = 0,
    /// Terminator that returns its operands to the caller, or as results of the parent op.
    RETURN_LIKE = 1,
    /// Commutative in its first two operands.
    COMMUTATIVE = 2,
    /// All operands and results have the same type.
    SAME_TYPE = 3,
    /// Elementwise: operands and results have the same shape; element types may differ.
    ELEMENTWISE = 4,
    /// Operands broadcast to the shape of the single result; each of its elements depends on one element of each
    /// operand.
    BROADCASTING = 30,
    /// Isolated from above: its regions use no values defined outside.
    ISOLATED = 5,
    /// Symbol: has a `sym_name`.
    SYMBOL = 6,
    /// Symbol table: its region holds symbols with unique names.
    SYMBOL_TABLE = 7,
    /// Constant-like: no operands, and the result is the `value` attribute.
    CONSTANT_LIKE = 8,
    /// Its blocks may lack a terminator.
    NO_TERMINATOR = 9,
    /// Each region has at most one block.
    SINGLE_BLOCK = 10,
    /// Graph region: values may be used before their definition; op order has no meaning.
    GRAPH_REGION = 11,
    /// Sizes of variadic operand groups are in the attribute `operandSegmentSizes`.
    OPERAND_SEGMENTS = 12,
    /// Idempotent: f(f(x)) = f(x).
    IDEMPOTENT = 13,
    /// Involution: f(f(x)) = x.
    INVOLUTION = 14,
    /// Calls the symbol in its `callee` attribute.
    CALL = 15,
    /// Function: a `function_type`, and a body whose entry block has the parameters; declarations have no body.
    FUNCTION = 16,
    /// Affine scope: values defined at the top level of its regions are valid affine symbols.
    AFFINE_SCOPE = 17,
    /// Sizes of variadic result groups are in the attribute `resultSegmentSizes`.
    RESULT_SEGMENTS = 18,
    /// Combining op in the region that terminates a parallel loop's body: inserts a slice into the operands of group
    /// `dest`. It has no results; its evaluation returns the updated destination.
    COMBINING = 19,
    /// Associative: (x op y) op z = x op (y op z), where all operands and results have one type, or are tensors of one
    /// rank of at least 2. Up to rounding on floats. Reassociation may violate promises such as `nsw`.
    ASSOCIATIVE = 28,
    /// Not constant-folded: folding a row of such ops would create as many large constants.
    NO_CONSTANT_FOLDING = 21,
    /// The result is the extent of the first operand, a tensor or memref, in the dimension given by the second.
    EXTENT = 20,
    /// Masking: ops in its regions behave differently than outside, so common subexpressions are not merged across it.
    MASKING = 26,
    /// Allocation scope: stack allocations in its regions are freed when control leaves them.
    ALLOCATION_SCOPE = 24,
    /// Parallel: the iterations of its first region are unordered. Two iterations that access one memory location, at
    /// least one of them writing, are a data race: undefined behavior.
    PARALLEL = 22,
    /// Its attributes are only promises, such as `nsw`. A violated promise makes the result poison, so folding may
    /// ignore the promise, as in MLIR.
    PROMISES = 27,
    /// Its verifier also checks ops around it: the uses of its results in their order, or the origin of values that its
    /// regions use. Random programs do not have such ops.
    VERIFIES_USES = 23,
    /// Its semantics handles poison operands and poison elements itself. Those of other ops never see poison.
    SEES_POISON = 25,
    /// Observable outside of the program, such as output: the handler of external calls executes it. It accesses no
    /// memory.
    OBSERVABLE = 31,
    /// Machine code, or a call of it. The values of its regions are registers, which each block has as arguments of its own, so blocks are
    /// not merged and arguments not replaced. Its meaning is that of bytes: there is no version for other element types.
    MACHINE_CODE = 32,
    /// Its result may be poison though the operands are not and attributes promise nothing, as that of a bitcast of NaN. Rules that drop it
    /// refine, but are no equations.
    MAY_POISON = 33,
    /// The result groups that are not single results have one size: it follows from the number of results.
    SAME_VARIADIC_RESULT_SIZE = 29,
}

impl Traits {
    /// Returns the union of both sets.
    pub const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// Whether the set contains all of `other`.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }
}
