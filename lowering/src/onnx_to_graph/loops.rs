//! `Loop`, `Scan` and `SequenceMap`: `scf.for`, or `scf.while` if the body computes whether to go on.
//!
//! The values that iterations yield, apart from the next ones of variables, are collected in sequences and concatenated after the loop.

use super::graphs::{body, cast_at, general_type, is_instance};
use super::{Importer, Stop};
use crate::onnx::inline::{Body, VersionedNode};
use crate::onnx::proto::AttributeProto;
use crate::onnx::tensor::to_tensor;
use gradus_dialects::arith::int_predicate::SLT;
use gradus_dialects::{arith, scf, tensor};
use gradus_ir::{Attr, Block, Builder, DYNAMIC, Loc, Op, Tensor, Type, TypeData, Value};
use gradus_networks::graph::{
    self, ConcatFromSequenceOp, GatherOp, SequenceAtOp, SequenceEmptyOp, SequenceInsertOp, SequenceLengthOp,
    SequenceType,
};
use gradus_reference_kernels::shape::normalize_axis;

/// A value that the iterations of a loop yield, apart from variables.
struct CollectedOutput {
    /// Whether later values come first.
    is_reversed: bool,
    /// The axis along which values are concatenated; they stay a sequence without one.
    axis: Option<i64>,
}

/// A loop to import.
struct LoopPlan<'a> {
    body: &'a Body,
    loc: Loc,
    /// The number of iterations, of type `index`.
    count: Value,
    /// Whether the first iteration runs, if iterations compute that for the next: a condition of type `i1`. The first output of the body
    /// is then that for the next one.
    condition: Option<Value>,
    /// Number of outputs of the body before the variables.
    skipped: usize,
    /// The initial values of the variables.
    initial: Vec<Value>,
    collected: Vec<CollectedOutput>,
}

/// The values that a body reads.
struct LoopIteration<'v> {
    block: Block,
    /// The number of the iteration, of type `index`.
    number: Value,
    /// Whether it runs, of type `i1`.
    condition: Option<Value>,
    variables: &'v [Value],
}

/// Returns the inputs of a body for an iteration.
type Enter<'a, 'f> = &'f mut dyn FnMut(&mut Importer<'a>, &LoopIteration<'_>) -> Result<Vec<Value>, Stop>;

/// Number of times that the types of variables are made only as general as those of the values that a body gives.
const MAX_PRECISE: usize = 3;

/// Imports a `Loop`.
pub(super) fn repeat<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, loc: Loc) -> Result<(), Stop> {
    let body = body(node, "body")?;
    let inputs = &node.proto.input;
    let given = |k: usize| inputs.get(k).map(String::as_str).filter(|name| !name.is_empty());
    let variables = body.graph.input.len().checked_sub(2).ok_or("its body has less than two inputs")?;
    let collected = body.graph.output.len().checked_sub(1 + variables).ok_or("its body has too few outputs")?;
    if inputs.len() != 2 + variables {
        return Err("it has another number of variables than its body".into());
    }
    let count = given(0).map(|name| i.value(name)).transpose()?;
    let first = given(1).map(|name| i.value(name)).transpose()?;
    let initial = inputs[2..].iter().map(|name| i.value(name)).collect::<Result<Vec<_>, _>>()?;
    let block = i.scopes.last().block;
    let goes_on = first.is_none_or(|value| is_true(graph::known_value(&i.module, value).as_ref()));
    let count = match count {
        Some(count) => i.index_of(block, count, loc),
        None => i.index_in(block, i64::MAX, loc),
    };
    let condition = match first {
        _ if goes_on && i.always_goes_on(body) => None,
        Some(first) => Some(i.element_in(block, first, loc)),
        None => Some(i.bit_in(block, true, loc)),
    };
    let collected = (0..collected).map(|_| CollectedOutput { is_reversed: false, axis: Some(0) }).collect();
    let plan = LoopPlan { body, loc, count, condition, skipped: 1, initial, collected };
    let [number, flag] = [&body.graph.input[0], &body.graph.input[1]];
    let results = i.import_loop(&plan, &mut |i, iteration| {
        let LoopIteration { block, .. } = *iteration;
        let n = i.i64_of(block, iteration.number, loc);
        let bit = iteration.condition.unwrap_or_else(|| i.bit_in(block, true, loc));
        let leading = [i.input_of(block, n, Some(number), loc), i.input_of(block, bit, Some(flag), loc)];
        Ok([&leading, iteration.variables].concat())
    })?;
    i.bind_results(node, &results, loc)
}

/// Imports a `Scan`.
pub(super) fn scan<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, loc: Loc) -> Result<(), Stop> {
    if node.version < 9 {
        return Err("scans of a batch (before version 9) are not supported".into());
    }
    let body = body(node, "body")?;
    let attr = |name: &str| node.proto.attribute.iter().find(|a| a.name == name);
    let list = |name: &str, k: usize| attr(name).and_then(|a: &AttributeProto| a.ints.get(k).copied()).unwrap_or(0);
    let scanned = attr("num_scan_inputs").and_then(|a| usize::try_from(a.i).ok()).unwrap_or(0);
    let variables = node.proto.input.len().checked_sub(scanned).filter(|_| scanned > 0);
    let variables = variables.ok_or("it has no inputs to scan")?;
    let collected = body.graph.output.len().checked_sub(variables).ok_or("its body has too few outputs")?;
    if body.graph.input.len() != node.proto.input.len() {
        return Err("it has another number of inputs than its body".into());
    }
    let values = node.proto.input.iter().map(|name| i.value(name)).collect::<Result<Vec<_>, _>>()?;
    let (initial, scanned) = values.split_at(variables);
    let block = i.scopes.last().block;
    let axes = scanned.iter().enumerate().map(|(k, &value)| i.axis_of(value, list("scan_input_axes", k)));
    let axes = axes.collect::<Result<Vec<_>, _>>()?;
    let count = i.extent(block, scanned[0], axes[0], loc);
    let collected = (0..collected).map(|k| CollectedOutput {
        is_reversed: list("scan_output_directions", k) == 1,
        axis: Some(list("scan_output_axes", k)),
    });
    let (initial, collected) = (initial.to_vec(), collected.collect());
    let plan = LoopPlan { body, loc, count, condition: None, skipped: 0, initial, collected };
    let results = i.import_loop(&plan, &mut |i, iteration| {
        let LoopIteration { block, number, .. } = *iteration;
        let mut inputs = iteration.variables.to_vec();
        for (k, &value) in scanned.iter().enumerate() {
            let number = match list("scan_input_directions", k) {
                1 => i.counted_back(block, count, number, loc),
                _ => number,
            };
            let at = i.scalar(block, number, loc);
            let axis = i.ctx.int_attr(Type::I64, axes[k] as i64);
            let b = &mut Builder::at_end(&mut i.module, block);
            inputs.push(GatherOp::build(b, loc, value, at, Some(axis), &[]).y(b.module));
        }
        Ok(inputs)
    })?;
    i.bind_results(node, &results, loc)
}

/// Imports a `SequenceMap`.
pub(super) fn map<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, loc: Loc) -> Result<(), Stop> {
    let body = body(node, "body")?;
    let values = node.proto.input.iter().map(|name| i.value(name)).collect::<Result<Vec<_>, _>>()?;
    let first = *values.first().ok_or("input 'input_sequence' is missing")?;
    let block = i.scopes.last().block;
    let is_sequence = |i: &Importer<'_>, v: Value| SequenceType::element_of(&i.ctx, i.module.value_type(v)).is_some();
    if !is_sequence(i, first) {
        return Err("input 'input_sequence' must be a sequence".into());
    }
    let length = SequenceLengthOp::build(&mut i.builder(), loc, first, &[]).length(&i.module);
    let count = i.index_of(block, length, loc);
    let collected = body.graph.output.iter().map(|_| CollectedOutput { is_reversed: false, axis: None }).collect();
    let plan = LoopPlan { body, loc, count, condition: None, skipped: 0, initial: Vec::new(), collected };
    let results = i.import_loop(&plan, &mut |i, iteration| {
        let at = i.scalar(iteration.block, iteration.number, loc);
        let element = |&v: &Value| match is_sequence(i, v) {
            true => {
                let b = &mut Builder::at_end(&mut i.module, iteration.block);
                SequenceAtOp::build(b, loc, v, at, &[]).tensor(b.module)
            }
            false => v,
        };
        Ok(values.iter().map(element).collect())
    })?;
    i.bind_results(node, &results, loc)
}

/// Whether all elements of a condition are true.
fn is_true(condition: Option<&Tensor>) -> bool {
    condition.and_then(Tensor::to_i64).is_some_and(|bits| !bits.is_empty() && bits.iter().all(|&bit| bit != 0))
}

/// The op of a loop under construction.
struct LoopShell {
    op: Op,
    block: Block,
    number: Value,
    condition: Option<Value>,
    /// Number of results and yielded values before the variables.
    leading: usize,
}

impl<'a> Importer<'a> {
    /// Whether the condition that a `Loop`'s body gives is the one that it gets, or true.
    fn always_goes_on(&mut self, body: &'a Body) -> bool {
        let Some(mut name) = body.graph.output.first().map(|output| output.name.as_str()) else { return false };
        for _ in 0..=body.nodes.len() {
            // An input hides a value of this name around the loop.
            if let Some(at) = body.graph.input.iter().position(|input| input.name == name) {
                return at == 1;
            }
            if let Some(initial) = body.graph.initializer.iter().find(|t| t.name == name) {
                return is_true(to_tensor(initial, None).ok().as_ref());
            }
            let maker = body.nodes.iter().find(|node| node.proto.output.iter().any(|output| output == name));
            match maker.map(|node| (node.proto.op_type.as_str(), &node.proto)) {
                Some(("Identity", node)) if node.input.len() == 1 => name = &node.input[0],
                Some(("Constant", node)) => {
                    let value = node.attribute.iter().find_map(|a| a.t.as_ref());
                    return is_true(value.and_then(|t| to_tensor(t, None).ok()).as_ref());
                }
                Some(_) => return false,
                None => {
                    let value = if self.scopes.find(name).is_some() { self.value(name).ok() } else { None };
                    return is_true(value.and_then(|v| graph::known_value(&self.module, v)).as_ref());
                }
            }
        }
        false
    }

    /// Imports a loop. Returns the last values of its variables, and the collected ones.
    fn import_loop(&mut self, plan: &LoopPlan<'a>, enter: Enter<'a, '_>) -> Result<Vec<Value>, Stop> {
        let mut types: Vec<Type> = plan.initial.iter().map(|&v| self.module.value_type(v)).collect();
        let outer = self.scopes.last().block;
        let before = self.module.last_op(outer);
        for attempt in 0.. {
            let empty: Vec<Value> = plan.collected.iter().map(|_| self.empty_sequence(plan.loc)).collect();
            let shell = self.shell(plan, &types, &empty);
            let args = self.module.block_args(shell.block)[shell.leading.max(1)..].to_vec();
            let (block, number, condition) = (shell.block, shell.number, shell.condition);
            let inputs = enter(self, &LoopIteration { block, number, condition, variables: &args[..types.len()] })?;
            let outputs = self.within(plan.body, block, &inputs)?;
            let next = &outputs[plan.skipped..plan.skipped + types.len()];
            let general = self.general_types(&types, next, attempt < MAX_PRECISE)?;
            if general == types {
                self.close(plan, &shell, &types, &outputs);
                self.type_sequences(&shell, &empty, &outputs[plan.skipped + types.len()..])?;
                return self.loop_results(plan, &shell, types.len());
            }
            while let Some(made) = self.module.last_op(outer).filter(|&op| Some(op) != before) {
                self.module.erase_op(made);
            }
            types = general;
        }
        Err(Stop::Reported)
    }

    /// Returns types of which both the values of `types` and the next values of the variables are.
    fn general_types(&self, types: &[Type], next: &[Value], precise: bool) -> Result<Vec<Type>, Stop> {
        let general = |(k, (&ty, &v)): (usize, (&Type, &Value))| {
            let have = self.module.value_type(v);
            if is_instance(&self.ctx, have, ty) {
                return Ok(ty);
            }
            let differ = || format!("variable {k} is of another kind after an iteration");
            let general = general_type(&self.ctx, ty, have).ok_or_else(differ)?;
            let open = |ty| self.ctx.ty(TypeData::UnrankedTensor(self.ctx.element_type(ty)));
            Ok(match SequenceType::element_of(&self.ctx, general) {
                _ if precise => general,
                Some(element) => SequenceType::of(&self.ctx, open(element)),
                None => open(general),
            })
        };
        types.iter().zip(next).enumerate().map(general).collect()
    }

    /// Returns an empty sequence, whose type is set when that of its elements is known.
    fn empty_sequence(&mut self, loc: Loc) -> Value {
        let any = SequenceType::of(&self.ctx, self.ctx.ty(TypeData::UnrankedTensor(Type::F32)));
        let b = &mut self.builder();
        SequenceEmptyOp::build(b, loc, None, &[any]).output(b.module)
    }

    /// Creates a loop of variables with these types and the sequences, with an empty body.
    fn shell(&mut self, plan: &LoopPlan<'a>, types: &[Type], empty: &[Value]) -> LoopShell {
        let (loc, outer) = (plan.loc, self.scopes.last().block);
        let [zero, one] = [0, 1].map(|n| self.index_in(outer, n, loc));
        let initial: Vec<Value> =
            plan.initial.iter().zip(types).map(|(&v, &ty)| self.cast_in(outer, v, ty, loc)).collect();
        let carried = [&initial[..], empty].concat();
        let m = &mut self.module;
        let carried_types: Vec<Type> = carried.iter().map(|&v| m.value_type(v)).collect();
        let Some(condition) = plan.condition else {
            let b = &mut Builder::at_end(m, outer);
            let made = scf::ForOp::build(b, loc, zero, plan.count, one, &carried, None, &carried_types);
            let block = m.add_block(made.region(m));
            let number = m.add_block_arg(block, Type::INDEX, loc);
            for &ty in &carried_types {
                m.add_block_arg(block, ty, loc);
            }
            return LoopShell { op: made.0, block, number, condition: None, leading: 0 };
        };
        let all = [&[Type::INDEX, Type::I1], &carried_types[..]].concat();
        let inits = [&[zero, condition], &carried[..]].concat();
        let made = scf::WhileOp::build(&mut Builder::at_end(m, outer), loc, &inits, &all);
        let [before, after] = [made.before(m), made.after(m)].map(|region| m.add_block(region));
        for block in [before, after] {
            for &ty in &all {
                m.add_block_arg(block, ty, loc);
            }
        }
        let args = m.block_args(before).to_vec();
        let b = &mut Builder::at_end(m, before);
        let less = b.module.ctx.int_attr(Type::I64, SLT);
        let is_below = arith::CmpIOp::build(b, loc, args[0], plan.count, less, &[]).result(b.module);
        let goes_on = arith::AndIOp::build(b, loc, is_below, args[1], &[]).result(b.module);
        scf::ConditionOp::build(b, loc, goes_on, &args, &[]);
        let (number, condition) = (m.block_args(after)[0], Some(m.block_args(after)[1]));
        LoopShell { op: made.0, block: after, number, condition, leading: 2 }
    }

    /// Ends the body of a loop.
    fn close(&mut self, plan: &LoopPlan<'a>, shell: &LoopShell, types: &[Type], outputs: &[Value]) {
        let (loc, block) = (plan.loc, shell.block);
        let mut yielded = Vec::new();
        if shell.condition.is_some() {
            let one = self.index_in(block, 1, loc);
            let goes_on = self.element_in(block, outputs[0], loc);
            let wraps = self.wraps();
            let b = &mut Builder::at_end(&mut self.module, block);
            yielded.extend([arith::AddIOp::build(b, loc, shell.number, one, wraps, &[]).result(b.module), goes_on]);
        }
        let (next, collected) = outputs[plan.skipped..].split_at(types.len());
        yielded.extend(next.iter().zip(types).map(|(&v, &ty)| self.cast_in(block, v, ty, loc)));
        let first = self.module.block_args(block).len() - collected.len();
        for (k, (&value, how)) in collected.iter().zip(&plan.collected).enumerate() {
            let start = how.is_reversed.then(|| {
                let zero = self.index_in(block, 0, loc);
                self.scalar(block, zero, loc)
            });
            let sequence = self.module.block_args(block)[first + k];
            let ty = self.module.value_type(sequence);
            let b = &mut Builder::at_end(&mut self.module, block);
            yielded.push(SequenceInsertOp::build(b, loc, sequence, value, start, &[ty]).output_sequence(b.module));
        }
        scf::YieldOp::build(&mut Builder::at_end(&mut self.module, block), loc, &yielded, &[]);
    }

    /// Gives the sequences of a loop the types of the collected values. They come last wherever the loop carries values.
    fn type_sequences(&mut self, shell: &LoopShell, empty: &[Value], collected: &[Value]) -> Result<(), Stop> {
        let (m, end) = (&self.module, self.module.last_op(shell.block).ok_or(Stop::Reported)?);
        let mut carried = vec![empty.to_vec(), m.operands(end).to_vec(), m.results(shell.op).collect()];
        let blocks = m.regions(shell.op).iter().filter_map(|&region| m.entry(region));
        carried.extend(blocks.map(|block| m.block_args(block).to_vec()));
        for (k, &value) in collected.iter().enumerate() {
            let element = self.module.value_type(value);
            if SequenceType::element_of(&self.ctx, element).is_some() {
                return Err("sequences of sequences are not supported".into());
            }
            let ty = SequenceType::of(&self.ctx, element);
            for values in &carried {
                self.module.set_value_type(values[values.len() - collected.len() + k], ty);
            }
            let dtype = self.ctx.type_attr(self.ctx.element_type(element));
            if let Some(op) = self.module.defining_op(empty[k]) {
                self.module.set_attr(op, "dtype", Some(dtype));
            }
        }
        Ok(())
    }

    /// Returns the results of a loop: its variables, and the collected values.
    fn loop_results(&mut self, plan: &LoopPlan<'a>, shell: &LoopShell, variables: usize) -> Result<Vec<Value>, Stop> {
        let (loc, all) = (plan.loc, self.module.results(shell.op).skip(shell.leading).collect::<Vec<_>>());
        let (last, sequences) = all.split_at(variables);
        let count = match shell.condition {
            None => self.module.constant(plan.count).and_then(|attr| self.ctx.as_int(attr)),
            Some(_) => None,
        };
        let mut results = last.to_vec();
        for (&sequence, how) in sequences.iter().zip(&plan.collected) {
            let Some(axis) = how.axis else {
                results.push(sequence);
                continue;
            };
            let element = SequenceType::element_of(&self.ctx, self.module.value_type(sequence)).unwrap_or(Type::NONE);
            let rank = self.ctx.shape(element).map(|shape| shape.len() + 1);
            let at = rank.map(|rank| normalize_axis(axis, rank)).transpose()?;
            let [axis, is_new] = [axis, 1].map(|n| self.ctx.int_attr(Type::I64, n));
            let b = &mut self.builder();
            let made = ConcatFromSequenceOp::build(b, loc, sequence, axis, Some(is_new), &[]);
            let (ctx, value) = (b.module.ctx.clone(), made.concat_result(b.module));
            let sized = at.zip(count.filter(|&n| n >= 0)).and_then(|(at, n)| {
                let ty = b.module.value_type(value);
                let mut shape = ctx.shape(ty)?.to_vec();
                shape[at] = n;
                Some(ctx.tensor_type(&shape, ctx.element_type(ty)))
            });
            results.push(sized.map_or(value, |ty| cast_at(b, value, ty, loc)));
        }
        Ok(results)
    }

    /// Returns an axis of a tensor whose rank is known.
    fn axis_of(&self, value: Value, axis: i64) -> Result<usize, Stop> {
        let shape = self.ctx.shape(self.module.value_type(value)).ok_or("the rank of an input to scan is not known")?;
        Ok(normalize_axis(axis, shape.len())?)
    }

    /// Returns the extent of a ranked tensor along an axis, of type `index`.
    fn extent(&mut self, block: Block, value: Value, axis: usize, loc: Loc) -> Value {
        let extent = self.ctx.shape(self.module.value_type(value)).map_or(DYNAMIC, |shape| shape[axis]);
        if extent != DYNAMIC {
            return self.index_in(block, extent, loc);
        }
        let axis = self.index_in(block, axis as i64, loc);
        let b = &mut Builder::at_end(&mut self.module, block);
        tensor::DimOp::build(b, loc, value, axis, &[]).result(b.module)
    }

    /// Returns `count - 1 - number`.
    fn counted_back(&mut self, block: Block, count: Value, number: Value, loc: Loc) -> Value {
        let (one, wraps) = (self.index_in(block, 1, loc), self.wraps());
        let b = &mut Builder::at_end(&mut self.module, block);
        let last = arith::SubIOp::build(b, loc, count, one, wraps, &[]).result(b.module);
        arith::SubIOp::build(b, loc, last, number, wraps, &[]).result(b.module)
    }

    /// Returns the element of a tensor of one integer, as `index`. Known ones are constants.
    fn index_of(&mut self, block: Block, tensor: Value, loc: Loc) -> Value {
        if let Some(&[n]) = graph::known_value(&self.module, tensor).and_then(|t| t.to_i64()).as_deref() {
            return self.index_in(block, n, loc);
        }
        let element = self.element_in(block, tensor, loc);
        let b = &mut Builder::at_end(&mut self.module, block);
        arith::IndexCastOp::build(b, loc, element, &[Type::INDEX]).out(b.module)
    }

    /// Returns an `index` as `i64`.
    fn i64_of(&mut self, block: Block, index: Value, loc: Loc) -> Value {
        let b = &mut Builder::at_end(&mut self.module, block);
        arith::IndexCastOp::build(b, loc, index, &[Type::I64]).out(b.module)
    }

    /// Returns an `index` as a tensor of rank 0.
    fn scalar(&mut self, block: Block, index: Value, loc: Loc) -> Value {
        let n = self.i64_of(block, index, loc);
        self.input_of(block, n, None, loc)
    }

    /// The overflow flags of sums and differences.
    fn wraps(&self) -> Attr {
        self.ctx.default_attr("#arith.overflow<none>")
    }

    /// Returns a constant of type `i1`.
    fn bit_in(&mut self, block: Block, bit: bool, loc: Loc) -> Value {
        let attr = self.ctx.bool_attr(bit);
        let b = &mut Builder::at_end(&mut self.module, block);
        arith::ConstantOp::build(b, loc, attr, &[Type::I1]).result(b.module)
    }
}
