//! Options of a check.

/// How a program is checked.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// On so many inputs each function is run that it is defined on.
    pub inputs: u64,
    /// Functions of integers with at most so many inputs are run on all of them.
    pub exhaustive: u64,
    /// Runs of more ops are given up. Afterwards a run may take 16 times as many.
    pub fuel: u64,
    /// Another number gives other inputs.
    pub seed: u64,
    /// Whether ops that nobody declared are calls of something outside the program, rather than something that cannot be
    /// run. A compiler that knows them may do with them what it likes.
    pub opaque: bool,
    /// Which floats programs are run on, and how they are compared.
    pub floats: Floats,
}

impl Default for Options {
    fn default() -> Options {
        Options { inputs: 200, exhaustive: 1 << 12, fuel: 1 << 16, seed: 0, opaque: true, floats: Floats::Bits }
    }
}

/// How floats are drawn and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Floats {
    /// Any floats, infinities and NaNs among them; results are equal bit by bit, but for NaNs.
    #[default]
    Bits,
    /// Small integers; results are equal numbers, unless one was rounded. Sums may be put in any order.
    Exact,
    /// Moderate numbers in programs of `f64`, see [`widened`]; results differ by no more than 1e-9 of the numbers that
    /// they are made of.
    Algebra,
    /// Moderate numbers; results differ by no more than rounding explains.
    Rounding,
    /// Moderate numbers; results differ by no more than rounding explains, or by one percent. What is no finite number may
    /// become anything.
    Approximate,
}
