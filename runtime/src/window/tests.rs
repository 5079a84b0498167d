//! Pools and depthwise convolutions compared with their definition.

use super::{
    ByteWindows, PlaneAxis, PlaneFilters, PlanePool, PlaneShape, PlaneSums, Planes, PoolScale, WindowReduction,
    WindowTable, Windows,
};
use crate::gemm::bytes::{IntegerOutput, Scales};
use crate::vector::Isa;
use crate::workers::Workers;
use crate::{ElementwiseEpilogue, KernelError};
use gradus_ir::Tensor;
use gradus_networks::layout::AddressTable;
use gradus_reference_kernels::shape::WindowAttrs;
use half::bf16;

/// A deterministic pseudo-random sequence.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn floats(&mut self, count: usize, below: usize) -> Vec<f32> {
        (0..count).map(|_| self.next(below) as f32 - (below / 2) as f32).collect()
    }
}

/// Windows of some positions and channels.
fn table(bases: &[i32], positions: usize, channels: usize) -> Result<WindowTable, KernelError> {
    let table = AddressTable::indirect(bases, [bases.len() / positions, positions], channels).map_err(String::from)?;
    WindowTable::new(&table)
}

/// Computes one element of the result by definition.
fn element(windows: &Windows<'_, f32>, places: &[i32], row: usize, channel: usize) -> f32 {
    let there = places.iter().enumerate().filter(|&(_, &base)| base != -1);
    let values = there.map(|(t, &base)| (t, windows.a[base as usize + channel]));
    let all = match windows.reduction {
        WindowReduction::Max => {
            values.fold(f32::NEG_INFINITY, |all, (_, x)| if x > all || x.is_nan() { x } else { all })
        }
        WindowReduction::Sum => values.map(|(_, x)| x).sum(),
        WindowReduction::Weighted(weights) => {
            values.map(|(t, x)| x * weights[t * windows.places.channels() + channel]).sum()
        }
    };
    let all = windows.bias.map_or(all, |bias| all + bias[channel]);
    let all = windows.add.map_or(all, |add| all + add[row * windows.places.channels() + channel]);
    if all < windows.elementwise.range.0 {
        windows.elementwise.range.0
    } else if all > windows.elementwise.range.1 {
        windows.elementwise.range.1
    } else {
        all
    }
}

/// Checks a reduction on all vector extensions.
fn check(case: usize, bases: &[i32], positions: usize, channels: usize, numbers: &mut Numbers) {
    let rows = bases.len() / positions;
    let end = (bases.iter().max().map_or(0, |&base| (base + 1) as usize) + channels).max(1);
    let mut a = numbers.floats(end, 17);
    if case.is_multiple_of(7) {
        a[numbers.next(end)] = f32::NAN;
    }
    let (weights, bias) = (numbers.floats(positions * channels, 9), numbers.floats(channels, 9));
    let added = numbers.floats(rows * channels, 9);
    let reduction = [WindowReduction::Max, WindowReduction::Sum, WindowReduction::Weighted(&weights)][case % 3];
    let bias = (case.is_multiple_of(2)).then_some(&bias[..]);
    let add = (case.is_multiple_of(4)).then_some(&added[..]);
    let range = if case.is_multiple_of(5) { (0.0, 6.0) } else { (f32::NEG_INFINITY, f32::INFINITY) };
    let places = table(bases, positions, channels).expect("rows are whole");
    let windows =
        Windows { a: &a, places: &places, reduction, bias, add, elementwise: ElementwiseEpilogue::clamp(range) };
    let of_row = |(i, places)| (0..channels).map(move |channel| (i, places, channel));
    let elements = bases.chunks(positions).enumerate().flat_map(of_row);
    let want: Vec<f32> = elements.map(|(i, places, channel)| element(&windows, places, i, channel)).collect();
    for isa in [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported()) {
        let mut have = vec![f32::MAX; rows * channels];
        windows.compute(isa, &Workers::default(), &mut have).expect("it can be computed");
        let same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
        assert!(have.iter().zip(&want).all(same), "{isa:?} {case}: {windows:?}");
        // The numbers are bf16, and so are not all sums.
        let bits = |from: &[f32]| from.iter().map(|&x| bf16::from_f32(x).to_bits()).collect::<Vec<u16>>();
        let (a, add) = (bits(&a), add.map(bits));
        let narrow = Windows {
            a: &a,
            places: &places,
            reduction,
            bias,
            add: add.as_deref(),
            elementwise: ElementwiseEpilogue::clamp(range),
        };
        let mut have = vec![7; rows * channels];
        narrow.compute(isa, &Workers::default(), &mut have).expect("it can be computed");
        let same = |(&a, &b): (&u16, &f32)| {
            bf16::from_bits(a) == bf16::from_f32(b) || b.is_nan() && bf16::from_bits(a).is_nan()
        };
        assert!(have.iter().zip(&want).all(same), "{isa:?} {case}: {narrow:?}");
    }
    for parts in 1..4 {
        let series = (0..parts).flat_map(|i| places.part([i, parts]));
        let mut all: Vec<usize> =
            series.flat_map(|(series, _)| (0..series.count).map(|i| series.row + i * series.row_step)).collect();
        all.sort_unstable();
        assert!(all == (0..rows).collect::<Vec<_>>(), "{parts} parts: {all:?}");
    }
    check_bytes(case, bases, &places, numbers);
}

/// Checks the weighted sum of bytes.
fn check_bytes(case: usize, bases: &[i32], places: &WindowTable, numbers: &mut Numbers) {
    let (positions, rows, channels) = (places.positions(), places.rows(), places.channels());
    let end = bases.iter().max().map_or(0, |&base| (base + 1) as usize) + channels;
    let extreme = |numbers: &mut Numbers| [0, 255, 127, 128, numbers.next(256) as u8][numbers.next(5)];
    let a: Vec<u8> = (0..end).map(|_| extreme(numbers)).collect();
    let (signed, zero) = (case.is_multiple_of(2), extreme(numbers));
    let value = |byte: u8| if signed { i32::from(byte.cast_signed()) } else { i32::from(byte) };
    // The larger ones are no bytes.
    let extremes = if case.is_multiple_of(3) { [-255.0, 255.0, 3.0] } else { [-128.0, 127.0, 3.0] };
    let weights: Vec<f32> = (0..positions * channels).map(|_| extremes[numbers.next(3)]).collect();
    let most = if case.is_multiple_of(3) { i32::MAX } else { 0 };
    let bias: Vec<i32> = (0..channels).map(|_| most.wrapping_sub(numbers.next(1000) as i32)).collect();
    let add: Vec<i32> = (0..rows * channels).map(|_| numbers.next(1000) as i32).collect();
    let add = case.is_multiple_of(4).then_some(&add[..]);
    let sum = |i: usize| {
        let (row, channel) = (i / channels, i % channels);
        let there = (0..positions).filter(|t| bases[row * positions + t] != -1);
        let product = |t: usize| {
            let x = value(a[bases[row * positions + t] as usize + channel]) - value(zero);
            x * weights[t * channels + channel] as i32
        };
        let sum = there.map(product).fold(bias[channel], i32::wrapping_add);
        sum.wrapping_add(add.map_or(0, |add| add[i]))
    };
    let want: Vec<i32> = (0..rows * channels).map(sum).collect();
    let scales: Vec<f64> = (0..channels).map(|_| numbers.next(1000) as f64 * 1e-6).collect();
    let quantize = |(i, &sum): (usize, &i32)| {
        ((f64::from(sum) * scales[i % channels]).round_ties_even() + 7.0).clamp(0.0, 255.0) as u8
    };
    let bytes: Vec<u8> = want.iter().enumerate().map(quantize).collect();
    let scales = Scales::new(scales.clone(), 7, false);
    let windows = ByteWindows { a: &a, signed, zero, places, weights: &weights, bias: &bias, add };
    for isa in [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported()) {
        let (mut sums, mut quantized) = (vec![7; want.len()], vec![7; want.len()]);
        windows.compute(isa, &Workers::default(), IntegerOutput::Sums(&mut sums)).expect("it can be computed");
        assert!(sums == want, "{isa:?} {case}: {windows:?}");
        windows.compute(isa, &Workers::default(), IntegerOutput::Quantized(&mut quantized, &scales)).expect("it can");
        assert!(quantized == bytes, "{isa:?} {case}: {windows:?}");
    }
    #[cfg(target_arch = "x86_64")]
    if add.is_none() {
        let weights: Vec<i32> = weights.iter().map(|&x| x as i32).collect();
        let Some(windows) = super::DotWindows::new(places, &weights, &bias, &scales) else { return };
        for workers in crate::gemm::tests::workers() {
            let mut quantized = vec![7; want.len()];
            windows.compute(&a, signed, zero, &workers, &mut quantized).expect("it can be computed");
            assert!(quantized == bytes, "{case}: {places:?}");
        }
    }
}

const CHANNELS: [usize; 10] = [0, 1, 3, 8, 12, 16, 20, 40, 64, 100];

#[test]
fn windows_are_what_they_say() {
    let mut numbers = Numbers(7);
    for case in 0..300 {
        let (rows, positions, channels) = (numbers.next(5), 1 + numbers.next(9), CHANNELS[numbers.next(10)]);
        let bases: Vec<i32> = (0..rows * positions).map(|_| (numbers.next(1000) as i32 - 100).clamp(-1, 899)).collect();
        check(case, &bases, positions, channels, &mut numbers);
    }
}

#[test]
fn windows_of_images_are_what_they_say() {
    let mut numbers = Numbers(8);
    for case in 0..300 {
        let channels = CHANNELS[numbers.next(10)];
        let [h, w] = [1 + numbers.next(5), 1 + numbers.next(24)];
        let [kh, kw, stride, dilation, pad] = [4, 7, 3, 2, 3].map(|most| 1 + numbers.next(most));
        let out = |size: usize, k: usize| (size + 2 * pad).checked_sub(dilation * (k - 1) + 1).map(|n| n / stride + 1);
        let (Some(oh), Some(ow)) = (out(h, kh), out(w, kw)) else { continue };
        let inside = |at: usize, size: usize| at.checked_sub(pad).filter(|&at| at < size);
        let mut bases = Vec::new();
        for (y, x) in (0..oh).flat_map(|y| (0..ow).map(move |x| (y, x))) {
            for (i, j) in (0..kh).flat_map(|i| (0..kw).map(move |j| (i, j))) {
                let at = inside(y * stride + i * dilation, h).zip(inside(x * stride + j * dilation, w));
                bases.push(at.map_or(-1, |(y, x)| ((y * w + x) * channels) as i32));
            }
        }
        check(case, &bases, kh * kw, channels, &mut numbers);
    }
}

#[test]
fn places_outside_are_refused() {
    let compute = |bases: &[i32], channels: usize| {
        let (places, reduction) = (table(bases, 1, channels)?, WindowReduction::Sum);
        let windows = Windows {
            a: &[1.0_f32; 8],
            places: &places,
            reduction,
            bias: None,
            add: None,
            elementwise: ElementwiseEpilogue::NONE,
        };
        windows.compute(Isa::best(), &Workers::default(), &mut vec![0.0; bases.len() * channels])
    };
    assert!(compute(&[0], 8).is_ok());
    assert!(compute(&[-1], 8).is_ok());
    assert!(compute(&[1], 8).is_err());
    assert!(compute(&[-2], 1).is_err());
    assert!(compute(&[i32::MAX], 1).is_err());
    assert!(compute(&[i32::MIN, i32::MAX, i32::MIN], 1).is_err());
    assert!(compute(&[0, 1, 2, 3, 4, 5, 6, 7], 1).is_ok());
    assert!(compute(&[0, 1, 2, 3, 4, 5, 6, 7], 2).is_err());
}

/// The place of the first element of a row of a plane, if each image is in `bands` bands with all of its channels.
fn row_of_band([plane, row]: [i64; 2], channels: usize, [height, width]: [i64; 2], bands: usize) -> i64 {
    let (channels, rows) = (channels as i64, height / bands as i64);
    let band = plane / channels * bands as i64 + row / rows;
    ((band * channels + plane % channels) * rows + row % rows) * width
}

/// Computes one element of a depthwise convolution of planes by definition.
fn plane_element(
    planes: &Planes<'_>,
    [rows, columns]: [PlaneAxis; 2],
    (channels, bands): (usize, [usize; 2]),
    [plane, i, j]: [i64; 3],
) -> f32 {
    let at = |axis: PlaneAxis, output: i64, tap: i64| {
        let index = output * axis.stride + tap * axis.dilation + axis.start;
        (0..axis.input).contains(&index).then_some(index)
    };
    let channel = plane as usize % channels;
    let mut sum = 0.0;
    for (k, t) in (0..rows.taps).flat_map(|k| (0..columns.taps).map(move |t| (k, t))) {
        if let (Some(y), Some(x)) = (at(rows, i, k), at(columns, j, t)) {
            let weight =
                planes.weights[channel * (rows.taps * columns.taps) as usize + (k * columns.taps + t) as usize];
            let row = row_of_band([plane, y], channels, [rows.input, columns.input], bands[0]);
            sum += weight * planes.a[(row + x) as usize];
        }
    }
    sum += planes.bias.map_or(0.0, |bias| bias[channel]);
    let row = row_of_band([plane, i], channels, [rows.outputs, columns.outputs], bands[1]);
    sum += planes.add.map_or(0.0, |add| add[(row + j) as usize]);
    sum.clamp(planes.elementwise.range.0, planes.elementwise.range.1)
}

/// Planes of all widths and heights around those of vectors and blocks, on all vector extensions.
#[test]
fn planes_are_as_defined() {
    let (mut numbers, threads) = (Numbers(5), Workers::new(3).expect("there are threads"));
    for case in 0..if cfg!(debug_assertions) { 200 } else { 1500 } {
        let mut axis = |most: usize| {
            let is_three = numbers.next(3) > 0;
            let taps = if is_three { 3 } else { 1 + numbers.next(5) as i64 };
            let (stride, dilation) =
                (1 + numbers.next(3) as i64, if is_three { 1 } else { 1 + numbers.next(3) as i64 });
            let (input, start) = (1 + numbers.next(most) as i64, -(numbers.next(3) as i64));
            let outputs = 1 + (input + numbers.next(4) as i64 - 1) / stride;
            PlaneAxis { input, outputs, taps, stride, dilation, start }
        };
        let axes @ [rows, columns] = [axis(20), axis(40)];
        let mut divisor = |n: i64| {
            let all: Vec<usize> = (1..=n as usize).filter(|&d| (n as usize).is_multiple_of(d)).collect();
            all[numbers.next(all.len())]
        };
        let bands = [divisor(rows.input), divisor(rows.outputs)];
        let shape = PlaneShape::new(rows, columns, bands).expect("it is small");
        // Few planes are computed by one thread.
        let most = if case % 21 == 0 { 60 } else { 3 };
        let (images, channels) = (1 + numbers.next(2), 1 + numbers.next(most));
        let planes = images * channels;
        let a = numbers.floats(planes * (rows.input * columns.input) as usize, 17);
        let weights = numbers.floats(channels * (rows.taps * columns.taps) as usize, 9);
        let (bias, outputs) = (numbers.floats(channels, 9), planes * (rows.outputs * columns.outputs) as usize);
        let add = numbers.floats(outputs, 9);
        let range = if case % 3 == 0 { (0.0, 6.0) } else { (f32::NEG_INFINITY, f32::INFINITY) };
        let (bias, add) = ((case % 2 == 0).then_some(&bias[..]), (case % 4 == 1).then_some(&add[..]));
        let of = Planes {
            a: &a,
            shape: &shape,
            weights: &weights,
            bias,
            add,
            elementwise: ElementwiseEpilogue::clamp(range),
        };
        let mut want = vec![0.0; outputs];
        for (p, i) in (0..planes as i64).flat_map(|p| (0..rows.outputs).map(move |i| (p, i))) {
            let row = row_of_band([p, i], channels, [rows.outputs, columns.outputs], bands[1]);
            for j in 0..columns.outputs {
                want[(row + j) as usize] = plane_element(&of, axes, (channels, bands), [p, i, j]);
            }
        }
        for isa in [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported()) {
            let mut have = vec![f32::MAX; outputs];
            of.compute(isa, &threads, &mut have).expect("it can be computed");
            assert_eq!(have, want, "{isa:?} {case}: {axes:?} {bands:?}");
        }
        assert!(of.compute(Isa::Portable, &Workers::default(), &mut vec![0.0; outputs + 1]).is_err());
    }
    let (large, one) = (PlaneAxis { stride: 1 << 40, ..PlaneAxis::ONE }, PlaneAxis::ONE);
    for (rows, columns, bands) in [(large, one, [1; 2]), (one, large, [1; 2]), (one, one, [2, 1]), (one, one, [1, 0])] {
        assert!(PlaneShape::new(rows, columns, bands).is_none());
    }
}

/// Sums over channels for widths, heights and numbers of channels and filters around those of vectors and blocks, on all vector extensions.
#[test]
fn plane_sums_are_as_defined() {
    let (mut numbers, threads) = (Numbers(9), Workers::new(3).expect("there are threads"));
    for case in 0..if cfg!(debug_assertions) { 200 } else { 1500 } {
        let mut axis = |most: usize| {
            let (taps, stride, dilation) =
                (1 + numbers.next(4) as i64, 1 + numbers.next(3) as i64, 1 + numbers.next(3) as i64);
            let (input, start) = (1 + numbers.next(most) as i64, -(numbers.next(3) as i64));
            let outputs = 1 + (input + numbers.next(4) as i64 - 1) / stride;
            PlaneAxis { input, outputs, taps, stride, dilation, start }
        };
        let mut axes = [axis(12), axis(if case % 50 == 0 { 9000 } else { 50 })];
        if case % 5 == 0 {
            axes =
                axes.map(|axis| PlaneAxis { outputs: axis.input, taps: 1, stride: 1, dilation: 1, start: 0, ..axis });
        }
        let [rows, columns] = axes;
        let (images, groups) = (1 + numbers.next(2), 1 + numbers.next(3));
        let (channels, filters) = (1 + numbers.next(4), 1 + numbers.next(9));
        let ([input, output], taps) = (
            [rows.input * columns.input, rows.outputs * columns.outputs].map(|n| n as usize),
            rows.taps * columns.taps,
        );
        let depth = channels * taps as usize;
        let a = numbers.floats(images * groups * channels * input, 17);
        let weights = numbers.floats(groups * filters * depth, 9);
        let (bias, count) = (numbers.floats(groups * filters, 9), images * groups * filters * output);
        let add = numbers.floats(count, 9);
        let range = if case % 3 == 0 { (0.0, 6.0) } else { (f32::NEG_INFINITY, f32::INFINITY) };
        let (bias, add) = ((case % 2 == 0).then_some(&bias[..]), (case % 4 == 1).then_some(&add[..]));
        let at = |axis: PlaneAxis, output: i64, tap: i64| {
            let index = output * axis.stride + tap * axis.dilation + axis.start;
            (0..axis.input).contains(&index).then_some(index)
        };
        let element = |i: usize| {
            let (plane, position) = (i / output, (i % output) as i64);
            let (filter, image) = (plane % (groups * filters), plane / (groups * filters));
            let (y, x) = (position / columns.outputs, position % columns.outputs);
            let mut sum = bias.map_or(0.0, |bias| bias[filter]) + add.map_or(0.0, |add| add[i]);
            for k in 0..depth {
                let (channel, tap) = (k / taps as usize, k as i64 % taps);
                let places = (at(rows, y, tap / columns.taps), at(columns, x, tap % columns.taps));
                if let (Some(y), Some(x)) = places {
                    let channel = (image * groups + filter / filters) * channels + channel;
                    sum += weights[filter * depth + k] * a[channel * input + (y * columns.input + x) as usize];
                }
            }
            sum.clamp(range.0, range.1)
        };
        let want: Vec<f32> = (0..count).map(element).collect();
        let all = PlaneFilters::new(rows, columns, [groups, channels], &weights).expect("it is small");
        for isa in [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported()) {
            let mut have = vec![f32::MAX; count];
            all.compute(
                isa,
                &threads,
                PlaneSums { a: &a, bias, add, elementwise: ElementwiseEpilogue::clamp(range) },
                &mut have,
            )
            .expect("it can be computed");
            assert!(
                have == want,
                "{isa:?} {case}: {axes:?} {groups} groups of {channels} channels and {filters} filters"
            );
        }
        let (sums, mut larger) =
            (PlaneSums { a: &a, bias, add, elementwise: ElementwiseEpilogue::clamp(range) }, vec![0.0; count + 1]);
        assert!(all.compute(Isa::Portable, &Workers::default(), sums, &mut larger).is_err());
    }
    let far = PlaneAxis { taps: 3, dilation: 1 << 20, ..PlaneAxis::ONE };
    assert!(PlaneFilters::new(far, PlaneAxis::ONE, [1, 1], &[1.0; 3]).is_none());
    assert!(PlaneFilters::new(PlaneAxis::ONE, PlaneAxis::ONE, [2, 3], &[1.0; 5]).is_none());
}

/// Pools of images of one to three dimensions, of widths around those of vectors, on all vector extensions.
#[test]
fn plane_pools_are_as_defined() {
    let (mut numbers, threads) = (Numbers(13), Workers::new(3).expect("there are threads"));
    for case in 0..if cfg!(debug_assertions) { 200 } else { 1500 } {
        let rank = 1 + numbers.next(3);
        let mut list = |below: usize, from: i64| (0..rank).map(|_| numbers.next(below) as i64 + from).collect();
        let (kernel_shape, strides, dilations): (Vec<i64>, Vec<i64>, Vec<i64>) = (list(4, 1), list(4, 1), list(2, 1));
        let pads = kernel_shape.iter().map(|&taps| numbers.next(taps as usize) as i64).collect::<Vec<_>>().repeat(2);
        let attrs =
            WindowAttrs { strides, dilations, pads, ceil_mode: case % 3 == 0, kernel_shape, ..WindowAttrs::default() };
        let least = |axis: usize| ((attrs.kernel_shape[axis] - 1) * attrs.dilations[axis] + 1) as usize;
        let image: Vec<usize> =
            (0..rank).map(|i| least(i) + numbers.next(if i + 1 == rank { 70 } else { 5 })).collect();
        let shape = [&[1 + numbers.next(2), 1 + numbers.next(3)], &image[..]].concat();
        let mut a = numbers.floats(shape.iter().product(), 17);
        if case % 7 == 0 {
            a[0] = f32::NAN;
        }
        let kernel: Vec<usize> = attrs.kernel_shape.iter().map(|&taps| taps as usize).collect();
        let window = attrs.resolve(&image, &kernel).expect("windows are in the image");
        let (pool, x) = (PlanePool::new(&window).expect("it is small"), Tensor::from_vec(&shape, a.clone()));
        let with_padding = case % 2 == 0;
        let [maxima, _] = gradus_reference_kernels::max_pool(&x, &attrs, false).expect("it can be computed");
        let means = gradus_reference_kernels::average_pool(&x, &attrs, with_padding).expect("it can be computed");
        let scale = PoolScale::of_means(&window, with_padding);
        for isa in [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported()) {
            let mut have = vec![f32::MAX; maxima.len()];
            pool.compute(isa, &threads, &a, None, &mut have).expect("it can be computed");
            let same = |(have, want): (&f32, &f32)| have == want || have.is_nan() && want.is_nan();
            assert!(have.iter().zip(&*maxima.as_slice::<f32>()).all(same), "{isa:?} {case}: {window:?}");
            let Some(scale) = &scale else { continue };
            pool.compute(isa, &threads, &a, Some(scale), &mut have).expect("it can be computed");
            let near =
                |(have, want): (&f32, &f32)| (have - want).abs() <= 1e-5 * 17.0 || have.is_nan() && want.is_nan();
            assert!(have.iter().zip(&*means.as_slice::<f32>()).all(near), "{isa:?} {case}: {window:?}");
        }
        assert!(pool.compute(Isa::Portable, &threads, &a, None, &mut vec![0.0; maxima.len() + 1]).is_err());
    }
}
