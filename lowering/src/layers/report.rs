//! The report of `choose-layers`: a remark on each layer, and a table for each program.

use super::{Accelerator, LayerFigures};
use gradus_ir::{Attr, Diagnostic, Module, Op, PassContext};

/// The name of the report that is a [`LayerTable`] for each program.
pub const CHOICES: &str = "choices";

/// The choices for the layers of a program, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayerTable {
    /// The machine, the number of layers, the cycles of the program, and the meaning of the last columns, a line each.
    pub caption: String,
    /// The header, and a row for each layer, of as many cells each.
    pub rows: Vec<Vec<String>>,
}

/// The cycles by which a machine compares the choice for a layer with rejected ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    /// Estimated cycles of the layer by itself.
    Layers,
    /// Cycles of whole programs, of which one has another choice for the layer.
    Programs,
}

/// A parameter of a choice as text.
#[derive(PartialEq, Eq)]
struct Parameter {
    name: &'static str,
    value: String,
    is_default: bool,
}

/// The choices of a program with their figures, layer by layer.
pub(crate) struct ChoiceReport<'a> {
    pub(crate) m: &'a Module,
    pub(crate) layers: &'a [Vec<Op>],
    pub(crate) choices: &'a [Attr],
    pub(crate) figures: Vec<LayerFigures>,
    /// Cycles of the program.
    pub(crate) cycles: u64,
}

impl ChoiceReport<'_> {
    /// Emits a remark on each layer.
    pub(crate) fn explain<A: Accelerator>(&self, cx: &mut PassContext<'_>) {
        let display = |attr: Attr| self.m.ctx.display_attr(attr);
        for ((ops, choice), figures) in self.layers.iter().zip(self.choices).zip(&self.figures) {
            let names: Vec<&str> = ops.iter().map(|&op| self.m.name_text(op)).collect();
            let LayerFigures { cycles, bound, .. } = figures;
            let mut text =
                format!("{} by {}: {cycles} cycles by itself, bound {bound}", names.join(" + "), display(*choice));
            if let Some((other, other_cycles)) = figures.rejected {
                let other = display(other);
                text += &match A::COMPARISON {
                    Comparison::Layers => {
                        format!("; the fastest other choice by itself, {other}: {other_cycles} cycles")
                    }
                    Comparison::Programs => format!(
                        "; the program takes {} cycles, the fastest program with another choice here, {other}: {other_cycles} cycles",
                        self.cycles
                    ),
                };
                if A::COMPARISON == Comparison::Layers && other_cycles < *cycles {
                    text += "; programs are compared as a whole";
                }
            }
            let loc = ops.first().map(|&op| self.m.loc(op));
            cx.emit(Diagnostic::remark(loc.unwrap_or_else(|| self.m.loc(self.m.root())), text));
        }
    }

    /// Returns the table of the layers.
    pub(crate) fn table<A: Accelerator>(&self) -> LayerTable {
        let parameters: Vec<Vec<Parameter>> = self.choices.iter().map(|&choice| self.parameters(choice)).collect();
        let used = |column: &usize| parameters.iter().any(|of| of.get(*column).is_some_and(|one| !one.is_default));
        let columns: Vec<usize> = (0..parameters.first().map_or(0, Vec::len)).filter(used).collect();
        let named = columns.iter().map(|&column| parameters[0][column].name.to_owned());
        let ends = ["cycles", "bound", "rejected", "its cycles"].map(str::to_owned);
        let header = ["#", "layer", "ops"].map(str::to_owned).into_iter().chain(named).chain(ends).collect();
        let row = |l: usize| {
            let LayerFigures { cycles, bound, rejected } = &self.figures[l];
            let (other, other_cycles) = match rejected {
                Some((other, n)) => (self.difference(self.choices[l], *other), n.to_string()),
                None => ("-".to_owned(), "-".to_owned()),
            };
            let chosen =
                columns.iter().map(|&column| parameters[l].get(column).map_or("-", |one| &one.value).to_owned());
            let ends = [cycles.to_string(), bound.to_string(), other, other_cycles];
            [(l + 1).to_string(), self.source(l), self.ops(l)].into_iter().chain(chosen).chain(ends).collect()
        };
        let compared = match A::COMPARISON {
            Comparison::Layers => {
                "of the fastest other choice for the layer by itself (programs are compared as a whole)"
            }
            Comparison::Programs => "of the fastest other program that was timed and has another choice for the layer",
        };
        let (layers, cycles) = (self.layers.len(), self.cycles);
        let plural = if layers == 1 { "" } else { "s" };
        LayerTable {
            caption: format!(
                "{}: {layers} layer{plural}, {cycles} cycles\ncycles, bound: of the layer by itself\nrejected, its cycles: {compared}",
                A::NAME
            ),
            rows: std::iter::once(header).chain((0..layers).map(row)).collect(),
        }
    }

    /// The names that the source gives a layer's ops, or the place of the first of them.
    fn source(&self, layer: usize) -> String {
        let mut names: Vec<String> =
            self.layers[layer].iter().filter_map(|&op| self.m.loc(op).label(&self.m.ctx)).collect();
        names.dedup();
        if names.is_empty() { "-".to_owned() } else { names.join("+") }
    }

    /// The ops of a layer, without their dialect.
    fn ops(&self, layer: usize) -> String {
        let name = |&op: &Op| self.m.name_text(op).rsplit('.').next().unwrap_or_default();
        self.layers[layer].iter().map(name).collect::<Vec<_>>().join("+")
    }

    /// The parameters of a choice; `-` for an empty text.
    fn parameters(&self, choice: Attr) -> Vec<Parameter> {
        let ctx = &self.m.ctx;
        let Some(params) = ctx.attr_params(choice) else { return Vec::new() };
        let shown = |(i, spec): (usize, &gradus_ir::AttrSpec)| {
            let value = params.params.get(i).copied().flatten();
            let is_default = value == spec.default.map(|default| ctx.default_attr(default));
            let value = match value.map(|attr| (ctx.as_str(attr), ctx.as_int(attr), attr)) {
                Some((Some(text), ..)) if !text.is_empty() => text.to_owned(),
                Some((None, Some(int), _)) => int.to_string(),
                Some((None, None, attr)) => ctx.display_attr(attr),
                _ => "-".to_owned(),
            };
            Parameter { name: spec.name, value, is_default }
        };
        params.decl.params.iter().enumerate().map(shown).collect()
    }

    /// The parameters of a choice that differ from those of the chosen one: `rows 2, order kernels`.
    fn difference(&self, chosen: Attr, other: Attr) -> String {
        let pairs = self.parameters(chosen).into_iter().zip(self.parameters(other));
        let changed = pairs.filter(|(chosen, other)| chosen != other).map(|(_, other)| match other.value.as_str() {
            "-" => format!("no {}", other.name),
            value => format!("{} {value}", other.name),
        });
        changed.collect::<Vec<_>>().join(", ")
    }
}
