//! Parallel parsing of large files: each thread parses consecutive functions of one block.
//!
//! The starts of functions are guessed: a line that begins with the same blanks and the same op name as the first
//! function. A guess is right if the preceding thread reaches it at the end of an op. On a wrong guess, an error, or a
//! name that functions share, one thread parses the file again. So the result and the diagnostics do not depend on the
//! number of threads.

use super::cursor::Cursor;
use super::options::ParseOptions;
use super::parser::{Division, Parser};
use crate::module::{Block, Module};
use crate::threads::module_split::append_module;
use crate::traits::Traits;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Minimum number of bytes per thread.
const MIN_BYTES: usize = 128 << 10;

/// Parts per thread, to balance parts whose parse time differs.
const PARTS: usize = 3;

/// The result of parsing one part.
struct ParsedPart {
    m: Module,
    /// Byte offset at which the parser stopped.
    end: usize,
    /// Whether the part was parsed without errors and without references to names outside of it.
    is_closed: bool,
}

impl<'a> Parser<'a> {
    /// Divides the text that follows in `block` if the op at `at`, just parsed, is a function, and parses the parts
    /// after the first on other threads.
    pub(super) fn divide(&mut self, block: Block, at: usize, top: bool) {
        let left = self.cur.rest().len();
        let threads = self.options.threads.min(left / MIN_BYTES);
        let is_function = |op| self.m.has_trait(op, Traits::FUNCTION.and(Traits::ISOLATED));
        if threads < 2 || !self.m.last_op(block).is_some_and(is_function) {
            return;
        }
        self.division = Division::Never;
        let whole = self.cur.text();
        let starts = starts(whole, at, self.cur.pos, threads * PARTS);
        let Some(&second) = starts.first() else { return };
        self.type_attrs.read_aliases();
        let ends = starts[1..].iter().copied().chain([whole.len()]);
        let parsers: Vec<Parser<'a>> =
            starts.iter().zip(ends).map(|(&s, end)| self.for_part(&whole[..end], s)).collect();
        let queue = Mutex::new(parsers.into_iter().enumerate());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || -> Vec<(usize, ParsedPart)> {
            std::iter::from_fn(next).map(|(number, parser)| (number, parser.part(top))).collect()
        };
        let mut parts = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            self.cur = self.cur.within(&whole[..second]);
            self.block_ops(block, top);
            let own = work();
            let others = others.into_iter().map(|t| t.join().unwrap_or_else(|panic| resume_unwind(panic)));
            others.chain([own]).flatten().collect::<Vec<_>>()
        });
        parts.sort_unstable_by_key(|(number, _)| *number);
        let parts = parts.into_iter().map(|(_, part)| part).collect();
        self.division = Division::Failed;
        if self.diags.is_empty() && self.cur.pos == second && self.absorb(block, &starts, parts) {
            self.division = Division::Done;
        }
        self.cur = self.cur.within(whole);
    }

    /// Creates a parser for the part of the file that begins at `start` and ends with `text`.
    fn for_part(&self, text: &'a str, start: usize) -> Parser<'a> {
        let options = ParseOptions { threads: 1, ..self.options };
        let mut parser = Parser::new(self.ctx, self.aliases, self.source, text, options);
        parser.cur.pos = start;
        parser.depth = self.depth;
        parser.default_dialects.clone_from(&self.default_dialects);
        parser
    }

    /// Parses the ops of one part.
    fn part(mut self, top: bool) -> ParsedPart {
        let body = self.m.body();
        self.block_ops(body, top);
        let is_closed = self.diags.is_empty() && self.labels.is_empty() && self.names.is_empty();
        ParsedPart { m: self.m, end: self.cur.pos, is_closed }
    }

    /// Appends the ops of the parts, which begin at `starts`, to `block`. Returns `false` if a part is invalid.
    fn absorb(&mut self, block: Block, starts: &[usize], parts: Vec<ParsedPart>) -> bool {
        let mut next = starts[1..].iter();
        for part in parts {
            if !part.is_closed || next.next().is_some_and(|&next| part.end != next) {
                return false;
            }
            self.cur.pos = part.end;
            if !part.m.resources.is_empty() {
                self.m.resources = part.m.resources.clone();
            }
            append_module(&mut self.m, block, part.m);
        }
        true
    }
}

/// Returns offsets that divide `text` after `from` into at most `parts` parts of about equal length, all but the first
/// of which begin like the op at `at`. Empty if that op does not start its line.
fn starts(text: &str, at: usize, from: usize, parts: usize) -> Vec<usize> {
    let line = text[..at].trim_end_matches([' ', '\t']).len();
    if line > 0 && text.as_bytes()[line - 1] != b'\n' {
        return Vec::new();
    }
    let mut head = Cursor::new(text);
    head.pos = at;
    if head.peek() != b'"' || !head.skip_string() {
        head.word();
    }
    let like = format!("\n{}", head.since(line));
    let find = memchr::memmem::Finder::new(&like);
    let mut starts: Vec<usize> = Vec::new();
    for i in 1..parts {
        let target = from + (text.len() - from) / parts * i;
        match find.find(&text.as_bytes()[target..]) {
            Some(found) if starts.last().is_none_or(|&last| target + found >= last) => starts.push(target + found + 1),
            Some(_) => {}
            None => break,
        }
    }
    starts
}
