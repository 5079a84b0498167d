//! Parsing of a check file and of the definitions on the command line.

use crate::Options;
use crate::directive::{DirectiveKind, Head, hits, pattern_range};
use crate::near_miss;
use crate::number;
use crate::pattern::{Pattern, Site};
use crate::source::{CHECKS, Message, SourcePosition, SourceText, Sources};
use crate::variables::Variables;

/// A directive.
pub struct Directive {
    pub kind: DirectiveKind,
    /// Name such as `CHECK-NEXT{LITERAL}`.
    pub name: String,
    pub pattern: Pattern,
    /// 1-based line in the check file; for an implicit check, its 1-based number.
    pub line: usize,
}

/// A positional directive, with the preceding directives that have no position of their own (`-NOT`, `-DAG`).
pub struct PositionalDirective {
    pub before: Vec<usize>,
    pub directive: usize,
}

/// A parsed check file.
pub struct CheckFile {
    pub directives: Vec<Directive>,
    pub steps: Vec<PositionalDirective>,
    pub variables: Variables,
}

/// Parses the check file and the definitions on the command line.
pub fn read(options: &Options, sources: &mut Sources) -> Result<CheckFile, Vec<Message>> {
    if !options.allow_near_misses {
        let errors = near_miss::find(options, sources.get(CHECKS));
        if !errors.is_empty() {
            return Err(errors);
        }
    }
    let mut file = CheckFile { directives: Vec::new(), steps: Vec::new(), variables: Variables::new() };
    define_on_command_line(options, sources, &mut file.variables)?;
    file.implicit_nots(options, sources).map_err(|m| vec![m])?;
    file.directives(options, sources).map_err(|m| vec![m])?;
    Ok(file)
}

/// Parses `-DNAME=VALUE` and `-D#FORMAT,NAME=EXPR`.
fn define_on_command_line(options: &Options, sources: &mut Sources, vars: &mut Variables) -> Result<(), Vec<Message>> {
    let mut errors = Vec::new();
    for define in &options.defines {
        let source = sources.add(SourceText::new("command line", format!("-D{define}").into_bytes()));
        let fail = |offset: usize, text: String| Message::error(SourcePosition { source, offset }, text);
        let Some((name, value)) = define.split_once('=') else {
            errors.push(fail(2, "missing equal sign in global definition".into()));
            continue;
        };
        let result = if let Some(spec) = name.strip_prefix('#') {
            define_number(spec, value, vars)
        } else {
            define_string(name, value, vars)
        };
        errors.extend(result.err().map(|(offset, text)| fail(2 + offset, text)));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn define_string(name: &str, value: &str, vars: &mut Variables) -> Result<(), (usize, String)> {
    let (len, pseudo) = number::name(name.as_bytes()).map_err(|(o, m)| (o, m.to_owned()))?;
    if pseudo || len < name.len() {
        return Err((0, format!("invalid name in string variable definition '{name}'")));
    }
    if vars.find_number(name).is_some() {
        return Err((0, format!("numeric variable with name '{name}' already exists")));
    }
    vars.set_string(name, value.as_bytes());
    vars.declare_string(name);
    Ok(())
}

fn define_number(spec: &str, value: &str, vars: &mut Variables) -> Result<(), (usize, String)> {
    let text = format!("#{spec}:{value}");
    let block = number::block(text.as_bytes(), (1, text.len()), false, None, vars)?;
    let value = block.expr.map(|e| e.eval(vars));
    match (value, block.define) {
        (Some(Ok(value)), Some((name, id))) => {
            vars.set_number(&name, id, value);
            Ok(())
        }
        _ => Err((0, "this definition has no value".into())),
    }
}

impl CheckFile {
    fn add(&mut self, kind: DirectiveKind, prefix: &str, literal: bool, pattern: Pattern, line: usize) -> usize {
        let modifier = if literal { "{LITERAL}" } else { "" };
        let name =
            if kind == DirectiveKind::End { kind.suffix() } else { format!("{prefix}{}{modifier}", kind.suffix()) };
        self.directives.push(Directive { kind, name, pattern, line });
        self.directives.len() - 1
    }

    /// Adds `--implicit-check-not` directives, which come first.
    fn implicit_nots(&mut self, options: &Options, sources: &mut Sources) -> Result<(), Message> {
        for (i, text) in options.implicit_check_not.iter().enumerate() {
            let intro = "-implicit-check-not='";
            let source = sources.add(SourceText::new("command line", format!("{intro}{text}'").into_bytes()));
            let place = SourcePosition { source, offset: intro.len() };
            let (prefix, end) = ("IMPLICIT-CHECK", intro.len() + text.len());
            let site = Site { kind: DirectiveKind::Not, literal: false, prefix, place, end, line: i + 1 };
            let pattern = Pattern::parse(site, options, sources, &mut self.variables)?;
            self.add(DirectiveKind::Not, prefix, false, pattern, i + 1);
        }
        Ok(())
    }

    fn directives(&mut self, options: &Options, sources: &Sources) -> Result<(), Message> {
        let source = sources.get(CHECKS);
        let text = &source.bytes;
        let prefixes = options.prefixes();
        let implicit: Vec<usize> = (0..self.directives.len()).collect();
        let mut before = implicit.clone();
        let mut used = vec![false; prefixes.len()];
        for hit in hits(options, text) {
            let place = |offset| SourcePosition { source: CHECKS, offset };
            let Some(prefix) = prefixes.get(hit.prefix) else { continue };
            used[hit.prefix] = true;
            let fail = |offset: usize, text: String| Err(Message::error(place(offset), text));
            let (kind, literal) = match hit.head {
                Head::Directive(kind, literal) => (kind, literal),
                Head::Misspelled => {
                    let shown = String::from_utf8_lossy(&text[hit.start..hit.end]).into_owned();
                    return fail(hit.start, format!("misspelled directive '{shown}'"));
                }
                Head::BadNot => return fail(hit.end, format!("unsupported -NOT combo on prefix '{prefix}'")),
                Head::BadCount => {
                    return fail(hit.end, format!("invalid count in -COUNT specification on prefix '{prefix}'"));
                }
                Head::Comment => continue,
            };
            let (from, end) = pattern_range(options, text, hit.end);
            let line = source.line_col(hit.start).0 + 1;
            let site = Site { kind, literal, prefix, place: place(from), end, line };
            let pattern = Pattern::parse(site, options, sources, &mut self.variables)?;
            if kind == DirectiveKind::Label && pattern.has_variable() {
                return fail(hit.start, format!("found '{prefix}-LABEL:' with variable definition or use"));
            }
            if matches!(kind, DirectiveKind::Next | DirectiveKind::Same | DirectiveKind::Empty) && self.steps.is_empty()
            {
                let suffix = kind.suffix();
                return fail(hit.start, format!("found '{prefix}{suffix}' without previous '{prefix}: line"));
            }
            let directive = self.add(kind, prefix, literal, pattern, line);
            if matches!(kind, DirectiveKind::Dag | DirectiveKind::Not) {
                before.push(directive);
            } else {
                self.steps
                    .push(PositionalDirective { before: std::mem::replace(&mut before, implicit.clone()), directive });
            }
        }
        self.all_prefixes_used(options, &used)?;
        self.end(before, prefixes[0], text.len());
        Ok(())
    }

    /// Adds an end-of-input step for the remaining directives.
    fn end(&mut self, before: Vec<usize>, prefix: &str, offset: usize) {
        if before.is_empty() {
            return;
        }
        let pattern = Pattern::at_end(SourcePosition { source: CHECKS, offset });
        let directive = self.add(DirectiveKind::End, prefix, false, pattern, 0);
        self.steps.push(PositionalDirective { before, directive });
    }

    fn all_prefixes_used(&self, options: &Options, used: &[bool]) -> Result<(), Message> {
        let prefixes = options.prefixes();
        let missing: Vec<String> =
            prefixes.iter().zip(used).filter(|(_, used)| !**used).map(|(p, _)| format!("'{p}:'")).collect();
        let none = missing.len() == prefixes.len();
        let implicit_only = !options.implicit_check_not.is_empty() && options.check_prefixes.is_empty();
        if (!none && (missing.is_empty() || options.allow_unused_prefixes)) || implicit_only {
            return Ok(());
        }
        let es = if missing.len() > 1 { "es" } else { "" };
        let text = format!("no check strings found with prefix{es} {}", missing.join(", "));
        Err(Message::error(SourcePosition { source: CHECKS, offset: 0 }, text))
    }
}
