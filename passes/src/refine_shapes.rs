//! `refine-shapes`: static extents of a function's parameters, and of all results that follow from them.

use gradus_dialects::func::{FuncOp, ReturnOp, parameter_names};
use gradus_dialects::scf::IfOp;
use gradus_dialects::tensor::{CastOp, general, join, keeps_extents, with_shape};
use gradus_ir::greedy::GreedyOptions;
use gradus_ir::pass::{OptionKind, Options, PassOption, Rewrites};
use gradus_ir::rewrite::Rewriter;
use gradus_ir::symbols::SymbolRefs;
use gradus_ir::verify::verify_op;
use gradus_ir::{
    Block, Builder, Context, DYNAMIC, Diagnostic, Loc, Module, Op, OpDecl, OpState, Pass, PassContext, PassInfo,
    Pattern, PatternRewriter, Traits, Type, Value, symbol_name,
};
use std::fmt;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "refine-shapes",
    doc: "Give parameters static extents, and infer those of all results

# Before / After

```mlir
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = graph.relu %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
// with shapes=arg0=2x8 becomes:
func.func @main(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = graph.relu %x : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
```

# Does

Replaces the types of the parameters that `shapes` names: by the name that a model gives them, or `arg0`, `arg1`, ... An extent `?` stays open.
Then each op that infers the types of its results does so again from operands with more static extents. A conditional gets those that both of
its branches yield; the branch that runs takes its place when that is known. Ops on constants are folded, so that a
shape that is computed from the extents of a tensor becomes a constant, and so does what a reshape makes of it. At last the results of the
function get their types. Between an op that has static extents now and one that cannot, such as a loop, stands a `tensor.cast`.

# Refuses

Shapes that contradict the type of a parameter, or name none; a function that is called, whose callers pass values of its types. Results of a
function with several blocks keep their types, as do those of ops that do not infer them.

# Cost

Linear in the number of ops and of changes.",
    options: &[
        PassOption {
            name: "shapes",
            doc: "Shapes of parameters, such as image=1x3x48x320,arg1=?x7",
            kind: OptionKind::List,
        },
        PassOption { name: "function", doc: "The function with these parameters", kind: OptionKind::Text("main") },
    ],
    statistics: &[("num-changes", "Number of changes")],
    rewrites: Rewrites::Names(|_| PATTERNS.iter().map(|pattern| pattern.name).chain([RESULTS]).map(str::to_owned).collect()),
    make: |options: &Options| {
        let shapes = options.list("shapes").iter().map(|text| ParameterShape::parse(text)).collect::<Result<_, _>>()?;
        Ok(Box::new(RefineShapes { shapes, function: options.text("function").to_owned() }))
    },
    ..PassInfo::DEFAULT
};

/// The shape that a parameter gets.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ParameterShape {
    /// The name of the parameter.
    pub name: String,
    /// Its extents; [`DYNAMIC`] for those that stay open.
    pub extents: Vec<i64>,
}

impl ParameterShape {
    /// Reads `NAME=EXTENTS`, such as `image=1x3x?x320`. Nothing after `=` is the shape of a scalar.
    ///
    /// # Errors
    /// The form that is expected.
    pub fn parse(text: &str) -> Result<ParameterShape, String> {
        let wrong = || format!("a shape is NAME=EXTENTS, such as image=1x3x48x320, not '{text}'");
        let (name, extents) = text.rsplit_once('=').ok_or_else(wrong)?;
        let extent = |text: &str| match text {
            "?" => Some(DYNAMIC),
            text => text.parse().ok().filter(|&extent: &i64| extent >= 0),
        };
        let extents = extents.split('x').filter(|_| !extents.is_empty()).map(extent).collect::<Option<_>>();
        Ok(ParameterShape { name: name.to_owned(), extents: extents.ok_or_else(wrong)? })
    }

    /// Returns the type of a parameter with these extents; `None` if they contradict those that it has.
    fn of(&self, ctx: &Context, ty: Type) -> Option<Type> {
        ctx.shape(ty).filter(|old| old.len() == self.extents.len())?;
        let joined = join(ctx, ty, with_shape(ctx, ty, &self.extents))?;
        Some(with_shape(ctx, ty, ctx.shape(joined)?))
    }
}

impl fmt::Display for ParameterShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extent = |&extent: &i64| if extent == DYNAMIC { "?".to_owned() } else { extent.to_string() };
        write!(f, "{}={}", self.name, self.extents.iter().map(extent).collect::<Vec<_>>().join("x"))
    }
}

struct RefineShapes {
    shapes: Vec<ParameterShape>,
    function: String,
}

impl Pass for RefineShapes {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        if !self.shapes.is_empty() {
            let function = function_named(m, op, &self.function)?;
            set_parameter_shapes(m, function, &self.shapes)?;
        }
        let changes = infer_extents(m, op, cx);
        cx.count("num-changes", changes);
        Ok(())
    }
}

/// Infers the extents of all results under `root`, and sets the types of its functions' results. Returns the number of changes.
pub(crate) fn infer_extents(m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> u64 {
    let driver = GreedyOptions { patterns: Some(PATTERNS), ..GreedyOptions::default() };
    let mut changes = driver.run(m, root, cx.actions()).changes;
    let functions: Vec<FuncOp> = m.ops_under(root).into_iter().filter_map(|op| FuncOp::cast(m, op)).collect();
    for function in functions {
        if let Some(exit) = refinable_exit(m, function)
            && cx.allows(RESULTS, m, function.0)
        {
            set_results(m, function, exit);
            changes += 1;
        }
    }
    changes
}

/// Whether an op refers to the function.
fn is_called(m: &Module, function: FuncOp) -> bool {
    let (mut refs, name) = (SymbolRefs::default(), symbol_name(m, function.0));
    let mut symbols = m.ops_under(m.root()).into_iter().flat_map(|op| refs.of_op(m, op));
    symbols.any(|attr| m.ctx.as_symbol(attr).map(|(root, _)| root) == name)
}

/// Returns the block of a function that has one.
fn only_block(m: &Module, function: FuncOp) -> Option<Block> {
    let body = function.body(m);
    m.entry(body).filter(|_| m.has_one_block(body))
}

/// Returns the function `@name` in `root`.
///
/// # Errors
/// No function has this name.
pub fn function_named(m: &Module, root: Op, name: &str) -> Result<FuncOp, Diagnostic> {
    let mut functions = m.ops_under(root).into_iter().filter_map(|op| FuncOp::cast(m, op));
    let found = functions.find(|f| symbol_name(m, f.0).is_some_and(|symbol| m.ctx.text(symbol) == name));
    found.ok_or_else(|| Diagnostic::error(m.loc(root), format!("there is no function '@{name}'")))
}

/// Gives parameters of a function the extents of their shapes. Ops still read them by casts to their old types; `refine-shapes` infers the extents
/// that follow.
///
/// # Errors
/// There is no such parameter, the function is called, or a shape contradicts the type of its parameter.
pub fn set_parameter_shapes(m: &mut Module, function: FuncOp, shapes: &[ParameterShape]) -> Result<(), Diagnostic> {
    let (ctx, loc, names) = (m.ctx.clone(), m.loc(function.0), parameter_names(m, function.0));
    let error = |why: String| Err(Diagnostic::error(loc, why));
    let Some(entry) = m.entry(function.body(m)) else { return error("the function has no body".into()) };
    if is_called(m, function) {
        return error("the function is called, so that its parameters keep their types".into());
    }
    for shape in shapes {
        let Some(at) = names.iter().position(|name| *name == shape.name) else {
            return error(format!("'{shape}': there is no parameter '{}'; there is {}", shape.name, names.join(", ")));
        };
        let parameter = m.block_args(entry)[at];
        let old = m.value_type(parameter);
        let Some(new) = shape.of(&ctx, old) else {
            let ty = ctx.display_type(old);
            return error(format!("'{shape}' does not fit parameter '{}' of type '{ty}'", shape.name));
        };
        if new != old {
            m.set_value_type(parameter, new);
            let cast = Builder::at_start(m, entry).create(cast_of(&ctx, parameter, old, loc));
            let old_value = m.result(cast, 0);
            m.replace_all_uses(parameter, old_value);
            m.set_operand(cast, 0, parameter);
        }
    }
    set_function_type(m, function, None);
    Ok(())
}

/// Sets the type of a function to that of its parameters and, unless they stay, of the operands of its return.
fn set_function_type(m: &mut Module, function: FuncOp, exit: Option<Op>) {
    let ctx = m.ctx.clone();
    let types = |values: &[Value]| -> Vec<Type> { values.iter().map(|&value| m.value_type(value)).collect() };
    let Some(entry) = m.entry(function.body(m)) else { return };
    let old = function.function_type(m).and_then(|attr| ctx.as_type(attr));
    let old_results = old.and_then(|ty| ctx.function_parts(ty)).map_or(Vec::new(), |(_, results)| results.to_vec());
    let results = exit.map_or(old_results, |exit| types(m.operands(exit)));
    let ty = ctx.function_type(&types(m.block_args(entry)), &results);
    m.set_attr(function.0, "function_type", Some(ctx.type_attr(ty)));
}

fn cast_of(ctx: &Context, value: Value, ty: Type, loc: Loc) -> OpState {
    let mut state = OpState::new(ctx, CastOp::INFO.name, loc);
    state.operand_group(&[value]);
    state.result_types.push(ty);
    state
}

const PATTERNS: &[Pattern] = &[
    Pattern { name: "take-extents", run: |r, op| take_extents(r, op).is_some() },
    Pattern { name: "known-condition", run: known_condition },
    Pattern { name: "take-yielded-extents", run: |r, op| take_yielded_extents(r, op).is_some() },
];

/// Whether `new` has all static extents of `old`, which may be of unknown rank.
fn says_more(ctx: &Context, old: Type, new: Type) -> bool {
    join(ctx, old, new).is_some() && (ctx.shape(old).is_none() || keeps_extents(ctx, old, new))
}

/// Returns the value before casts that only hide its rank or static extents, on the whole.
fn before_cast(m: &Module, value: Value) -> Option<Value> {
    let sources = std::iter::successors(Some(value), |&value| Some(CastOp::defining(m, value)?.source(m))).skip(1);
    sources.filter(|&source| says_more(&m.ctx, m.value_type(value), m.value_type(source))).last()
}

/// Replaces a conditional by the branch that runs.
fn known_condition(r: &mut Rewriter<'_>, op: Op) -> bool {
    let pattern = IfOp::INFO.patterns.iter().find(|pattern| pattern.name == "known-condition");
    IfOp::cast(r.module(), op).is_some() && pattern.is_some_and(|pattern| (pattern.run)(r, op))
}

/// Gives the results of a conditional the extents that casts hide of the values that both branches yield. `op` is the conditional, or the end of
/// a branch, whose operands change.
fn take_yielded_extents(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let op = if m.has_trait(op, Traits::TERMINATOR) { m.parent_op(op)? } else { op };
    let (ctx, this) = (m.ctx.clone(), IfOp::cast(m, op)?);
    let ends = [this.then_block(m), this.else_block(m)?].map(|block| m.last_op(block));
    let [Some(first), Some(second)] = ends else { return None };
    let mut types = Vec::new();
    for (k, result) in m.results(op).enumerate() {
        let inner = [first, second].map(|end| m.operands(end).get(k).map(|&v| before_cast(m, v).unwrap_or(v)));
        let [Some(a), Some(b)] = inner else { return None };
        let old = m.value_type(result);
        let new = general(&ctx, m.value_type(a), m.value_type(b)).filter(|&new| says_more(&ctx, old, new));
        types.push((old, new.unwrap_or(old)));
    }
    types.iter().any(|(old, new)| old != new).then_some(())?;
    for end in [first, second] {
        for (k, &(_, new)) in types.iter().enumerate() {
            let value = r.module().operands(end)[k];
            let source = before_cast(r.module(), value).unwrap_or(value);
            let value = match r.module().value_type(source) == new {
                true => source,
                false => {
                    let state = cast_of(&ctx, source, new, r.module().loc(end));
                    let cast = r.create_before(end, state).ok()?;
                    r.module().result(cast, 0)
                }
            };
            r.modify(end, |m| m.set_operand(end, k, value));
        }
    }
    let loc = r.module().loc(op);
    for (k, (old, new)) in types.into_iter().enumerate().filter(|(_, (old, new))| old != new) {
        let result = r.module().result(op, k);
        let state = cast_of(&ctx, result, old, loc);
        let next = r.module().next_op(op)?;
        let cast = r.create_before(next, state).ok()?;
        let users: Vec<(Op, usize)> = r.module().uses(result).filter(|used| used.0 != cast).collect();
        let wide = r.module().result(cast, 0);
        r.modify(op, |m| {
            m.set_value_type(result, new);
            users.iter().for_each(|&(user, operand)| m.set_operand(user, operand, wide));
        });
    }
    Some(())
}

/// Infers the results of an op from what casts hide of its operands.
fn take_extents(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let ctx = m.ctx.clone();
    if !m.regions(op).is_empty() || m.num_results(op) == 0 || CastOp::cast(m, op).is_some() {
        return None;
    }
    let operands: Vec<Value> = m.operands(op).iter().map(|&value| before_cast(m, value).unwrap_or(value)).collect();
    let old: Vec<Type> = m.results(op).map(|value| m.value_type(value)).collect();
    let is_open = |&ty: &Type| ctx.shape(ty).is_none_or(|shape| shape.contains(&DYNAMIC));
    if operands == m.operands(op) && !old.iter().any(is_open) {
        return None;
    }
    let types = m.inferred_types(op, &operands)?;
    let fits = |(&old, &new): (&Type, &Type)| old == new || says_more(&ctx, old, new);
    let is_refined = types.len() == old.len() && old.iter().zip(&types).all(fits);
    if !is_refined || (operands == m.operands(op) && types == old) {
        return None;
    }
    let mut state = OpState::with_operands_of(m, op);
    state.operands = operands.into();
    state.result_types = types.into();
    let loc = m.loc(op);
    let made = r.create_before(op, state).ok()?;
    // Attributes may say which extents are dynamic.
    if verify_op(r.module(), made).is_err() {
        r.erase(made);
        return None;
    }
    let mut values = Vec::new();
    for (value, ty) in r.module().results(made).collect::<Vec<_>>().into_iter().zip(old) {
        let cast = (r.module().value_type(value) != ty).then(|| cast_of(&ctx, value, ty, loc));
        let cast = cast.map(|state| r.create_before(op, state).map(|cast| r.module().result(cast, 0)));
        values.push(cast.transpose().ok()?.unwrap_or(value));
    }
    r.replace(op, &values);
    Some(())
}

/// The rewrite that gives the results of a function their types.
const RESULTS: &str = "set-results";

/// Returns the only return of a function whose results may have more static extents.
fn refinable_exit(m: &Module, function: FuncOp) -> Option<Op> {
    let exit = m.last_op(only_block(m, function)?).filter(|&op| ReturnOp::cast(m, op).is_some())?;
    let is_cast = m.operands(exit).iter().any(|&value| before_cast(m, value).is_some());
    (is_cast && !is_called(m, function)).then_some(exit)
}

/// Returns the values before their casts.
fn set_results(m: &mut Module, function: FuncOp, exit: Op) {
    for (i, value) in m.operands(exit).to_vec().into_iter().enumerate() {
        if let Some(source) = before_cast(m, value) {
            m.set_operand(exit, i, source);
            let mut hidden = value;
            while let Some(cast) = CastOp::defining(m, hidden).filter(|_| m.is_unused(hidden)) {
                hidden = cast.source(m);
                m.erase_op(cast.0);
            }
        }
    }
    set_function_type(m, function, Some(exit));
}
