//! Import of ONNX models into the `graph` dialect.
//!
//! The model becomes one function, `@main`. Parameters and results keep their names as `graph.name`; each node becomes
//! an op with the node's name as location; used initializers become constants that share the bytes of the file.
//! Operators of old versions are first converted to the newest one ([`opset`](crate::onnx::opset)); the rest follows
//! the declarations of the dialect: operands, attributes and results by position and name, result types by inference.
//! Only operators that are no op need code (`control.rs`): those that run graphs of their own become ops of `scf`.

mod attrs;
mod check;
mod conditional;
mod control;
mod graphs;
mod loops;
mod node;
mod optional;
mod scope;

pub use check::{Coverage, Unsupported, check};
pub use control::has_form;

use crate::onnx::inline::{self, Body, standard_version};
use crate::onnx::proto::{
    GraphProto, ModelProto, SparseTensorProto, TensorProto, TypeProto, ValueInfoProto, decode_model,
};
use crate::onnx::tensor::{to_sparse, to_tensor};
use crate::onnx::{NEWEST, is_standard, sort};
use bytes::Bytes;
use gradus_dialects::func::{FuncOp, ReturnOp};
use gradus_ir::{
    Attr, AttrData, Builder, Context, Diagnostic, InferError, Loc, Module, Tensor, Type, Value, Violation, verify,
};
use scope::{GraphScope, GraphScopes, Named};
use std::path::PathBuf;
use std::sync::Arc;

/// Options of the import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Values of dimension parameters, such as `batch`; others stay dynamic.
    pub dims: Vec<(String, i64)>,
    /// Inputs that become constants, with their values.
    pub constant_inputs: Vec<(String, Tensor)>,
    /// The folder of the model, for external weights.
    pub dir: Option<PathBuf>,
}

/// An imported model.
pub struct Imported {
    /// The program.
    pub module: Module,
    /// Statements of the model about its values that are wrong.
    pub warnings: Vec<Diagnostic>,
}

/// Imports a model; `name` is its name in messages without a node.
///
/// # Errors
/// All errors up to a limit, each located at the name of a node or value. No input causes a panic.
pub fn import(
    ctx: &Arc<Context>,
    bytes: Bytes,
    name: &str,
    options: &ImportOptions,
) -> Result<Imported, Vec<Diagnostic>> {
    DecodedModel::read(ctx, bytes, name)?.build(ctx, options)
}

/// A decoded model.
struct DecodedModel {
    /// The model without its graph.
    model: ModelProto,
    /// The graph, inlined and sorted.
    body: Body,
    /// Version of the standard operators.
    version: i64,
    /// Location of the model.
    whole: Loc,
}

impl DecodedModel {
    /// Decodes a model, inlines its functions and sorts its nodes.
    fn read(ctx: &Context, bytes: Bytes, name: &str) -> Result<DecodedModel, Vec<Diagnostic>> {
        let whole = named_loc(ctx, name);
        let fail = |why: String| vec![Diagnostic::error(whole, why)];
        let at = |(place, why): (String, String)| vec![Diagnostic::error(named_loc(ctx, &place), why)];
        let mut model = decode_model(bytes).map_err(|error| fail(error.to_string()))?;
        let version = version(&model).map_err(fail)?;
        let graph = model.graph.take().unwrap_or_default();
        let body = inline::inline(graph, &model.functions, version).and_then(sort::sort).map_err(at)?;
        Ok(DecodedModel { model, body, version, whole })
    }

    /// Builds the program.
    fn build(&self, ctx: &Arc<Context>, options: &ImportOptions) -> Result<Imported, Vec<Diagnostic>> {
        let mut importer = Importer::new(ctx, &self.model, &self.body.graph, options, self.whole);
        importer.interface(self.version);
        importer.nodes(&self.body);
        importer.finish()
    }
}

/// Returns the initializers of a graph by name.
fn initializers(graph: &GraphProto) -> impl Iterator<Item = (&str, Initial<'_>)> {
    let dense = graph.initializer.iter().map(|t| (t.name.as_str(), Initial::Proto(t)));
    let sparse = graph.sparse_initializer.iter();
    dense.chain(sparse.map(|s| (s.values.as_ref().map_or("", |v| v.name.as_str()), Initial::Sparse(s))))
}

/// Maximum number of reported errors.
const MAX_ERRORS: usize = 20;

/// Returns the location of a named entity of the model.
fn named_loc(ctx: &Context, name: &str) -> Loc {
    Loc::attr(ctx.attr(AttrData::LocName { name: ctx.str(name), child: Attr::LOC_UNKNOWN }))
}

/// Returns the version of the standard operators that the model uses. Fails if the file is not a model.
fn version(model: &ModelProto) -> Result<i64, String> {
    let graph = model.graph.as_ref().ok_or("the model has no graph")?;
    // A model of other domains alone needs none.
    let has_others = !model.opset_import.is_empty() && !graph.node.iter().any(|node| is_standard(&node.domain));
    let version = standard_version(&model.opset_import).or(has_others.then_some(NEWEST));
    let version = version.ok_or("the model does not say which operator set it uses")?;
    match version {
        ..=0 => Err(format!("operator set version {version} does not exist")),
        1..=NEWEST => Ok(version),
        _ => Err(format!("operator set version {version} is newer than {NEWEST}, the newest one known")),
    }
}

/// The reason why something was not imported.
enum Stop {
    /// Already reported.
    Reported,
    /// The reason.
    Because(String),
}

impl From<InferError> for Stop {
    fn from(error: InferError) -> Stop {
        Stop::Because(error.message)
    }
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Stop {
        Stop::Because(violation.into())
    }
}

impl From<String> for Stop {
    fn from(reason: String) -> Stop {
        Stop::Because(reason)
    }
}

impl From<&str> for Stop {
    fn from(reason: &str) -> Stop {
        Stop::Because(reason.to_owned())
    }
}

/// An initializer, turned into a constant on first use.
#[derive(Clone, Copy)]
enum Initial<'a> {
    Proto(&'a TensorProto),
    Given(&'a Tensor),
    Sparse(&'a SparseTensorProto),
}

/// The state of an import.
struct Importer<'a> {
    ctx: Arc<Context>,
    module: Module,
    model: &'a ModelProto,
    graph: &'a GraphProto,
    options: &'a ImportOptions,
    /// The function's body.
    func: FuncOp,
    /// Location of the model.
    whole: Loc,
    scopes: GraphScopes<'a>,
    /// Number of nodes imported so far, also in bodies that are imported again with other types.
    imported: usize,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl<'a> Importer<'a> {
    fn new(
        ctx: &Arc<Context>,
        model: &'a ModelProto,
        graph: &'a GraphProto,
        options: &'a ImportOptions,
        whole: Loc,
    ) -> Self {
        let mut module = Module::new(ctx.clone());
        let body = module.body();
        let (name, ty) = (ctx.string_attr("main"), ctx.type_attr(ctx.function_type(&[], &[])));
        let mut b = Builder::at_end(&mut module, body);
        let func = FuncOp::build(&mut b, whole, name, ty, None, None, None, None, &[]);
        let region = func.body(&module);
        let block = module.add_block(region);
        let scopes = GraphScopes::new(GraphScope::new(graph, block));
        let (ctx, (errors, warnings)) = (ctx.clone(), Default::default());
        Importer { ctx, module, model, graph, options, func, whole, scopes, imported: 0, errors, warnings }
    }

    fn error(&mut self, loc: Loc, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(Diagnostic::error(loc, message));
        }
    }

    /// Imports constants, parameters and the header.
    fn interface(&mut self, version: i64) {
        self.initializers(self.graph);
        for (name, tensor) in &self.options.constant_inputs {
            self.scopes.last_mut().constants.insert(name, Initial::Given(tensor));
        }
        let mut names = Vec::new();
        for input in &self.graph.input {
            if self.scopes.last().constants.contains_key(input.name.as_str()) {
                continue;
            }
            let loc = named_loc(&self.ctx, &input.name);
            let ty = self.input_type(input).map_err(|e| self.error(loc, e)).ok();
            let value = ty.map(|ty| self.module.add_block_arg(self.scopes.last().block, ty, loc));
            self.input(&input.name, value);
            names.push(input.name.as_str());
        }
        self.check_options();
        let attrs = self.name_attrs(&names);
        self.module.set_attr(self.func.0, "arg_attrs", Some(attrs));
        self.header(version);
    }

    /// Makes the initializers of a graph known in the innermost scope.
    fn initializers(&mut self, graph: &'a GraphProto) {
        for (name, initial) in initializers(graph) {
            if self.scopes.last_mut().constants.insert(name, initial).is_some() {
                self.error(named_loc(&self.ctx, name), "two initializers have this name");
            }
        }
    }

    /// Binds an input of the innermost graph to its value.
    fn input(&mut self, name: &str, value: Option<Value>) {
        if self.scopes.last_mut().values.insert(name.to_owned(), value).is_some() {
            self.error(named_loc(&self.ctx, name), "two inputs have this name");
        }
    }

    /// Imports the nodes of a graph into the innermost scope.
    fn nodes(&mut self, body: &'a Body) {
        for node in &body.nodes {
            if self.errors.len() >= MAX_ERRORS {
                break;
            }
            self.imported += 1;
            self.node(node);
        }
    }

    /// Checks that every option refers to something in the model.
    fn check_options(&mut self) {
        for (name, _) in &self.options.constant_inputs {
            if !self.graph.input.iter().any(|i| i.name == *name) {
                self.error(self.whole, format!("there is no input '{name}' to be made a constant"));
            }
        }
        let options = self.options;
        for (name, value) in &options.dims {
            let known: Vec<&str> = self.graph.input.iter().flat_map(attrs::dim_params).collect();
            if *value < 0 {
                self.error(self.whole, format!("dimension parameter '{name}' cannot be {value}"));
            } else if !known.contains(&name.as_str()) {
                self.error(self.whole, format!("no input has a dimension parameter '{name}'"));
            }
        }
    }

    fn input_type(&self, input: &ValueInfoProto) -> Result<Type, String> {
        let ty = input.r#type.as_ref().ok_or("the input has no type")?;
        attrs::value_type(&self.ctx, ty, &self.options.dims)
    }

    /// Keeps header fields as attributes for readers; they have no semantics.
    fn header(&mut self, version: i64) {
        let (ctx, root, model) = (self.ctx.clone(), self.module.root(), self.model);
        self.module.set_attr(root, "onnx.opset", Some(ctx.int_attr(Type::I64, version)));
        let producer = format!("{} {}", model.producer_name, model.producer_version);
        for (key, text) in [("onnx.graph", self.graph.name.as_str()), ("onnx.producer", producer.trim())] {
            if !text.is_empty() {
                self.module.set_attr(root, key, Some(ctx.string_attr(text)));
            }
        }
    }

    /// Returns a dictionary per name, for argument and result attributes.
    fn name_attrs(&self, names: &[&str]) -> Attr {
        let key = self.ctx.str("graph.name");
        let dicts: Vec<Attr> = names.iter().map(|n| self.ctx.dict_attr(vec![(key, self.ctx.string_attr(n))])).collect();
        self.ctx.array_attr(&dicts)
    }

    /// Returns the value of a name, creating a constant on first use in a graph.
    fn value(&mut self, name: &str) -> Result<Value, Stop> {
        let initial = match self.scopes.find(name) {
            Some(Named::Value(known)) => return known.ok_or(Stop::Reported),
            Some(Named::Initial(initial)) => initial,
            None => return Err(Stop::Because(format!("'{name}' is used, but not defined"))),
        };
        let made = self.constant(name, initial);
        self.scopes.last_mut().values.insert(name.to_owned(), made.as_ref().ok().copied());
        made.map_err(|why| {
            self.error(named_loc(&self.ctx, name), why);
            Stop::Reported
        })
    }

    fn constant(&mut self, name: &str, initial: Initial<'_>) -> Result<Value, String> {
        let tensor = match initial {
            Initial::Proto(t) => to_tensor(t, self.options.dir.as_deref())?,
            Initial::Given(t) => t.clone(),
            Initial::Sparse(s) => to_sparse(s, self.options.dir.as_deref())?,
        };
        let attr = attrs::dense(&self.ctx, &tensor);
        let have = self.ctx.attr_type(attr).unwrap_or(Type::NONE);
        self.agree(have, self.stated_type(self.scopes.declared(name)))?;
        let loc = named_loc(&self.ctx, name);
        let made = Builder::at_end(&mut self.module, self.scopes.last().block).constant(attr, have, "graph", loc);
        made.ok_or_else(|| format!("no constant can be of type {}", self.ctx.display_type(have)))
    }

    /// Returns the type that the model states, if it can be one.
    fn stated_type(&self, stated: Option<&TypeProto>) -> Option<Type> {
        attrs::value_type(&self.ctx, stated?, &self.options.dims).ok()
    }

    /// Checks a type against the one stated in the model, if any.
    fn agree(&self, have: Type, stated: Option<Type>) -> Result<(), String> {
        match stated.filter(|&want| !attrs::compatible(&self.ctx, have, want)) {
            None => Ok(()),
            Some(want) => {
                let (have, want) = (self.ctx.display_type(have), self.ctx.display_type(want));
                Err(format!("is of type {have}, but the model says {want}"))
            }
        }
    }

    /// Returns an output of the model. That it has another rank or other extents than stated is only a warning.
    fn output(&mut self, output: &ValueInfoProto) -> Result<Value, Stop> {
        let value = self.value(&output.name)?;
        let (have, stated) = (self.module.value_type(value), self.stated_type(output.r#type.as_ref()));
        let Err(said) = self.agree(have, stated) else { return Ok(value) };
        if !stated.is_some_and(|stated| attrs::are_alike(&self.ctx, have, stated)) {
            return Err(Stop::Because(said));
        }
        let loc = named_loc(&self.ctx, &output.name);
        self.warnings.push(Diagnostic::warning(loc, format!("output {said}")));
        Ok(value)
    }

    /// Finishes the function and the import.
    fn finish(mut self) -> Result<Imported, Vec<Diagnostic>> {
        let (graph, mut results, mut names) = (self.graph, Vec::new(), Vec::new());
        for output in &graph.output {
            let value = self.output(output);
            match value {
                Ok(value) => results.push(value),
                Err(Stop::Because(why)) => self.error(named_loc(&self.ctx, &output.name), format!("output {why}")),
                Err(Stop::Reported) => {}
            }
            names.push(output.name.as_str());
        }
        if names.is_empty() {
            self.error(self.whole, "the graph is empty: it has no outputs");
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let (ctx, m, block) = (self.ctx.clone(), &mut self.module, self.scopes.last().block);
        ReturnOp::build(&mut Builder::at_end(m, block), self.whole, &results, &[]);
        let type_of = |values: &[Value]| -> Vec<Type> { values.iter().map(|&v| m.value_type(v)).collect() };
        let ty = ctx.function_type(&type_of(m.block_args(block)), &type_of(&results));
        m.set_attr(self.func.0, "function_type", Some(ctx.type_attr(ty)));
        let attrs = self.name_attrs(&names);
        self.module.set_attr(self.func.0, "res_attrs", Some(attrs));
        verify(&self.module)?;
        Ok(Imported { module: self.module, warnings: self.warnings })
    }
}
