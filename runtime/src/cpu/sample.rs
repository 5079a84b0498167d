//! Samples of images at positions that are known at run time: the elements and weights of a sample are found once for all channels.

use super::elementwise::elements;
use super::narrow::Narrow;
use super::operands::{Operands, have_extents};
use super::products::FloatProduct;
use super::{Kernel, Prepared, dtype, extents};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::graph::{deformed_windows, grid_sampling, roi_pooling};
use gradus_reference_kernels::{DeformedTaps, RoiBins, SampleTaps};

/// Number of positions whose elements are found at once.
const POSITIONS: usize = 4096;

/// Converts floats to f64.
fn doubles(kind: DType, bytes: &[u8]) -> Vec<f64> {
    match kind {
        DType::F64 => elements::<f64>(bytes).to_vec(),
        DType::F32 => elements::<f32>(bytes).iter().map(|&x| f64::from(x)).collect(),
        DType::F16 => Narrow::F16.floats(bytes).iter().map(|&x| f64::from(x)).collect(),
        _ => Narrow::BF16.floats(bytes).iter().map(|&x| f64::from(x)).collect(),
    }
}

/// Returns the type of an operand of floats.
fn float_kind(m: &Module, args: &OpArgs<'_>, operand: usize) -> Option<DType> {
    dtype(m, args.operand_type(operand)).filter(|kind| kind.is_float())
}

/// Writes the samples of an image of one channel.
fn write_samples(image: &[f32], taps: &SampleTaps, out: &mut [f32]) {
    for (y, taps) in out.iter_mut().zip(taps.iter()) {
        *y = taps.iter().map(|&(at, weight)| image[at] * weight as f32).sum();
    }
}

/// Prepares `graph.grid_sample` of floats of at most 32 bits.
pub(super) fn grid_sample(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (attrs, kind, narrow) = (grid_sampling(args).ok()?, float_kind(m, args, 1)?, Narrow::of(args, 0)?);
    let (x, grid) = (extents(m, args.operand_type(0))?, extents(m, args.operand_type(1))?);
    let (Some((&rank, outputs)), [batch, channels, spatial @ ..]) = (grid.split_last(), &x[..]) else { return None };
    let fits = rank == spatial.len() && outputs.first() == Some(batch) && outputs.len() == rank + 1;
    let (area, outputs): (usize, usize) = (spatial.iter().product(), outputs.get(1..)?.iter().product());
    (fits && area > 0 && outputs > 0 && *channels > 0).then_some(())?;
    let (channels, spatial) = (*channels, spatial.to_vec());
    let kernel = Kernel::shared([0, 1], move |workers, data, out| {
        let (x, at) = (narrow.floats(data[0]), doubles(kind, data[1]));
        let threads = workers.for_steps(out.len());
        narrow.write(out, |out| {
            let images = x.chunks_exact(area * channels).zip(out.chunks_exact_mut(outputs * channels));
            for ((image, out), at) in images.zip(at.chunks_exact(outputs * rank)) {
                for (chunk, at) in at.chunks(POSITIONS * rank).enumerate() {
                    let taps = attrs.taps(at, &spatial);
                    let (first, count) = (chunk * POSITIONS, taps.len());
                    let planes = image.chunks_exact(area).zip(out.chunks_exact_mut(outputs));
                    workers.share(threads, planes, |(image, out)| {
                        write_samples(image, &taps, &mut out[first..first + count]);
                    });
                }
            }
            Ok(())
        })
    });
    Some(kernel.into())
}

/// Prepares `graph.roi_align` of floats of at most 32 bits.
pub(super) fn roi_align(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (attrs, kind, narrow) = (roi_pooling(args).ok()?, float_kind(m, args, 1)?, Narrow::of(args, 0)?);
    let [batch, channels, height, width] = extents(m, args.operand_type(0))?[..] else { return None };
    let [regions, _, rows, columns] = extents(m, *args.result_types.first()?)?[..] else { return None };
    let (area, bins) = (height * width, rows * columns);
    let is_known = attrs.output == [rows as i64, columns as i64]
        && dtype(m, args.operand_type(2)) == Some(DType::I64)
        && have_extents(args, "rois", &[regions, 4])
        && have_extents(args, "batch_indices", &[regions]);
    (is_known && area > 0 && bins > 0 && channels > 0).then_some(())?;
    let kernel = Kernel::shared([0, 1, 2], move |workers, data, out| {
        let (x, regions, images) = (narrow.floats(data[0]), doubles(kind, data[1]), elements::<i64>(data[2]));
        let threads = workers.for_steps(out.len() * attrs.sampling_ratio.max(1) as usize);
        narrow.write(out, |out| {
            let regions = regions.chunks_exact(4).zip(images).zip(out.chunks_exact_mut(bins * channels));
            workers.try_share(threads, regions, |((region, &image), out)| {
                let image = usize::try_from(image).ok().filter(|&image| image < batch);
                let image = image.ok_or_else(|| Trap::unsupported("a region of an image that does not exist"))?;
                let samples =
                    RoiBins::new(region, [height, width], &attrs).map_err(|why| Trap::unsupported(why.to_string()))?;
                for (channel, out) in out.chunks_exact_mut(bins).enumerate() {
                    let image = &x[(image * channels + channel) * area..][..area];
                    out.iter_mut().enumerate().for_each(|(i, y)| *y = pooled(image, samples.samples(i), attrs.max));
                }
                Ok(())
            })
        })
    });
    Some(kernel.into())
}

/// Returns the mean of samples, or the largest weighted pixel of any sample.
fn pooled(image: &[f32], samples: &[[(usize, f64); 4]], is_max: bool) -> f32 {
    let terms = |sample: &[(usize, f64); 4]| sample.map(|(at, weight)| image[at] * weight as f32);
    if is_max {
        return samples.iter().flat_map(terms).reduce(f32::max).unwrap_or(0.0);
    }
    let sum: f32 = samples.iter().map(|sample| terms(sample).iter().sum::<f32>()).sum();
    sum / samples.len().max(1) as f32
}

/// Prepares `graph.deform_conv` of floats of at most 32 bits: samples, which are the columns of a product with the filters.
pub(super) fn deform_conv(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (groups, window, parts) = deformed_windows(args)?;
    let narrow = Narrow::of(args, 0)?;
    let (&[_, channels, ..], &[filters, per_group, ..]) =
        (&extents(m, args.operand_type(0))?[..], &extents(m, args.operand_type(1))?[..])
    else {
        return None;
    };
    let of = |extents: &[usize]| extents.iter().product::<usize>();
    let (area, taps, outputs) = (of(&window.input), of(&window.kernel), of(&window.output));
    let (rows, depth) = (filters / groups.max(1), per_group * taps);
    (rows > 0 && depth > 0 && outputs > 0 && area > 0 && have_extents(args, "b", &[filters])).then_some(())?;
    let product = FloatProduct::new([rows, depth, outputs], [false; 2], 1.0)?;
    let mut operands = Operands::new(args);
    let [w, offset, bias, mask] = ["w", "offset", "b", "mask"].map(|name| operands.input(name));
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let [x, w] = [0, w.unwrap_or(0)].map(|i| narrow.floats(data[i]));
        let [bias, mask] = [bias, mask].map(|i| i.map(|i| narrow.floats(data[i])));
        let offsets: Vec<f64> = narrow.floats(data[offset.unwrap_or(0)]).iter().map(|&x| f64::from(x)).collect();
        let places = DeformedTaps { window: window.clone(), parts, offsets: &offsets };
        let mut read = vec![0.0; channels * taps * outputs];
        narrow.write(out, |out| {
            for (sample, (x, out)) in
                x.chunks_exact(area * channels).zip(out.chunks_exact_mut(filters * outputs)).enumerate()
            {
                let threads = workers.for_steps(read.len());
                let share = channels / parts;
                for (i, (part, tap)) in (0..parts).flat_map(|part| (0..taps).map(move |tap| (part, tap))).enumerate() {
                    let near = places.of(sample, part, tap);
                    let factors = mask.as_ref().map(|mask| &mask[(sample * parts * taps + i) * outputs..][..outputs]);
                    let rows = read.chunks_exact_mut(taps * outputs).zip(x.chunks_exact(area)).skip(part * share);
                    workers.share(threads, rows.take(share), |(rows, image)| {
                        let row = &mut rows[tap * outputs..][..outputs];
                        write_samples(image, &near, row);
                        row.iter_mut().zip(factors.into_iter().flatten()).for_each(|(y, factor)| *y *= factor);
                    });
                }
                let of_groups = out.chunks_exact_mut(rows * outputs).zip(read.chunks_exact(depth * outputs));
                for ((out, read), w) in of_groups.zip(w.chunks_exact(rows * depth)) {
                    product.compute(workers, w, read, None, out)?;
                }
                for (row, &bias) in out.chunks_exact_mut(outputs).zip(bias.iter().flat_map(|bias| bias.iter())) {
                    row.iter_mut().for_each(|y| *y += bias);
                }
            }
            Ok(())
        })
    });
    Some(kernel.into())
}
