//! `gradus filecheck`: FileCheck, with stricter diagnostics than LLVM's.

use crate::io::read;
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_filecheck::{Dump, Filter, Options, Text, Verdict, check};
use std::ffi::OsString;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

const NAME: &str = "filecheck";

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn list(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help).action(ArgAction::Append).allow_hyphen_values(true)
}

fn command(_: &Tool) -> Command {
    Command::new(NAME)
        .about("Check a text against the CHECK lines of a file")
        .after_help(
            "Examples:\n  gradus opt a.mlir --cse | gradus filecheck a.mlir\n  gradus filecheck a.mlir --input-file out.txt \
             --check-prefix=OPT\n\nFlags, syntax, meaning and exit status (1 for a check that fails, 2 for checks that \
             cannot be read) are those of LLVM's FileCheck; a single hyphen will do. In addition, what looks like a \
             directive but is none is an error.",
        )
        .arg(Arg::new("CHECKFILE").required(true).help("The file with the CHECK lines"))
        .arg(Arg::new("input-file").long("input-file").value_name("FILE").default_value("-").help("The text to check"))
        .arg(list("check-prefix", "PREFIX", "What directives begin with, instead of CHECK"))
        .arg(list("check-prefixes", "LIST", "Several of them, with commas").value_delimiter(','))
        .arg(list("comment-prefixes", "LIST", "What makes a line a comment, instead of COM and RUN").value_delimiter(','))
        .arg(list("implicit-check-not", "PATTERN", "What must not occur between matches"))
        .arg(list("define", "VAR=VALUE", "Define a variable; #VAR=EXPR for a numeric one").short('D'))
        .arg(flag("match-full-lines", "What is searched for must be a whole line"))
        .arg(flag("strict-whitespace", "Take blanks as they are"))
        .arg(flag("ignore-case", "Take letters in either case"))
        .arg(flag("enable-var-scope", "Forget variables without $ at each CHECK-LABEL"))
        .arg(flag("allow-empty", "Accept an empty input"))
        .arg(flag("allow-unused-prefixes", "Accept prefixes that the file does not use"))
        .arg(flag("allow-deprecated-dag-overlap", "Let matches of CHECK-DAG overlap"))
        .arg(flag("allow-near-misses", "Take what looks like a directive for a comment, as LLVM does"))
        .arg(
            Arg::new("dump-input")
                .long("dump-input")
                .value_name("WHEN")
                .default_value("fail")
                .value_parser(["never", "fail", "always"])
                .help("When to dump the annotated input"),
        )
        .arg(
            Arg::new("dump-input-filter")
                .long("dump-input-filter")
                .value_name("WHICH")
                .value_parser(["all", "annotation", "annotation-full", "error"])
                .help("Lines of the input to dump"),
        )
        .arg(
            Arg::new("dump-input-context")
                .long("dump-input-context")
                .value_name("N")
                .default_value("5")
                .value_parser(clap::value_parser!(usize))
                .help("Number of context lines"),
        )
        .arg(flag("verbose", "Also report what was found").short('v').visible_alias("vv"))
}

/// Doubles single hyphens before long flags, which LLVM's tools accept and clap does not.
pub fn long_flags(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if args.get(1).is_some_and(|a| a == NAME) {
        for arg in args.iter_mut().skip(2) {
            let single = |a: &str| a.len() > 2 && a.starts_with('-') && !a.starts_with("--") && !a.starts_with("-D");
            if let Some(text) = arg.to_str().filter(|a| single(a)) {
                *arg = format!("-{text}").into();
            }
        }
    }
    args
}

fn options(matches: &ArgMatches) -> Options {
    let list = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let flag = |name: &str| matches.get_flag(name);
    Options {
        check_prefixes: [list("check-prefix"), list("check-prefixes")].concat(),
        comment_prefixes: list("comment-prefixes"),
        implicit_check_not: list("implicit-check-not"),
        defines: list("define"),
        match_full_lines: flag("match-full-lines"),
        strict_whitespace: flag("strict-whitespace"),
        ignore_case: flag("ignore-case"),
        enable_var_scope: flag("enable-var-scope"),
        allow_empty: flag("allow-empty"),
        allow_unused_prefixes: flag("allow-unused-prefixes"),
        allow_deprecated_dag_overlap: flag("allow-deprecated-dag-overlap"),
        allow_near_misses: flag("allow-near-misses"),
        dump_input: match matches.get_one::<String>("dump-input").map(String::as_str) {
            Some("never") => Dump::Never,
            Some("always") => Dump::Always,
            _ => Dump::Fail,
        },
        dump_input_filter: matches.get_one::<String>("dump-input-filter").map(|f| match f.as_str() {
            "all" => Filter::All,
            "error" => Filter::Error,
            _ => Filter::Annotation,
        }),
        dump_input_context: *matches.get_one("dump-input-context").unwrap_or(&5),
        verbose: flag("verbose"),
    }
}

fn run(_: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let file: &String = matches.get_one("CHECKFILE").expect("is required");
    let input: &String = matches.get_one("input-file").expect("has a default");
    // As in LLVM, an unreadable file is a usage error.
    let unusable = |failure| if let Failure::Input(message) = failure { Failure::Usage(message) } else { failure };
    let checks = read(file, streams).map_err(unusable)?;
    let bytes = read(input, streams).map_err(unusable)?;
    let name = if input == "-" { "<stdin>" } else { input };
    let outcome = check(&options(matches), Text { name: file, bytes: &checks }, Text { name, bytes: &bytes });
    let _ = streams.err.write_all(outcome.report.as_bytes());
    match outcome.verdict {
        Verdict::Pass => Ok(()),
        Verdict::Fail => Err(Failure::Reported),
        Verdict::Unusable => Err(Failure::Unusable),
    }
}
