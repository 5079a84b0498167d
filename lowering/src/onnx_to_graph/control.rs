//! Operators that are no op of the dialect. Those that run graphs of their own become ops of `scf`, whose regions hold the graphs.

use super::scope::Scope;
use super::{Importer, Stop, attrs, loops, optional};
use crate::onnx::inline::{Body, VersionedNode};
use crate::onnx::proto::ValueInfoProto;
use gradus_dialects::tensor::{self, CastOp, ExtractOp, general};
use gradus_dialects::{arith, scf};
use gradus_ir::{Block, Builder, Context, Loc, Type, Value};
use gradus_networks::graph::{self, SequenceCastOp, SequenceType};

/// Imports a node whose operator is no op.
pub(super) type ImportControl = for<'a> fn(&mut Importer<'a>, &'a VersionedNode, Loc) -> Result<(), Stop>;

/// The operators.
const OPERATORS: &[(&str, ImportControl)] = &[
    ("If", conditional),
    ("Loop", loops::repeat),
    ("Scan", loops::scan),
    ("SequenceMap", loops::map),
    ("Optional", optional::wrapped),
    ("OptionalGetElement", optional::wrapped),
    ("OptionalHasElement", optional::has_element),
    ("Identity", optional::identity),
];

/// Returns the function that imports an operator that is no op.
pub(super) fn operator(op_type: &str) -> Option<ImportControl> {
    OPERATORS.iter().find(|known| known.0 == op_type).map(|known| known.1)
}

/// Whether an operator that is no op is imported in another form.
pub fn has_form(op_type: &str) -> bool {
    operator(op_type).is_some()
}

/// Largest number of nodes that are imported: bodies of loops are imported again when the types of their variables change.
const MAX_NODES: usize = 1 << 20;

/// Largest number of graphs around a node.
const MAX_DEPTH: usize = 64;

/// Returns the graph of an attribute.
pub(super) fn body<'a>(node: &'a VersionedNode, attribute: &str) -> Result<&'a Body, Stop> {
    let found = node.bodies.iter().find(|(name, _)| name == attribute).map(|(_, body)| body);
    found.ok_or_else(|| Stop::Because(format!("attribute '{attribute}' is missing")))
}

/// Returns the most specific type of which values of both types are; `None` if there is none.
pub(super) fn general_type(ctx: &Context, a: Type, b: Type) -> Option<Type> {
    match [a, b].map(|ty| SequenceType::element_of(ctx, ty)) {
        [Some(a), Some(b)] => Some(SequenceType::of(ctx, general(ctx, a, b)?)),
        [None, None] => general(ctx, a, b),
        _ => None,
    }
}

/// Whether every value of type `from` is one of type `to`.
pub(super) fn is_instance(ctx: &Context, from: Type, to: Type) -> bool {
    from == to || general_type(ctx, from, to) == Some(to)
}

/// Imports an `If`. If its condition is known, its branch takes its place.
fn conditional<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, loc: Loc) -> Result<(), Stop> {
    let condition = i.value(node.proto.input.first().map_or("", String::as_str))?;
    let branches = [body(node, "then_branch")?, body(node, "else_branch")?];
    if let Some(known) = graph::known_value(&i.module, condition).and_then(|t| t.to_i64()) {
        let taken = branches[usize::from(known.iter().all(|&bit| bit == 0))];
        let results = i.within(taken, i.scopes.last().block, &[])?;
        return i.bind_results(node, &results, loc);
    }
    let count = branches[0].graph.output.len();
    if branches[1].graph.output.len() != count {
        return Err("its branches have different numbers of outputs".into());
    }
    let flag = i.element_in(i.scopes.last().block, condition, loc);
    let made = scf::IfOp::build(&mut i.builder(), loc, flag, &vec![Type::NONE; count]);
    let regions = [made.then_region(&i.module), made.else_region(&i.module)];
    let blocks = regions.map(|region| i.module.add_block(region));
    let first = i.within(branches[0], blocks[0], &[])?;
    let second = i.within(branches[1], blocks[1], &[])?;
    let mut types = Vec::with_capacity(count);
    for (k, (&a, &b)) in first.iter().zip(&second).enumerate() {
        let [a, b] = [a, b].map(|v| i.module.value_type(v));
        let differ = || format!("its branches give values of different kinds for output {k}");
        types.push(general_type(&i.ctx, a, b).ok_or_else(differ)?);
    }
    for (block, values) in blocks.into_iter().zip([first, second]) {
        let values: Vec<Value> = values.iter().zip(&types).map(|(&v, &ty)| i.cast_in(block, v, ty, loc)).collect();
        scf::YieldOp::build(&mut Builder::at_end(&mut i.module, block), loc, &values, &[]);
    }
    let results: Vec<Value> = i.module.results(made.0).collect();
    results.iter().zip(&types).for_each(|(&result, &ty)| i.module.set_value_type(result, ty));
    i.bind_results(node, &results, loc)
}

impl<'a> Importer<'a> {
    /// Returns a builder at the end of the innermost graph.
    pub(super) fn builder(&mut self) -> Builder<'_> {
        Builder::at_end(&mut self.module, self.scopes.last().block)
    }

    /// Imports a graph into a block, with values for its inputs. Returns its outputs.
    pub(super) fn within(&mut self, body: &'a Body, block: Block, inputs: &[Value]) -> Result<Vec<Value>, Stop> {
        if self.imported.saturating_add(body.nodes.len()) > MAX_NODES || self.scopes.depth() >= MAX_DEPTH {
            return Err("graphs with too many nodes, or nested too deeply".into());
        }
        let before = self.errors.len();
        self.scopes.push(Scope::new(&body.graph, block));
        self.initializers(&body.graph);
        for (input, &value) in body.graph.input.iter().zip(inputs) {
            self.input(&input.name, Some(value));
        }
        self.nodes(body);
        let outputs = body.graph.output.iter().map(|output| self.value(&output.name)).collect();
        self.scopes.pop();
        if self.errors.len() > before { Err(Stop::Reported) } else { outputs }
    }

    /// Binds the results of a node to their names, as tensors of the rank that the model states.
    pub(super) fn bind_results(&mut self, node: &VersionedNode, results: &[Value], loc: Loc) -> Result<(), Stop> {
        if results.len() < node.proto.output.len() {
            return Err(format!("there are {} outputs, more than its graphs have", node.proto.output.len()).into());
        }
        for (name, &value) in node.proto.output.iter().zip(results) {
            let value = match self.stated_rank(name, value) {
                Some(ty) => self.cast_in(self.scopes.last().block, value, ty, loc),
                None => value,
            };
            self.name(name, value)?;
        }
        Ok(())
    }

    /// Returns a value as one of a more or less specific type.
    pub(super) fn cast_in(&mut self, block: Block, value: Value, ty: Type, loc: Loc) -> Value {
        cast_at(&mut Builder::at_end(&mut self.module, block), value, ty, loc)
    }

    /// Returns a constant of type `index`.
    pub(super) fn index_in(&mut self, block: Block, n: i64, loc: Loc) -> Value {
        let attr = self.ctx.int_attr(Type::INDEX, n);
        let b = &mut Builder::at_end(&mut self.module, block);
        arith::ConstantOp::build(b, loc, attr, &[Type::INDEX]).result(b.module)
    }

    /// Returns the element of a tensor of one element.
    pub(super) fn element_in(&mut self, block: Block, tensor: Value, loc: Loc) -> Value {
        let ty = self.module.value_type(tensor);
        let scalar = self.ctx.tensor_type(&[], self.ctx.element_type(ty));
        let rank = self.ctx.shape(ty).map_or(0, <[i64]>::len);
        let zero = (rank > 0).then(|| self.index_in(block, 0, loc));
        let ranked = if self.ctx.shape(ty).is_none() { self.cast_in(block, tensor, scalar, loc) } else { tensor };
        let indices: Vec<Value> = zero.iter().copied().cycle().take(rank).collect();
        let made = ExtractOp::build(&mut Builder::at_end(&mut self.module, block), loc, ranked, &indices, &[]);
        made.result(&self.module)
    }

    /// Returns a tensor of one element as an input of a graph: of rank 0, unless the model states another.
    pub(super) fn input_of(&mut self, block: Block, element: Value, input: Option<&ValueInfoProto>, loc: Loc) -> Value {
        let stated = input.and_then(|input| input.r#type.as_ref());
        let stated = stated.and_then(|ty| attrs::value_type(&self.ctx, ty, &[]).ok());
        let rank = stated.and_then(|ty| self.ctx.shape(ty)).map_or(0, <[i64]>::len).min(1);
        let ty = self.ctx.tensor_type(&[1][..rank], self.module.value_type(element));
        let b = &mut Builder::at_end(&mut self.module, block);
        tensor::FromElementsOp::build(b, loc, &[element], &[ty]).result(b.module)
    }
}

/// Returns a value as one of a more or less specific type.
pub(super) fn cast_at(b: &mut Builder<'_>, value: Value, ty: Type, loc: Loc) -> Value {
    if b.module.value_type(value) == ty {
        return value;
    }
    match SequenceType::element_of(&b.module.ctx, ty) {
        Some(_) => SequenceCastOp::build(b, loc, value, &[ty]).output(b.module),
        None => CastOp::build(b, loc, value, &[ty]).dest(b.module),
    }
}
