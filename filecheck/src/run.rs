//! Matching of directives against the input.

use crate::Options;
use crate::check_file::{CheckFile, Directive, PositionalDirective};
use crate::directive::DirectiveKind;
use crate::pattern::MatchRange;
use crate::report::{Mark, Report};
use crate::source::{INPUT, Message, SourcePosition, Sources};
use crate::variables::Variables;

/// Returns whether the input matches all directives, and reports failures.
pub fn run(options: &Options, sources: &Sources, file: CheckFile, report: &mut Report) -> bool {
    let input = &sources.get(INPUT).bytes;
    let CheckFile { directives, steps, variables } = file;
    let mut run = CheckRun { options, sources, input, directives: &directives, variables, report };
    let mut passed = true;
    let (mut from, mut first) = (0, 0);
    while first < steps.len() {
        // The steps up to the next label, and the input up to its match.
        let label = (first..steps.len()).find(|&i| directives[steps[i].directive].kind == DirectiveKind::Label);
        let to = match label {
            None => input.len(),
            Some(i) => match run.find(&directives[steps[i].directive], from, input.len(), None) {
                Some(found) => found.1,
                None => return false,
            },
        };
        if first > 0 && options.enable_var_scope {
            run.variables.clear_locals();
        }
        let next = label.map_or(steps.len(), |i| i + 1);
        let mut pos = from;
        for step in &steps[first..next] {
            match run.step(step, pos, to) {
                Some(end) => pos = end,
                None => {
                    passed = false;
                    break;
                }
            }
        }
        (from, first) = (to, next);
    }
    passed
}

struct CheckRun<'a> {
    options: &'a Options,
    sources: &'a Sources,
    input: &'a [u8],
    directives: &'a [Directive],
    variables: Variables,
    report: &'a mut Report,
}

/// Start and end in the input.
type Span = (usize, usize);

impl CheckRun<'_> {
    /// Matches one step between `from` and `to`; returns the end of its match.
    fn step(&mut self, step: &PositionalDirective, from: usize, to: usize) -> Option<usize> {
        let mut nots = Vec::new();
        let start = self.unordered(&step.before, from, to, &mut nots)?;
        let directive = &self.directives[step.directive];
        let count = if let DirectiveKind::Plain(n) = directive.kind { n } else { 1 };
        let (mut first, mut end) = (None, start);
        for i in 1..=count {
            let which = (count > 1).then_some((i, count));
            let found = self.find(directive, end, to, which)?;
            first.get_or_insert(found.0);
            end = found.1;
            self.verbose(directive, found);
        }
        let first = first.unwrap_or(start);
        let good = self.on_right_line(directive, start, (first, end));
        (good && self.none_of(&nots, start, first)).then_some(end)
    }

    /// Matches a directive and reports its absence. `which` is the index and count of a repetition.
    fn find(&mut self, directive: &Directive, from: usize, to: usize, which: Option<(u32, u32)>) -> Option<Span> {
        match self.search(directive, from, to) {
            Ok(Some((start, end))) => Some((start, end)),
            Ok(None) => {
                let which = which.map_or(String::new(), |(i, n)| format!(" ({i} out of {n})"));
                let text = format!("{}: expected string not found in input{which}", directive.name);
                self.say(&Message::error(directive.pattern.place, text));
                self.say(&Message::note(input(from), "scanning from here"));
                self.report.mark(directive, (from, from), Mark::NotFound);
                self.hints(directive, from, to);
                None
            }
            Err(errors) => {
                errors.into_iter().for_each(|e| self.say(&e));
                self.say(&Message::note(input(from), format!("when searching for {} from here", directive.name)));
                self.report.mark(directive, (from, from), Mark::Invalid);
                None
            }
        }
    }

    fn search(&mut self, directive: &Directive, from: usize, to: usize) -> Result<Option<Span>, Vec<Message>> {
        if directive.kind == DirectiveKind::End {
            return Ok(Some((to, to)));
        }
        let found = directive.pattern.find(&self.input[from..to], &mut self.variables)?;
        Ok(found.map(|MatchRange { start, len }| (from + start, from + start + len)))
    }

    /// Adds hints to a failure: values of variables and the most similar line.
    fn hints(&mut self, directive: &Directive, from: usize, to: usize) {
        for (name, value) in directive.pattern.substitutions(&self.variables) {
            self.say(&Message::note(input(from), format!("with \"{name}\" equal to \"{value}\"")));
        }
        let example = directive.pattern.example(&self.variables);
        if let Some(near) = crate::report::most_like(&example, self.input, from, to) {
            self.say(&Message::note(input(near), "possible intended match here"));
            self.report.mark(directive, (near, near), Mark::Near);
        }
    }

    /// Checks the line constraint of `-NEXT`, `-EMPTY` and `-SAME` relative to the previous match, which ended at
    /// `start`.
    fn on_right_line(&mut self, directive: &Directive, start: usize, found: Span) -> bool {
        let between = &self.input[start..found.0];
        let lines = newlines(between);
        let problem = match (directive.kind, lines.0) {
            (DirectiveKind::Next | DirectiveKind::Empty, 0) => "is on the same line as previous match",
            (DirectiveKind::Next | DirectiveKind::Empty, n) if n > 1 => "is not on the line after the previous match",
            (DirectiveKind::Same, n) if n > 0 => "is not on the same line as the previous match",
            _ => return true,
        };
        self.say(&Message::error(directive.pattern.place, format!("{}: {problem}", directive.name)));
        self.say(&Message::note(input(found.0), "'next' match was here"));
        self.say(&Message::note(input(start), "previous match ended here"));
        if directive.kind != DirectiveKind::Same
            && let Some(first) = lines.1
        {
            self.say(&Message::note(input(start + first), "non-matching line after previous match is here"));
        }
        self.report.mark(directive, found, Mark::WrongLine);
        false
    }

    /// Checks that no excluded string occurs between `from` and `to`.
    fn none_of(&mut self, nots: &[usize], from: usize, to: usize) -> bool {
        let mut good = true;
        for &not in nots {
            let directive = &self.directives[not];
            match self.search(directive, from, to) {
                Ok(None) => continue,
                Ok(Some((start, end))) => {
                    let text = format!("{}: excluded string found in input", directive.name);
                    self.say(&Message::error(directive.pattern.place, text));
                    self.say(&Message::note(input(start), "found here").over(end - start));
                    self.report.mark(directive, (start, end), Mark::Excluded);
                }
                Err(errors) => {
                    errors.into_iter().for_each(|e| self.say(&e));
                    self.report.mark(directive, (from, from), Mark::Invalid);
                }
            }
            good = false;
        }
        good
    }

    /// Matches directives without a fixed order. A group of `-DAG`s matches in any order without overlap; `-NOT`s
    /// separate groups. Returns the end of the last group and the `-NOT`s after it.
    fn unordered(&mut self, list: &[usize], from: usize, to: usize, nots: &mut Vec<usize>) -> Option<usize> {
        let mut start = from;
        // The matches of the group, in order of position.
        let mut group: Vec<Span> = Vec::new();
        for (i, &index) in list.iter().enumerate() {
            let directive = &self.directives[index];
            if directive.kind == DirectiveKind::Not {
                nots.push(index);
                continue;
            }
            let found = self.dag(directive, start, to, &mut group)?;
            self.verbose(directive, found);
            let last = list.get(i + 1).is_none_or(|&next| self.directives[next].kind == DirectiveKind::Not);
            if !last {
                continue;
            }
            let first = group.first().map_or(start, |g| g.0);
            if !self.none_of(nots, start, first) {
                return None;
            }
            nots.clear();
            start = group.last().map_or(start, |g| g.1);
            group.clear();
        }
        Some(start)
    }

    /// Finds a match that overlaps no other of the group, and adds it.
    fn dag(&mut self, directive: &Directive, start: usize, to: usize, group: &mut Vec<Span>) -> Option<Span> {
        let mut pos = start;
        loop {
            let found = self.find(directive, pos, to, None)?;
            if self.options.allow_deprecated_dag_overlap {
                let (a, b) = group.first().map_or(found, |g| (g.0.min(found.0), g.1.max(found.1)));
                *group = vec![(a, b)];
                return Some(found);
            }
            let behind = group.partition_point(|g| g.1 <= found.0);
            match group.get(behind) {
                Some(other) if other.0 < found.1 => pos = other.1,
                _ => {
                    group.insert(behind, found);
                    return Some(found);
                }
            }
        }
    }

    fn verbose(&mut self, directive: &Directive, found: Span) {
        if self.options.verbose && directive.kind != DirectiveKind::End {
            let text = format!("{}: expected string found in input", directive.name);
            self.say(&Message { severity: "remark", ..Message::error(directive.pattern.place, text) });
            self.say(&Message::note(input(found.0), "found here").over(found.1 - found.0));
            self.report.mark(directive, found, Mark::Found);
        }
    }

    fn say(&mut self, message: &Message) {
        self.report.say(self.sources, message);
    }
}

fn input(offset: usize) -> SourcePosition {
    SourcePosition { source: INPUT, offset }
}

/// Returns the number of newlines in the text, and position of the first.
fn newlines(text: &[u8]) -> (usize, Option<usize>) {
    let (mut count, mut first, mut i) = (0, None, 0);
    while i < text.len() {
        let newline = |b: Option<&u8>| matches!(b, Some(b'\n' | b'\r'));
        if newline(text.get(i)) {
            i += usize::from(newline(text.get(i + 1)) && text[i] != text[i + 1]);
            count += 1;
            first.get_or_insert(i + 1);
        }
        i += 1;
    }
    (count, first)
}
