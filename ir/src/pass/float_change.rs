//! The change of floats that a pass may make.

/// The change of floats that a pass may make, the smallest first. Checks compare results accordingly: bit by bit only if no
/// pass of a pipeline changes them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum FloatChange {
    /// None: results are equal bit by bit.
    #[default]
    None,
    /// Formulas that are equal for real numbers, such as sums in another order: equal where nothing is rounded, as on small
    /// integers.
    Reorders,
    /// Any change within rounding errors, such as those of a narrower type or of another formula.
    Rounds,
    /// As [`FloatChange::Rounds`], and 8-bit integers that are quantized from floats may be one step apart.
    Quantizes,
    /// Any of these, and formulas that are right to one percent.
    Approximates,
    /// Any of these, and 8-bit integers may be some steps apart: values between ops are quantized that were not.
    Requantizes,
}
