//! `func`: functions, calls, returns.

use crate::constraint::{ANY, DICT_ARRAY, FLAT_SYMBOL, FUNCTION, FUNCTION_TYPE, STRING, SYMBOL_NAME, UNIT};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{
    Attr, Context, Dialect, Directive, Effects, InsertPoint, Module, Op, OpArgs, OpDecl, Pattern, PatternRewriter,
    Rewriter, Traits, Type, Value, Violation, op,
};

/// Returns the names of a function's parameters: those that a model gives them, as `graph.name`, or `arg0`, `arg1`, ...
pub fn parameter_names(m: &Module, function: Op) -> Vec<String> {
    value_names(m, function, "arg_attrs", ("arg", 0))
}

/// Returns the names of a function's results: those that a model gives them, or `result0`, `result1`, ...
pub fn result_names(m: &Module, function: Op) -> Vec<String> {
    value_names(m, function, "res_attrs", ("result", 1))
}

/// Returns the names in the dictionaries of attribute `attr`; `side` has the default, and the half of the function's type.
fn value_names(m: &Module, function: Op, attr: &str, (default, half): (&str, usize)) -> Vec<String> {
    let ctx = &m.ctx;
    let ty = m.inherent_attr(function, "function_type").and_then(|attr| ctx.as_type(attr));
    let count = ty.and_then(|ty| ctx.function_parts(ty)).map_or(0, |(inputs, results)| [inputs, results][half].len());
    let dicts = m.inherent_attr(function, attr).and_then(|list| ctx.as_array(list)).unwrap_or(&[]);
    let name = |i: usize| ctx.as_str(ctx.dict_get(*dicts.get(i)?, ctx.str("graph.name"))?).map(str::to_owned);
    (0..count).map(|i| name(i).unwrap_or(format!("{default}{i}"))).collect()
}

/// Defines or declares a function.
///
/// ```mlir
/// func.func @double(%x: i32) -> i32 {
///   %0 = arith.addi %x, %x : i32
///   return %0 : i32
/// }
/// ```
#[op(
    "func.func",
    traits = Traits::ISOLATED.and(Traits::SYMBOL).and(Traits::FUNCTION).and(Traits::AFFINE_SCOPE).and(Traits::ALLOCATION_SCOPE),
    effects = Effects::Unknown,
    default_dialect = "func",
    format = "custom<Function>",
    verify = verify_func
)]
pub struct FuncOp {
    /// Name.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Function type.
    function_type: Attribute<FUNCTION_TYPE>,
    /// Symbol visibility.
    sym_visibility: OptAttribute<STRING>,
    /// Attribute dictionary of each parameter.
    arg_attrs: OptAttribute<DICT_ARRAY>,
    /// Attribute dictionary of each result.
    res_attrs: OptAttribute<DICT_ARRAY>,
    /// Whether calls must not be inlined.
    no_inline: OptAttribute<UNIT>,
    /// Body; empty for a declaration.
    body: Region,
}

/// Returns from the enclosing function.
#[op(
    "func.return",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    parents = &["func.func"],
    format = "attr-dict ($operands^ `:` type($operands))?",
    verify = verify_return
)]
pub struct ReturnOp {
    /// Results of the function.
    operands: Operands<ANY>,
}

/// Direct call of a function by name.
///
/// ```mlir
/// %0 = func.call @double(%x) : (i32) -> i32
/// ```
#[op(
    "func.call",
    traits = Traits::CALL,
    effects = Effects::Unknown,
    format = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)",
    verify_symbols = verify_call
)]
pub struct CallOp {
    /// Callee.
    callee: Attribute<FLAT_SYMBOL>,
    /// Attribute dictionary of each argument.
    arg_attrs: OptAttribute<DICT_ARRAY>,
    /// Attribute dictionary of each result.
    res_attrs: OptAttribute<DICT_ARRAY>,
    /// Whether this call must not be inlined.
    no_inline: OptAttribute<UNIT>,
    /// Arguments.
    operands: Operands<ANY>,
    /// Results.
    results: OpResults<ANY>,
}

/// Indirect call of a function value.
#[op(
    "func.call_indirect",
    effects = Effects::Unknown,
    directives = &[&CALLEE_TYPE],
    format = "$callee `(` $callee_operands `)` attr-dict `:` custom<CalleeType>($callee, $callee_operands)",
    infer = infer_call_indirect,
    verify = verify_call_indirect,
    patterns = &[Pattern { name: "call-known-function", run: call_known }]
)]
pub struct CallIndirectOp {
    /// Callee.
    callee: Operand<FUNCTION>,
    /// Arguments.
    callee_operands: Operands<ANY>,
    /// Results.
    results: OpResults<ANY>,
}

/// Returns a function as a value.
#[op(
    "func.constant",
    traits = Traits::CONSTANT_LIKE,
    verify_symbols = verify_constant,
    format = "attr-dict $value `:` type($result)",
    result_names = |_, _| vec![(0, "f".to_owned())]
)]
pub struct ConstantOp {
    /// Callee.
    value: Attribute<FLAT_SYMBOL>,
    /// Function value.
    result: OpResult<ANY>,
}

/// The callee's type, which determines argument and result types.
const CALLEE_TYPE: Directive = Directive {
    name: "CalleeType",
    parse: |p, params| {
        let ty = p.ty()?;
        let inputs = p.ctx().function_parts(ty).map_or(Vec::new(), |(inputs, _)| inputs.to_vec());
        p.set_types(params[0], vec![ty]);
        p.set_types(params[1], inputs);
        Ok(())
    },
    print: |p, params| {
        let types = p.group_types(params[0]);
        p.types(&types);
        Ok(())
    },
};

fn verify_func(m: &Module, op: Op) -> Result<(), Violation> {
    let func = FuncOp(op);
    let ctx = &m.ctx;
    let ty = func.function_type(m).and_then(|a| ctx.as_type(a));
    let (inputs, results) = ty.and_then(|t| ctx.function_parts(t)).unwrap_or((&[], &[]));
    for (attr, n, what) in [(func.arg_attrs(m), inputs.len(), "argument"), (func.res_attrs(m), results.len(), "result")]
    {
        if let Some(list) = attr.and_then(|a| ctx.as_array(a))
            && list.len() != n
        {
            return Err(format!(
                "expects {what} attribute array to have the same number of elements as the number of function {what}s, got {}, but expected {n}",
                list.len()
            ).into());
        }
        verify_prefixes(m, attr, what)?;
    }
    let Some(entry) = m.entry(func.body(m)) else {
        let visibility = func.sym_visibility(m).and_then(|a| ctx.as_str(a));
        return match visibility {
            Some("private" | "nested") => Ok(()),
            _ => Err("symbol declaration cannot have public visibility".into()),
        };
    };
    let args: Vec<Type> = m.block_args(entry).iter().map(|&v| m.value_type(v)).collect();
    if args.len() != inputs.len() {
        return Err(format!("entry block must have {} arguments to match function signature", inputs.len()).into());
    }
    for (i, (have, want)) in args.iter().zip(inputs).enumerate() {
        if have != want {
            let (have, want) = (ctx.display_type(*have), ctx.display_type(*want));
            return Err(format!(
                "type of entry block argument #{i}('{have}') must match the type of the corresponding argument in function signature('{want}')"
            ).into());
        }
    }
    Ok(())
}

/// Verifies that the attributes of arguments or results have names with a dialect's prefix.
fn verify_prefixes(m: &Module, attrs: Option<Attr>, what: &str) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let mut each = attrs.and_then(|a| ctx.as_array(a)).unwrap_or(&[]).iter().flat_map(|&a| ctx.dict_entries(a));
    match each.any(|entry| !ctx.text(entry.0).contains('.')) {
        true => Err(format!("{what}s may only have dialect attributes").into()),
        false => Ok(()),
    }
}

fn verify_constant(m: &Module, op: Op, symbols: &mut SymbolTables) -> Result<(), Violation> {
    let (ctx, constant) = (&m.ctx, ConstantOp(op));
    let Some(value) = constant.value(m) else { return Ok(()) };
    let Some(func) = symbols.resolve(m, op, value).and_then(|found| FuncOp::cast(m, found)) else {
        // An unregistered ancestor may be a symbol table.
        if std::iter::successors(m.parent_op(op), |&p| m.parent_op(p)).any(|p| m.info(p).is_none()) {
            return Ok(());
        }
        let name = ctx.as_symbol(value).map_or("", |(root, _)| ctx.text(root));
        return Err(format!("reference to undefined function '{name}'").into());
    };
    match func.function_type(m).and_then(|a| ctx.as_type(a)) == Some(m.value_type(constant.result(m))) {
        true => Ok(()),
        false => Err("reference to function with mismatched type".into()),
    }
}

fn verify_return(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let Some(func) = m.parent_op(op).and_then(|p| FuncOp::cast(m, p)) else { return Ok(()) };
    let ty = func.function_type(m).and_then(|a| ctx.as_type(a));
    let results = ty.and_then(|t| ctx.function_parts(t)).map_or(&[][..], |(_, r)| r);
    let operands = m.operands(op);
    if operands.len() != results.len() {
        let name = gradus_ir::symbol_name(m, func.0).map_or("", |s| ctx.text(s));
        return Err(format!(
            "has {} operands, but enclosing function (@{name}) returns {}",
            operands.len(),
            results.len()
        )
        .into());
    }
    for (i, (&value, &want)) in operands.iter().zip(results).enumerate() {
        let have = m.value_type(value);
        if have != want {
            let (have, want) = (ctx.display_type(have), ctx.display_type(want));
            let name = gradus_ir::symbol_name(m, func.0).map_or("", |s| ctx.text(s));
            return Err(format!(
                "type of return operand {i} ('{have}') doesn't match function result type ('{want}') in function @{name}"
            ).into());
        }
    }
    Ok(())
}

/// Returns the function in scope with the most similar name.
fn nearest_function<'a>(m: &'a Module, op: Op, name: &str) -> Option<&'a str> {
    let around = std::iter::successors(m.parent_op(op), |&p| m.parent_op(p));
    let beside = around.filter_map(|p| m.parent_block(p)).flat_map(|block| m.block_ops(block));
    let functions = beside.filter(|&f| FuncOp::cast(m, f).is_some()).filter_map(|f| gradus_ir::symbol_name(m, f));
    gradus_ir::diag::suggest(name, functions.map(|s| m.ctx.text(s)))
}

fn verify_call(m: &Module, op: Op, symbols: &mut SymbolTables) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let Some(callee) = CallOp(op).callee(m) else { return Ok(()) };
    let name = ctx.as_symbol(callee).map_or("", |(root, _)| ctx.text(root));
    let Some(func) = symbols.resolve(m, op, callee).and_then(|found| FuncOp::cast(m, found)) else {
        // An unregistered ancestor may be a symbol table.
        if std::iter::successors(m.parent_op(op), |&p| m.parent_op(p)).any(|p| m.info(p).is_none()) {
            return Ok(());
        }
        let hint = nearest_function(m, op, name).map_or(String::new(), |near| format!("; did you mean '@{near}'?"));
        return Err(format!("'{name}' does not reference a valid function{hint}").into());
    };
    let ty = func.function_type(m).and_then(|a| ctx.as_type(a));
    let (inputs, results) = ty.and_then(|t| ctx.function_parts(t)).unwrap_or((&[], &[]));
    check_types(ctx, "operand", m.operands(op).iter().map(|&v| m.value_type(v)), inputs)?;
    check_types(ctx, "result", m.results(op).map(|v| m.value_type(v)), results)
}

fn check_types(
    ctx: &Context,
    what: &str,
    have: impl ExactSizeIterator<Item = Type>,
    want: &[Type],
) -> Result<(), Violation> {
    if have.len() != want.len() {
        return Err(match what {
            "operand" => "incorrect number of operands for callee".into(),
            _ => "incorrect number of results for callee".into(),
        });
    }
    for (i, (have, &want)) in have.zip(want).enumerate() {
        if have != want {
            let (have, want) = (ctx.display_type(have), ctx.display_type(want));
            return Err(format!(
                "{what} type mismatch: expected {what} type '{want}', but provided '{have}' for {what} number {i}"
            )
            .into());
        }
    }
    Ok(())
}

fn infer_call_indirect(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let ty = args.operand_type(0);
    args.ctx()
        .function_parts(ty)
        .map(|(_, results)| results.to_vec())
        .ok_or_else(|| "requires a function to call".into())
}

fn verify_call_indirect(m: &Module, op: Op) -> Result<(), Violation> {
    let callee = m.value_type(m.operands(op)[0]);
    let inputs = m.ctx.function_parts(callee).map_or(&[][..], |(inputs, _)| inputs);
    check_types(&m.ctx, "operand", m.operands(op)[1..].iter().map(|&v| m.value_type(v)), inputs)
}

/// Converts an indirect call of a constant to a direct call.
fn call_known(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let call = CallIndirectOp(op);
    let callee = ConstantOp::defining(m, call.callee(m)).and_then(|c| c.value(m));
    let (Some(callee), operands, loc) = (callee, call.callee_operands(m), m.loc(op)) else { return false };
    let types: Vec<Type> = m.results(op).map(|v| m.value_type(v)).collect();
    let new = rw.build(InsertPoint::Before(op), |b| CallOp::build(b, loc, &operands, callee, None, None, None, &types));
    let results: Vec<Value> = rw.module().results(new.0).collect();
    rw.replace(op, &results);
    true
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "func",
    doc: "Functions: their definition, calls and returns.",
    ops: &[FuncOp::INFO, ReturnOp::INFO, CallOp::INFO, CallIndirectOp::INFO, ConstantOp::INFO],
    constant: None,
    ..Dialect::DEFAULT
};
