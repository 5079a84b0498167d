//! Passes as a concept: what a pass is, how pipelines are written, and how they are run.

use crate::diag::Diagnostic;
use crate::module::{Module, Op};
use crate::text::PrintOptions;
use crate::verify::verify_op;
use std::io::Write;
use std::time::{Duration, Instant};

/// An option of a pass.
pub struct PassOption {
    /// Its name in `--pass=name=value`.
    pub name: &'static str,
    /// What it does, and its default.
    pub doc: &'static str,
}

/// What a pass says about itself. The command line, `gradus list` and the documentation are made from this.
pub struct PassInfo {
    /// The name in pipelines and, with `--`, on the command line.
    pub name: &'static str,
    /// Headings *Before / After*, *Does*, *Refuses*, *Cost*; the first line is the summary.
    pub doc: &'static str,
    /// The only op that the pass runs on, or any.
    pub anchor: Option<&'static str>,
    /// Options.
    pub options: &'static [PassOption],
    /// Makes the pass. Errors say what is wrong with an option's value.
    pub make: fn(&Options) -> Result<Box<dyn Pass>, String>,
}

/// A pass: takes a valid op to a valid op with the same meaning. What happens in between is its own business. It changes
/// nothing outside the op that it runs on.
pub trait Pass: Send {
    /// Runs on `op`. The error says why the pass cannot do its work; the program may then be in any state.
    fn run(&mut self, m: &mut Module, op: Op) -> Result<(), Diagnostic>;

    /// Counters, for `--mlir-pass-statistics`.
    fn statistics(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// The options that a pass was given.
#[derive(Clone, Default, Debug)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// The text of an option.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|o| o.0 == name).map(|o| o.1.as_str())
    }

    /// An option read as a `T`, or the default.
    pub fn parse<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        match self.get(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("invalid value '{text}' of option '{name}'")),
        }
    }
}

/// A pipeline: passes in order, each on an op or on all ops of a name inside.
pub struct Pipeline {
    /// The op that the pipeline runs on; `any` for whatever it is given.
    anchor: String,
    steps: Vec<Step>,
}

enum Step {
    Pass(&'static PassInfo, Options, Box<dyn Pass>),
    Nested(Pipeline),
}

/// When to print the program while a pipeline runs.
#[derive(Clone, Default, Debug)]
pub struct Instrumentation {
    /// Verify after each pass.
    pub verify_each: bool,
    /// Print before every pass.
    pub print_before_all: bool,
    /// Print after every pass.
    pub print_after_all: bool,
    /// Print after a pass only if it changed the program.
    pub print_after_change: bool,
    /// Print before these passes.
    pub print_before: Vec<String>,
    /// Print after these passes.
    pub print_after: Vec<String>,
    /// How to print.
    pub print: PrintOptions,
    /// Measure the time of each pass.
    pub timing: bool,
}

/// What running a pipeline found out.
#[derive(Default, Debug)]
pub struct Report {
    /// Name and time of each pass, in the order of the pipeline.
    pub times: Vec<(String, Duration)>,
    /// Pass, counter and value.
    pub statistics: Vec<(String, &'static str, u64)>,
}

impl Pipeline {
    /// Reads `builtin.module(func.func(cse,canonicalize{max-iterations=3}),symbol-dce)`. A list without an anchor runs on
    /// whatever it is given. Errors carry the byte in `text`.
    pub fn parse(text: &str, passes: &[&'static PassInfo]) -> Result<Pipeline, (usize, String)> {
        let mut reader = Reader { text, pos: 0, passes };
        let pipeline = reader.top()?;
        reader.skip_space();
        if reader.pos < text.len() {
            return Err((reader.pos, "expected ',' or the end of the pipeline".into()));
        }
        Ok(pipeline)
    }

    /// A pipeline on whatever it is given, to which passes are added.
    pub fn any() -> Pipeline {
        Pipeline { anchor: "any".into(), steps: Vec::new() }
    }

    /// Adds a pass with its options in the form `a=1 b=2`.
    pub fn add(&mut self, info: &'static PassInfo, options: &str) -> Result<(), String> {
        let options = parse_options(info, options)?;
        let pass = (info.make)(&options)?;
        let step = Step::Pass(info, options, pass);
        match info.anchor {
            Some(anchor) if self.anchor == "any" && anchor != "builtin.module" => {
                self.steps.push(Step::Nested(Pipeline { anchor: anchor.into(), steps: vec![step] }));
            }
            _ => self.steps.push(step),
        }
        Ok(())
    }

    /// Whether nothing would run.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Runs on the whole program. What is printed on the way goes to `log`.
    pub fn run(
        &mut self,
        m: &mut Module,
        how: &Instrumentation,
        log: &mut dyn Write,
    ) -> Result<Report, Vec<Diagnostic>> {
        let root = m.root();
        if self.anchor != "any" && self.anchor != m.name_text(root) {
            let message = format!("the pipeline runs on '{}', but this is '{}'", self.anchor, m.name_text(root));
            return Err(vec![Diagnostic::error(m.loc(root), message)]);
        }
        let mut report = Report::default();
        self.run_on(m, root, how, log, &mut report)?;
        self.collect_statistics(&mut report);
        Ok(report)
    }

    fn run_on(
        &mut self,
        m: &mut Module,
        op: Op,
        how: &Instrumentation,
        log: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Vec<Diagnostic>> {
        for step in &mut self.steps {
            match step {
                Step::Nested(inner) => {
                    let targets: Vec<Op> = ops_named(m, op, &inner.anchor);
                    for target in targets {
                        inner.run_on(m, target, how, log, report)?;
                    }
                }
                Step::Pass(info, _, pass) => run_pass(info, pass.as_mut(), m, op, how, log, report)?,
            }
        }
        Ok(())
    }

    fn collect_statistics(&self, report: &mut Report) {
        for step in &self.steps {
            match step {
                Step::Nested(inner) => inner.collect_statistics(report),
                Step::Pass(info, _, pass) => {
                    let rows = pass.statistics().into_iter().map(|(n, v)| (info.name.to_owned(), n, v));
                    report.statistics.extend(rows);
                }
            }
        }
    }
}

impl std::fmt::Display for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}(", self.anchor)?;
        for (i, step) in self.steps.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            match step {
                Step::Nested(inner) => write!(f, "{inner}")?,
                Step::Pass(info, options, _) => {
                    f.write_str(info.name)?;
                    let list: Vec<String> = options.0.iter().map(|(n, v)| format!("{n}={v}")).collect();
                    if !list.is_empty() {
                        write!(f, "{{{}}}", list.join(" "))?;
                    }
                }
            }
        }
        f.write_str(")")
    }
}

/// The ops directly in the regions of `op` that have that name.
fn ops_named(m: &Module, op: Op, name: &str) -> Vec<Op> {
    let regions = m.regions(op).iter();
    let ops = regions.flat_map(|&r| m.region_blocks(r)).flat_map(|b| m.block_ops(b));
    ops.filter(|&inner| name == "any" || m.name_text(inner) == name).collect()
}

fn run_pass(
    info: &'static PassInfo,
    pass: &mut dyn Pass,
    m: &mut Module,
    op: Op,
    how: &Instrumentation,
    log: &mut dyn Write,
    report: &mut Report,
) -> Result<(), Vec<Diagnostic>> {
    let named = |list: &[String]| list.iter().any(|n| n == info.name);
    if how.print_before_all || named(&how.print_before) {
        dump(m, op, &format!("Before {}", info.name), how, log);
    }
    let before = how.print_after_change.then(|| text_of(m, op, how));
    let start = Instant::now();
    let result = pass.run(m, op);
    if how.timing {
        let time = start.elapsed();
        match report.times.iter_mut().find(|t| t.0 == info.name) {
            Some(row) => row.1 += time,
            None => report.times.push((info.name.to_owned(), time)),
        }
    }
    result.map_err(|d| vec![d])?;
    let changed = before.is_none_or(|before| before != text_of(m, op, how));
    if changed && (how.print_after_all || how.print_after_change || named(&how.print_after)) {
        dump(m, op, &format!("After {}", info.name), how, log);
    }
    if how.verify_each
        && let Err(mut errors) = verify_op(m, op)
    {
        for d in &mut errors {
            d.notes.push((m.loc(op), format!("after pass '{}'", info.name)));
        }
        return Err(errors);
    }
    Ok(())
}

fn text_of(m: &Module, op: Op, how: &Instrumentation) -> Vec<u8> {
    let mut out = Vec::new();
    m.print_op(op, how.print, &mut out).expect("writing to memory does not fail");
    out
}

fn dump(m: &Module, op: Op, what: &str, how: &Instrumentation, log: &mut dyn Write) {
    // A log that cannot be written is no reason to stop compiling.
    let _ = write!(log, "// -----// IR Dump {what} //----- //\n{}\n", String::from_utf8_lossy(&text_of(m, op, how)));
}

fn parse_options(info: &PassInfo, text: &str) -> Result<Options, String> {
    let mut options = Vec::new();
    for part in text.split_whitespace() {
        let (name, value) = part.split_once('=').unwrap_or((part, "true"));
        if !info.options.iter().any(|o| o.name == name) {
            let near = crate::diag::suggest(name, info.options.iter().map(|o| o.name));
            let hint = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
            return Err(format!("pass '{}' has no option '{name}'{hint}", info.name));
        }
        options.push((name.to_owned(), value.to_owned()));
    }
    Ok(Options(options))
}

struct Reader<'a> {
    text: &'a str,
    pos: usize,
    passes: &'a [&'static PassInfo],
}

/// Pipelines nested deeper than this are an error.
const MAX_NESTING: usize = 32;

impl Reader<'_> {
    fn skip_space(&mut self) {
        let rest = &self.text[self.pos..];
        self.pos += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> u8 {
        self.skip_space();
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    fn name(&mut self) -> &str {
        self.skip_space();
        let rest = &self.text[self.pos..];
        let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(rest.len());
        self.pos += len;
        &rest[..len]
    }

    /// One anchored pipeline, or a list of steps without an anchor.
    fn top(&mut self) -> Result<Pipeline, (usize, String)> {
        let mut steps = self.steps(0)?;
        if let [Step::Nested(_)] = &steps[..]
            && let Some(Step::Nested(only)) = steps.pop()
        {
            return Ok(only);
        }
        Ok(Pipeline { anchor: "any".into(), steps })
    }

    fn steps(&mut self, depth: usize) -> Result<Vec<Step>, (usize, String)> {
        let mut steps = Vec::new();
        if matches!(self.peek(), 0 | b')') {
            return Ok(steps);
        }
        loop {
            steps.push(self.step(depth)?);
            if self.peek() != b',' {
                return Ok(steps);
            }
            self.pos += 1;
        }
    }

    fn step(&mut self, depth: usize) -> Result<Step, (usize, String)> {
        self.skip_space();
        let at = self.pos;
        let name = self.name().to_owned();
        if name.is_empty() {
            return Err((at, "expected the name of a pass or op".into()));
        }
        if self.peek() == b'(' {
            if depth >= MAX_NESTING {
                return Err((at, format!("pipelines nested deeper than {MAX_NESTING} levels")));
            }
            self.pos += 1;
            let steps = self.steps(depth + 1)?;
            if self.peek() != b')' {
                return Err((self.pos, "expected ')'".into()));
            }
            self.pos += 1;
            return Ok(Step::Nested(Pipeline { anchor: name, steps }));
        }
        let mut options = "";
        if self.peek() == b'{' {
            let Some(len) = self.text[self.pos..].find('}') else { return Err((self.pos, "expected '}'".into())) };
            options = &self.text[self.pos + 1..self.pos + len];
            self.pos += len + 1;
        }
        let info = find_pass(self.passes, &name).map_err(|e| (at, e))?;
        let options = parse_options(info, options).map_err(|e| (at, e))?;
        let pass = (info.make)(&options).map_err(|e| (at, e))?;
        Ok(Step::Pass(info, options, pass))
    }
}

/// The pass of that name. The error suggests the nearest one.
pub fn find_pass(passes: &[&'static PassInfo], name: &str) -> Result<&'static PassInfo, String> {
    passes.iter().copied().find(|p| p.name == name).ok_or_else(|| {
        let near = crate::diag::suggest(name, passes.iter().map(|p| p.name));
        let hint = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
        format!("'{name}' does not refer to a registered pass{hint}")
    })
}
