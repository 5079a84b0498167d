//! `convert-scf-to-cf`: structured control flow to branches between blocks.
//!
//! The ops are lowered from the last to the first, so that what is inside is blocks already when what is around is
//! lowered, and what follows an op in its block is moved once.

use gradus_dialects::arith::{AddIOp, CmpIOp, ConstantOp, IndexCastOp};
use gradus_dialects::cf::{BranchOp, CondBranchOp, SwitchOp};
use gradus_dialects::scf::{
    ConditionOp, ExecuteRegionOp, ForOp, ForallOp, IfOp, IndexSwitchOp, ParallelOp, ReduceOp, ReduceReturnOp, WhileOp,
    YieldOp,
};
use gradus_ir::{
    Block, Builder, DYNAMIC, Diagnostic, Loc, Module, Op, OpDecl, Pass, PassContext, PassInfo, Region, Traits, Type,
    Value, ValueList,
};

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "convert-scf-to-cf",
    doc: "Convert SCF dialect to ControlFlow dialect, replacing structured control flow with a CFG

# Before / After

```mlir
scf.if %c {                         // becomes:   cf.cond_br %c, ^bb1, ^bb2
  cf.assert %d, \"d\"                 //          ^bb1:
}                                   //            cf.assert %d, \"d\"
                                    //            cf.br ^bb2
                                    //          ^bb2:
```

# Does

Replaces all ops of the `scf` dialect. Parallel loops become loops that run in order, and their reductions what each
iteration does.

# Refuses

Ops in a region that must be one block, and `scf.forall` with results, which is to be bufferized first.

# Cost

Linear in the number of ops, times the depth of nesting.",
    statistics: &[("num-lowered", "Number of operations lowered")],
    make: |_| Ok(Box::new(ScfToCf)),
    ..PassInfo::DEFAULT
};

struct ScfToCf;

impl Pass for ScfToCf {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let ops = m.ops_under(root).split_off(1);
        for op in ops.into_iter().rev() {
            let Some(lower) = lowering(m, op) else { continue };
            check_place(m, op)?;
            lower(m, op)?;
            cx.count("num-lowered", 1);
        }
        Ok(())
    }
}

type Lower = fn(&mut Module, Op) -> Result<(), Diagnostic>;

/// What lowers an op.
fn lowering(m: &Module, op: Op) -> Option<Lower> {
    let known: [(bool, Lower); 7] = [
        (ForOp::cast(m, op).is_some(), lower_for),
        (IfOp::cast(m, op).is_some(), lower_if),
        (WhileOp::cast(m, op).is_some(), lower_while),
        (ParallelOp::cast(m, op).is_some(), lower_parallel),
        (ForallOp::cast(m, op).is_some(), lower_forall),
        (IndexSwitchOp::cast(m, op).is_some(), lower_switch),
        (ExecuteRegionOp::cast(m, op).is_some(), lower_execute_region),
    ];
    known.into_iter().find(|(is, _)| *is).map(|(_, lower)| lower)
}

/// There may be several blocks where the op is, or the op around is lowered, too.
fn check_place(m: &Module, op: Op) -> Result<(), Diagnostic> {
    let Some(around) = m.parent_op(op) else { return Ok(()) };
    let lowered = lowering(m, around).is_some() || ReduceOp::cast(m, around).is_some();
    if !m.has_trait(around, Traits::SINGLE_BLOCK) || lowered {
        return Ok(());
    }
    let (name, around_name) = (m.name_text(op), m.name_text(around));
    let message = format!("'{name}' op cannot be lowered in '{around_name}', whose region must be one block");
    Err(Diagnostic::error(m.loc(op), message).note(m.loc(around), "the op around it is here"))
}

/// The place of an op while it is lowered: the block that ends where the op was, and the block of what follows.
struct Place {
    loc: Loc,
    before: Block,
    after: Block,
}

impl Place {
    /// Divides the op's block; the op is the first in the second half.
    fn open(m: &mut Module, op: Op) -> Place {
        let before = m.parent_block(op).expect("the op is in a block");
        Place { loc: m.loc(op), before, after: m.split_block(op) }
    }

    /// Moves the blocks of a region before what follows; returns the first and the op that ends the last.
    fn inline(&self, m: &mut Module, region: Region) -> (Block, Op) {
        let entry = m.only_block(region);
        let end = m.region_blocks(region).next_back().and_then(|b| m.last_op(b)).expect("the region has a terminator");
        m.move_blocks_before(region, self.after);
        (entry, end)
    }

    /// A new block before `next`.
    fn block(&self, m: &mut Module, next: Block) -> Block {
        let region = m.parent_region(next).expect("the block is in a region");
        let block = m.create_block();
        m.insert_block(region, block, Some(next));
        block
    }
}

/// Replaces a terminator by a branch.
fn branch_instead(m: &mut Module, end: Op, dest: Block, values: &[Value]) {
    let loc = m.loc(end);
    BranchOp::build(&mut Builder::before(m, end), loc, values, dest, &[]);
    m.erase_op(end);
}

/// Makes the results of `op` those values, and erases it.
fn replace(m: &mut Module, op: Op, values: &[Value]) {
    for (result, &value) in m.results(op).zip(values) {
        m.replace_all_uses(result, value);
    }
    m.erase_op(op);
}

/// Arguments of a block, like those values.
fn args_like(m: &mut Module, block: Block, values: &[Value]) -> ValueList {
    values.iter().map(|&v| m.add_block_arg(block, m.value_type(v), m.value_loc(v))).collect()
}

/// A counting loop that is being made: its header, and what the header gets.
struct Loop {
    header: Block,
    /// The induction variable and what is carried from iteration to iteration.
    args: ValueList,
}

/// The bounds of a loop, and how they are compared.
struct Bounds {
    lower: Value,
    upper: Value,
    step: Value,
    unsigned: bool,
}

impl Loop {
    /// Makes the header before `body`: it decides between `body` and `exit`.
    fn open(m: &mut Module, place: &Place, from: Block, bounds: &Bounds, inits: &[Value], to: [Block; 2]) -> Loop {
        let [body, exit] = to;
        let loc = place.loc;
        let header = place.block(m, body);
        let entering: Vec<Value> = [bounds.lower].into_iter().chain(inits.iter().copied()).collect();
        let args = args_like(m, header, &entering);
        BranchOp::build(&mut Builder::at_end(m, from), loc, &entering, header, &[]);
        // `slt` and `ult`
        let predicate = m.ctx.int_attr(Type::I64, if bounds.unsigned { 6 } else { 2 });
        let mut b = Builder::at_end(m, header);
        let goes_on = CmpIOp::build(&mut b, loc, args[0], bounds.upper, predicate, &[]).result(b.module);
        CondBranchOp::build(&mut b, loc, goes_on, &[], &[], None, body, exit, &[]);
        Loop { header, args }
    }

    /// Goes on with the next iteration at the end of `block`.
    fn close(&self, m: &mut Module, place: &Place, block: Block, bounds: &Bounds, values: &[Value]) {
        let mut b = Builder::at_end(m, block);
        let wraps = b.module.ctx.default_attr("#arith.overflow<none>");
        let next = AddIOp::build(&mut b, place.loc, self.args[0], bounds.step, wraps, &[]).result(b.module);
        let values: Vec<Value> = [next].into_iter().chain(values.iter().copied()).collect();
        BranchOp::build(&mut b, place.loc, &values, self.header, &[]);
    }
}

/// Replaces the arguments of a block by values, and drops them.
fn bind_args(m: &mut Module, block: Block, values: &[Value]) {
    let args: ValueList = m.block_args(block).into();
    for (arg, &value) in args.into_iter().zip(values) {
        m.replace_all_uses(arg, value);
    }
    for i in (0..m.block_args(block).len()).rev() {
        m.erase_block_arg(block, i);
    }
}

fn lower_for(m: &mut Module, op: Op) -> Result<(), Diagnostic> {
    let this = ForOp(op);
    let (inits, unsigned) = (this.init_args(m), this.unsigned_cmp(m).is_some());
    let bounds = Bounds { lower: this.lower_bound(m), upper: this.upper_bound(m), step: this.step(m), unsigned };
    let place = Place::open(m, op);
    let (body, end) = place.inline(m, this.region(m));
    let made = Loop::open(m, &place, place.before, &bounds, &inits, [body, place.after]);
    bind_args(m, body, &made.args);
    let (last, yielded) = (m.parent_block(end).expect("the op is in a block"), ValueList::from(m.operands(end)));
    m.erase_op(end);
    made.close(m, &place, last, &bounds, &yielded);
    replace(m, op, &made.args[1..]);
    Ok(())
}

fn lower_if(m: &mut Module, op: Op) -> Result<(), Diagnostic> {
    let this = IfOp(op);
    let (condition, has_else) = (this.condition(m), this.else_block(m).is_some());
    let place = Place::open(m, op);
    let (yes, yes_end) = place.inline(m, this.then_region(m));
    let no = if has_else { Some(place.inline(m, this.else_region(m))) } else { None };
    let results: ValueList = m.results(op).collect();
    let mut join = place.after;
    if !results.is_empty() {
        join = place.block(m, place.after);
        let args = args_like(m, join, &results);
        BranchOp::build(&mut Builder::at_end(m, join), place.loc, &[], place.after, &[]);
        replace(m, op, &args);
    } else {
        m.erase_op(op);
    }
    for end in [Some(yes_end), no.map(|(_, end)| end)].into_iter().flatten() {
        let values = YieldOp(end).results(m);
        branch_instead(m, end, join, &values);
    }
    let no = no.map_or(place.after, |(block, _)| block);
    let mut b = Builder::at_end(m, place.before);
    CondBranchOp::build(&mut b, place.loc, condition, &[], &[], None, yes, no, &[]);
    Ok(())
}

fn lower_while(m: &mut Module, op: Op) -> Result<(), Diagnostic> {
    let this = WhileOp(op);
    let inits = this.inits(m);
    let place = Place::open(m, op);
    let (before, decides) = place.inline(m, this.before(m));
    BranchOp::build(&mut Builder::at_end(m, place.before), place.loc, &inits, before, &[]);
    let (condition, values) = (ConditionOp(decides).condition(m), ConditionOp(decides).args(m));
    // A second region that only passes on what it gets needs no block.
    let after = m.only_block(this.after(m));
    let first = m.first_op(after).expect("the region has a terminator");
    let passes_on = m.successors(first).is_empty() && *m.operands(first) == *m.block_args(after);
    let passes_on = passes_on && YieldOp::cast(m, first).is_some();
    let mut next = before;
    if !passes_on {
        let (entry, end) = place.inline(m, this.after(m));
        let yielded = YieldOp(end).results(m);
        branch_instead(m, end, before, &yielded);
        next = entry;
    }
    let loc = m.loc(decides);
    let mut b = Builder::before(m, decides);
    CondBranchOp::build(&mut b, loc, condition, &values, &[], None, next, place.after, &[]);
    m.erase_op(decides);
    replace(m, op, &values);
    Ok(())
}

fn lower_execute_region(m: &mut Module, op: Op) -> Result<(), Diagnostic> {
    let region = ExecuteRegionOp(op).region(m);
    let ends: Vec<Op> = m.region_blocks(region).filter_map(|b| m.last_op(b)).collect();
    let place = Place::open(m, op);
    let (entry, _) = place.inline(m, region);
    BranchOp::build(&mut Builder::at_end(m, place.before), place.loc, &[], entry, &[]);
    join_at(m, op, place.after, ends.into_iter());
    Ok(())
}

/// Replaces the results of `op` by arguments of `block`, which those `ends` that yield branch to.
fn join_at(m: &mut Module, op: Op, block: Block, ends: impl Iterator<Item = Op>) {
    let results: ValueList = m.results(op).collect();
    let args = args_like(m, block, &results);
    replace(m, op, &args);
    for end in ends.filter(|&end| YieldOp::cast(m, end).is_some()).collect::<Vec<_>>() {
        let values = YieldOp(end).results(m);
        branch_instead(m, end, block, &values);
    }
}

fn lower_switch(m: &mut Module, op: Op) -> Result<(), Diagnostic> {
    let this = IndexSwitchOp(op);
    let (arg, cases) = (this.arg(m), this.cases(m).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default());
    let place = Place::open(m, op);
    let regions: Vec<Region> = m.regions(op).to_vec();
    let mut inlined: Vec<(Block, Op)> = regions[1..].iter().map(|&r| place.inline(m, r)).collect();
    let default = place.inline(m, regions[0]);
    let dests: Vec<Block> = inlined.iter().map(|(block, _)| *block).collect();
    inlined.push(default);
    let mut b = Builder::at_end(m, place.before);
    let flag = IndexCastOp::build(&mut b, place.loc, arg, &[Type::I64]).out(b.module);
    SwitchOp::build_cases(&mut b, place.loc, flag, default.0, &cases, &dests);
    join_at(m, op, place.after, inlined.into_iter().map(|(_, end)| end));
    Ok(())
}

fn lower_parallel(m: &mut Module, op: Op) -> Result<(), Diagnostic> {
    let this = ParallelOp(op);
    let bounds = bounds(&this.lower_bound(m), &this.upper_bound(m), &this.step(m));
    let inits = this.init_vals(m);
    let place = Place::open(m, op);
    let (body, end) = place.inline(m, this.region(m));
    let results = nest(m, &place, &bounds, &inits, body, |m, reduced| {
        let (values, regions) = (ValueList::from(m.operands(end)), m.regions(end).to_vec());
        let pairs = reduced.iter().zip(values).zip(regions);
        let next = pairs.map(|((&reduced, value), region)| inline_reduction(m, end, region, [reduced, value]));
        let next = next.collect();
        let last = m.parent_block(end).expect("the op is in a block");
        m.erase_op(end);
        (last, next)
    });
    replace(m, op, &results);
    Ok(())
}

/// Reduces two values where the iteration ends. Returns what they become.
fn inline_reduction(m: &mut Module, end: Op, region: Region, args: [Value; 2]) -> Value {
    let entry = m.only_block(region);
    bind_args(m, entry, &args);
    let returns = m.region_blocks(region).next_back().and_then(|b| m.last_op(b)).expect("the region has a terminator");
    let result = ReduceReturnOp(returns).result(m);
    if m.has_one_block(region) {
        m.erase_op(returns);
        m.block_ops(entry).collect::<Vec<_>>().into_iter().for_each(|inner| m.move_before(inner, end));
        return result;
    }
    // The first block goes on where the iteration is, and the iteration ends in the last one.
    let (home, last) = (m.parent_block(end).expect("the op is in a block"), m.parent_block(returns));
    m.erase_op(returns);
    m.move_to_end(end, last.expect("the op is in a block"));
    m.block_ops(entry).collect::<Vec<_>>().into_iter().for_each(|inner| m.move_to_end(inner, home));
    m.erase_block(entry);
    let next = m.next_block(home).expect("another block follows the loop");
    m.move_blocks_before(region, next);
    result
}

fn bounds(lower: &[Value], upper: &[Value], step: &[Value]) -> Vec<Bounds> {
    let dims = lower.iter().zip(upper).zip(step);
    dims.map(|((&lower, &upper), &step)| Bounds { lower, upper, step, unsigned: false }).collect()
}

/// Makes a loop for each dimension around `body`, whose arguments are the induction variables. `finish` gets the values
/// that the innermost iteration began with, and returns the block that ends it and the values that it ends with. Returns
/// the values after all iterations.
fn nest(
    m: &mut Module,
    place: &Place,
    bounds: &[Bounds],
    inits: &[Value],
    body: Block,
    finish: impl FnOnce(&mut Module, &[Value]) -> (Block, ValueList),
) -> ValueList {
    let mut loops: Vec<Loop> = Vec::new();
    // Where each loop leaves to: what follows, or the end of an iteration of the loop around.
    let mut exits = vec![place.after];
    let (mut from, mut values) = (place.before, ValueList::from(inits));
    for (i, dim) in bounds.iter().enumerate() {
        if i > 0 {
            exits.push(place.block(m, exits[i - 1]));
        }
        let inner = if i + 1 < bounds.len() { place.block(m, body) } else { body };
        let made = Loop::open(m, place, from, dim, &values, [inner, exits[i]]);
        values = made.args[1..].into();
        loops.push(made);
        from = inner;
    }
    let ivs: Vec<Value> = loops.iter().map(|l| l.args[0]).collect();
    bind_args(m, body, &ivs);
    let (mut last, mut next) = finish(m, &values);
    if loops.is_empty() {
        // Without dimensions there is one iteration.
        BranchOp::build(&mut Builder::at_end(m, place.before), place.loc, &[], body, &[]);
        BranchOp::build(&mut Builder::at_end(m, last), place.loc, &[], place.after, &[]);
    }
    for (i, (made, dim)) in loops.iter().zip(bounds).enumerate().rev() {
        made.close(m, place, last, dim, &next);
        last = exits[i];
        next = made.args[1..].into();
    }
    next
}

fn lower_forall(m: &mut Module, op: Op) -> Result<(), Diagnostic> {
    let this = ForallOp(op);
    if m.num_results(op) > 0 {
        let message = "failed to legalize operation 'scf.forall' that was explicitly marked illegal";
        return Err(Diagnostic::error(m.loc(op), message));
    }
    let [lower, upper, step] = [0, 1, 2].map(|i| controls(m, this, i));
    let bounds = bounds(&lower, &upper, &step);
    let place = Place::open(m, op);
    let (body, end) = place.inline(m, this.region(m));
    nest(m, &place, &bounds, &[], body, |m, _| {
        let last = m.parent_block(end).expect("the op is in a block");
        m.erase_op(end);
        (last, ValueList::new())
    });
    m.erase_op(op);
    Ok(())
}

/// The bounds or steps of a `scf.forall`, those that are known as constants.
fn controls(m: &mut Module, op: ForallOp, i: usize) -> Vec<Value> {
    let (loc, statics) = (m.loc(op.0), op.statics(m, i));
    let mut values = m.operand_group(op.0, i).into_iter();
    let control = |n: i64| match n {
        DYNAMIC => values.next().expect("there is a value for every placeholder"),
        _ => {
            let attr = m.ctx.int_attr(Type::INDEX, n);
            let mut b = Builder::before(m, op.0);
            ConstantOp::build(&mut b, loc, attr, &[]).result(b.module)
        }
    };
    statics.into_iter().map(control).collect()
}
