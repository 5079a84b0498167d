//! Convolutions with sparse filters as products with an image in its row-major layout, `[C, D...]`.
//!
//! The element that a tap reads for an output position is that for position 0, moved by the position in the image. So rows of
//! the dense operand are ranges of the image that begin at the taps. Each row of the output is a strip of columns. Or a position in
//! the image is a column: what is between rows of the output is computed as well, and sliced off. With strides, the image is one
//! for each phase, side by side.

use super::cost::{Cores, MatrixCounts, rows_cycles};
use super::epilogue::{Chain, Epilogue};
use super::plan::CodePlan;
use super::product::{ByRows, SparseProduct};
use crate::emit::Emitter;
use crate::operands::constant;
use crate::sparse_product::Matrix;
use gradus_ir::{DType, Module, OpDecl, Refusal, Value};
use gradus_machines::x64::Width;
use gradus_networks::Columns;
use gradus_networks::graph::{ConcatOp, TensorSlice, convolution};
use gradus_networks::layout::{self, TiledLayout, image_layout, result_layout};
use gradus_networks::sparse::ConvOp;
use gradus_reference_kernels::shape::Window;

/// Layouts in bands of rows.
struct Bands {
    /// The letters of the axes.
    axes: &'static str,
    /// The layout of the image, and of the result and the residual, where they have bands.
    image: Option<TiledLayout>,
    result: Option<TiledLayout>,
    /// Number of bands of the image and of the result.
    numbers: [usize; 2],
}

impl Bands {
    /// Reads the attributes of a convolution whose image is read in some way. Images that are padded have no bands, those that are sliced
    /// have some of which a slice has equal rows.
    fn of(m: &Module, conv: ConvOp, (reading, window): (&Reading, &Window)) -> Option<Bands> {
        let extents = |v| m.ctx.static_shape(m.value_type(v));
        let (x, y) = (extents(conv.x(m))?, extents(conv.y(m))?);
        let number = |layout: Option<&TiledLayout>, extents: &[i64]| {
            layout.and_then(|layout| usize::try_from(layout::bands(layout, extents)?).ok()).unwrap_or(1)
        };
        let image = image_layout(m, conv.0).filter(|layout| {
            let rows = window.input.first().map_or(0, |rows| rows / number(Some(layout), x));
            !matches!(reading, Reading::Windows) && window.strides.first().is_some_and(|&s| rows.is_multiple_of(s))
        });
        let result = result_layout(m, conv.0);
        let (of_image, of_result) = (number(image.as_ref(), x), number(result.as_ref(), y));
        // Strips of other bands of the image than those of the result would be at no common distance.
        let of_image = if of_result > 1 && of_image != of_result { 1 } else { of_image };
        Some(Bands {
            axes: layout::plane_letters(x.len()).unwrap_or_default(),
            image: image.filter(|_| of_image > 1),
            result: result.filter(|_| of_result > 1),
            numbers: [of_image, of_result],
        })
    }
}

/// How the image becomes the dense operand.
enum Reading {
    /// It is read as it is.
    Whole,
    /// It is some rows of an image of these extents, which are read there.
    Rows { start: usize, of: Vec<usize> },
    /// It is sliced with the strides, since filters have one tap.
    Strided,
    /// It is padded and divided into phases.
    Windows,
}

/// A convolution that is lowered.
pub(super) struct SparseConv {
    pub product: SparseProduct,
    /// The convolution with the ops of its epilogue.
    pub chain: Chain,
    image: Value,
    residual: Option<Value>,
    reading: Reading,
    bands: Bands,
    window: Window,
    /// Extents of an image of one phase, with padding.
    extents: Vec<usize>,
    channels: usize,
}

impl SparseConv {
    /// Returns the convolution of an op. `width`: the vectors of generated code, if the machine runs any.
    pub fn of(m: &Module, cores: &Cores, conv: ConvOp, width: Option<Width>) -> Result<SparseConv, Refusal> {
        let op = conv.0;
        let (group, window) = convolution(m, op).map_err(|_| "a window that its operands do not have")?;
        let constant = |v| {
            let tensor = constant(m, v)?;
            let is_f32 = tensor.dtype() == DType::F32;
            is_f32.then_some(tensor).ok_or(Refusal::of(v, "elements other than f32"))
        };
        let filters = conv.w(m);
        let matrix = Matrix::of_filters(&constant(filters)?, group);
        let matrix = matrix.ok_or(Refusal::of(filters, "filters that are empty or too large"))?;
        let bias = match conv.b(m) {
            Some(bias) => Some(constant(bias)?.to_f64()),
            None => None,
        };
        let mut image = conv.x(m);
        let shape = |value| m.ctx.static_shape(m.value_type(value)).ok_or(Refusal::of(value, "an unknown extent"));
        let channels = match *shape(image)? {
            [1, channels, ..] => channels as usize,
            [images, ..] => return Err(Refusal::of(image, "a batch of {} images").with([images as usize])),
            [] => return Err(Refusal::of(image, "a scalar")),
        };
        shape(conv.y(m))?;
        let mut reading = Reading::of(&window);
        if let Some((of, rows)) = reading.rows(m, image).filter(|_| image_layout(m, op).is_none()) {
            (image, reading) = (of, rows);
        }
        let mut extents = reading.extents(&window);
        let bands = Bands::of(m, conv, (&reading, &window)).ok_or("an unknown extent")?;
        let columns = match reading {
            Reading::Windows => columns(cores, &window, &extents, (&matrix, width), [bands.numbers[1], channels]),
            _ => pointwise_columns(&window, bands.numbers, channels),
        };
        let columns = columns.ok_or("output positions that are no columns of a product")?;
        if columns.strips == columns.bands && (1..extents.len()).any(|axis| reach(&window, axis) > 0) {
            // Columns behind the last row of the output are read from one more row.
            extents[0] = extents[0].max(window.output[0] + reach(&window, 0) + 1);
        }
        let first = reading.first();
        let offsets: Vec<usize> =
            offsets(&window, &extents, channels).into_iter().map(|at| first + at / bands.numbers[0]).collect();
        if matrix.depth != offsets.len() {
            return Err(Refusal::of(filters, "groups"));
        }
        let is_part = bands.numbers[0] > 1 || matches!(reading, Reading::Rows { .. });
        let epilogue = Epilogue { bias, ..Epilogue::default() };
        let product = SparseProduct { matrix, columns, offsets, epilogue, is_part, by_rows: ByRows::Cheaper };
        let mut conv = SparseConv {
            product,
            chain: Chain::of(op),
            image,
            residual: None,
            reading,
            bands,
            window,
            extents,
            channels,
        };
        conv.fuse(m);
        Ok(conv)
    }

    /// Whether columns are the output positions.
    fn is_compact(&self) -> bool {
        self.product.columns.all == self.window.output.iter().product::<usize>()
    }

    /// Collects the users that can be computed before the store.
    fn fuse(&mut self, m: &Module) {
        if self.is_compact() {
            self.residual = self.chain.take_residual(m);
        }
        let [low, high] = self.chain.take_bounds(m);
        let has_residual = self.residual.is_some();
        self.product.epilogue = Epilogue { has_residual, low, high, ..std::mem::take(&mut self.product.epilogue) };
    }

    /// The image as the code reads it, and the residual as a matrix.
    pub fn operands(&self, e: &mut Emitter<'_, '_>) -> Option<[Option<Value>; 2]> {
        let image = match &self.bands.image {
            Some(layout) => match self.joined_bands(e) {
                Some(image) => image,
                None => e.pack(self.image, layout, self.bands.axes)?,
            },
            None => self.image,
        };
        let image = match self.reading {
            Reading::Whole | Reading::Rows { .. } => image,
            Reading::Strided => {
                let ends = e.m().ctx.static_shape(e.m().value_type(image))?.to_vec();
                let rank = ends.len() - self.window.strides.len();
                let steps = [&vec![1; rank][..], &self.window.strides].concat();
                e.slice(image, &ends, &signed(&steps))?
            }
            Reading::Windows => self.phases(e)?,
        };
        let SparseProduct { columns, matrix, .. } = &self.product;
        let residual = match (self.residual, &self.bands.result) {
            (Some(residual), None) => Some(e.reshape(residual, &signed(&[matrix.rows, columns.all]))?),
            (Some(residual), Some(layout)) => {
                let packed = e.pack(residual, layout, self.bands.axes)?;
                Some(e.reshape(packed, &signed(&[columns.bands, matrix.rows, columns.band()]))?)
            }
            (None, _) => None,
        };
        Some([Some(image), residual])
    }

    /// The image in bands, if it is a concatenation of bands, which may be concatenations of groups of channels. Their elements are then in
    /// order.
    fn joined_bands(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        let m = e.m();
        let joined = |v: Value, along: i64| {
            let concat = ConcatOp::defining(m, v)?;
            let axis = concat.axis(m).and_then(|axis| m.ctx.as_int(axis));
            (axis == Some(along)).then(|| m.operands(concat.0).to_vec())
        };
        let bands = joined(self.image, 2).filter(|bands| bands.len() == self.bands.numbers[0])?;
        let extents = |v: Value| m.ctx.static_shape(m.value_type(v));
        let band = extents(bands[0])?;
        bands.iter().all(|&other| extents(other) == Some(band)).then_some(())?;
        let whole = [&[1, bands.len() as i64][..], &band[1..]].concat();
        let groups: Vec<Value> = bands.iter().flat_map(|&v| joined(v, 1).unwrap_or_else(|| vec![v])).collect();
        let shapes = groups.iter().map(|&v| extents(v).map(<[i64]>::to_vec)).collect::<Option<Vec<_>>>()?;
        let rows = groups.into_iter().zip(shapes).map(|(group, shape)| e.reshape(group, &shape[1..]));
        let rows = rows.collect::<Option<Vec<_>>>()?;
        let image = e.concat(&rows, 0)?;
        e.reshape(image, &whole)
    }

    /// Pads the image and divides it into phases, `[C, S..., Q...]`.
    fn phases(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        let (window, rank) = (&self.window, self.extents.len());
        let padded: Vec<usize> = self.extents.iter().zip(&window.strides).map(|(q, s)| q * s).collect();
        let ends = (0..rank).map(|i| padded[i] as i64 - (window.input[i] + window.pads_begin[i]) as i64);
        let pads: Vec<i64> =
            [&[0, 0], &signed(&window.pads_begin)[..], &[0, 0]].concat().into_iter().chain(ends).collect();
        let image = if pads.iter().all(|&n| n == 0) { self.image } else { e.pad(self.image, &pads, None)? };
        if window.strides.iter().all(|&s| s == 1) {
            return Some(image);
        }
        let split = self.extents.iter().zip(&window.strides).flat_map(|(&q, &s)| [q as i64, s as i64]);
        let split: Vec<i64> = [self.channels as i64].into_iter().chain(split).collect();
        let image = e.reshape(image, &split)?;
        let axes = 0..rank as i64;
        let perm: Vec<i64> =
            [0].into_iter().chain(axes.clone().map(|i| 2 + 2 * i)).chain(axes.map(|i| 1 + 2 * i)).collect();
        e.permute(image, &perm)
    }

    /// The result of the last op, from that of the code.
    pub fn result(&self, e: &mut Emitter<'_, '_>, value: Value) -> Option<Value> {
        let output = &self.window.output;
        let SparseProduct { columns: Columns { bands, .. }, matrix, .. } = &self.product;
        let first = [&[1, *bands][..if *bands > 1 { 2 } else { 1 }], &[matrix.rows, output[0] / bands]].concat();
        let ends = [&first, &output[1..]].concat();
        let value = if self.is_compact() {
            e.reshape(value, &signed(&ends))?
        } else {
            let image = e.reshape(value, &signed(&[&first, &self.extents[1..]].concat()))?;
            e.slice(image, &signed(&ends), &vec![1; ends.len()])?
        };
        let Some(layout) = &self.bands.result else { return Some(value) };
        let ty = e.m().value_type(e.m().result(self.chain.last(), 0));
        e.unpack(value, layout, self.bands.axes, ty)
    }
}

impl Reading {
    fn of(window: &Window) -> Reading {
        match window {
            _ if window.is_pointwise() => Reading::Whole,
            _ if window.has_one_tap() => Reading::Strided,
            _ => Reading::Windows,
        }
    }

    /// The image of which an image that is read as it is has some rows.
    fn rows(&self, m: &Module, image: Value) -> Option<(Value, Reading)> {
        let part = TensorSlice::of(m, image).filter(|part| part.axis == 2 && matches!(self, Reading::Whole))?;
        let of = m.ctx.static_shape(m.value_type(part.whole))?[2..].iter().map(|&d| d as usize).collect();
        Some((part.whole, Reading::Rows { start: usize::try_from(part.start).ok()?, of }))
    }

    /// The first element of a channel that is read.
    fn first(&self) -> usize {
        if let Reading::Rows { start, of } = self { start * of[1..].iter().product::<usize>() } else { 0 }
    }

    /// The extents of an image of one phase.
    fn extents(&self, window: &Window) -> Vec<usize> {
        match self {
            Reading::Rows { of, .. } => return of.clone(),
            Reading::Whole | Reading::Strided => return window.output.clone(),
            Reading::Windows => {}
        }
        let extent = |i: usize| {
            let image = (window.input[i] + window.pads_begin[i]).div_ceil(window.strides[i]);
            image.max(window.output[i] + reach(window, i))
        };
        (0..window.output.len()).map(extent).collect()
    }
}

/// The distance between the first and the last element of a phase that a window reads along an axis.
fn reach(window: &Window, axis: usize) -> usize {
    (window.kernel[axis] - 1) * window.dilations[axis] / window.strides[axis]
}

/// The columns of the product of windows. Either each row of the output is a strip, or the elements between the rows of an image of one
/// phase are columns too, which takes a slice, and each band is a strip; the choice is by estimated cycles. `None` if there are no columns.
fn columns(
    cores: &Cores,
    window: &Window,
    extents: &[usize],
    (matrix, width): (&Matrix, Option<Width>),
    [bands, channels]: [usize; 2],
) -> Option<Columns> {
    let (output, last) = (&window.output, extents.len().checked_sub(1)?);
    let band = output[0] / bands * extents[1..].iter().product::<usize>();
    let all = Columns { all: bands * band, bands, strips: bands, pitch: band };
    let positions = output.iter().product::<usize>();
    if positions == 0 || last == 0 || extents[1..last] != output[1..last] || extents[last] == output[last] {
        return (positions > 0).then_some(all);
    }
    let strips = Columns { all: positions, bands, strips: positions / output[last], pitch: extents[last] };
    let offsets = offsets(window, extents, channels);
    let vectors = width.unwrap_or(Width::Ymm);
    let core = cores.with(vectors);
    let cycles = |columns| {
        let rows = rows_cycles(core, &MatrixCounts::of(matrix), columns, vectors);
        let code = width.and_then(|width| CodePlan::cost(cores, matrix, columns, &offsets, width));
        code.map_or(rows, |code| rows.min(code.cycles))
    };
    let sliced = core.code_slice * (matrix.rows * positions) as f64;
    Some(if cycles(strips) < cycles(all) + sliced { strips } else { all })
}

/// The columns of the product of an image of some channels that is read as it is: a strip for each band of the image or the result.
fn pointwise_columns(window: &Window, [of_image, bands]: [usize; 2], channels: usize) -> Option<Columns> {
    let (all, strips) = (window.output.iter().product::<usize>(), of_image.max(bands));
    let strip = all / strips;
    (all > 0).then(|| Columns { all, bands, strips, pitch: if of_image > 1 { channels * strip } else { strip } })
}

/// The elements of the phases that channels and taps read for output position 0.
fn offsets(window: &Window, extents: &[usize], channels: usize) -> Vec<usize> {
    let (rank, plane) = (extents.len(), extents.iter().product::<usize>());
    let channel = plane * if window.has_one_tap() { 1 } else { window.strides.iter().product() };
    let tap = |mut tap: usize| {
        let (mut phase, mut at, mut phases, mut pitch) = (0, 0, 1, 1);
        for axis in (0..rank).rev() {
            let step = tap % window.kernel[axis] * window.dilations[axis];
            tap /= window.kernel[axis];
            (phase, at) = (phase + step % window.strides[axis] * phases, at + step / window.strides[axis] * pitch);
            (phases, pitch) = (phases * window.strides[axis], pitch * extents[axis]);
        }
        phase * plane + at
    };
    let taps: Vec<usize> = (0..window.kernel.iter().product()).map(tap).collect();
    (0..channels).flat_map(|c| taps.iter().map(move |&at| c * channel + at)).collect()
}

fn signed(extents: &[usize]) -> Vec<i64> {
    extents.iter().map(|&d| d as i64).collect()
}
