//! The flags of comparisons by execution, which `check` and `reduce` share.

use crate::pass_flags::flag;
use crate::target::named;
use crate::{Failure, Tool};
use clap::{Arg, ArgMatches};
use gradus_check::{Execution, Floats, Options};
use gradus_ir::Context;

/// Returns the flags of the comparison.
pub(super) fn option_args() -> [Arg; 6] {
    let Options { inputs, exhaustive, fuel, seed, .. } = Options::default();
    [
        number("inputs", format!("Number of inputs per function on which it is defined [default: {inputs}]")),
        number(
            "exhaustive",
            format!("Check integer functions with at most N inputs exhaustively [default: {exhaustive}]"),
        ),
        number("fuel", format!("Maximum number of ops per run [default: {fuel}]")),
        number("seed", format!("Seed of the inputs [default: {seed}]")),
        flag("strict-ub", "Require external calls before undefined behavior to be preserved"),
        Arg::new("floats").long("floats").value_name("HOW").value_parser(Floats::WORDS.map(|(word, _)| word)).help(
            "Comparison of floats: bit by bit (bits); on small integers, so that sums may be reordered (exact); in f64 \
             (algebra); on small integers and up to rounding in turn (reordered); up to rounding (rounding), and 8-bit \
             results up to one step (quantized), or everything up to a percent (approximate) [default: bits, or what the passes declare to change]",
        ),
    ]
}

/// Reads the options of a comparison of programs.
pub(super) fn options(matches: &ArgMatches) -> Options {
    let word = matches.get_one::<String>("floats");
    let floats = word.and_then(|word| Floats::WORDS.iter().find(|(known, _)| known == word));
    Options {
        // Gradus's passes treat unregistered ops as opaque; another compiler may know them.
        opaque: !matches!(matches.try_contains_id("AFTER"), Ok(true)),
        floats: floats.map_or(Floats::Declared, |&(_, floats)| floats),
        strict_ub: matches.get_flag("strict-ub"),
        ..numeric_options(matches, Options::default())
    }
}

/// Reads the numeric options; those not given, and all others, are the defaults.
pub(super) fn numeric_options(matches: &ArgMatches, default: Options) -> Options {
    let value = |name: &str, default: u64| matches.get_one::<u64>(name).copied().unwrap_or(default);
    Options {
        inputs: value("inputs", default.inputs),
        exhaustive: value("exhaustive", default.exhaustive),
        fuel: value("fuel", default.fuel),
        seed: value("seed", default.seed),
        ..default
    }
}

/// Declares a numeric argument that sets a field of [`Options`].
pub(super) fn number(name: &'static str, help: String) -> Arg {
    Arg::new(name).long(name).value_name("N").value_parser(clap::value_parser!(u64)).help(help)
}

/// Returns the ways in which the target of a command line executes programs.
#[cfg_attr(not(feature = "cpu"), allow(unused_variables, reason = "no target is executed"))]
pub(super) fn executions(
    tool: &Tool,
    matches: &ArgMatches,
    ctx: &Context,
) -> Result<Vec<Box<dyn Execution + Sync>>, Failure> {
    match named(tool, matches)? {
        #[cfg(feature = "cpu")]
        Some(target) => crate::executions::executions(target, ctx),
        _ => Ok(Vec::new()),
    }
}
