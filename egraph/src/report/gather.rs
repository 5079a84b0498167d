//! Construction of a report from a saturated program.

use super::choices::{self, Chosen};
use super::{ClassId, ClassReport, NodeId, Report, Terms, explain, node_id, terms};
use crate::equation::Equations;
use crate::explore::{End, Exploration};
use crate::extract::Choice;
use crate::graph::Node;
use crate::program::Program;
use egg::Id;
use gradus_ir::{Context, Diagnostic, Op, ValueNames, symbol_name};
use rustc_hash::{FxHashMap, FxHashSet};

/// The inputs of a report.
pub struct Gather<'g, 'm> {
    /// The program, before write-back.
    pub program: &'g Program<'m>,
    /// The op whose regions were saturated.
    pub scope: Op,
    /// The rules.
    pub equations: &'g Equations,
    /// The result of the search.
    pub explored: &'g Exploration,
    /// The extraction.
    pub choice: &'g Choice,
    /// The classes that are needed.
    pub roots: &'g [Id],
    /// The cost of a node.
    pub cost: &'g dyn Fn(&Node) -> u64,
    /// Name of the cost model.
    pub target: &'static str,
    /// Cost of the original program.
    pub before: u64,
    /// Cost of the chosen nodes.
    pub after: u64,
    /// A lower bound of all choices, if known.
    pub bound: Option<u64>,
    /// Whether the extraction replaces the program.
    pub changed: bool,
}

impl Gather<'_, '_> {
    /// Builds the report, with all classes on request.
    pub fn report(&self, all_classes: bool) -> Report {
        let (program, m) = (self.program, &*self.program.m);
        let value_names = ValueNames::new(m, self.scope);
        let rules = names(&m.ctx, self.equations);
        let (pairs, results) = if self.changed { explain::replaced(program, self.choice) } else { (Vec::new(), 0) };
        let (steps, is_cut) = explain::steps(program, &rules, &pairs);
        let mut records: Vec<_> = rules.into_iter().zip(self.explored.rules.iter().copied()).collect();
        records.retain(|(_, record)| record.matches > 0 || record.rests > 0);
        records.sort_by(|a, b| a.0.cmp(&b.0));
        let mut report = Report {
            function: symbol_name(m, self.scope)
                .map_or_else(|| m.name_text(self.scope).to_owned(), |name| format!("@{}", m.ctx.text(name))),
            target: self.target.to_owned(),
            before: self.before,
            after: self.after,
            bound: self.bound,
            changed: self.changed,
            end: self.explored.end.to_string(),
            saturated: matches!(self.explored.end, End::Saturated(_)),
            iterations: self.explored.iterations.clone(),
            rules: records,
            results: pairs[..results].iter().map(|&(a, b)| (node_id(a), node_id(b))).collect(),
            steps,
            is_cut,
            choices: Vec::new(),
            classes: Vec::new(),
            terms: Terms::new(),
        };
        self.choices(&value_names, all_classes, &mut report);
        let mut mentioned: Vec<NodeId> = report.steps.iter().flat_map(|step| [step.left, step.right]).collect();
        mentioned.extend(report.results.iter().flat_map(|&(a, b)| [a, b]));
        for candidate in report.choices.iter().flat_map(|choice| &choice.candidates) {
            mentioned.push(candidate.node);
            mentioned.extend(&candidate.operands);
        }
        mentioned.extend(report.classes.iter().flat_map(|class| &class.nodes).map(|(node, _)| *node));
        terms::add(program, &value_names, mentioned, &mut report.terms);
        report
    }

    fn choices(&self, value_names: &ValueNames, all_classes: bool, report: &mut Report) {
        let Gather { program, cost, roots, .. } = *self;
        let choice = &choices::fill(program, self.choice, cost);
        let mut chosen = Chosen { program, choice, cost, roots, looked_at: 0 };
        let named = self.named(value_names);
        let needed = chosen.needed();
        for &class in &needed {
            report.choices.extend(chosen.candidates(class));
        }
        for choice in &mut report.choices {
            choice.name = named.get(&choice.class).cloned();
        }
        if all_classes {
            report.classes = self.classes(choice, &named, &needed.into_iter().collect());
        }
    }

    /// Names classes after the first of their values in the program.
    fn named(&self, value_names: &ValueNames) -> FxHashMap<ClassId, String> {
        let mut named = FxHashMap::default();
        for (node, number) in self.program.graph.nodes().iter().zip(0..) {
            let value = self.program.value_of(node);
            if let Some(value) = value {
                let class = self.program.graph.find(Id::from(number as usize));
                named.entry(usize::from(class) as ClassId).or_insert_with(|| value_names.of(self.program.m, value));
            }
        }
        named
    }

    fn classes(&self, choice: &Choice, named: &FxHashMap<ClassId, String>, needed: &FxHashSet<Id>) -> Vec<ClassReport> {
        let graph = &self.program.graph;
        let roots: FxHashSet<Id> = self.roots.iter().map(|&root| graph.find(root)).collect();
        let class = |class: &egg::EClass<Node, _>| {
            let operands = |node: &Node| node.children.iter().map(|&child| node_id(graph.find(child))).collect();
            let id = node_id(class.id);
            ClassReport {
                id,
                name: named.get(&id).cloned(),
                ty: self.program.m.ctx.display_type(graph[class.id].data.ty),
                is_root: roots.contains(&class.id),
                is_needed: needed.contains(&class.id),
                nodes: class.iter().map(|node| (node_id(node.id), operands(node))).collect(),
                chosen: choice.get(class.id).map(|node| node as usize),
            }
        };
        let mut classes: Vec<ClassReport> = graph.classes().map(class).collect();
        classes.sort_by_key(|class| class.id);
        classes
    }
}

fn names(ctx: &Context, equations: &Equations) -> Vec<String> {
    equations.rules.iter().map(|rule| ctx.text(rule.name).to_owned()).collect()
}

/// Maximum number of steps shown for a conflict.
const MAX_NOTES: usize = 8;

/// Returns the error for contradicting constants or types, with the rules that led to it.
pub fn conflict(program: &Program<'_>, scope: Op, equations: &Equations) -> Option<Diagnostic> {
    let (a, b) = program.graph.analysis.conflict.as_ref()?;
    let (ctx, loc) = (&program.m.ctx, program.m.loc(scope));
    let (steps, _) = explain::steps(program, &names(ctx, equations), &[(a.node, b.node)]);
    let [a, b] = [a, b].map(|fact| match fact.constant {
        Some(attr) => ctx.display_attr(attr),
        None => format!("a value of type {}", ctx.display_type(fact.ty)),
    });
    let mut rules: Vec<String> = steps.iter().map(|step| format!("'{}'", step.rule)).collect();
    rules.sort();
    rules.dedup();
    let mut error = Diagnostic::error(
        loc,
        match &rules[..] {
            [rule] => format!("rule {rule} makes {a} equal to {b}"),
            _ => format!("rules make {a} equal to {b}; one of {} is wrong", rules.join(", ")),
        },
    );
    let mut mentioned = Terms::new();
    let nodes = steps.iter().take(MAX_NOTES).flat_map(|step| [step.left, step.right]).collect();
    terms::add(program, &ValueNames::new(program.m, scope), nodes, &mut mentioned);
    for step in steps.iter().take(MAX_NOTES) {
        let [left, right] = [step.left, step.right].map(|node| terms::show(&mentioned, node, 3));
        error = error.note(loc, format!("by rule '{}': {left} = {right}", step.rule));
    }
    Some(error)
}
