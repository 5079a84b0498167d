//! Options of a check.

use gradus_ir::pass::FloatChange;
use gradus_ir::random::Random;

/// The options of a check.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of inputs per function on which it is defined.
    pub inputs: u64,
    /// Limit of the ops of all runs of a function, where the elements of inputs and of created tensors count too. Above
    /// it, only [`Options::FEW`] inputs run.
    pub work: u64,
    /// Maximum number of inputs of integer functions that are checked exhaustively.
    pub exhaustive: u64,
    /// Maximum number of ops of a run; the transformed program may take 16 times as many.
    pub fuel: u64,
    /// Elements of created tensors that count as an op.
    pub elements_per_op: u64,
    /// Seed of the inputs.
    pub seed: u64,
    /// Whether unregistered ops are events rather than unsupported. Another compiler may know them and transform them.
    pub opaque: bool,
    /// The float mode.
    pub floats: Floats,
    /// Whether external calls before undefined behavior must be preserved. Without it, a run that ends in undefined
    /// behavior may be replaced by any other, as in LLVM.
    pub strict_ub: bool,
}

impl Options {
    /// Number of inputs of functions whose runs take long.
    pub const FEW: u64 = 4;
}

impl Default for Options {
    fn default() -> Options {
        Options {
            inputs: 200,
            work: u64::MAX,
            exhaustive: 1 << 12,
            fuel: 1 << 16,
            elements_per_op: 256,
            seed: 0,
            opaque: true,
            floats: Floats::Declared,
            strict_ub: false,
        }
    }
}

/// The float mode: how floats are drawn and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Floats {
    /// As the passes declare ([`FloatChange`]); bit by bit where there are none.
    #[default]
    Declared,
    /// Any floats, including infinities and NaN; equal bit by bit, except that all NaN are equal.
    Bits,
    /// Small integers; equal values if neither run rounds, else equal within the bound of rounding errors. Sums may be
    /// reordered.
    Exact,
    /// Inputs of [`Floats::Exact`] and of [`Floats::Rounding`] in turn.
    Reordered,
    /// Moderate numbers in `f64` programs, see [`widened`]; equal within 1e-9 of the largest magnitude.
    Algebra,
    /// Moderate numbers; equal within the bound of rounding errors.
    Rounding,
    /// As [`Floats::Rounding`], and results of 8-bit integers are equal within one step: the floats that they are quantized from
    /// may be halfway between two.
    Quantized,
    /// Inputs of [`Floats::Exact`] and moderate numbers in turn; equal within the bound of rounding errors or 1 %, and 8-bit
    /// integers within one step. Non-finite values match anything.
    Approximate,
    /// As [`Floats::Approximate`], and 8-bit integers within three steps, or as far apart as perturbed values between ops make them.
    Requantized,
}

impl Floats {
    /// The words of the modes that a user chooses.
    pub const WORDS: [(&'static str, Floats); 8] = [
        ("bits", Floats::Bits),
        ("exact", Floats::Exact),
        ("algebra", Floats::Algebra),
        ("reordered", Floats::Reordered),
        ("rounding", Floats::Rounding),
        ("quantized", Floats::Quantized),
        ("approximate", Floats::Approximate),
        ("requantized", Floats::Requantized),
    ];

    /// Returns the mode itself, or in place of [`Floats::Declared`] the strictest one that allows a change.
    #[must_use]
    pub fn allowing(self, change: FloatChange) -> Floats {
        match (self, change) {
            (Floats::Declared, FloatChange::None) => Floats::Bits,
            (Floats::Declared, FloatChange::Reorders) => Floats::Reordered,
            (Floats::Declared, FloatChange::Rounds) => Floats::Rounding,
            (Floats::Declared, FloatChange::Quantizes) => Floats::Quantized,
            (Floats::Declared, FloatChange::Approximates) => Floats::Approximate,
            (Floats::Declared, FloatChange::Requantizes) => Floats::Requantized,
            (given, _) => given,
        }
    }

    /// Returns the word of the mode; `None` for modes without one.
    pub fn word(self) -> Option<&'static str> {
        Floats::WORDS.iter().find(|(_, mode)| *mode == self).map(|(word, _)| *word)
    }

    /// Returns the mode in which one input is drawn and compared.
    pub(crate) fn of_input(self, random: &mut Random) -> Floats {
        match self {
            Floats::Reordered | Floats::Approximate | Floats::Requantized if random.percent(50) => Floats::Exact,
            Floats::Reordered => Floats::Rounding,
            mode => mode,
        }
    }
}
