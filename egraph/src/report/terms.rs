//! E-nodes as data and as text.

use super::{NodeId, Report, Term, TermKind, Terms};
use crate::graph::{Key, Node};
use crate::program::Program;
use gradus_ir::{Attr, AttrText, Op, OpName, ValueNames};
use std::fmt::Write as _;

/// Adds nodes with their operands, transitively.
pub fn add(program: &Program<'_>, names: &ValueNames, ids: Vec<NodeId>, terms: &mut Terms) {
    let mut open = ids;
    while let Some(id) = open.pop() {
        if terms.contains_key(&id) {
            continue;
        }
        let term = term(program, names, &program.graph.nodes()[id as usize]);
        open.extend(&term.operands);
        terms.insert(id, term);
    }
}

fn term(program: &Program<'_>, names: &ValueNames, node: &Node) -> Term {
    let m = &*program.m;
    let operands = node.children.iter().map(|&id| usize::from(id) as NodeId).collect();
    let own = node.op.into_iter().flat_map(|op| m.results(op));
    let fact = &program.graph[node.id].data;
    let types = match node.key {
        Key::Op { .. } => own.map(|value| m.ctx.display_type(m.value_type(value))).collect(),
        _ => vec![m.ctx.display_type(fact.ty)],
    };
    let kind = match node.key {
        Key::Leaf(_) => TermKind::Leaf,
        Key::Result(i) => TermKind::Result(i),
        Key::Op { name, props, attrs, .. } => {
            let constant = node.op.and_then(|op| constant(program, op));
            TermKind::Op {
                op: m.ctx.op_name_text(name).to_owned(),
                properties: m.ctx.display_attr(props),
                attributes: m.ctx.display_attr(attrs),
                shown: constant.map_or_else(|| form(program, name, props), |attr| m.ctx.display_attr(attr)),
                constant: constant.is_some(),
                commutative: node.commutative,
            }
        }
    };
    // The name of several results together has no index.
    let whole = |name: String| match node.key {
        Key::Op { .. } => name.split('#').next().unwrap_or_default().to_owned(),
        _ => name,
    };
    let name = program.value_of(node).map(|value| whole(names.of(m, value)));
    Term { kind, operands, types, name }
}

/// Returns the value of a constant op.
fn constant(program: &Program<'_>, op: Op) -> Option<Attr> {
    let m = &*program.m;
    let is_leaf = m.operands(op).is_empty() && m.num_results(op) == 1;
    is_leaf.then(|| m.constant(m.result(op, 0))).flatten()
}

/// Returns the words and the other non-default attributes of an op: ` unrolled {axis = 1 : i64}`.
fn form(program: &Program<'_>, name: OpName, props: Attr) -> String {
    let ctx = &program.m.ctx;
    let specs = ctx.op_info(name).map_or(&[][..], |info| info.attrs);
    let (mut words, mut others) = (String::new(), Vec::new());
    for (key, attr) in ctx.dict_entries(props).iter().map(|&(key, attr)| (ctx.text(key), attr)) {
        let spec = specs.iter().find(|spec| spec.name == key);
        if spec.and_then(|spec| spec.default).is_some_and(|text| ctx.default_attr(text) == attr) {
            continue;
        }
        let word = match spec.map(|spec| &spec.kind.text) {
            Some(AttrText::Cases(_, cases)) => cases.iter().find(|case| ctx.as_int(attr) == Some(case.1)),
            _ => None,
        };
        match word {
            Some((word, _)) => words += &format!(" {word}"),
            None => others.push(format!("{key} = {}", ctx.display_attr(attr))),
        }
    }
    if others.is_empty() { words } else { format!("{words} {{{}}}", others.join(", ")) }
}

/// Maximum length of printed attributes.
const LONGEST: usize = 60;

/// Formats a node with operands down to `levels` levels; below, by name.
pub fn show(terms: &Terms, id: NodeId, levels: u32) -> String {
    let operands = terms.get(&id).map_or(&[][..], |term| &term.operands);
    show_with(terms, id, operands, levels)
}

/// Formats a node with other operands.
pub fn show_with(terms: &Terms, id: NodeId, operands: &[NodeId], levels: u32) -> String {
    let Some(term) = terms.get(&id) else { return format!("#{id}") };
    let mut text = match &term.kind {
        TermKind::Leaf => return term.name.clone().unwrap_or_default(),
        TermKind::Op { shown, constant: true, .. } => return number(term, shown),
        TermKind::Result(i) => return format!("{}#{i}", show(terms, operands[0], levels)),
        _ if levels == 0 => return term.name.clone().unwrap_or_else(|| format!("#{id}")),
        TermKind::Op { op, shown, .. } => format!("{op}{}", cut(shown)),
    };
    let mut operands = operands.to_vec();
    if matches!(term.kind, TermKind::Op { commutative: true, .. }) {
        operands.sort_by_key(|operand| is_constant(terms, *operand));
    }
    let operands: Vec<String> = operands.into_iter().map(|operand| show(terms, operand, levels - 1)).collect();
    let _ = write!(text, "({})", operands.join(", "));
    text
}

fn is_constant(terms: &Terms, id: NodeId) -> bool {
    terms.get(&id).is_some_and(|term| matches!(term.kind, TermKind::Op { constant: true, .. }))
}

/// Formats a constant: by value, or if that is long by name or type.
fn number(term: &Term, shown: &str) -> String {
    if shown.chars().count() <= LONGEST {
        return shown.to_owned();
    }
    term.name.clone().unwrap_or_else(|| format!("dense<...> : {}", term.types.concat()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// Returns the label of a node in a picture.
pub fn label(report: &Report, id: NodeId) -> String {
    match report.terms.get(&id).map(|term| &term.kind) {
        Some(TermKind::Op { shown, constant: true, .. }) => number(&report.terms[&id], shown),
        Some(TermKind::Op { op, shown, .. }) => format!("{op}{}", cut(shown)),
        Some(TermKind::Result(i)) => format!("result {i}"),
        Some(TermKind::Leaf) => show(&report.terms, id, 0),
        None => format!("#{id}"),
    }
}
