//! `affine-loop-tile`: loop tiling of affine loop nests.

use gradus_dialects::affine::{ForOp, footprint, is_permutable, perfect_nest, tile};
use gradus_dialects::loops::CountedLoop;
use gradus_ir::pass::{OptionKind, Options, PassOption, Rewrites};
use gradus_ir::{Diagnostic, Module, Op, OpDecl, Pass, PassContext, PassInfo, Traits};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "affine-loop-tile",
    doc: "Tile affine loop nests

# Before / After

```mlir
affine.for %i = 0 to 64 {           // becomes:   affine.for %ii = 0 to 64 step 32 {
  affine.for %j = 0 to %n {         //              affine.for %jj = 0 to %n step 32 {
    affine.store %v, %m[%i, %j]     //                affine.for %i = %ii to %ii + 32 {
  }                                 //                  affine.for %j = %jj to min(%jj + 32, %n) {
}                                   //                    affine.store %v, %m[%i, %j]
                                    //                  } } } }
```

# Does

Tiles perfect loop nests whose outermost loop is at the top level of a function. Without given sizes, tile sizes are chosen such
that the footprint of a tile fits in the cache and that they divide the trip counts; they are 4 if the footprint is unknown. With
`separate`, full tiles have loops of their own with simple bounds, selected by a condition.

# Refuses

Loops with carried values, bounds that depend on outer loops, and nests with a dependence that tiling may violate, with a remark.
Distinct memrefs may alias unless they are (views of) different allocations or globals, an allocation and an argument, results of
one `memref.distinct_objects`, or arguments of which one has `llvm.noalias`. Unregistered ops may have any effect.

# Cost

Linear in the number of ops, and quadratic in the number of distinct accesses of a nest.",
    options: &[
        PassOption {
            name: "cache-size",
            doc: "Set size of cache to tile for in KiB (default: 512)",
            kind: OptionKind::Int(512),
        },
        PassOption {
            name: "separate",
            doc: "Separate full and partial tiles (default: false)",
            kind: OptionKind::Bool(false),
        },
        PassOption { name: "tile-size", doc: "Use this tile size for all loops", kind: OptionKind::Int(0) },
        PassOption {
            name: "tile-sizes",
            doc: "List of tile sizes for each perfect nest (overridden by -tile-size)",
            kind: OptionKind::List,
        },
    ],
    statistics: &[("num-tiled", "Number of nests tiled")],
    rewrites: Rewrites::Tags(&["tile"]),
    samples: &[
        ("tile-sizes", |_| ["2", "2,3", "3,1,2"].map(str::to_owned).into()),
    ],
    make: |options| Ok(Box::new(AffineLoopTile::new(options)?)),
    ..PassInfo::DEFAULT
};

/// Default tile size.
const DEFAULT_SIZE: u32 = 4;

/// Maximum tile size chosen from the cache size, since divisors are searched one by one.
const MAX_CHOSEN_SIZE: u32 = 1 << 16;

struct AffineLoopTile {
    /// Cache size in bytes.
    cache: u64,
    size: Option<u32>,
    sizes: Vec<u32>,
    separate: bool,
}

impl AffineLoopTile {
    fn new(options: &Options) -> Result<AffineLoopTile, String> {
        let positive = |text: &str| {
            let size = text.parse().ok().filter(|&size: &u32| size > 0);
            size.ok_or_else(|| format!("for the --tile-sizes option: '{text}' is not a tile size"))
        };
        let Ok(size) = u32::try_from(options.int("tile-size")) else {
            return Err("for the --tile-size option: the size must not be negative".into());
        };
        let cache = u64::try_from(options.int("cache-size")).ok().and_then(|size| size.checked_mul(1024));
        Ok(AffineLoopTile {
            cache: cache.filter(|&size| size > 0).ok_or("for the --cache-size option: the size must be positive")?,
            size: Some(size).filter(|&size| size > 0),
            sizes: options.list("tile-sizes").iter().map(|text| positive(text)).collect::<Result<_, _>>()?,
            separate: options.bool("separate"),
        })
    }

    /// Returns the tile size of each loop of a nest.
    fn sizes(&self, m: &Module, nest: &[ForOp]) -> Vec<u32> {
        if let Some(size) = self.size {
            return vec![size; nest.len()];
        }
        if !self.sizes.is_empty() {
            return self.sizes.iter().copied().chain(std::iter::repeat(DEFAULT_SIZE)).take(nest.len()).collect();
        }
        let Some(bytes) = footprint(m, nest[0]) else {
            return nest.iter().map(|&l| divisor(m, l, DEFAULT_SIZE)).collect();
        };
        // Minimum number of tiles, which is the product over the loops.
        let excess = bytes.div_ceil(self.cache);
        if excess <= 1 {
            return vec![1; nest.len()];
        }
        let root = (excess as f64).powf(1.0 / nest.len() as f64).floor() as u32;
        let others = u64::from(root).saturating_pow(nest.len() as u32 - 1);
        let last = u32::try_from((excess / others).max(1)).unwrap_or(u32::MAX);
        let size = |(i, &l): (usize, &ForOp)| divisor(m, l, if i + 1 < nest.len() { root } else { last });
        nest.iter().enumerate().map(size).collect()
    }
}

/// Returns the greatest divisor of the trip count that is at most `size` and half the trip count.
fn divisor(m: &Module, this: ForOp, size: u32) -> u32 {
    let size = size.min(MAX_CHOSEN_SIZE);
    let Some(trips) = this.trip_count(m) else { return size };
    let most = if trips > 1 { (trips / 2).min(size.into()) } else { size.into() };
    (1..=most as u32).rev().find(|&size| trips % u64::from(size) == 0).unwrap_or(1)
}

impl Pass for AffineLoopTile {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let at_top = |m: &Module, op| m.parent_op(op).is_some_and(|around| m.has_trait(around, Traits::FUNCTION));
        let mut roots = m.ops_under(op);
        // Tiling erases the other loops of a nest.
        roots.retain(|&op| ForOp::cast(m, op).is_some() && at_top(m, op));
        for op in roots {
            let root = ForOp(op);
            let nest = perfect_nest(m, root);
            let sizes = self.sizes(m, &nest);
            // Tiles that extend only along the innermost loop keep the order of iterations.
            let keeps_order = sizes[..sizes.len() - 1].iter().all(|&size| size == 1);
            if !keeps_order && !is_permutable(m, &nest) {
                cx.emit(Diagnostic::remark(m.loc(op), "tiling nest is invalid due to dependences"));
                continue;
            }
            if cx.allows("tile", m, op) && tile(m, &nest, &sizes, self.separate) {
                cx.count("num-tiled", 1);
            }
        }
        Ok(())
    }
}
