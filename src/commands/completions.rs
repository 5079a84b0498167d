//! `gradus completions`: shell completions.

use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgMatches, Command};
use clap_complete::Shell;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(_: &Tool) -> Command {
    Command::new("completions")
        .about("Print the completions of a shell")
        .after_help("Example:\n  gradus completions bash > /etc/bash_completion.d/gradus")
        .arg(Arg::new("SHELL").required(true).value_parser(clap::value_parser!(Shell)))
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let shell: Shell = *matches.get_one("SHELL").expect("is required");
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut tool.cli(), tool.name, &mut text);
    crate::io::write("-", streams, |out| out.write_all(&text))
}
