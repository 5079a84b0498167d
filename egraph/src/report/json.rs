//! Reports as JSON.

use super::{Candidate, Choice, ClassReport, Report, Step, Term, TermKind, Whole};
use crate::explore::{Iteration, Record};
use std::fmt::Write as _;

/// A JSON value.
enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// Formats reports as `{"functions": [...]}`.
pub fn json(reports: &[Report]) -> String {
    let functions = reports.iter().map(report).collect();
    let mut out = String::new();
    Json::Object(vec![("functions", Json::List(functions))]).write(0, &mut out);
    out.push('\n');
    out
}

impl Json {
    fn number(n: impl TryInto<u64>) -> Json {
        n.try_into().map_or(Json::Null, Json::Number)
    }

    fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    fn list<T>(of: &[T], one: impl Fn(&T) -> Json) -> Json {
        Json::List(of.iter().map(one).collect())
    }

    fn optional<T>(of: Option<T>, one: impl Fn(T) -> Json) -> Json {
        of.map_or(Json::Null, one)
    }

    /// Whether the value contains lists or objects, which are printed one per line.
    fn is_long(&self) -> bool {
        let inner = |json: &Json| matches!(json, Json::List(l) if !l.is_empty()) || matches!(json, Json::Object(_));
        match self {
            Json::List(list) => list.iter().any(inner),
            Json::Object(fields) => {
                fields.iter().any(|(_, json)| matches!(json, Json::List(list) if list.iter().any(inner)))
            }
            _ => false,
        }
    }

    fn write(&self, indent: usize, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
            Json::Number(n) => out.push_str(&n.to_string()),
            Json::Text(text) => quote(text, out),
            Json::List(list) => {
                let items = list.iter().map(|json| (None, json));
                brackets(['[', ']'], items, self.is_long(), indent, out);
            }
            Json::Object(fields) => {
                let items = fields.iter().map(|(key, json)| (Some(*key), json));
                brackets(['{', '}'], items, self.is_long(), indent, out);
            }
        }
    }
}

fn brackets<'j>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = (Option<&'static str>, &'j Json)>,
    long: bool,
    indent: usize,
    out: &mut String,
) {
    let line = |indent: usize, out: &mut String| {
        if long {
            let _ = write!(out, "\n{:indent$}", "");
        }
    };
    out.push(open);
    for (i, (key, json)) in items.enumerate() {
        out.push_str(match (i, long) {
            (0, _) => "",
            (_, true) => ",",
            (_, false) => ", ",
        });
        line(indent + 2, out);
        if let Some(key) = key {
            let _ = write!(out, "\"{key}\": ");
        }
        json.write(indent + 2, out);
    }
    line(indent, out);
    out.push(close);
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn report(report: &Report) -> Json {
    Json::Object(vec![
        ("function", Json::text(&report.function)),
        ("target", Json::text(&report.target)),
        ("before", Json::number(report.before)),
        ("after", Json::number(report.after)),
        ("bound", Json::optional(report.bound, Json::number)),
        ("changed", Json::Bool(report.changed)),
        ("end", Json::text(&report.end)),
        ("saturated", Json::Bool(report.saturated)),
        ("iterations", Json::list(&report.iterations, iteration)),
        ("rules", Json::list(&report.rules, |(name, record)| rule(name, record))),
        ("results", Json::list(&report.results, |&(before, after)| result(before, after))),
        ("steps", Json::list(&report.steps, step)),
        ("steps_cut", Json::Bool(report.is_cut)),
        ("choices", Json::list(&report.choices, |c| choice(report, c))),
        ("classes", Json::list(&report.classes, class)),
        ("nodes", Json::List(report.terms.iter().map(|(id, one)| term(*id, one)).collect())),
    ])
}

fn iteration(iteration: &Iteration) -> Json {
    Json::Object(vec![
        ("nodes", Json::number(iteration.nodes)),
        ("classes", Json::number(iteration.classes)),
        ("matches", Json::number(iteration.matches)),
    ])
}

fn rule(name: &str, record: &Record) -> Json {
    Json::Object(vec![
        ("name", Json::text(name)),
        ("matches", Json::number(record.matches)),
        ("new", Json::number(record.applied)),
        ("refused", Json::number(record.refused)),
        ("rests", Json::number(record.rests)),
    ])
}

fn result(before: u32, after: u32) -> Json {
    Json::Object(vec![("before", Json::number(before)), ("after", Json::number(after))])
}

fn step(step: &Step) -> Json {
    Json::Object(vec![
        ("rule", Json::text(&step.rule)),
        ("iteration", Json::number(step.iteration)),
        ("left", Json::number(step.left)),
        ("right", Json::number(step.right)),
        ("after", Json::list(&step.needs, |&need| Json::number(need))),
    ])
}

fn choice(report: &Report, choice: &Choice) -> Json {
    Json::Object(vec![
        ("class", Json::number(choice.class)),
        ("name", Json::optional(choice.name.as_ref(), Json::text)),
        ("candidates", Json::list(&choice.candidates, |c| candidate(report, c))),
        ("more", Json::number(choice.more)),
    ])
}

fn candidate(report: &Report, candidate: &Candidate) -> Json {
    let (whole, why) = match candidate.whole {
        Whole::Chosen => (Some(report.after), "chosen"),
        Whole::Cost(cost) if cost > report.after => (Some(cost), "costs more"),
        Whole::Cost(cost) => (Some(cost), "costs no less"),
        Whole::Unknown => (None, "not counted"),
        Whole::Itself => (None, "made of itself"),
    };
    Json::Object(vec![
        ("node", Json::number(candidate.node)),
        ("operands", Json::list(&candidate.operands, |&operand| Json::number(operand))),
        ("own", Json::number(candidate.own)),
        ("alone", Json::optional(candidate.alone, Json::number)),
        ("whole", Json::optional(whole, Json::number)),
        ("why", Json::text(why)),
    ])
}

fn class(class: &ClassReport) -> Json {
    let node = |(node, operands): &(u32, Vec<u32>)| {
        let operands = Json::list(operands, |&operand| Json::number(operand));
        Json::Object(vec![("node", Json::number(*node)), ("operands", operands)])
    };
    Json::Object(vec![
        ("class", Json::number(class.id)),
        ("name", Json::optional(class.name.as_ref(), Json::text)),
        ("type", Json::text(&class.ty)),
        ("root", Json::Bool(class.is_root)),
        ("needed", Json::Bool(class.is_needed)),
        ("nodes", Json::list(&class.nodes, node)),
        ("chosen", Json::optional(class.chosen, Json::number)),
    ])
}

fn term(id: u32, term: &Term) -> Json {
    let mut fields = vec![("node", Json::number(id))];
    match &term.kind {
        TermKind::Leaf => {}
        TermKind::Result(i) => fields.push(("result", Json::number(*i))),
        TermKind::Op { op, properties, attributes, .. } => fields.extend([
            ("op", Json::text(op)),
            ("properties", Json::text(properties)),
            ("attributes", Json::text(attributes)),
        ]),
    }
    fields.push(("operands", Json::list(&term.operands, |&operand| Json::number(operand))));
    fields.push(("types", Json::list(&term.types, |ty| Json::text(ty))));
    fields.push(("name", Json::optional(term.name.as_ref(), Json::text)));
    Json::Object(fields)
}
