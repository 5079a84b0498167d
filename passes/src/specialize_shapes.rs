//! `specialize-shapes`: copies of a function for shapes of its parameters, among which it chooses when it runs.

use crate::refine_shapes::{ParameterShape, function_named, infer_extents, set_parameter_shapes};
use gradus_dialects::arith::int_predicate::EQ;
use gradus_dialects::arith::{AndIOp, CmpIOp};
use gradus_dialects::func::{CallOp, FuncOp, ReturnOp};
use gradus_dialects::scf::{IfOp, YieldOp};
use gradus_dialects::tensor::{CastOp, DimOp};
use gradus_ir::pass::{OptionKind, Options, PassOption, Rewrites};
use gradus_ir::symbols::FreeSymbols;
use gradus_ir::{
    Attr, Block, Builder, DYNAMIC, Diagnostic, Loc, Module, Op, OpState, Pass, PassContext, PassInfo, Type, Value,
    ValueMap,
};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "specialize-shapes",
    doc: "Copy a function for shapes of its parameters, among which it chooses when it runs

# Before / After

```mlir
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.relu %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
// with shapes=arg0=4 becomes:
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %x, %c0 : tensor<?xf32>
  %c4 = arith.constant 4 : index
  %0 = arith.cmpi eq, %dim, %c4 : index
  %1 = scf.if %0 -> (tensor<?xf32>) {
    %cast = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
    %2 = func.call @main_shapes0(%cast) : (tensor<4xf32>) -> tensor<4xf32>
    %cast_1 = tensor.cast %2 : tensor<4xf32> to tensor<?xf32>
    scf.yield %cast_1 : tensor<?xf32>
  } else {
    %2 = func.call @main_any0(%x) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}
func.func private @main_any0(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.relu %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @main_shapes0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
```

# Does

The function becomes a private one, `@NAME_any0`. For each item of `shapes` a private copy, `@NAME_shapes0` and so on, gets parameters of these
shapes and all extents that follow, as with `refine-shapes`. Shapes of one copy are separated by commas, copies by semicolons, as in
`shapes=x=1x3x32x100,y=1;x=1x3x32x320,y=1`. A new function of the old name and type compares the extents of its arguments, copy by copy, and calls
the first that fits, or the function of any shapes. Targets compile the copies like programs whose shapes are known.

# Refuses

Shapes that contradict the type of a parameter, or name none; a function without a body.

# Cost

Linear in the number of copies times ops.",
    options: &[
        PassOption { name: "shapes", doc: "Shapes of parameters for each copy", kind: OptionKind::List },
        PassOption { name: "function", doc: "The function with these parameters", kind: OptionKind::Text("main") },
    ],
    statistics: &[("num-copies", "Number of copies")],
    rewrites: Rewrites::Tags(&["specialize-shapes"]),
    make: |options: &Options| {
        let text = options.list("shapes").join(",");
        let copies = text.split(';').filter(|copy| !copy.is_empty());
        let shapes = copies.map(|copy| copy.split(',').map(ParameterShape::parse).collect());
        let copies = shapes.collect::<Result<Vec<Vec<_>>, _>>()?;
        Ok(Box::new(SpecializeShapes { copies, function: options.text("function").to_owned() }))
    },
    ..PassInfo::DEFAULT
};

struct SpecializeShapes {
    copies: Vec<Vec<ParameterShape>>,
    function: String,
}

impl Pass for SpecializeShapes {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        if self.copies.is_empty() {
            return Ok(());
        }
        let function = function_named(m, root, &self.function)?;
        if !cx.allows("specialize-shapes", m, function.0) {
            return Ok(());
        }
        let free = FreeSymbols::around(m, function.0).filter(|_| m.entry(function.body(m)).is_some());
        let mut free = free.ok_or_else(|| Diagnostic::error(m.loc(function.0), "the function has no body"))?;
        let any = set_private(m, function, &free.take(&m.ctx, &format!("{}_any", self.function)));
        let mut choices = Vec::new();
        for shapes in &self.copies {
            let copy = m.clone_op(function.0, &mut ValueMap::default());
            Builder::after(m, choices.last().map_or(function.0, |last: &CalledFunction| last.function.0)).insert(copy);
            let name = free.take(&m.ctx, &format!("{}_shapes", self.function));
            let name_attr = set_private(m, FuncOp(copy), &name);
            set_parameter_shapes(m, FuncOp(copy), shapes)?;
            infer_extents(m, copy, cx);
            choices.push(CalledFunction { function: FuncOp(copy), name: name_attr });
        }
        cx.count("num-copies", choices.len() as u64);
        let chosen = choose(m, &self.function, &CalledFunction { function, name: any }, &choices);
        chosen.ok_or_else(|| Diagnostic::error(m.loc(function.0), "the function has no type"))
    }
}

/// A function with its symbol.
struct CalledFunction {
    function: FuncOp,
    name: Attr,
}

impl CalledFunction {
    /// Returns the types of the parameters and of the results.
    fn types(&self, m: &Module) -> Option<(Vec<Type>, Vec<Type>)> {
        let (inputs, outputs) = m.ctx.function_parts(m.ctx.as_type(self.function.function_type(m)?)?)?;
        Some((inputs.to_vec(), outputs.to_vec()))
    }
}

/// Gives a function a name that only its program knows; returns its symbol.
fn set_private(m: &mut Module, function: FuncOp, name: &str) -> Attr {
    let (text, private) = (m.ctx.string_attr(name), m.ctx.string_attr("private"));
    m.set_attr(function.0, "sym_name", Some(text));
    m.set_attr(function.0, "sym_visibility", Some(private));
    m.ctx.symbol_attr(name)
}

/// Creates a function of the name that `any` had, before it, which calls the first choice whose parameters have the extents of its arguments, or `any`.
fn choose(m: &mut Module, name: &str, any: &CalledFunction, choices: &[CalledFunction]) -> Option<()> {
    let (ctx, old) = (m.ctx.clone(), any.function.0);
    let loc = m.loc(old);
    let (inputs, results) = any.types(m)?;
    let mut state = OpState::with_operands_of(m, old);
    state.set_inherent(&ctx, "sym_name", Some(ctx.string_attr(name)));
    state.set_inherent(&ctx, "sym_visibility", None);
    state.regions = 1;
    let new = Builder::before(m, old).create(state);
    let entry = m.add_block(m.regions(new)[0]);
    let args: Vec<Value> = inputs.iter().map(|&ty| m.add_block_arg(entry, ty, loc)).collect();
    let (mut block, mut conditionals) = (entry, Vec::new());
    for choice in choices {
        let (types, _) = choice.types(m)?;
        let condition = fits(m, block, loc, &args, &types)?;
        let conditional = IfOp::build(&mut Builder::at_end(m, block), loc, condition, &results);
        let [then_block, else_block] = [0, 1].map(|i| m.add_block(m.regions(conditional.0)[i]));
        let values = call(m, then_block, loc, &args, choice, &results)?;
        YieldOp::build(&mut Builder::at_end(m, then_block), loc, &values, &[]);
        conditionals.push(conditional);
        block = else_block;
    }
    let mut values = call(m, block, loc, &args, any, &results)?;
    for conditional in conditionals.into_iter().rev() {
        YieldOp::build(&mut Builder::at_end(m, block), loc, &values, &[]);
        values = m.results(conditional.0).collect();
        block = m.parent_block(conditional.0)?;
    }
    ReturnOp::build(&mut Builder::at_end(m, block), loc, &values, &[]);
    Some(())
}

/// Compares the extents of arguments that their types leave open with those of `types`.
fn fits(m: &mut Module, block: Block, loc: Loc, args: &[Value], types: &[Type]) -> Option<Value> {
    let ctx = m.ctx.clone();
    let constant = |b: &mut Builder<'_>, value, ty| b.constant(ctx.int_attr(ty, value), ty, "arith", loc);
    let mut all: Option<Value> = None;
    for (&arg, &ty) in args.iter().zip(types) {
        let (Some(open), Some(wanted)) = (ctx.shape(m.value_type(arg)), ctx.shape(ty)) else { continue };
        for (axis, (&open, &extent)) in open.iter().zip(wanted).enumerate() {
            if open != DYNAMIC || extent == DYNAMIC {
                continue;
            }
            let b = &mut Builder::at_end(m, block);
            let axis = constant(b, axis as i64, Type::INDEX)?;
            let dim = DimOp::build(b, loc, arg, axis, &[]).result(b.module);
            let extent = constant(b, extent, Type::INDEX)?;
            let predicate = ctx.int_attr(Type::I64, EQ);
            let equal = CmpIOp::build(b, loc, dim, extent, predicate, &[]).result(b.module);
            all = Some(all.map_or(equal, |all| AndIOp::build(b, loc, all, equal, &[]).result(b.module)));
        }
    }
    all.or_else(|| constant(&mut Builder::at_end(m, block), 1, Type::I1))
}

/// Calls a function at the end of a block, with casts to the types of its parameters and from those of its results.
fn call(
    m: &mut Module,
    block: Block,
    loc: Loc,
    args: &[Value],
    of: &CalledFunction,
    results: &[Type],
) -> Option<Vec<Value>> {
    let (inputs, outputs) = of.types(m)?;
    let args: Vec<Value> = args.iter().zip(inputs).map(|(&arg, ty)| cast(m, block, loc, arg, ty)).collect();
    let b = &mut Builder::at_end(m, block);
    let called = CallOp::build(b, loc, &args, of.name, None, None, None, &outputs);
    let values: Vec<Value> = m.results(called.0).collect();
    Some(values.into_iter().zip(results).map(|(value, &ty)| cast(m, block, loc, value, ty)).collect())
}

/// Casts a tensor to a type at the end of a block, if it has another one.
fn cast(m: &mut Module, block: Block, loc: Loc, value: Value, ty: Type) -> Value {
    if m.value_type(value) == ty {
        return value;
    }
    let b = &mut Builder::at_end(m, block);
    CastOp::build(b, loc, value, &[ty]).dest(b.module)
}
