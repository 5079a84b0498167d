//! Convolutions of images with channels first, whose addresses follow from a geometry.

use super::product::{ACTIVATION, check_plane_summands, is_of_sums, plane_epilogue};
use super::table::gathered;
use super::{Geometry, GeometryAttr, GeometryKind, in_f32, shape};
use crate::graph::{CHANNELS_FIRST, Inputs};
use crate::layout::{AddressTable, Derivation, LayoutError, MAX_ENTRIES, ZERO_PAGE, bands, plane_letters};
use gradus_dialects::constraint::{F32, I64, RANKED_TENSOR};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, Traits, Type, Violation, op};
use gradus_reference_kernels as kernels;

/// Convolution of images with channels first, without tables.
///
/// Each of the `O` filters reads the `G` channels of its group: `c[n * O + o, p] = sum over g, t of a[n, o / (O * G / C) * G + g, input(p, t)] *
/// b[o, g * T + t]`, where `input(p, t)` is the position that tap `t` reads for output position `p` in the windows of the geometry, which is of kind `windows`, in the row-major layout of `a` or one in bands of
/// rows, such as `NHC7hW`. Taps outside the image read zeros. With B `bands`, the result is divided along its first axis of positions
/// into as many bands, each with all filters: element `p` of band `k` is `c[(n * B + k) * O + o, p]`. Epilogue, in this order: `bias`,
/// one summand per filter; `plus`, one summand per element of the result; clamping to `low` and `high`; `activation = "hard_swish"`;
/// multiplication by `factor`; addition of `addend`.
///
/// ```mlir
/// %c = addr.conv_planes %a, %b {geometry = #addr.geometry<"windows", "NCHW", [1, 2, 4, 4], windows = [4, 3, 1, 1, -1, 4, 3, 1, 1, -1]>} : (tensor<1x2x4x4xf32>, tensor<2x9xf32>) -> tensor<2x16xf32>
/// ```
#[op(
    "addr.conv_planes",
    traits = Traits::OPERAND_SEGMENTS,
    infer = infer_planes,
    extensions = &[&DeclaredCost(cost)],
    eval = planes,
    format = "$a `,` $b (`bias` $bias^)? (`plus` $add^)? attr-dict `:` functional-type(operands, results)"
)]
pub struct ConvPlanesOp {
    /// The windows, and the extents of `a`.
    geometry: Attribute<GeometryAttr::KIND>,
    /// Number of bands of the result; 1 without the attribute.
    bands: OptAttribute<I64>,
    /// Images, `[N, C, D...]`, or in bands `[N, B, C, D / B, ...]`.
    a: Operand<RANKED_TENSOR>,
    /// Weights, `[O, G * T]`.
    b: Operand<RANKED_TENSOR>,
    /// Bias, `[O]`.
    bias: OptOperand<RANKED_TENSOR>,
    /// Summand of each element, `[N * B * O, P / B]`.
    add: OptOperand<RANKED_TENSOR>,
    /// Lower bound of the result.
    low: OptAttribute<F32>,
    /// Upper bound of the result.
    high: OptAttribute<F32>,
    /// Function of each element, after the clamp.
    activation: OptAttribute<ACTIVATION>,
    /// Factor of the activation.
    factor: OptAttribute<F32>,
    /// Summand of its product with the factor.
    addend: OptAttribute<F32>,
    /// Weighted sums of the P positions of each filter, `[N * B * O, P / B]`.
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

/// Returns the number of groups, and of the channels and the filters of each.
fn groups(args: &OpArgs<'_>, geometry: &Geometry, taps: i64) -> Option<[i64; 3]> {
    let (&[filters, depth], channels) = (shape(args, "b"), *geometry.sizes.get(1)?) else { return None };
    let of_group = depth.checked_div(taps).filter(|n| n.checked_mul(taps) == Some(depth))?;
    let groups = channels.checked_div(of_group).filter(|n| n * of_group == channels)?;
    let filters = filters.checked_div(groups).filter(|n| n * groups == filters)?;
    Some([groups, of_group, filters])
}

/// Returns the number of channels that a filter of `addr.conv_planes` reads, if it has a geometry.
pub fn channels_per_filter(args: &OpArgs<'_>, geometry: &Geometry) -> Option<i64> {
    let [_, taps] = counts(geometry)?;
    Some(groups(args, geometry, i64::try_from(taps).ok()?)?[1])
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
    let (positions, taps) = (extents(positions)?, extents(taps)?);
    let [groups, _, filters] = groups(args, &geometry, taps).ok_or_else(|| {
        format!("requires 'b' with rows of {taps} weights for each of some channels that divide {}", geometry.sizes[1])
    })?;
    let channels = groups * filters;
    let planes = geometry.sizes[0].checked_mul(channels).and_then(|n| n.checked_mul(bands));
    let (planes, positions) = (planes.ok_or("requires fewer channels")?, positions / bands);
    let elem = args.ctx().element_type(args.operand_type(0));
    if args.ctx().float_kind(elem).is_none() {
        return Err("requires floats".into());
    }
    is_of_sums(args, "b", shape(args, "b"), elem)?;
    check_plane_summands(args, channels, &[planes, positions], elem)?;
    Ok(vec![args.ctx().tensor_type(&[planes, positions], elem)])
}

fn cost(args: &OpArgs<'_>) -> OpCost {
    let Some(geometry) = geometry(args) else { return OpCost::Map(1) };
    let [positions, taps] = counts(&geometry).unwrap_or([1; 2]);
    let columns = positions.saturating_mul(geometry.sizes[0].unsigned_abs());
    let [groups, channels, filters] = groups(args, &geometry, taps as i64).unwrap_or([1; 3]).map(i64::unsigned_abs);
    let product = Contraction::dense(groups, filters, channels.saturating_mul(taps), columns);
    OpCost::Contract(Contraction { strategy: Some(&CHANNELS_FIRST), taps, ..product })
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
    let taps = table.runs();
    let [groups, of_group, filters] = groups(args, &geometry, taps as i64)
        .ok_or_else(|| Trap::unsupported("filters of other channels"))?
        .map(|n| n as usize);
    in_f32(data, |data| {
        let inputs = Inputs::new(args, data);
        let positions = table.rows().checked_div(images * channels).unwrap_or(0);
        let of_channels = vec![images * groups, of_group, positions, taps];
        let a = kernels::transpose(&gathered(inputs.get("a")?, &table, None)?.reshape(of_channels)?, &[0, 1, 3, 2])?;
        let a = a.reshape(vec![images, groups, of_group * taps, positions])?;
        let b = inputs.get("b")?.reshape(vec![1, groups, filters, of_group * taps])?;
        let sums = kernels::matmul(&b, &a)?.reshape(vec![images, groups * filters, positions])?;
        plane_epilogue(args, data, sums)
    })
}
