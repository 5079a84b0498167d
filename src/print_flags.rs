//! The flags of the printer, named as in mlir-opt.

use crate::pass_flags::flag;
use clap::{Arg, ArgMatches, value_parser};
use gradus_ir::PrintOptions;

/// Returns the flags.
pub fn arguments() -> impl Iterator<Item = Arg> {
    let limit = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("N").help(help).value_parser(value_parser!(usize)).overrides_with(name)
    };
    let arguments = [
        flag("mlir-print-op-generic", "Print the generic op form"),
        flag("mlir-print-debuginfo", "Print locations"),
        flag("mlir-print-local-scope", "Print without aliases, everything in place"),
        flag("mlir-print-skip-regions", "Skip regions when printing ops"),
        flag("mlir-print-value-users", "Print users of operation results and block arguments as a comment"),
        flag("mlir-print-unique-ssa-ids", "Print unique numbers for values across all regions"),
        flag("mlir-use-nameloc-as-prefix", "Name values by their locations"),
        limit("mlir-elide-elementsattrs-if-larger", "Leave out constants that have more elements"),
        limit("mlir-elide-resource-strings-if-larger", "Leave out resources whose text is longer"),
    ];
    arguments.into_iter().map(|arg| arg.help_heading("Printing"))
}

/// Returns the printing options of the flags.
pub fn print_options(matches: &ArgMatches) -> PrintOptions {
    let limit = |name: &str| matches.get_one::<usize>(name).copied();
    PrintOptions {
        generic: matches.get_flag("mlir-print-op-generic"),
        debug_info: matches.get_flag("mlir-print-debuginfo"),
        local_scope: matches.get_flag("mlir-print-local-scope"),
        skip_regions: matches.get_flag("mlir-print-skip-regions"),
        value_users: matches.get_flag("mlir-print-value-users"),
        unique_ids: matches.get_flag("mlir-print-unique-ssa-ids"),
        name_locs: matches.get_flag("mlir-use-nameloc-as-prefix"),
        elide_elements: limit("mlir-elide-elementsattrs-if-larger"),
        elide_resources: limit("mlir-elide-resource-strings-if-larger"),
        threads: 1,
    }
}
