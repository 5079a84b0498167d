//! `gradus update-checks`: writes the CHECK lines of a test for the current output of its RUN lines.

use crate::check_lines::{Settings, blocks, symbol};
use crate::io::{self, write};
use crate::runline::{Output, Pipeline, pipelines};
use crate::split::MARKER;
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_filecheck::{Options, Text, directive_places};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::ops::Range;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

/// The comment that marks files with generated directives.
const NOTE: &str = "update-checks' writes the directives in this file";
/// Maximum number of iterations: line numbers in the output depend on the lines that are written.
const MAX_ROUNDS: usize = 5;

fn command(_: &Tool) -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).help(help).action(ArgAction::SetTrue);
    Command::new("update-checks")
        .about("Write the CHECK lines of tests for what their RUN lines print")
        .after_help(
            "Example:\n  gradus update-checks tests/golden/passes/cse/*.mlir\n\nA RUN line without FileCheck gets it. Functions \
             become CHECK-LABELs, names of values are captured, and each line must follow the one before. What is \
             written is checked before it replaces the file. Directives that somebody wrote by hand stay, unless \
             --force is given.",
        )
        .arg(Arg::new("FILE").required(true).num_args(1..).help("Tests that begin with RUN lines"))
        .arg(flag("force", "Replace directives that were written by hand"))
        .arg(flag("check", "Change nothing; exit status 1 if something would change"))
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let mut good = true;
    for file in matches.get_many::<String>("FILE").into_iter().flatten() {
        let old = io::text(file, streams)?.text;
        let new = match update(tool, &old, matches.get_flag("force")) {
            Ok(new) => new,
            Err(message) => {
                let _ = writeln!(streams.err, "{file}: error: {message}");
                good = false;
                continue;
            }
        };
        if new == **old {
            continue;
        }
        if matches.get_flag("check") {
            let _ = writeln!(streams.err, "{file}: error: the CHECK lines are not those of the output");
            good = false;
        } else {
            write(file, streams, |out| out.write_all(new.as_bytes()))?;
        }
    }
    if good { Ok(()) } else { Err(Failure::Reported) }
}

/// Whether the directives of this file are generated.
pub fn is_generated(text: &str) -> bool {
    text.contains(NOTE)
}

/// Returns the text with new directives.
fn update(tool: &Tool, old: &str, force: bool) -> Result<String, String> {
    let mut text = with_file_check(tool, old)?;
    let by_hand = !is_generated(&text) && !force;
    if by_hand && !directive_lines(&text, &prefixes(&pipelines(tool, &text)?)?)?.is_empty() {
        return Err("the directives were written by hand; --force replaces them".into());
    }
    for _ in 0..MAX_ROUNDS {
        let new = rewrite(tool, &text)?;
        if new == text {
            check(tool, &text)?;
            return Ok(text);
        }
        text = new;
    }
    Err("the output depends on the CHECK lines themselves".into())
}

/// Adds FileCheck to the RUN line if there is none.
fn with_file_check(tool: &Tool, text: &str) -> Result<String, String> {
    let runs = pipelines(tool, text)?;
    match &runs[..] {
        [] => Err("there is no RUN line".into()),
        all if all.iter().any(|run| run.check().is_some()) => Ok(text.to_owned()),
        [_] => {
            let last = text.lines().position(|l| l.contains("RUN:") && !l.trim_end().ends_with('\\'));
            // The golden harness splits such a file in any case.
            let several = text.lines().any(|l| l.trim_end() == MARKER) && !text.contains("--split-input-file");
            let more = if several { " --split-input-file | FileCheck %s" } else { " | FileCheck %s" };
            let end = |i: usize| if Some(i) == last { more } else { "" };
            Ok(text.lines().enumerate().map(|(i, l)| format!("{l}{}\n", end(i))).collect())
        }
        _ => Err("no RUN line calls FileCheck: add a call with a prefix to each".into()),
    }
}

/// Returns the distinct prefixes of RUN lines with FileCheck.
fn prefixes(runs: &[Pipeline]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for run in runs {
        let Some(check) = run.check() else { continue };
        let [prefix] = &check.prefixes()[..] else {
            return Err(format!("line {}: lines for several prefixes cannot be written; use one", run.line));
        };
        if !found.contains(prefix) {
            found.push(prefix.clone());
        }
    }
    Ok(found)
}

/// Returns the 0-based numbers of lines that contain only directives.
fn directive_lines(text: &str, prefixes: &[String]) -> Result<BTreeSet<usize>, String> {
    let options = Options { check_prefixes: prefixes.to_vec(), ..Options::default() };
    let lines: Vec<&str> = text.lines().collect();
    let mut found = BTreeSet::new();
    for place in directive_places(&options, Text { name: "", bytes: text.as_bytes() }) {
        if lines[place.line][..place.column].trim() != "//" {
            return Err(format!("line {}: a directive after other text on its line cannot be updated", place.line + 1));
        }
        found.insert(place.line);
    }
    Ok(found)
}

/// Calls `what` with the path of a temporary file with this text.
fn with_file<T>(text: &str, what: impl FnOnce(&str) -> T) -> Result<T, String> {
    let file = tempfile::Builder::new().suffix(".mlir").tempfile().map_err(|e| e.to_string())?;
    file.as_file().write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    Ok(what(&file.path().display().to_string()))
}

/// Checks that all RUN lines succeed.
fn check(tool: &Tool, text: &str) -> Result<(), String> {
    let failed = |path: &str| {
        let runs = pipelines(tool, text).ok()?;
        let outputs = runs.iter().map(|run| (run.line, run.run(tool, path)));
        outputs.filter(|(_, output)| output.status != 0).map(|(line, o)| failure(line, &o)).next()
    };
    with_file(text, failed)?.map_or(Ok(()), Err)
}

fn failure(line: usize, output: &Output) -> String {
    format!("the RUN line {line} fails:\n{}", String::from_utf8_lossy(&output.err).trim_end())
}

/// Returns the text with directives for the current output.
fn rewrite(tool: &Tool, text: &str) -> Result<String, String> {
    let runs = pipelines(tool, text)?;
    let prefixes = prefixes(&runs)?;
    let old = directive_lines(text, &prefixes)?;
    let lines: Vec<&str> = text.lines().enumerate().filter(|(i, _)| !old.contains(i)).map(|(_, l)| l).collect();
    let mut added: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.check().is_some()) {
        let prefix = &run.check().expect("was just looked for").prefixes()[0];
        let (path, output) = with_file(text, |path| (path.to_owned(), run.run_before_check(tool, path)))?;
        if output.status != 0 {
            return Err(failure(run.line, &output));
        }
        let printed = String::from_utf8_lossy(&output.out).into_owned();
        let anonymous = printed.replace(&path, "");
        match known.get(prefix) {
            None => known.insert(prefix.clone(), anonymous),
            Some(other) if *other == anonymous => continue,
            Some(_) => return Err(format!("line {}: the prefix '{prefix}' is for different outputs", run.line)),
        };
        place(&lines, run, &printed, Settings { prefix, prefixes: &prefixes, file: &path }, &mut added);
    }
    let last_run = lines.iter().rposition(|l| l.contains("RUN:")).unwrap_or(0);
    let mut out = String::new();
    for i in 0..=lines.len() {
        added.get(&i).into_iter().flatten().for_each(|l| out += &format!("{l}\n"));
        if let Some(line) = lines.get(i) {
            out += &format!("{line}\n");
        }
        if i == last_run && !is_generated(text) {
            out += &format!("// NOTE: '{} {NOTE}\n", tool.name);
        }
    }
    Ok(out)
}

/// Assigns the lines of an output to positions: those of a function go before it.
fn place(
    lines: &[&str],
    run: &Pipeline,
    printed: &str,
    settings: Settings<'_>,
    added: &mut BTreeMap<usize, Vec<String>>,
) {
    let flag = |name: &str| run.stages[0].words.iter().find_map(|w| w.strip_prefix(name));
    let marker = flag("--output-split-marker=").unwrap_or(MARKER);
    let chunks = ranges(lines, MARKER);
    let outputs: Vec<&str> = printed.lines().collect();
    let parts = ranges(&outputs, marker);
    let several = flag("--split-input-file").is_some() && chunks.len() == parts.len();
    let whole = |n: usize| vec![Range { start: 0, end: n }];
    let (chunks, parts) = if several { (chunks, parts) } else { (whole(lines.len()), whole(outputs.len())) };
    for (chunk, part) in chunks.into_iter().zip(parts) {
        place_chunk(lines, chunk, &outputs[part].join("\n"), settings, added);
    }
}

/// Returns the line ranges between markers.
fn ranges(lines: &[&str], marker: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for i in (0..lines.len()).filter(|&i| lines[i].trim_end() == marker) {
        found.push(start..i);
        start = i + 1;
    }
    found.push(start..lines.len());
    found
}

fn place_chunk(
    lines: &[&str],
    chunk: Range<usize>,
    printed: &str,
    settings: Settings<'_>,
    added: &mut BTreeMap<usize, Vec<String>>,
) {
    // Comments with expected diagnostics refer to nearby lines and stay beside them.
    let above = |line: usize| {
        let mut at = line;
        while at > chunk.start && lines[at - 1].contains("expected-") {
            at -= 1;
        }
        at
    };
    let is_code = |line: &&usize| !lines[**line].trim_start().starts_with("//");
    let all: Vec<usize> = chunk.clone().collect();
    let functions: Vec<(usize, String)> =
        all.iter().filter(is_code).filter_map(|&i| Some((above(i), symbol(lines[i])?))).collect();
    let end = all.iter().rev().find(|i| !lines[**i].trim().is_empty()).map_or(chunk.start, |i| i + 1);
    // FileCheck reads directives in the order of the output, which may differ from the order of the functions in the
    // file.
    let mut next = 0;
    let mut at = functions.first().map_or(end, |f| f.0);
    for block in blocks(printed, settings) {
        let found = functions[next..].iter().position(|f| Some(&f.1) == block.symbol.as_ref());
        if let Some(found) = found {
            at = functions[next + found].0;
            next += found + 1;
        }
        added.entry(at).or_default().extend(block.lines);
    }
}
