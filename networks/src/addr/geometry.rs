//! Geometries: from what an address table is computed, as a struct and as the attribute `#addr.geometry`.

use crate::layout::{
    AccessFunction, AddressTable, Derivation, Index, Layout, LayoutError, MAX_ENTRIES, ReductionOrder, SlidingWindow,
    TiledLayout, ZERO_PAGE,
};
use gradus_dialects::constraint::{I64, I64_LIST, STRING};
use gradus_ir::{Attr, AttrDecl, Context, ParamArgs, Violation, attr};

/// Numbers per sliding window in the attribute: outputs, taps, stride, dilation, start.
const PER_WINDOW: usize = 5;

/// Name of the discardable attribute of an op that has the geometry of its tables.
pub const GEOMETRY: &str = "addr.geometry";

/// The computation of an address table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// The accesses.
    pub kind: GeometryKind,
    /// The layout of the buffer, with the letters of its [axes](Geometry::axes).
    pub layout: TiledLayout,
    /// Extents of the buffer in logical order: batch, channels and image, or rows and columns.
    pub sizes: Vec<i64>,
    /// Number of groups of channels.
    pub groups: u64,
    /// The window along each axis of the image.
    pub windows: Vec<SlidingWindow>,
    /// The order of the reduction points of a convolution.
    pub order: ReductionOrder,
}

/// The accesses of a geometry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GeometryKind {
    /// The windows of a convolution: rows are output pixels, reduction points are window positions and channels.
    Conv,
    /// The windows of a pool or depthwise convolution, whose result has the layout of the buffer: rows are the places of the
    /// result outside the innermost loop over channels, reduction points are window positions, and each run is that loop;
    /// with another innermost loop, it is a single element.
    Windows,
    /// The rows of a matrix.
    Rows,
}

impl GeometryKind {
    /// All kinds, each at the position of its number in files.
    pub const ALL: [GeometryKind; 3] = [GeometryKind::Conv, GeometryKind::Windows, GeometryKind::Rows];

    /// Returns the word for the kind.
    pub fn name(self) -> &'static str {
        ["conv", "windows", "rows"][self as usize]
    }
}

impl ReductionOrder {
    /// All orders, each at the position of its number in files.
    pub const ALL: [ReductionOrder; 2] = [ReductionOrder::ChannelsFirst, ReductionOrder::ChannelsLast];

    /// Returns the word for the order.
    pub fn name(self) -> &'static str {
        ["channels-first", "channels-last"][self as usize]
    }
}

impl Geometry {
    /// Returns the geometry of the rows of a matrix `[M, K]`.
    ///
    /// # Errors
    /// None in practice: the layout is valid.
    pub fn rows(rows: i64, depth: i64) -> Result<Geometry, LayoutError> {
        let (sizes, layout) = (vec![rows, depth], "MK".parse()?);
        let order = ReductionOrder::ChannelsLast;
        Ok(Geometry { kind: GeometryKind::Rows, layout, sizes, groups: 1, windows: Vec::new(), order })
    }

    /// Returns the letters of the buffer's axes in logical order.
    ///
    /// # Errors
    /// The buffer is not a batch of images of at most three dimensions, or not a matrix.
    pub fn axes(&self) -> Result<&'static str, LayoutError> {
        let rank = self.sizes.len();
        let letters = match self.kind {
            GeometryKind::Rows => ["MK"].get(rank.wrapping_sub(2)),
            GeometryKind::Conv | GeometryKind::Windows => {
                ["NC", "NCW", "NCHW", "NCDHW"].get(rank.wrapping_sub(2)).filter(|_| self.windows.len() + 2 == rank)
            }
        };
        letters.copied().ok_or(LayoutError::Rank { found: self.windows.len(), rank })
    }

    /// Returns the buffer's layout with its extents.
    ///
    /// # Errors
    /// The layout has other dimensions, or is too large.
    pub fn placed(&self) -> Result<Layout, LayoutError> {
        self.layout.of(self.axes()?, &self.sizes)
    }

    /// Returns the access function; that of one channel for [`GeometryKind::Windows`].
    ///
    /// # Errors
    /// Those of [`axes`](Geometry::axes), an extent is negative, or channels are not a multiple of the groups.
    pub fn access(&self) -> Result<AccessFunction, LayoutError> {
        self.axes()?;
        let [first, second] = [0, 1].map(|i| u64::try_from(self.sizes[i]).map_err(|_| LayoutError::Sizes));
        let (first, second) = (first?, second?);
        let [groups, channels] = match self.kind {
            GeometryKind::Rows => return Ok(AccessFunction::rows(first, second)),
            GeometryKind::Windows => [1, 1],
            GeometryKind::Conv if self.groups > 0 && second.is_multiple_of(self.groups) => {
                [self.groups, second / self.groups]
            }
            GeometryKind::Conv => return Err(LayoutError::Sizes),
        };
        Ok(AccessFunction::conv(first, groups, channels, &self.windows, self.order))
    }

    /// Computes the table: separable if the addresses are, otherwise indirect.
    ///
    /// # Errors
    /// Those of the layout, and [`LayoutError::TooLarge`].
    pub fn table(&self, derivation: Derivation) -> Result<AddressTable<'static>, LayoutError> {
        let (access, layout) = (self.access()?, self.placed()?);
        match self.kind {
            GeometryKind::Windows if self.is_channels_last()? => {
                self.runs_of_channels(access.indirect_table_by(&layout, derivation)?)
            }
            GeometryKind::Windows => self.windows_in(&layout),
            GeometryKind::Conv | GeometryKind::Rows => match access.separable_table_by(&layout, derivation) {
                Err(LayoutError::NotSeparable { .. } | LayoutError::OutOfBounds { .. }) => {
                    let entries = access.num_outputs()?.saturating_mul(access.depth()? / access.run(&layout)?);
                    let fits = entries <= MAX_ENTRIES;
                    if fits { access.indirect_table_by(&layout, derivation) } else { Err(LayoutError::TooLarge) }
                }
                other => other,
            },
        }
    }

    /// Returns the table of runs of all channels, from that of the first channel.
    fn runs_of_channels(&self, table: AddressTable<'static>) -> Result<AddressTable<'static>, LayoutError> {
        let channels = usize::try_from(self.sizes[1]).map_err(|_| LayoutError::Sizes)?;
        let table = match table.with_runs(channels) {
            Ok(runs) => return Ok(runs),
            // With a single channel, positions of a row are contiguous, and runs of the table have several.
            Err(table) => table,
        };
        let entry =
            |at: Option<i64>| at.map_or(Ok(ZERO_PAGE), |at| i32::try_from(at).map_err(|_| LayoutError::TooLarge));
        let bases = (0..table.rows()).flat_map(|row| table.row(row)).map(entry).collect::<Result<Vec<_>, _>>()?;
        AddressTable::indirect(bases, [table.rows(), table.depth()], channels).map_err(|_| LayoutError::TooLarge)
    }

    /// Whether the layout is row-major with channels last.
    fn is_channels_last(&self) -> Result<bool, LayoutError> {
        let letters = self.axes()?;
        Ok(self.layout.order() == format!("N{}C", &letters[2..]))
    }

    /// Returns the layout of the result of a pool or depthwise convolution.
    fn result(&self) -> Result<Layout, LayoutError> {
        let outputs = self.windows.iter().map(|w| w.outputs.cast_signed());
        let sizes: Vec<i64> = self.sizes[..2].iter().copied().chain(outputs).collect();
        self.layout.of(self.axes()?, &sizes)
    }

    /// Returns the number of elements in the innermost loop of a layout, if that is over channels.
    fn block(&self, layout: &Layout) -> u64 {
        layout.loop_nest().last().filter(|level| level.axis == 1).map_or(1, |level| level.extent)
    }

    /// Returns the number of rows that are padding of the result's layout and read nothing.
    ///
    /// # Errors
    /// Those of the layout, and [`LayoutError::TooLarge`].
    pub fn padding_rows(&self) -> Result<u64, LayoutError> {
        let result = self.result()?;
        let block = self.block(&result).max(1);
        let rows = result.size() / block;
        if rows > MAX_ENTRIES {
            return Err(LayoutError::TooLarge);
        }
        Ok((0..rows).filter(|&row| result.index(row * block).is_none()).count() as u64)
    }

    /// Computes the table of windows in the order of the result's layout. Time: O(rows * positions).
    fn windows_in(&self, layout: &Layout) -> Result<AddressTable<'static>, LayoutError> {
        let result = self.result()?;
        let (block, taps) = (self.block(&result), self.windows.iter().try_fold(1_u64, |n, w| n.checked_mul(w.taps)));
        let (rows, taps) = (result.size().checked_div(block).unwrap_or(0), taps.ok_or(LayoutError::TooLarge)?);
        if rows.saturating_mul(taps) > MAX_ENTRIES || layout.size() > i32::MAX as u64 {
            return Err(LayoutError::TooLarge);
        }
        let mut bases = Vec::with_capacity((rows * taps) as usize);
        for row in 0..rows {
            let output = result.index(row * block);
            for tap in 0..taps {
                let at = output.as_ref().and_then(|output| self.input(layout, output, tap));
                bases.push(at.map_or(ZERO_PAGE, |at| at as i32));
            }
        }
        let extents = [rows as usize, taps as usize];
        AddressTable::indirect(bases, extents, block as usize).map_err(|_| LayoutError::TooLarge)
    }

    /// Returns the address that a tap, by its number, reads for an output; `None` for padding.
    fn input(&self, layout: &Layout, output: &[u64], mut tap: u64) -> Option<u64> {
        let mut index = Index::from_slice(output);
        for (i, w) in self.windows.iter().enumerate().rev() {
            let distance = (tap % w.taps).checked_mul(w.dilation)?.checked_add(output[2 + i].checked_mul(w.stride)?)?;
            tap /= w.taps;
            index[2 + i] = distance.checked_add_signed(w.start).filter(|&at| at < layout.axes()[2 + i].size)?;
        }
        Some(layout.offset(&index))
    }

    /// Returns the geometry as an attribute `#addr.geometry`. Panics if the context has no dialect `addr`.
    pub fn to_attr(&self, ctx: &Context) -> Attr {
        let numbers = |w: &SlidingWindow| {
            let [outputs, taps, stride, dilation] = [w.outputs, w.taps, w.stride, w.dilation].map(u64::cast_signed);
            [outputs, taps, stride, dilation, w.start]
        };
        let windows: Vec<i64> = self.windows.iter().flat_map(numbers).collect();
        let attr = GeometryAttr::get(
            ctx,
            ctx.string_attr(self.kind.name()),
            ctx.string_attr(&self.layout.order()),
            ctx.i64_array_attr(&self.sizes),
            ctx.i64_array_attr(&windows),
            ctx.int_attr(gradus_ir::Type::I64, self.groups.cast_signed()),
            ctx.string_attr(self.order.name()),
        );
        attr.expect("a geometry is one").0
    }

    /// Returns the geometry of an attribute `#addr.geometry`.
    pub fn from_attr(ctx: &Context, attr: Attr) -> Option<Geometry> {
        geometry(&GeometryAttr::cast(ctx, attr)?.params(ctx)).ok()
    }
}

/// The geometry of the address table of an op: what `convert-graph-to-addr` lowered.
#[attr(
    "addr.geometry",
    verify = |params| Ok(geometry(params).map(|_| ())?),
    examples = &[
        "\"conv\", \"NHWC\", [1, 2, 4, 4], windows = [2, 3, 1, 1, 0, 2, 3, 1, 1, 0], groups = 2",
        "\"rows\", \"MK\", [5, 7]"
    ]
)]
pub struct GeometryAttr {
    /// The accesses: `conv`, `windows` of a pool or depthwise convolution, or `rows` of a matrix.
    kind: Param<STRING>,
    /// The layout of the buffer, such as `NCHW4c`.
    layout: Param<STRING>,
    /// Extents of the buffer in logical order.
    sizes: Param<I64_LIST>,
    /// For each axis of the image: number of outputs, taps, stride, dilation, and index of the first tap.
    #[default = "array<i64>"]
    windows: Param<I64_LIST>,
    /// Number of groups of channels.
    #[default = "1 : i64"]
    groups: Param<I64>,
    /// Order of the reduction points of a convolution: `channels-first` or `channels-last`.
    #[default = "\"channels-last\""]
    order: Param<STRING>,
}

/// Returns the geometry with these parameters.
fn geometry(params: &ParamArgs<'_>) -> Result<Geometry, Violation> {
    let word = |name| params.text(name).unwrap_or("");
    let kind = GeometryKind::ALL.into_iter().find(|kind| kind.name() == word("kind"));
    let order = ReductionOrder::ALL.into_iter().find(|order| order.name() == word("order"));
    let numbers = params.ints("windows").unwrap_or_default();
    if !numbers.len().is_multiple_of(PER_WINDOW) {
        return Err(format!("requires {PER_WINDOW} numbers per window").into());
    }
    let window = |w: &[i64]| {
        let number = |i: usize| u64::try_from(w[i]).map_err(|_| "requires windows of extents that are not negative");
        let [outputs, taps, stride, dilation] = [number(0)?, number(1)?, number(2)?, number(3)?];
        Ok::<_, String>(SlidingWindow { outputs, taps, stride, dilation, start: w[4] })
    };
    let geometry = Geometry {
        kind: kind.ok_or("requires the kind 'conv', 'windows' or 'rows'")?,
        layout: word("layout").parse().map_err(|error: LayoutError| error.to_string())?,
        sizes: params.ints("sizes").unwrap_or_default(),
        groups: params.int("groups").and_then(|n| u64::try_from(n).ok()).ok_or("requires a number of groups")?,
        windows: numbers.chunks_exact(PER_WINDOW).map(window).collect::<Result<_, _>>()?,
        order: order.ok_or("requires the order 'channels-first' or 'channels-last'")?,
    };
    geometry.placed()?;
    geometry.access()?;
    Ok(geometry)
}
