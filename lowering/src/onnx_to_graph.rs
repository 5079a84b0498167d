//! Import of ONNX models into the `graph` dialect.
//!
//! The model becomes one function, `@main`. Parameters and results keep their names as `graph.name`; each node becomes
//! an op with the node's name as location; used initializers become constants that share the bytes of the file.
//! Operators of old versions are first converted to the newest one ([`opset`](crate::onnx::opset)); the rest follows
//! the declarations of the dialect: operands, attributes and results by position and name, result types by inference.
//! No operator needs code here.

mod attrs;
mod check;
mod node;

pub use check::{Coverage, Unsupported, check};

use crate::onnx::inline::{self, VersionedNode, standard_version};
use crate::onnx::proto::{GraphProto, ModelProto, TensorProto, TypeProto, ValueInfoProto, decode_model};
use crate::onnx::{opset, sort, tensor::to_tensor};
use bytes::Bytes;
use gradus_dialects::func::{FuncOp, ReturnOp};
use gradus_ir::{
    Attr, AttrData, Block, Builder, Context, Diagnostic, InferError, Loc, Module, Tensor, Type, Value, Violation,
    verify,
};
use std::collections::{HashMap, HashSet};
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

/// Imports a model; `name` is its name in messages without a node.
///
/// # Errors
/// All errors up to a limit, each located at the name of a node or value. No input causes a panic.
pub fn import(
    ctx: &Arc<Context>,
    bytes: Bytes,
    name: &str,
    options: &ImportOptions,
) -> Result<Module, Vec<Diagnostic>> {
    DecodedModel::read(ctx, bytes, name)?.build(ctx, options)
}

/// A decoded model.
struct DecodedModel {
    /// The model without its graph.
    model: ModelProto,
    /// The graph without its nodes.
    graph: GraphProto,
    /// The nodes, inlined and sorted.
    nodes: Vec<VersionedNode>,
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
        let mut graph = model.graph.take().unwrap_or_default();
        let nodes = inline::inline(std::mem::take(&mut graph.node), &model.functions, version).map_err(at)?;
        let inputs = graph.input.iter().map(|input| input.name.as_str());
        let given: HashSet<&str> = inputs.chain(initializers(&graph).map(|(name, _)| name)).collect();
        let nodes = sort::sort(nodes, |name| given.contains(name)).map_err(at)?;
        Ok(DecodedModel { model, graph, nodes, version, whole })
    }

    /// Builds the program.
    fn build(self, ctx: &Arc<Context>, options: &ImportOptions) -> Result<Module, Vec<Diagnostic>> {
        let mut importer = Importer::new(ctx, &self.model, &self.graph, options, self.whole);
        importer.interface(self.version);
        for node in self.nodes {
            if importer.errors.len() >= MAX_ERRORS {
                break;
            }
            importer.node(node);
        }
        importer.finish()
    }
}

/// Returns the initializers of a graph by name.
fn initializers(graph: &GraphProto) -> impl Iterator<Item = (&str, Initial<'_>)> {
    let dense = graph.initializer.iter().map(|t| (t.name.as_str(), Initial::Proto(t)));
    let sparse = graph.sparse_initializer.iter();
    dense.chain(sparse.map(|s| (s.values.as_ref().map_or("", |v| v.name.as_str()), Initial::Sparse)))
}

/// Maximum number of reported errors.
const MAX_ERRORS: usize = 20;

/// Returns the location of a named entity of the model.
fn named_loc(ctx: &Context, name: &str) -> Loc {
    Loc::attr(ctx.attr(AttrData::LocName { name: ctx.str(name), child: Attr::LOC_UNKNOWN }))
}

/// Returns the version of the standard operators that the model uses. Fails if the file is not a model.
fn version(model: &ModelProto) -> Result<i64, String> {
    if model.graph.is_none() {
        return Err("the model has no graph".into());
    }
    let version = standard_version(&model.opset_import).ok_or("the model does not say which operator set it uses")?;
    match version {
        ..=0 => Err(format!("operator set version {version} does not exist")),
        1..=opset::NEWEST => Ok(version),
        _ => Err(format!("operator set version {version} is newer than {}, the newest one known", opset::NEWEST)),
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
    Sparse,
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
    block: Block,
    /// Location of the model.
    whole: Loc,
    constants: HashMap<&'a str, Initial<'a>>,
    /// Values by name; `None` after a reported error.
    values: HashMap<String, Option<Value>>,
    /// Types that the model states.
    declared: HashMap<&'a str, &'a TypeProto>,
    errors: Vec<Diagnostic>,
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
        let stated = graph.input.iter().chain(&graph.value_info).chain(&graph.output);
        let declared = stated.filter_map(|v| Some((v.name.as_str(), v.r#type.as_ref()?))).collect();
        let (constants, values, errors) = Default::default();
        let ctx = ctx.clone();
        Importer { ctx, module, model, graph, options, func, block, whole, constants, values, declared, errors }
    }

    fn error(&mut self, loc: Loc, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(Diagnostic::error(loc, message));
        }
    }

    /// Imports constants, parameters and the header.
    fn interface(&mut self, version: i64) {
        self.collect_constants();
        let mut names = Vec::new();
        for input in &self.graph.input {
            if self.constants.contains_key(input.name.as_str()) {
                continue;
            }
            let loc = named_loc(&self.ctx, &input.name);
            let ty = self.input_type(input).map_err(|e| self.error(loc, e)).ok();
            let value = ty.map(|ty| self.module.add_block_arg(self.block, ty, loc));
            if self.values.insert(input.name.clone(), value).is_some() {
                self.error(loc, "two inputs have this name");
            }
            names.push(input.name.as_str());
        }
        self.check_options();
        let attrs = self.name_attrs(&names);
        self.module.set_attr(self.func.0, "arg_attrs", Some(attrs));
        self.header(version);
    }

    fn collect_constants(&mut self) {
        for (name, initial) in initializers(self.graph) {
            if self.constants.insert(name, initial).is_some() {
                self.error(named_loc(&self.ctx, name), "two initializers have this name");
            }
        }
        for (name, tensor) in &self.options.constant_inputs {
            self.constants.insert(name, Initial::Given(tensor));
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
        attrs::tensor_type(&self.ctx, ty, &self.options.dims)
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

    /// Returns the value of a name, creating a constant on first use.
    fn value(&mut self, name: &str) -> Result<Value, Stop> {
        if let Some(known) = self.values.get(name) {
            return known.ok_or(Stop::Reported);
        }
        let Some(&initial) = self.constants.get(name) else {
            return Err(Stop::Because(format!("'{name}' is used, but not defined")));
        };
        let made = self.constant(name, initial);
        self.values.insert(name.to_owned(), made.as_ref().ok().copied());
        made.map_err(|why| {
            self.error(named_loc(&self.ctx, name), why);
            Stop::Reported
        })
    }

    fn constant(&mut self, name: &str, initial: Initial<'_>) -> Result<Value, String> {
        let tensor = match initial {
            Initial::Proto(t) => to_tensor(t, self.options.dir.as_deref())?,
            Initial::Given(t) => t.clone(),
            Initial::Sparse => return Err("sparse initializers are not supported".into()),
        };
        let attr = attrs::dense(&self.ctx, &tensor);
        let have = self.ctx.attr_type(attr).unwrap_or(Type::NONE);
        self.agree(have, self.declared.get(name).copied())?;
        let loc = named_loc(&self.ctx, name);
        let made = Builder::at_end(&mut self.module, self.block).constant(attr, have, "graph", loc);
        made.ok_or_else(|| format!("no constant can be of type {}", self.ctx.display_type(have)))
    }

    /// Checks a type against the one stated in the model, if any.
    fn agree(&self, have: Type, stated: Option<&TypeProto>) -> Result<(), String> {
        let Some(Ok(want)) = stated.map(|t| attrs::tensor_type(&self.ctx, t, &self.options.dims)) else {
            return Ok(());
        };
        if attrs::compatible(&self.ctx, have, want) {
            return Ok(());
        }
        let (have, want) = (self.ctx.display_type(have), self.ctx.display_type(want));
        Err(format!("is of type {have}, but the model says {want}"))
    }

    /// Finishes the function and the import.
    fn finish(mut self) -> Result<Module, Vec<Diagnostic>> {
        let (graph, mut results, mut names) = (self.graph, Vec::new(), Vec::new());
        for output in &graph.output {
            let value = self.value(&output.name).and_then(|v| {
                self.agree(self.module.value_type(v), output.r#type.as_ref()).map_err(Stop::Because)?;
                Ok(v)
            });
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
        let (ctx, m) = (self.ctx.clone(), &mut self.module);
        ReturnOp::build(&mut Builder::at_end(m, self.block), self.whole, &results, &[]);
        let type_of = |values: &[Value]| -> Vec<Type> { values.iter().map(|&v| m.value_type(v)).collect() };
        let ty = ctx.function_type(&type_of(m.block_args(self.block)), &type_of(&results));
        m.set_attr(self.func.0, "function_type", Some(ctx.type_attr(ty)));
        let attrs = self.name_attrs(&names);
        self.module.set_attr(self.func.0, "res_attrs", Some(attrs));
        verify(&self.module)?;
        Ok(self.module)
    }
}
