//! `convert-scf-to-cf`: lowers structured control flow to branches between blocks.
//!
//! Ops are lowered in reverse order, so that nested ops are blocks before their parent is lowered, and the ops after an
//! op move once.

use gradus_dialects::arith::{AddIOp, CmpIOp, ConstantOp, IndexCastOp};
use gradus_dialects::cf::{BranchOp, CondBranchOp, SwitchOp};
use gradus_dialects::scf::{
    ConditionOp, ExecuteRegionOp, ForOp, ForallOp, IfOp, IndexSwitchOp, ParallelOp, ReduceOp, ReduceReturnOp, WhileOp,
    YieldOp,
};
use gradus_ir::conversion::{
    ConversionConfig, ConversionPattern, ConversionRewriter, ConversionTarget, Match, SignatureConversion, VisitOrder,
    apply_counted_conversion,
};
use gradus_ir::pass::Rewrites;
use gradus_ir::{
    Block, DYNAMIC, Diagnostic, InsertPoint, Loc, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo,
    PatternRewriter, Region, Traits, Type, Value, ValueList,
};

/// The declaration of the pass.
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

Replaces all ops of the `scf` dialect. Parallel loops become sequential loops, with their reductions inlined at the end of each
iteration.

# Refuses

Ops in a region that must be one block, and `scf.forall` with results, which is to be bufferized first.

# Cost

Linear in the number of ops, times the depth of nesting.",
    statistics: &[("num-lowered", "Number of operations lowered")],
    rewrites: Rewrites::Names(|_| LOWERINGS.map(|(_, name, _)| name.to_owned()).into()),
    make: |_| Ok(Box::new(ScfToCf)),
    ..PassInfo::DEFAULT
};

struct ScfToCf;

impl Pass for ScfToCf {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let patterns = patterns();
        let mut target = ConversionTarget::new("cf");
        target.illegal_roots(&patterns);
        target.legal_unknown();
        let config = ConversionConfig { fold: false, order: VisitOrder::Backward, ..ConversionConfig::PARTIAL };
        let report = apply_counted_conversion(m, root, &target, &patterns, config, cx.actions())?;
        cx.count("num-lowered", report.converted);
        Ok(())
    }
}

type Lower = fn(&mut ConversionRewriter<'_>, Op) -> Match;

/// The lowered ops with their pattern names.
const LOWERINGS: [(&OpInfo, &str, Lower); 7] = [
    (ForOp::INFO, "for-to-loop", lower_for),
    (IfOp::INFO, "if-to-branch", lower_if),
    (WhileOp::INFO, "while-to-loop", lower_while),
    (ParallelOp::INFO, "parallel-to-loops", lower_parallel),
    (ForallOp::INFO, "forall-to-loops", lower_forall),
    (IndexSwitchOp::INFO, "index-switch-to-switch", lower_switch),
    (ExecuteRegionOp::INFO, "execute-region-to-blocks", lower_execute_region),
];

fn patterns() -> Vec<ConversionPattern<'static>> {
    let pattern = |(info, name, lower): (&'static OpInfo, _, Lower)| {
        ConversionPattern::new(name, info.name, move |r, op, _| {
            check_place(r.module(), op)?;
            lower(r, op)
        })
    };
    LOWERINGS.into_iter().map(pattern).collect()
}

/// Checks that the enclosing region may have several blocks, or that its op is lowered too.
fn check_place(m: &Module, op: Op) -> Match {
    let Some(around) = m.parent_op(op) else { return Ok(()) };
    let info = m.info(around);
    let lowered = |lowered: &OpInfo| info.is_some_and(|info| std::ptr::eq(info, lowered));
    let may_branch = LOWERINGS.iter().any(|&(info, ..)| lowered(info)) || lowered(ReduceOp::INFO);
    if !m.has_trait(around, Traits::SINGLE_BLOCK) || may_branch {
        return Ok(());
    }
    Err(format!("the region of '{}' around it must be one block", m.name_text(around)).into())
}

/// The split block of an op: the first half, which ends where the op was, and the second half.
struct SplitBlock {
    loc: Loc,
    before: Block,
    after: Block,
}

impl SplitBlock {
    /// Splits the op's block; the op is the first op of the second half.
    fn open(r: &mut ConversionRewriter<'_>, op: Op) -> SplitBlock {
        let (loc, before) = (r.module().loc(op), r.module().parent_block(op).expect("the op is in a block"));
        SplitBlock { loc, before, after: r.split_block(op) }
    }

    /// Moves the blocks of a region before the second half. Returns its first block and the terminator of its last.
    fn inline(&self, r: &mut ConversionRewriter<'_>, region: Region) -> (Block, Op) {
        let ends = (r.module().only_block(region), terminator(r.module(), region));
        r.inline_region_before(region, self.after);
        ends
    }

    /// Creates a block before `next`.
    fn block(&self, r: &mut ConversionRewriter<'_>, next: Block) -> Block {
        let region = r.module().parent_region(next).expect("the block is in a region");
        r.create_block(region, Some(next), &[])
    }
}

/// Returns the terminator of the last block of a region.
fn terminator(m: &Module, region: Region) -> Op {
    m.region_blocks(region).next_back().and_then(|b| m.last_op(b)).expect("the region has a terminator")
}

/// Appends a branch to a block.
fn branch(r: &mut ConversionRewriter<'_>, from: Block, loc: Loc, dest: Block, values: &[Value]) {
    r.build(InsertPoint::End(from), |b| BranchOp::build(b, loc, values, dest, &[]));
}

/// Replaces a terminator by a branch.
fn branch_instead(r: &mut ConversionRewriter<'_>, end: Op, dest: Block, values: &[Value]) {
    let loc = r.module().loc(end);
    r.build(InsertPoint::Before(end), |b| BranchOp::build(b, loc, values, dest, &[]));
    r.erase(end);
}

/// Adds block arguments with the types of `values`.
fn args_like(r: &mut ConversionRewriter<'_>, block: Block, values: &[Value]) -> ValueList {
    let one = |&v: &Value| {
        let (ty, loc) = (r.module().value_type(v), r.module().value_loc(v));
        r.add_block_arg(block, ty, loc)
    };
    values.iter().map(one).collect()
}

/// Replaces block arguments by values.
fn bind_args(r: &mut ConversionRewriter<'_>, block: Block, values: &[Value]) {
    let mut signature = SignatureConversion::default();
    values.iter().for_each(|&value| signature.push_values(&[value]));
    r.convert_block(block, &signature);
}

/// A counted loop under construction: its header and the header's arguments.
struct Loop {
    header: Block,
    /// The induction variable and the loop-carried values.
    args: ValueList,
}

/// The bounds of a loop, and the signedness of their comparison.
struct CountedRange {
    lower: Value,
    upper: Value,
    step: Value,
    unsigned: bool,
}

impl Loop {
    /// Creates the header before `body`, which branches to `body` or `exit`.
    fn open(
        r: &mut ConversionRewriter<'_>,
        place: &SplitBlock,
        from: Block,
        bounds: &CountedRange,
        inits: &[Value],
        [body, exit]: [Block; 2],
    ) -> Loop {
        let loc = place.loc;
        let header = place.block(r, body);
        let entering: Vec<Value> = [bounds.lower].into_iter().chain(inits.iter().copied()).collect();
        let args = args_like(r, header, &entering);
        branch(r, from, loc, header, &entering);
        // The predicates `slt` and `ult`.
        let predicate = r.module().ctx.int_attr(Type::I64, if bounds.unsigned { 6 } else { 2 });
        r.build(InsertPoint::End(header), |b| {
            let goes_on = CmpIOp::build(b, loc, args[0], bounds.upper, predicate, &[]).result(b.module);
            CondBranchOp::build(b, loc, goes_on, &[], &[], None, body, exit, &[]);
        });
        Loop { header, args }
    }

    /// Appends the increment and the back edge to `block`.
    fn close(&self, r: &mut ConversionRewriter<'_>, loc: Loc, block: Block, step: Value, values: &[Value]) {
        r.build(InsertPoint::End(block), |b| {
            let wraps = b.module.ctx.default_attr("#arith.overflow<none>");
            let next = AddIOp::build(b, loc, self.args[0], step, wraps, &[]).result(b.module);
            let values: Vec<Value> = [next].into_iter().chain(values.iter().copied()).collect();
            BranchOp::build(b, loc, &values, self.header, &[]);
        });
    }
}

fn lower_for(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (ForOp(op), r.module());
    let (inits, region, unsigned) = (this.init_args(m), this.region(m), this.unsigned_cmp(m).is_some());
    let bounds = CountedRange { lower: this.lower_bound(m), upper: this.upper_bound(m), step: this.step(m), unsigned };
    let place = SplitBlock::open(r, op);
    let (body, end) = place.inline(r, region);
    let made = Loop::open(r, &place, place.before, &bounds, &inits, [body, place.after]);
    bind_args(r, body, &made.args);
    let (last, yielded) = take_terminator(r, end);
    made.close(r, place.loc, last, bounds.step, &yielded);
    r.replace(op, &made.args[1..]);
    Ok(())
}

/// Erases a terminator. Returns its block and operands.
fn take_terminator(r: &mut ConversionRewriter<'_>, end: Op) -> (Block, ValueList) {
    let (block, operands) =
        (r.module().parent_block(end).expect("the op is in a block"), r.module().operands(end).into());
    r.erase(end);
    (block, operands)
}

fn lower_if(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (IfOp(op), r.module());
    let (condition, results): (Value, ValueList) = (this.condition(m), m.results(op).collect());
    let (then_region, else_region) = (this.then_region(m), this.else_block(m).map(|_| this.else_region(m)));
    let place = SplitBlock::open(r, op);
    let (yes, yes_end) = place.inline(r, then_region);
    let no = else_region.map(|region| place.inline(r, region));
    let mut join = place.after;
    if !results.is_empty() {
        join = place.block(r, place.after);
        branch(r, join, place.loc, place.after, &[]);
    }
    let args = args_like(r, join, &results);
    r.replace(op, &args);
    for end in [Some(yes_end), no.map(|(_, end)| end)].into_iter().flatten() {
        let values = YieldOp(end).results(r.module());
        branch_instead(r, end, join, &values);
    }
    let no = no.map_or(place.after, |(block, _)| block);
    r.build(InsertPoint::End(place.before), |b| {
        CondBranchOp::build(b, place.loc, condition, &[], &[], None, yes, no, &[])
    });
    Ok(())
}

fn lower_while(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (WhileOp(op), r.module());
    let (inits, [before, after]) = (this.inits(m), [this.before(m), this.after(m)]);
    let place = SplitBlock::open(r, op);
    let (before, decides) = place.inline(r, before);
    branch(r, place.before, place.loc, before, &inits);
    let m = r.module();
    let (condition, values) = (ConditionOp(decides).condition(m), ConditionOp(decides).args(m));
    let mut next = before;
    if !passes_on(m, after) {
        let (entry, end) = place.inline(r, after);
        let yielded = YieldOp(end).results(r.module());
        branch_instead(r, end, before, &yielded);
        next = entry;
    }
    let loc = r.module().loc(decides);
    r.build(InsertPoint::Before(decides), |b| {
        CondBranchOp::build(b, loc, condition, &values, &[], None, next, place.after, &[])
    });
    r.erase(decides);
    r.replace(op, &values);
    Ok(())
}

/// Whether the second region of a `scf.while` only forwards its arguments, so that it needs no block.
fn passes_on(m: &Module, after: Region) -> bool {
    let after = m.only_block(after);
    let first = m.first_op(after).expect("the region has a terminator");
    let is_same = m.successors(first).is_empty() && *m.operands(first) == *m.block_args(after);
    is_same && YieldOp::cast(m, first).is_some()
}

fn lower_execute_region(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let m = r.module();
    let region = ExecuteRegionOp(op).region(m);
    let ends: Vec<Op> = m.region_blocks(region).filter_map(|b| m.last_op(b)).collect();
    let place = SplitBlock::open(r, op);
    let (entry, _) = place.inline(r, region);
    branch(r, place.before, place.loc, entry, &[]);
    join_at(r, op, place.after, ends.into_iter());
    Ok(())
}

/// Replaces the results of `op` by arguments of `block`, to which the yielding `ends` branch.
fn join_at(r: &mut ConversionRewriter<'_>, op: Op, block: Block, ends: impl Iterator<Item = Op>) {
    let results: ValueList = r.module().results(op).collect();
    let args = args_like(r, block, &results);
    r.replace(op, &args);
    for end in ends {
        if YieldOp::cast(r.module(), end).is_some() {
            let values = YieldOp(end).results(r.module());
            branch_instead(r, end, block, &values);
        }
    }
}

fn lower_switch(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (IndexSwitchOp(op), r.module());
    let (arg, cases) = (this.arg(m), this.cases(m).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default());
    let regions: Vec<Region> = m.regions(op).to_vec();
    let place = SplitBlock::open(r, op);
    let mut inlined: Vec<(Block, Op)> = regions[1..].iter().map(|&region| place.inline(r, region)).collect();
    let default = place.inline(r, regions[0]);
    let dests: Vec<Block> = inlined.iter().map(|(block, _)| *block).collect();
    inlined.push(default);
    r.build(InsertPoint::End(place.before), |b| {
        let flag = IndexCastOp::build(b, place.loc, arg, &[Type::I64]).out(b.module);
        SwitchOp::build_cases(b, place.loc, flag, default.0, &cases, &dests);
    });
    join_at(r, op, place.after, inlined.into_iter().map(|(_, end)| end));
    Ok(())
}

fn lower_parallel(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (ParallelOp(op), r.module());
    let bounds = bounds(&this.lower_bound(m), &this.upper_bound(m), &this.step(m));
    let (inits, region) = (this.init_vals(m), this.region(m));
    let place = SplitBlock::open(r, op);
    let (body, end) = place.inline(r, region);
    let results = nest(r, &place, &bounds, &inits, body, |r, reduced| {
        let (values, regions) = (ValueList::from(r.module().operands(end)), r.module().regions(end).to_vec());
        let pairs = reduced.iter().zip(values).zip(regions);
        let next = pairs.map(|((&reduced, value), region)| inline_reduction(r, end, region, [reduced, value]));
        let next = next.collect();
        (take_terminator(r, end).0, next)
    });
    r.replace(op, &results);
    Ok(())
}

/// Inlines a reduction region at the end of an iteration. Returns the combined value.
fn inline_reduction(r: &mut ConversionRewriter<'_>, end: Op, region: Region, args: [Value; 2]) -> Value {
    let m = r.module();
    let (entry, returns, is_one) = (m.only_block(region), terminator(m, region), m.has_one_block(region));
    let home = m.parent_block(end).expect("the op is in a block");
    bind_args(r, entry, &args);
    let result = ReduceReturnOp(returns).result(r.module());
    let (last, _) = take_terminator(r, returns);
    if is_one {
        r.inline_block_before(entry, end, &[]);
        return result;
    }
    // The first block continues the iteration, which ends in the last block.
    r.move_op(end, InsertPoint::End(last));
    r.merge_blocks(entry, home, &[]);
    let next = r.module().next_block(home).expect("another block follows the loop");
    r.inline_region_before(region, next);
    result
}

fn bounds(lower: &[Value], upper: &[Value], step: &[Value]) -> Vec<CountedRange> {
    let dims = lower.iter().zip(upper).zip(step);
    dims.map(|((&lower, &upper), &step)| CountedRange { lower, upper, step, unsigned: false }).collect()
}

/// Creates a loop per dimension around `body`, whose arguments are the induction variables. `finish` receives the
/// carried values of the innermost iteration and returns its last block and the values to carry on. Returns the final
/// values.
fn nest<'m>(
    r: &mut ConversionRewriter<'m>,
    place: &SplitBlock,
    bounds: &[CountedRange],
    inits: &[Value],
    body: Block,
    finish: impl FnOnce(&mut ConversionRewriter<'m>, &[Value]) -> (Block, ValueList),
) -> ValueList {
    let mut loops: Vec<Loop> = Vec::new();
    // The exit of each loop: the second half of the split block, or the end of the enclosing iteration.
    let mut exits = vec![place.after];
    let (mut from, mut values) = (place.before, ValueList::from(inits));
    for (i, dim) in bounds.iter().enumerate() {
        if i > 0 {
            exits.push(place.block(r, exits[i - 1]));
        }
        let inner = if i + 1 < bounds.len() { place.block(r, body) } else { body };
        let made = Loop::open(r, place, from, dim, &values, [inner, exits[i]]);
        values = made.args[1..].into();
        loops.push(made);
        from = inner;
    }
    let ivs: Vec<Value> = loops.iter().map(|l| l.args[0]).collect();
    bind_args(r, body, &ivs);
    let (mut last, mut next) = finish(r, &values);
    if loops.is_empty() {
        // Without dimensions there is one iteration.
        branch(r, place.before, place.loc, body, &[]);
        branch(r, last, place.loc, place.after, &[]);
    }
    for (i, (made, dim)) in loops.iter().zip(bounds).enumerate().rev() {
        made.close(r, place.loc, last, dim.step, &next);
        last = exits[i];
        next = made.args[1..].into();
    }
    next
}

fn lower_forall(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    if r.module().num_results(op) > 0 {
        return Err("its results are tensors, which are to be bufferized first".into());
    }
    let [lower, upper, step] = [0, 1, 2].map(|i| controls(r, ForallOp(op), i));
    let (bounds, region) = (bounds(&lower, &upper, &step), ForallOp(op).region(r.module()));
    let place = SplitBlock::open(r, op);
    let (body, end) = place.inline(r, region);
    nest(r, &place, &bounds, &[], body, |r, _| (take_terminator(r, end).0, ValueList::new()));
    r.erase(op);
    Ok(())
}

/// Returns the bounds or steps of a `scf.forall`; static ones become constants.
fn controls(r: &mut ConversionRewriter<'_>, op: ForallOp, i: usize) -> Vec<Value> {
    let m = r.module();
    let (loc, statics) = (m.loc(op.0), op.statics(m, i));
    let mut values = m.operand_group(op.0, i).into_iter();
    r.build(InsertPoint::Before(op.0), |b| {
        let control = |n: i64| match n {
            DYNAMIC => values.next().expect("there is a value for every placeholder"),
            _ => {
                let attr = b.module.ctx.int_attr(Type::INDEX, n);
                ConstantOp::build(b, loc, attr, &[]).result(b.module)
            }
        };
        statics.into_iter().map(control).collect()
    })
}
