//! `outline-tensor-code`: straight-line code on tensors, out of functions with control flow.

use gradus_dialects::func::{CallOp, FuncOp, ReturnOp};
use gradus_dialects::tensor::CastOp;
use gradus_ir::pass::Rewrites;
use gradus_ir::symbols::FreeSymbols;
use gradus_ir::{
    Block, Builder, Diagnostic, Effects, Module, Op, OpDecl, Pass, PassContext, PassInfo, Traits, Type, TypeData,
    Value, ValueMap, symbol_name,
};
use indexmap::IndexSet;
use rustc_hash::FxHashSet;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "outline-tensor-code",
    doc: "Move straight-line code on tensors out of functions with control flow

# Before / After

```mlir
func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %c -> (tensor<4xf32>) {
    %1 = graph.exp %x : tensor<4xf32>
    %2 = graph.relu %1 : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// becomes:
func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %c -> (tensor<4xf32>) {
    %1 = func.call @main_part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func private @main_part0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
```

# Does

In each block of a function with several blocks, branches or loops, the ops that compute tensors from tensors, and nothing else, move
into private functions, up to the next op that uses one of their results. Values of other ops become arguments; constants are copied.
Branches and the bodies of loops are compiled like functions without control flow then; the rest only decides which of them run.

# Refuses

Nothing. Functions without control flow do not change.

# Cost

Linear in the number of ops and operands.",
    statistics: &[("num-functions", "Number of new functions"), ("num-ops", "Number of ops that moved")],
    rewrites: Rewrites::Tags(&["outline-tensor-code"]),
    make: |_| Ok(Box::new(OutlineTensorCode)),
    ..PassInfo::DEFAULT
};

struct OutlineTensorCode;

impl Pass for OutlineTensorCode {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let functions: Vec<FuncOp> = m.ops_under(root).into_iter().filter_map(|op| FuncOp::cast(m, op)).collect();
        let mut free: Option<FreeSymbols> = None;
        for function in functions {
            let blocks = blocks_of(m, function.0);
            if blocks.len() < 2 {
                continue;
            }
            let (mut last, around) = (function.0, m.parent_block(function.0));
            // The functions of a symbol table share its names.
            free = free.filter(|free| Some(free.block) == around).or_else(|| FreeSymbols::around(m, function.0));
            let prefix = format!("{}_part", symbol_name(m, function.0).map_or("", |name| m.ctx.text(name)));
            let Some(free) = &mut free else { continue };
            let parts: Vec<OutlinedPart> = blocks.into_iter().flat_map(|block| parts_in(m, block)).collect();
            for part in parts {
                if !cx.allows("outline-tensor-code", m, part.ops[0]) {
                    continue;
                }
                cx.count("num-functions", 1);
                cx.count("num-ops", part.ops.len() as u64);
                let name = free.take(&m.ctx, &prefix);
                last = outline(m, last, &name, &part);
            }
        }
        Ok(())
    }
}

/// Returns the blocks of an op, and those of the branches and loops in them.
fn blocks_of(m: &Module, op: Op) -> Vec<Block> {
    let is_control_flow = |op: Op| {
        let runs = m.info(op).is_some_and(|info| info.runs_regions() && info.effects == Effects::Recursive);
        runs && !m.has_trait(op, Traits::ISOLATED)
    };
    let mut blocks: Vec<Block> = m.regions(op).iter().flat_map(|&region| m.region_blocks(region)).collect();
    let mut next = 0;
    while let Some(&block) = blocks.get(next) {
        let inner = m.block_ops(block).filter(|&op| is_control_flow(op)).flat_map(|op| m.regions(op));
        blocks.extend(inner.flat_map(|&region| m.region_blocks(region)).collect::<Vec<_>>());
        next += 1;
    }
    blocks
}

/// Ops that move into a function.
struct OutlinedPart {
    ops: Vec<Op>,
    /// The op before which the call goes; it stands after all of them.
    end: Op,
}

/// Returns the parts of a block.
fn parts_in(m: &Module, block: Block) -> Vec<OutlinedPart> {
    let (mut all, mut ops) = (Vec::new(), Vec::new());
    let mut results: FxHashSet<Value> = FxHashSet::default();
    for op in m.block_ops(block) {
        if m.is_constant(op) {
            continue;
        }
        if is_computation(m, op) {
            results.extend(m.results(op));
            ops.push(op);
        } else if uses_any(m, op, &results) {
            results.clear();
            all.push(OutlinedPart { ops: std::mem::take(&mut ops), end: op });
        }
    }
    if let Some(end) = m.last_op(block).filter(|_| !ops.is_empty()) {
        all.push(OutlinedPart { ops, end });
    }
    all.retain(|part| part.ops.iter().any(|&op| CastOp::cast(m, op).is_none()));
    all
}

/// Whether an op or one in its regions uses one of the values.
fn uses_any(m: &Module, op: Op, values: &FxHashSet<Value>) -> bool {
    m.ops_under(op).into_iter().any(|inner| m.operands(inner).iter().any(|v| values.contains(v)))
}

/// Whether an op computes tensors from tensors, and nothing else.
fn is_computation(m: &Module, op: Op) -> bool {
    let is_tensor = |ty: Type| matches!(m.ctx.type_data(ty), TypeData::Tensor { .. } | TypeData::UnrankedTensor(_));
    let mut values = m.operands(op).iter().copied().chain(m.results(op));
    m.only_evaluates(op)
        && m.info(op).is_some_and(|info| matches!(info.effects, Effects::Pure | Effects::MayUb))
        && m.num_results(op) > 0
        && values.all(|v| is_tensor(m.value_type(v)))
}

/// Moves a part into a new function after the op `before`, and calls it. Returns the function.
fn outline(m: &mut Module, before: Op, name: &str, part: &OutlinedPart) -> Op {
    let (ctx, loc) = (m.ctx.clone(), m.loc(part.ops[0]));
    let inside: FxHashSet<Op> = part.ops.iter().copied().collect();
    let made: FxHashSet<Value> = part.ops.iter().flat_map(|&op| m.results(op)).collect();
    let used = part.ops.iter().flat_map(|&op| m.operands(op)).copied().filter(|v| !made.contains(v));
    let (constants, inputs): (IndexSet<Value>, IndexSet<Value>) = used.partition(|&v| m.constant(v).is_some());
    let leaves = |v: &Value| m.uses(*v).any(|(op, _)| !inside.contains(&op));
    let outputs: Vec<Value> = part.ops.iter().flat_map(|&op| m.results(op)).filter(leaves).collect();
    let types = |values: &mut dyn Iterator<Item = Value>| values.map(|v| m.value_type(v)).collect::<Vec<Type>>();
    let (input_types, output_types) = (types(&mut inputs.iter().copied()), types(&mut outputs.iter().copied()));
    let (name_attr, private) = (ctx.string_attr(name), ctx.string_attr("private"));
    let ty = ctx.type_attr(ctx.function_type(&input_types, &output_types));
    let b = &mut Builder::after(m, before);
    let function = FuncOp::build(b, loc, name_attr, ty, Some(private), None, None, None, &[]);
    let block = m.add_block(function.body(m));
    let mut map = ValueMap::default();
    for (&value, &ty) in inputs.iter().zip(&input_types) {
        let argument = m.add_block_arg(block, ty, m.value_loc(value));
        map.insert(value, argument);
    }
    for value in constants {
        if let Some(op) = m.defining_op(value) {
            let copy = m.clone_op(op, &mut map);
            Builder::at_end(m, block).insert(copy);
        }
    }
    let inputs: Vec<Value> = inputs.into_iter().collect();
    let callee = ctx.symbol_attr(name);
    let b = &mut Builder::before(m, part.end);
    let call = CallOp::build(b, loc, &inputs, callee, None, None, None, &output_types);
    for (i, &value) in outputs.iter().enumerate() {
        let result = m.result(call.0, i);
        let outside: Vec<_> = m.uses(value).filter(|(op, _)| !inside.contains(op)).collect();
        outside.into_iter().for_each(|(op, operand)| m.set_operand(op, operand, result));
    }
    for &op in &part.ops {
        m.move_to_end(op, block);
        let operands: Vec<Value> = m.operands(op).iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
        m.set_operands(op, &operands);
    }
    ReturnOp::build(&mut Builder::at_end(m, block), loc, &outputs, &[]);
    function.0
}
