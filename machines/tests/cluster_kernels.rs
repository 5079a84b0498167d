//! Compute functions of clusters: equal to the reference kernels, bit for bit.

use gradus_ir::tensor::{DType, Elem as Scalar, Tensor};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::{ConvAttrs, WindowAttrs};
use gradus_reference_kernels::{KernelResult, LrnAttrs, QuantizeAttrs, Quantized};
use gradus_simulators::cluster::*;

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 33
    }

    fn range(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % u64::from(high - low + 1)) as u32
    }

    fn bytes(&mut self, n: u32) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }

    /// Floats between -`scale` and `scale`.
    fn floats(&mut self, n: u32, scale: f32) -> Vec<f32> {
        (0..n).map(|_| (self.next() % 20_001) as f32 / 10_000.0 * scale - scale).collect()
    }

    fn scale(&mut self) -> f32 {
        self.floats(1, 0.1)[0].abs() + 0.003
    }
}

/// First bytes of parameters, other operand, input and output in the memory of the cluster.
const PARAMS: u32 = 0;
const OTHER: u32 = 1 << 19;
const INPUT: u32 = 1 << 20;
const OUTPUT: u32 = 1 << 21;

fn dense(offset: u32, [rows, cols, channels]: [u32; 3], elem: Elem) -> Tile {
    let channel = elem.bytes();
    let pixel = channel * channels;
    Tile { offset, row: pixel * cols, pixel, channel, rows, cols, channels, elem }
}

/// Executes a record; returns the bytes of its output.
fn run(record: Record, parts: &[(u32, &[u8])]) -> Vec<u8> {
    let output = record.output().expect("an output");
    let bytes = output.rows * output.row;
    let mut constants = vec![0; OUTPUT as usize];
    parts.iter().for_each(|(at, part)| constants[*at as usize..*at as usize + part.len()].copy_from_slice(part));
    let place = |offset| StridedBox { offset, row: 0, pixel: 0 };
    let copy = |from, to, bytes| Transfer { from: place(from), to: place(to), rows: 1, cols: 1, bytes };
    let records = vec![vec![
        Record::Fetch { transfer: copy(0, 0, OUTPUT), clusters: 1, event: 0 },
        Record::Wait { event: 0, count: 1 },
        record,
        Record::Store { transfer: copy(OUTPUT, OUTPUT, bytes), event: 1 },
    ]];
    let results = vec![Extent { offset: OUTPUT, bytes }];
    let program = ClusterProgram { records, constants, ddr_bytes: OUTPUT + bytes, operands: Vec::new(), results };
    let mut ddr = program.ddr();
    Simulator::new(ClusterMachine::default()).run(&program, &mut ddr).unwrap_or_else(|fault| panic!("{fault}"));
    ddr[OUTPUT as usize..].to_vec()
}

/// Returns `[channels, rows, cols]` of `[rows, cols, channels]`, elements of `size` bytes.
fn channels_first(bytes: &[u8], [rows, cols, channels]: [u32; 3], size: usize) -> Vec<u8> {
    let pixels = (rows * cols) as usize;
    let element = |c: usize, p: usize| &bytes[(p * channels as usize + c) * size..][..size];
    (0..channels as usize).flat_map(|c| (0..pixels).flat_map(move |p| element(c, p).to_vec())).collect()
}

fn dtype(elem: Elem) -> DType {
    match elem {
        Elem::F32 => DType::F32,
        Elem::F16 => DType::F16,
        Elem::I8 => DType::I8,
        Elem::U8 => DType::U8,
    }
}

/// Returns the tensor `[1, channels, rows, cols]` of bytes `[rows, cols, channels]`.
fn tensor(bytes: &[u8], extents: [u32; 3], elem: Elem) -> Tensor {
    let [rows, cols, channels] = extents.map(|n| n as usize);
    let data = channels_first(bytes, extents, elem.bytes() as usize);
    Tensor::new(dtype(elem), vec![1, channels, rows, cols], data.into()).expect("a tensor")
}

/// Asserts that bytes `[rows, cols, channels]` are those of a tensor.
fn assert_same(bytes: &[u8], tile: &Tile, expected: &Tensor, context: &str) {
    let extents = [tile.rows, tile.cols, tile.channels];
    assert_eq!(expected.dtype(), dtype(tile.elem), "{context}");
    assert_eq!(channels_first(bytes, extents, tile.elem.bytes() as usize), expected.bytes()[..], "{context}");
}

fn bytes_of<T: Scalar>(values: &[T]) -> Vec<u8> {
    Tensor::from_vec(&[values.len()], values.to_vec()).bytes().to_vec()
}

fn byte_type(rng: &mut Random) -> Elem {
    if rng.range(0, 1) == 0 { Elem::I8 } else { Elem::U8 }
}

/// A scale and a zero point, as the machine and as the reference take them.
fn quantization(rng: &mut Random, elem: Elem) -> (Scale, Tensor, Tensor) {
    let (scale, zero) = (rng.scale(), rng.next() as u8);
    let value = if elem == Elem::I8 { i32::from(zero.cast_signed()) } else { zero.into() };
    (Scale { scale, zero: value }, Tensor::scalar(scale), Tensor::from_bits(dtype(elem), &[], vec![zero]))
}

fn one(stage: Stage) -> Stages {
    let mut stages = Stages::default();
    stages[0] = Some(stage);
    stages
}

fn window(rng: &mut Random, [rows, cols]: [u32; 2]) -> (Window, WindowAttrs, [u32; 2]) {
    loop {
        let mut pair = |low, high| [rng.range(low, high), rng.range(low, high)];
        let (kernel, stride, dilation) = (pair(1, 3), pair(1, 2), pair(1, 2));
        // Less than the kernel, as the reference demands of pools.
        let (before, after) = ([0, 1].map(|i| kernel[i] / 2), pair(0, 1).map(|n| n.min(kernel[0].min(kernel[1]) / 2)));
        let extent = |i: usize, n: u32| {
            let room = n + before[i] + after[i];
            room.checked_sub((kernel[i] - 1) * dilation[i] + 1).map_or(0, |rest| rest / stride[i] + 1)
        };
        let output = [extent(0, rows), extent(1, cols)];
        if output.contains(&0) {
            continue;
        }
        let list = |all: &[u32]| all.iter().map(|&n| i64::from(n)).collect::<Vec<_>>();
        let attrs = WindowAttrs {
            kernel_shape: list(&kernel),
            strides: list(&stride),
            dilations: list(&dilation),
            pads: list(&[before, after].concat()),
            ..WindowAttrs::default()
        };
        return (Window { kernel, stride, dilation, first: before.map(|n| -(n as i32)) }, attrs, output);
    }
}

#[test]
fn quantized_convolutions_are_those_of_the_reference() {
    let mut rng = Random(1);
    for case in 0..60 {
        let (elem, to, weights_elem) = (byte_type(&mut rng), byte_type(&mut rng), byte_type(&mut rng));
        let extents = [rng.range(2, 9), rng.range(2, 9), 6];
        let (window, attrs, [rows, cols]) = window(&mut rng, [extents[0], extents[1]]);
        let group = [1, 2, 3, 6][rng.range(0, 3) as usize];
        let (group_in, channels) = (6 / group, 12);
        let terms = window.kernel[0] * window.kernel[1] * group_in;
        let (x, weights) = (rng.bytes(extents.iter().product()), rng.bytes(channels * terms));
        let bias: Vec<i32> = (0..channels).map(|_| rng.range(0, 40_000) as i32 - 20_000).collect();
        let (input, x_scale, x_zero) = quantization(&mut rng, elem);
        let (w, _, w_zero) = quantization(&mut rng, weights_elem);
        let (y, y_scale, y_zero) = quantization(&mut rng, to);
        let w_scales: Vec<f32> = (0..channels).map(|_| rng.scale()).collect();
        let scales: Vec<f32> = w_scales.iter().map(|scale| scale * input.scale / y.scale).collect();
        let output = dense(OUTPUT, [rows, cols, channels], to);
        let conv = Conv {
            input: dense(INPUT, extents, elem),
            output,
            weights: PARAMS + 1024,
            weights_elem,
            bias: Some(PARAMS),
            window,
            group_in,
            group_out: channels / group,
            zero: input.zero,
            weights_zero: w.zero,
            stages: one(Stage::Requantize { scales: PARAMS + 512, zero: y.zero, elem: to }),
            ..Conv::default()
        };
        let parts: [(u32, &[u8]); 4] =
            [(INPUT, &x), (PARAMS, &bytes_of(&bias)), (PARAMS + 512, &bytes_of(&scales)), (PARAMS + 1024, &weights)];
        let found = run(Record::Conv(conv), &parts);
        // Weights of the reference are [channels, group_in, rows, columns].
        let [kernel_rows, kernel_cols] = window.kernel;
        let each = weights.chunks_exact(terms as usize);
        let filters: Vec<u8> = each.flat_map(|w| channels_first(w, [kernel_rows, kernel_cols, group_in], 1)).collect();
        let shape = [channels, group_in, kernel_rows, kernel_cols].map(|n| n as usize);
        let filters = Tensor::new(dtype(weights_elem), shape.to_vec(), filters.into()).expect("a tensor");
        let w_scale = Tensor::from_vec(&[channels as usize], w_scales);
        let zeros = Tensor::from_bits(w_zero.dtype(), &[channels as usize], vec![w_zero.bytes()[0]; channels as usize]);
        let expected = kernels::qlinear_conv(
            Quantized { value: &tensor(&x, extents, elem), scale: &x_scale, zero: &x_zero },
            Quantized { value: &filters, scale: &w_scale, zero: &zeros },
            &y_scale,
            &y_zero,
            Some(&Tensor::from_vec(&[channels as usize], bias)),
            &ConvAttrs { window: attrs, group: group.into() },
        );
        assert_same(&found, &output, &expected.expect("a result"), &format!("case {case}"));
    }
}

#[test]
fn quantized_sums_products_and_tables_are_those_of_the_reference() {
    let mut rng = Random(2);
    for case in 0..40 {
        let (elem, other_elem, to_elem) = (byte_type(&mut rng), byte_type(&mut rng), byte_type(&mut rng));
        let extents = [rng.range(1, 6), rng.range(1, 6), rng.range(1, 20)];
        let n = extents.iter().product();
        let (a, b) = (rng.bytes(n), rng.bytes(n));
        let (x, x_scale, x_zero) = quantization(&mut rng, elem);
        let (y, y_scale, y_zero) = quantization(&mut rng, other_elem);
        let (to, to_scale, to_zero) = quantization(&mut rng, to_elem);
        let (input, output) = (dense(INPUT, extents, elem), dense(OUTPUT, extents, to_elem));
        let other = dense(OTHER, extents, other_elem);
        let found =
            |stage| run(Record::Map(Map { task: 0, input, output, stages: one(stage) }), &[(INPUT, &a), (OTHER, &b)]);
        let (left, right) = (tensor(&a, extents, elem), tensor(&b, extents, other_elem));
        let left = Quantized { value: &left, scale: &x_scale, zero: &x_zero };
        let right = Quantized { value: &right, scale: &y_scale, zero: &y_zero };
        let sum = kernels::qlinear_add(left, right, &to_scale, &to_zero).expect("a sum");
        let stage = Stage::QuantizedAdd { other, x, y, to, elem: to_elem };
        assert_same(&found(stage), &output, &sum, &format!("sum {case}"));
        let product = kernels::qlinear_mul(left, right, &to_scale, &to_zero).expect("a product");
        let stage = Stage::QuantizedMul { other, x, y, to, elem: to_elem };
        assert_same(&found(stage), &output, &product, &format!("product {case}"));
        let entries = rng.bytes(256 * extents[2]);
        let table =
            Tensor::new(dtype(to_elem), vec![extents[2] as usize, 256], entries.clone().into()).expect("a table");
        let stage = Stage::Table { tables: PARAMS, per_channel: true, from: elem, to: to_elem };
        let map = Map { task: 0, input, output, stages: one(stage) };
        let found = run(Record::Map(map), &[(INPUT, &a), (PARAMS, &entries)]);
        assert_same(
            &found,
            &output,
            &kernels::table(left.value, &table, 1).expect("a result"),
            &format!("table {case}"),
        );
    }
}

#[test]
fn pools_are_those_of_the_reference() {
    let mut rng = Random(3);
    for case in 0..60 {
        let elem = [Elem::F32, Elem::F16, Elem::I8, Elem::U8][case % 4];
        let extents = [rng.range(2, 9), rng.range(2, 9), rng.range(1, 12)];
        let (window, attrs, [rows, cols]) = window(&mut rng, [extents[0], extents[1]]);
        let n = extents.iter().product::<u32>();
        let x = match elem {
            Elem::F32 => bytes_of(&rng.floats(n, 2.0)),
            Elem::F16 => kernels::cast(&Tensor::from_vec(&[n as usize], rng.floats(n, 2.0)), DType::F16)
                .expect("floats")
                .bytes()
                .to_vec(),
            _ => rng.bytes(n),
        };
        let (input, output) = (dense(INPUT, extents, elem), dense(OUTPUT, [rows, cols, extents[2]], elem));
        let pool = Pool { input, output, window, is_max: true, ..Pool::default() };
        let expected = kernels::max_pool(&tensor(&x, extents, elem), &attrs, false).expect("maxima");
        let found = run(Record::Pool(pool), &[(INPUT, &x)]);
        assert_same(&found, &output, &expected[0], &format!("maxima {case}, {elem:?}"));
        if elem.is_float() {
            let expected = kernels::average_pool(&tensor(&x, extents, elem), &attrs, false).expect("means");
            let found = run(Record::Pool(Pool { is_max: false, ..pool }), &[(INPUT, &x)]);
            assert_same(&found, &output, &expected, &format!("means {case}, {elem:?}"));
        }
    }
}

#[test]
fn functions_of_floats_are_those_of_the_reference() {
    let mut rng = Random(4);
    let extents = [3, 5, 17];
    let n = extents.iter().product();
    let x = rng.floats(n, 9.0);
    let bytes = bytes_of(&x);
    let t = tensor(&bytes, extents, Elem::F32);
    let (input, output) = (dense(INPUT, extents, Elem::F32), dense(OUTPUT, extents, Elem::F32));
    let assert = |name: &str, record: Record, expected: KernelResult| {
        assert_same(
            &run(record, &[(INPUT, &bytes)]),
            record.output().expect("an output"),
            &expected.expect("a result"),
            name,
        );
    };
    let map = |stage| Record::Map(Map { task: 0, input, output, stages: one(stage) });
    assert("sigmoid", map(Stage::Sigmoid), kernels::sigmoid(&t));
    assert("leaky", map(Stage::Leaky { slope: 0.1 }), kernels::leaky_relu(&t, f64::from(0.1f32)));
    let (alpha, beta) = (0.2f32, 0.5f32);
    assert(
        "hard sigmoid",
        map(Stage::HardSigmoid { alpha, beta }),
        kernels::hard_sigmoid(&t, alpha.into(), beta.into()),
    );
    assert("hard swish", map(Stage::HardSwish), kernels::hard_swish(&t));
    assert("softmax", Record::Softmax(Softmax { task: 0, input, output }), kernels::softmax(&t, 1, false));
    for size in 1..7 {
        let lrn = Lrn { task: 0, input, output, before: 0, size, alpha: 0.01, beta: 0.75, bias: 1.5 };
        let attrs = LrnAttrs { axis: 1, size: size.into(), alpha: 0.01f32.into(), beta: 0.75, bias: 1.5 };
        assert("lrn", Record::Lrn(lrn), kernels::lrn(&t, &attrs));
    }
    for elem in [Elem::I8, Elem::U8] {
        let (to, scale, zero) = quantization(&mut rng, elem);
        let quantized = Record::Map(Map {
            task: 0,
            input,
            output: dense(OUTPUT, extents, elem),
            stages: one(Stage::Quantize { to, elem }),
        });
        let attrs = QuantizeAttrs { to: dtype(elem), precision: None, axis: 1, block_size: 0, saturate: true };
        assert("quantize", quantized, kernels::quantize_linear(&t, &scale, Some(&zero), &attrs));
        let bytes = rng.bytes(n);
        let stages = one(Stage::Dequantize { from: to });
        let map = Map { task: 0, input: dense(INPUT, extents, elem), output, stages };
        let t = tensor(&bytes, extents, elem);
        let expected = kernels::dequantize_linear(&t, &scale, Some(&zero), DType::F32, 1, 0).expect("floats");
        assert_same(&run(Record::Map(map), &[(INPUT, &bytes)]), &output, &expected, "dequantize");
    }
}
