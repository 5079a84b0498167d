//! Depthwise convolutions of images with channels first, whose addresses follow from a geometry.

use super::product::{check_plane_summands, is_of_sums, plane_epilogue};
use super::table::gathered;
use super::{Geometry, GeometryAttr, GeometryKind, in_f32, shape};
use crate::graph::{CHANNELS_FIRST, Inputs};
use crate::layout::{AddressTable, Derivation, LayoutError, MAX_ENTRIES, ZERO_PAGE, bands, plane_letters};
use gradus_dialects::constraint::{F32, I64, RANKED_TENSOR};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, Traits, Type, Violation, op};
use gradus_reference_kernels::{self as kernels, Reduction};

/// Depthwise convolution of images with channels first, without tables.
///
/// `c[n * C + j, p] = sum over t of a[n, j, input(p, t)] * b[j, t]`, where `input(p, t)` is the position that tap `t` reads for
/// output position `p` in the windows of the geometry, which is of kind `windows`, in the row-major layout of `a` or one in bands of
/// rows, such as `NHC7hW`. Taps outside the image read zeros. With B `bands`, the result is divided along its first axis of positions
/// into as many bands, each with all channels: element `p` of band `k` is `c[(n * B + k) * C + j, p]`. Epilogue, in this order: `bias`,
/// one summand per channel; `plus`, one summand per element of the result; clamping to `low` and `high`.
///
/// ```mlir
/// %c = addr.depthwise_planes %a, %b {geometry = #addr.geometry<"windows", "NCHW", [1, 2, 4, 4], windows = [4, 3, 1, 1, -1, 4, 3, 1, 1, -1]>} : (tensor<1x2x4x4xf32>, tensor<2x9xf32>) -> tensor<2x16xf32>
/// ```
#[op(
    "addr.depthwise_planes",
    traits = Traits::OPERAND_SEGMENTS,
    infer = infer_planes,
    extensions = &[&DeclaredCost(cost)],
    eval = planes,
    format = "$a `,` $b (`bias` $bias^)? (`plus` $add^)? attr-dict `:` functional-type(operands, results)"
)]
pub struct DepthwisePlanesOp {
    /// The windows, and the extents of `a`.
    geometry: Attribute<GeometryAttr::KIND>,
    /// Number of bands of the result; 1 without the attribute.
    bands: OptAttribute<I64>,
    /// Images, `[N, C, D...]`, or in bands `[N, B, C, D / B, ...]`.
    a: Operand<RANKED_TENSOR>,
    /// Weights, `[C, T]`.
    b: Operand<RANKED_TENSOR>,
    /// Bias, `[C]`.
    bias: OptOperand<RANKED_TENSOR>,
    /// Summand of each element, `[N * B * C, P / B]`.
    add: OptOperand<RANKED_TENSOR>,
    /// Lower bound of the result.
    low: OptAttribute<F32>,
    /// Upper bound of the result.
    high: OptAttribute<F32>,
    /// Weighted sums of the P positions of each channel, `[N * B * C, P / B]`.
    c: OpResult<RANKED_TENSOR>,
}

/// Returns the geometry of an op.
fn geometry(args: &OpArgs<'_>) -> Option<Geometry> {
    Geometry::from_attr(args.ctx(), args.attr("geometry")?)
}

/// Returns the number of bands of the image and of the result.
pub fn bands_of(args: &OpArgs<'_>, geometry: &Geometry) -> Option<[i64; 2]> {
    let result = if args.attr("bands").is_some() { args.int("bands")? } else { 1 };
    let rows = i64::try_from(geometry.windows.first()?.outputs).ok()?;
    (result > 0 && rows % result == 0).then_some(())?;
    Some([bands(&geometry.layout, &geometry.sizes)?, result])
}

/// Returns the number of output positions and of taps; `None` if one overflows.
fn counts(geometry: &Geometry) -> Option<[u64; 2]> {
    let outputs = geometry.windows.iter().try_fold(1_u64, |n, w| n.checked_mul(w.outputs));
    Some([outputs?, geometry.windows.iter().try_fold(1_u64, |n, w| n.checked_mul(w.taps))?])
}

fn infer_planes(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let geometry = geometry(args).ok_or("requires a geometry")?;
    let letters = plane_letters(geometry.sizes.len()).unwrap_or_default();
    let is_windows = geometry.kind == GeometryKind::Windows;
    let [_, bands] = bands_of(args, &geometry).filter(|_| is_windows).ok_or(
        "requires a geometry of windows in the row-major layout or in bands, and bands that divide the result",
    )?;
    if geometry.layout.extents(letters, &geometry.sizes).ok().as_deref() != Some(shape(args, "a")) {
        return Err("requires a geometry with the extents of 'a'".into());
    }
    let extents = |n: u64| i64::try_from(n).map_err(|_| "requires fewer positions".to_owned());
    let [positions, taps] = counts(&geometry).ok_or("requires fewer positions")?;
    let (positions, taps, channels) = (extents(positions)?, extents(taps)?, geometry.sizes[1]);
    if shape(args, "b") != [channels, taps] {
        return Err(format!("requires 'b' with {channels} rows of {taps} weights").into());
    }
    let planes = geometry.sizes[0].checked_mul(channels).and_then(|n| n.checked_mul(bands));
    let (planes, positions) = (planes.ok_or("requires fewer channels")?, positions / bands);
    let elem = args.ctx().element_type(args.operand_type(0));
    if args.ctx().float_kind(elem).is_none() {
        return Err("requires floats".into());
    }
    is_of_sums(args, "b", &[channels, taps], elem)?;
    check_plane_summands(args, channels, &[planes, positions], elem)?;
    Ok(vec![args.ctx().tensor_type(&[planes, positions], elem)])
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let Some(geometry) = geometry(args) else { return OpCost::Map(1) };
    let [positions, taps] = counts(&geometry).unwrap_or([1; 2]);
    let [images, channels] = [0, 1].map(|i| geometry.sizes[i].unsigned_abs());
    let depthwise = Contraction::depthwise(channels, taps, positions.saturating_mul(images));
    OpCost::Contract(Contraction { strategy: Some(&CHANNELS_FIRST), ..depthwise })
}

/// Returns the addresses of all positions of all planes, `[N * B * C * P / B, T]`.
fn table(geometry: &Geometry, [of_image, of_result]: [i64; 2]) -> Result<AddressTable<'static>, LayoutError> {
    let (images, channels) = (geometry.sizes[0], geometry.sizes[1]);
    let sizes: Vec<i64> = [1, 1].into_iter().chain(geometry.sizes[2..].iter().copied()).collect();
    let size = sizes.iter().product::<i64>();
    let plain = plane_letters(sizes.len()).unwrap_or_default().parse()?;
    let plane = Geometry { sizes, layout: plain, ..geometry.clone() }.table(Derivation::Loops)?;
    let planes = images.saturating_mul(channels).unsigned_abs();
    let entries = (plane.rows() as u64).saturating_mul(plane.runs() as u64).saturating_mul(planes);
    if entries > MAX_ENTRIES {
        return Err(LayoutError::TooLarge);
    }
    let (band, rows) = ((size / of_image).max(1), plane.rows() / of_result as usize);
    let mut bases = Vec::with_capacity(entries as usize);
    for (n, k) in (0..images).flat_map(|n| (0..of_result as usize).map(move |k| (n, k))) {
        for (j, row) in (0..channels).flat_map(|j| (k * rows..(k + 1) * rows).map(move |row| (j, row))) {
            let place = |at: i64| ((n * of_image + at / band) * channels + j) * band + at % band;
            for run in 0..plane.runs() {
                let base = plane.run_start(row, run).map_or(Ok(ZERO_PAGE), |at| i32::try_from(place(at)));
                bases.push(base.map_err(|_| LayoutError::TooLarge)?);
            }
        }
    }
    AddressTable::indirect(bases, [plane.rows() * planes as usize, plane.runs()], 1).map_err(|_| LayoutError::TooLarge)
}

fn planes(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let geometry = geometry(args).ok_or_else(|| Trap::unsupported("an op without geometry"))?;
    let bands = bands_of(args, &geometry).ok_or_else(|| Trap::unsupported("images in another layout"))?;
    let (images, channels) = ((geometry.sizes[0] * bands[1]) as usize, geometry.sizes[1] as usize);
    let table = table(&geometry, bands).map_err(|error| Trap::unsupported(error.to_string()))?;
    in_f32(data, |data| {
        let inputs = Inputs::new(args, data);
        let (positions, taps) = (table.rows().checked_div(images * channels).unwrap_or(0), table.runs());
        let a = gathered(inputs.get("a")?, &table, None)?.reshape(vec![images, channels, positions, taps])?;
        let b = inputs.get("b")?.reshape(vec![channels, 1, taps])?;
        let sums = kernels::reduce(&kernels::mul(&a, &b)?, Reduction::Sum, &[3], false, false)?;
        plane_epilogue(args, data, sums)
    })
}
