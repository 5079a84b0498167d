//! The choices for the layers of a program: `#cluster.split`, `#cluster.reads`.

use crate::parameters::{number, word};
use gradus_dialects::constraint::{I64, STRING};
use gradus_ir::{Attr, AttrDecl, Context, ParamArgs, ParamError, Type, attr};

/// The division of a layer among clusters, its tiles, and where its result is.
///
/// Each of `clusters` clusters has a range of the result along `axis`. With several groups of clusters, each group has a range along
/// `outer`, of which its clusters have parts. A layer is executed in `tiles` tiles of rows; with `then = "tiles"` the next layer is
/// executed with it, tile by tile. The result is in the memories of the clusters, or goes to DDR.
#[attr(
    "cluster.split",
    verify = |params| LayerSplit::of(params).map(drop),
    examples = &["\"rows\", 5", "\"columns\", 4, groups = 2, outer = \"channels\", tiles = 4, then = \"tiles\", to = \"ddr\""]
)]
pub struct SplitAttr {
    /// The axis that the clusters of a group divide: `rows`, `columns` or `channels`.
    axis: Param<STRING>,
    /// Number of clusters that have a part.
    clusters: Param<I64>,
    /// Number of groups of clusters.
    #[default = "1"]
    groups: Param<I64>,
    /// The axis that groups divide.
    #[default = "\"\""]
    outer: Param<STRING>,
    /// Number of tiles of rows.
    #[default = "1"]
    tiles: Param<I64>,
    /// `layers`, or `tiles` if the next layer takes turns with this one by tiles.
    #[default = "\"layers\""]
    then: Param<STRING>,
    /// `spm` or `ddr`.
    #[default = "\"spm\""]
    to: Param<STRING>,
}

/// The data of `#cluster.split`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayerSplit {
    /// The axis that the clusters of a group divide: rows, columns, channels.
    pub axis: usize,
    /// Number of clusters that have a part.
    pub clusters: u32,
    /// Number of groups.
    pub groups: u32,
    /// The axis that groups divide, `None` for one group.
    pub outer: Option<usize>,
    /// Number of tiles of rows.
    pub tiles: u32,
    /// Whether the next layer takes turns with this one by tiles.
    pub joins_next: bool,
    /// Whether the result goes to DDR.
    pub to_ddr: bool,
}

/// Names of the axes.
const AXES: [&str; 3] = ["rows", "columns", "channels"];

impl LayerSplit {
    fn of(params: &ParamArgs<'_>) -> Result<LayerSplit, ParamError> {
        let split = LayerSplit {
            axis: word(params, "axis", &AXES)?,
            clusters: number(params, "clusters", 1)?,
            groups: number(params, "groups", 1)?,
            outer: word(params, "outer", &["", AXES[0], AXES[1], AXES[2]])?.checked_sub(1),
            tiles: number(params, "tiles", 1)?,
            joins_next: word(params, "then", &["layers", "tiles"])? == 1,
            to_ddr: word(params, "to", &["spm", "ddr"])? == 1,
        };
        if split.groups > split.clusters {
            return Err("requires no more groups than clusters".into());
        }
        if (split.groups > 1) != split.outer.is_some() || split.outer == Some(split.axis) {
            return Err("requires another axis 'outer' if, and only if, there are several groups".into());
        }
        Ok(split)
    }

    /// Returns the data of an attribute `#cluster.split`.
    pub fn from_attr(ctx: &Context, attr: Attr) -> Option<LayerSplit> {
        LayerSplit::of(&SplitAttr::cast(ctx, attr)?.params(ctx)).ok()
    }

    /// Returns the attribute. Panics if the context has no dialect `cluster`, or if groups have no axis.
    pub fn to_attr(&self, ctx: &Context) -> Attr {
        let int = |n: u32| ctx.int_attr(Type::I64, i64::from(n));
        let attr = SplitAttr::get(
            ctx,
            ctx.string_attr(AXES[self.axis]),
            int(self.clusters),
            int(self.groups),
            ctx.string_attr(self.outer.map_or("", |axis| AXES[axis])),
            int(self.tiles),
            ctx.string_attr(if self.joins_next { "tiles" } else { "layers" }),
            ctx.string_attr(if self.to_ddr { "ddr" } else { "spm" }),
        );
        attr.expect("a division of a layer is one").0
    }
}

/// How constants are read from DDR.
#[attr("cluster.reads", verify = |params| Reads::of(params).map(drop), examples = &["slice = 65536, fill = 50, effort = 300000"])]
pub struct ReadsAttr {
    /// Largest number of bytes that are read at once.
    #[default = "0"]
    slice: Param<I64>,
    /// Percentage of the memory of a cluster that early reads may fill.
    #[default = "100"]
    fill: Param<I64>,
    /// Steps of the planner of memory.
    #[default = "0"]
    effort: Param<I64>,
}

/// The data of `#cluster.reads`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reads {
    /// Largest number of bytes that are read at once.
    pub slice: u32,
    /// Percentage of the memory of a cluster that early reads may fill.
    pub fill: u32,
    /// Steps of the planner of memory.
    pub effort: u32,
}

impl Reads {
    fn of(params: &ParamArgs<'_>) -> Result<Reads, ParamError> {
        let [slice, fill, effort] =
            [number(params, "slice", 1)?, number(params, "fill", 0)?, number(params, "effort", 0)?];
        Ok(Reads { slice, fill, effort })
    }

    /// Returns the data of an attribute `#cluster.reads`.
    pub fn from_attr(ctx: &Context, attr: Attr) -> Option<Reads> {
        Reads::of(&ReadsAttr::cast(ctx, attr)?.params(ctx)).ok()
    }

    /// Returns the attribute. Panics if the context has no dialect `cluster`.
    pub fn to_attr(&self, ctx: &Context) -> Attr {
        let int = |n: u32| ctx.int_attr(Type::I64, i64::from(n));
        ReadsAttr::get(ctx, int(self.slice), int(self.fill), int(self.effort)).expect("slices have bytes").0
    }
}
