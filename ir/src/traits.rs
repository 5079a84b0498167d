//! Facts about ops that passes and the verifier ask for instead of matching names.

/// Facts about an op that passes and the verifier ask for instead of matching names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traits(u32);

macro_rules! traits {
    ($($(#[$doc:meta])* $name:ident = $bit:literal,)*) => {
        impl Traits {
            /// No trait.
            pub const NONE: Traits = Traits(0);
            $($(#[$doc])* pub const $name: Traits = Traits(1 << $bit);)*
            /// Names for documentation, in declaration order.
            pub const NAMES: &'static [(&'static str, Traits)] = &[$((stringify!($name), Traits::$name)),*];
        }
    };
}

traits! {
    /// Ends its block; no op follows it.
    TERMINATOR = 0,
    /// A terminator that hands its operands to the enclosing op's caller or results.
    RETURN_LIKE = 1,
    /// Swapping the first two operands does not change the meaning.
    COMMUTATIVE = 2,
    /// All operands and results have one type.
    SAME_TYPE = 3,
    /// Operands and results have one shape; element types may differ.
    ELEMENTWISE = 4,
    /// Operands broadcast to the shape of the one result, each element of which is a function of one element of each operand.
    BROADCASTING = 30,
    /// Regions see no value from outside.
    ISOLATED = 5,
    /// Has a `sym_name`.
    SYMBOL = 6,
    /// Its region holds symbols, each name once.
    SYMBOL_TABLE = 7,
    /// No operands, and a `value` attribute that is the result.
    CONSTANT_LIKE = 8,
    /// Blocks need no terminator.
    NO_TERMINATOR = 9,
    /// Each region has at most one block.
    SINGLE_BLOCK = 10,
    /// Values may be used before they are defined: the region is a graph, not a sequence.
    GRAPH_REGION = 11,
    /// Sizes of the operand groups are in the attribute `operandSegmentSizes`.
    OPERAND_SEGMENTS = 12,
    /// f(f(x)) = f(x)
    IDEMPOTENT = 13,
    /// f(f(x)) = x
    INVOLUTION = 14,
    /// Calls the symbol in its `callee` attribute.
    CALL = 15,
    /// A function: `function_type`, a body whose entry block has the parameters, maybe no body.
    FUNCTION = 16,
    /// Affine dimensions may be defined at the top of its regions.
    AFFINE_SCOPE = 17,
    /// Sizes of the result groups are in the attribute `resultSegmentSizes`.
    RESULT_SEGMENTS = 18,
    /// In the region that ends a parallel loop's body, puts a part into what the operand group `dest` names. It has no
    /// results; its meaning gives what is there afterwards.
    COMBINING = 19,
    /// (x op y) op z = x op (y op z), where all operands and results are of one type, or tensors of one rank that is no less
    /// than 2; on floats only but for rounding. Attributes that promise something may be broken on the way.
    ASSOCIATIVE = 28,
    /// Stays as it is when all operands are constant: many of them in a row would make as many large constants.
    NO_CONSTANT_FOLDING = 21,
    /// The result is the extent of the first operand, a tensor or memref, in the dimension that the second names.
    EXTENT = 20,
    /// Ops in its regions do something else than they would do outside, so that equal ones outside do not stand for them.
    MASKING = 26,
    /// What is allocated on the stack in its regions lives until they are left.
    ALLOCATION_SCOPE = 24,
    /// Its first region is run by iterations that no order is promised for. Two that access one place in memory, one of them
    /// to write, have no meaning.
    PARALLEL = 22,
    /// Its attributes only promise that something does not happen. Where it does, the result is poison, and so may be
    /// folded to what it would be without the promise, as in MLIR.
    PROMISES = 27,
}

impl Traits {
    /// Both sets together.
    pub const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// Whether all of `other` is in the set.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }
}
