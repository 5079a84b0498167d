//! `scf-parallel-loop-tiling`: tiling of parallel loops.

use gradus_dialects::affine::MinOp;
use gradus_dialects::arith::int_predicate::{SLT, ULE};
use gradus_dialects::arith::{AddIOp, AndIOp, CmpIOp, MulIOp, SelectOp};
use gradus_dialects::scf::{IfOp, ParallelOp, ReduceOp, YieldOp};
use gradus_ir::affine::{AffineExpr, AffineMap};
use gradus_ir::pass::{OptionKind, Options, PassOption, Rewrites};
use gradus_ir::{
    Attr, AttrData, Builder, Diagnostic, Loc, Module, Op, OpDecl, Pass, PassContext, PassInfo, Type, Value, ValueList,
};
use rustc_hash::FxHashSet;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "scf-parallel-loop-tiling",
    class: "SCFParallelLoopTiling",
    doc: "Tile parallel loops

# Before / After

```mlir
scf.parallel (%i) = (%a) to (%b) step (%s) {    // becomes:   %t = arith.muli %s, %c4 : index
  \"f\"(%i) : (index) -> ()                       //            scf.parallel (%j) = (%a) to (%b) step (%t) {
}                                               //              %n = affine.min (%t, %b - %j)
                                                //              scf.parallel (%k) = (%c0) to (%n) step (%s) {
                                                //                %i = arith.addi %k, %j : index
                                                //                \"f\"(%i) : (index) -> ()
                                                //            } }
```

# Does

Tiles innermost parallel loops. A partial last tile has a smaller bound or, with `no-min-max-bounds`, the full size and a condition in
its body. Dimensions without a given size have tile size 1. Tiles have one iteration where the product of tile size and a step that is
not constant is too large.

# Refuses

Loops with reductions, and with a constant step whose product with the tile size is too large.

# Cost

Linear in the number of ops.",
    options: &[
        PassOption {
            name: "parallel-loop-tile-sizes",
            doc: "Factors to tile parallel loops by",
            kind: OptionKind::List,
        },
        PassOption {
            name: "no-min-max-bounds",
            doc: "Perform tiling with fixed upper bound with inbound check inside the internal loops",
            kind: OptionKind::Bool(false),
        },
    ],
    statistics: &[("num-tiled", "Number of loops tiled")],
    rewrites: Rewrites::Tags(&["tile"]),
    samples: &[
        ("parallel-loop-tile-sizes", |_| ["2", "1,3", "3,2", "2,1,2"].map(str::to_owned).into()),
    ],
    make: |options| Ok(Box::new(TileParallel::new(options)?)),
    ..PassInfo::DEFAULT
};

/// Maximum extent of a tile. It is a bound of the inner loop, and the step after the last tile does not overflow.
const MAX_EXTENT: i64 = 1 << 61;

struct TileParallel {
    sizes: Vec<i64>,
    checks: bool,
}

impl TileParallel {
    fn new(options: &Options) -> Result<TileParallel, String> {
        let size = |text: &String| match text.parse() {
            Ok(0) => Err("tile size cannot be 0".into()),
            Ok(size @ 1..) => Ok(size),
            _ => Err(format!("for the --parallel-loop-tile-sizes option: '{text}' is not a tile size")),
        };
        let sizes = options.list("parallel-loop-tile-sizes").iter().map(size).collect::<Result<_, String>>()?;
        Ok(TileParallel { sizes, checks: options.bool("no-min-max-bounds") })
    }
}

impl Pass for TileParallel {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for this in innermost(m, root) {
            if m.num_results(this.0) == 0 && cx.allows("tile", m, this.0) {
                cx.count("num-tiled", self.tile(m, this).into());
            }
        }
        Ok(())
    }
}

/// Returns the innermost parallel loops.
fn innermost(m: &Module, root: Op) -> Vec<ParallelOp> {
    let (mut holders, mut found) = (FxHashSet::default(), Vec::new());
    for op in m.ops_under(root).into_iter().rev() {
        let this = ParallelOp::cast(m, op);
        if let Some(parent) = m.parent_op(op).filter(|_| this.is_some() || holders.contains(&op)) {
            holders.insert(parent);
        }
        found.extend(this.filter(|_| !holders.contains(&op)));
    }
    found.reverse();
    found
}

/// A tiled dimension.
#[derive(Clone, Copy)]
struct Dim {
    lower: Value,
    upper: Value,
    step: Value,
    size: i64,
}

impl Dim {
    /// Whether the tile size divides the trip count.
    fn is_even(&self, m: &Module) -> bool {
        let constants = m.constant_int(self.lower).zip(m.constant_int(self.upper)).zip(m.constant_int(self.step));
        let Some(((lower, upper), step @ 1..)) = constants else { return false };
        let distance = (i128::from(upper) - i128::from(lower)).max(0);
        // The trip count, rounded up.
        (distance + i128::from(step) - 1) / i128::from(step) % i128::from(self.size) == 0
    }

    /// Whether the extent of a tile is not too large, if the step is constant.
    fn has_extent(&self, m: &Module) -> bool {
        m.constant_int(self.step).is_none_or(|step| step.checked_mul(self.size).is_some_and(|n| n <= MAX_EXTENT))
    }

    /// Creates the step from tile to tile and the extent of a tile, of `size` iterations or, where that is too large, of one.
    fn extents(&self, b: &mut Builder<'_>, loc: Loc, size: Value) -> [Value; 2] {
        let wraps = no_promise(b);
        let extent = MulIOp::build(b, loc, self.step, size, wraps, &[]).result(b.module);
        if b.module.constant_int(self.step).is_some() {
            return [extent; 2];
        }
        let [most, one] = [MAX_EXTENT / self.size, 1].map(|n| index(b, loc, n));
        let fits = compare(b, loc, ULE, self.step, most);
        [self.step, one].map(|other| SelectOp::build(b, loc, fits, extent, other, &[Type::INDEX]).result(b.module))
    }
}

impl TileParallel {
    /// Tiles a loop; returns whether it did.
    fn tile(&self, m: &mut Module, this: ParallelOp) -> bool {
        let loc = m.loc(this.0);
        let sizes = self.sizes.iter().copied().chain(std::iter::repeat(1));
        let bounds = this.lower_bound(m).into_iter().zip(this.upper_bound(m)).zip(this.step(m)).zip(sizes);
        let dims: Vec<Dim> = bounds.map(|(((lower, upper), step), size)| Dim { lower, upper, step, size }).collect();
        if !dims.iter().all(|dim| dim.has_extent(m)) {
            return false;
        }
        let mut b = Builder::before(m, this.0);
        let zero = index(&mut b, loc, 0);
        let sizes: Vec<Value> = dims.iter().map(|dim| index(&mut b, loc, dim.size)).collect();
        let extents = dims.iter().zip(sizes).map(|(dim, size)| dim.extents(&mut b, loc, size));
        let (steps, extents): (Vec<Value>, Vec<Value>) = extents.map(|[step, extent]| (step, extent)).unzip();
        let column = |part: fn(&Dim) -> Value| dims.iter().map(part).collect::<Vec<Value>>();
        let outer = parallel(&mut b, loc, &column(|d| d.lower), &column(|d| d.upper), &steps);
        let at: ValueList = m.block_args(outer.body(m)).into();
        let mut b = Builder::before(m, outer.reduce(m).0);
        let ends: Vec<Value> =
            (0..dims.len()).map(|i| self.box_end(&mut b, loc, &dims[i], extents[i], at[i])).collect();
        let inner = parallel(&mut b, loc, &vec![zero; dims.len()], &ends, &column(|d| d.step));
        let all_even = dims.iter().all(|dim| dim.is_even(m));
        fill(m, this, inner, &at, if self.checks && !all_even { &dims } else { &[] });
        m.erase_op(this.0);
        true
    }

    /// Returns the upper bound of a tile that starts at `at`, relative to `at`.
    fn box_end(&self, b: &mut Builder<'_>, loc: Loc, dim: &Dim, extent: Value, at: Value) -> Value {
        if self.checks || dim.is_even(b.module) {
            return extent;
        }
        let [full, upper, at_dim] = [0, 1, 2].map(AffineExpr::Dim);
        let map = AffineMap::new(3, 0, [full, upper - at_dim]);
        let map = b.module.ctx.attr(AttrData::AffineMap(Box::new(map)));
        MinOp::build(b, loc, &[extent, dim.upper, at], map, &[Type::INDEX]).result(b.module)
    }
}

/// Moves the body of `from` into the loop over a tile at `at`, guarded by the bounds of the `checked` dimensions.
fn fill(m: &mut Module, from: ParallelOp, to: ParallelOp, at: &[Value], checked: &[Dim]) {
    let (loc, body) = (m.loc(from.0), from.body(m));
    let (args, own): (ValueList, ValueList) = (m.block_args(body).into(), m.block_args(to.body(m)).into());
    let mut b = Builder::before(m, to.reduce(m).0);
    let wraps = no_promise(&b);
    let vars: Vec<Value> = own
        .iter()
        .zip(at)
        .map(|(&inner, &outer)| AddIOp::build(&mut b, loc, inner, outer, wraps, &[]).result(b.module))
        .collect();
    let mut inside = None;
    for (dim, &var) in checked.iter().zip(&vars) {
        let below = compare(&mut b, loc, SLT, var, dim.upper);
        inside = Some(match inside {
            Some(others) => AndIOp::build(&mut b, loc, others, below, &[]).result(b.module),
            None => below,
        });
    }
    let condition = inside.map(|inside| IfOp::build(&mut b, loc, inside, &[]));
    for (arg, var) in args.into_iter().zip(vars) {
        m.replace_all_uses(arg, var);
    }
    let end = from.reduce(m).0;
    let ops = m.first_op(body).zip(m.prev_op(end));
    let (block, next) = match condition {
        None => (to.body(m), Some(to.reduce(m).0)),
        Some(condition) => {
            let block = m.add_block(condition.then_region(m));
            (block, Some(YieldOp::build(&mut Builder::at_end(m, block), loc, &[], &[]).0))
        }
    };
    if let Some((first, last)) = ops {
        m.move_ops(first, last, block, next);
    }
}

/// Creates a loop without reductions and with an empty body.
fn parallel(b: &mut Builder<'_>, loc: Loc, lower: &[Value], upper: &[Value], step: &[Value]) -> ParallelOp {
    let this = ParallelOp::build(b, loc, lower, upper, step, &[], &[]);
    let m = &mut *b.module;
    let body = m.add_block(this.region(m));
    for _ in lower {
        m.add_block_arg(body, Type::INDEX, loc);
    }
    ReduceOp::build(&mut Builder::at_end(m, body), loc, &[], &[]);
    this
}

fn index(b: &mut Builder<'_>, loc: Loc, value: i64) -> Value {
    let attr = b.module.ctx.int_attr(Type::INDEX, value);
    b.constant(attr, Type::INDEX, "arith", loc).expect("arith has constants of type index")
}

fn compare(b: &mut Builder<'_>, loc: Loc, predicate: i64, lhs: Value, rhs: Value) -> Value {
    let predicate = b.module.ctx.int_attr(Type::I64, predicate);
    CmpIOp::build(b, loc, lhs, rhs, predicate, &[]).result(b.module)
}

fn no_promise(b: &Builder<'_>) -> Attr {
    b.module.ctx.default_attr("#arith.overflow<none>")
}
