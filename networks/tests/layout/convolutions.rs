//! Convolutions by address tables over buffers in many layouts equal the reference convolution.

use gradus_ir::tensor::Tensor;
use gradus_networks::layout::{
    AccessFunction, AddressTable, Layout, LayoutError, ReductionOrder, Relayout, SlidingWindow, TiledLayout,
};
use gradus_reference_kernels::shape::{ConvAttrs, WindowAttrs};
use gradus_reference_kernels::{self as kernels, matmul, transpose};

/// A grouped convolution of two axes.
#[derive(Clone, Copy, Debug)]
struct Conv {
    batch: u64,
    groups: u64,
    /// Input and output channels per group.
    channels: u64,
    kernels: u64,
    size: [u64; 2],
    taps: [u64; 2],
    strides: [u64; 2],
    dilations: [u64; 2],
    pad: u64,
}

impl Conv {
    fn windows(&self) -> Option<[SlidingWindow; 2]> {
        let window = |i: usize| {
            let reach = (self.taps[i] - 1) * self.dilations[i] + 1;
            let outputs = (self.size[i] + 2 * self.pad).checked_sub(reach)? / self.strides[i] + 1;
            let (stride, dilation, start) = (self.strides[i], self.dilations[i], -(self.pad as i64));
            Some(SlidingWindow { outputs, taps: self.taps[i], stride, dilation, start })
        };
        Some([window(0)?, window(1)?])
    }

    fn input(&self) -> Tensor {
        small(&[self.batch, self.groups * self.channels, self.size[0], self.size[1]])
    }

    fn weights(&self) -> Tensor {
        small(&[self.groups * self.kernels, self.channels, self.taps[0], self.taps[1]])
    }

    fn reference(&self) -> Tensor {
        let signed = |list: [u64; 2]| list.map(|n| n as i64).to_vec();
        let window = WindowAttrs {
            strides: signed(self.strides),
            dilations: signed(self.dilations),
            pads: vec![self.pad as i64; 4],
            ..WindowAttrs::default()
        };
        let attrs = ConvAttrs { window, group: self.groups as i64 };
        kernels::conv(&self.input(), &self.weights(), None, &attrs).unwrap()
    }
}

/// Returns small integers, whose sums are exact.
fn small(shape: &[u64]) -> Tensor {
    let shape: Vec<usize> = shape.iter().map(|&d| d as usize).collect();
    let numbers = (0..shape.iter().product::<usize>()).map(|i| (i * 37 % 19) as f32 - 9.0);
    Tensor::from_vec(&shape, numbers.collect())
}

/// Packs a tensor into a layout, with NaN as padding.
fn packed(x: &Tensor, layout: &Layout) -> Tensor {
    let sizes: Vec<i64> = x.shape().iter().map(|&d| d as i64).collect();
    let plain = "NCHW".parse::<TiledLayout>().unwrap().of("NCHW", &sizes).unwrap();
    let mut bytes = f32::NAN.to_le_bytes().repeat(layout.size() as usize);
    Relayout::new(&plain, layout).unwrap().copy(x.bytes(), &mut bytes, 4).unwrap();
    Tensor::new(x.dtype(), vec![layout.size() as usize], bytes.into()).unwrap()
}

/// Computes the convolution as one product per group, in the order of the reference.
fn by_table(conv: &Conv, buffer: &Tensor, order: ReductionOrder, table: &AddressTable<'_>) -> Tensor {
    let [rows, columns] = conv.windows().unwrap().map(|w| w.outputs as usize);
    let points = conv.batch as usize * rows * columns;
    let depth = (conv.channels * conv.taps[0] * conv.taps[1]) as usize;
    let perm: &[i64] = if order == ReductionOrder::ChannelsFirst { &[0, 1, 2, 3] } else { &[0, 2, 3, 1] };
    let weights = transpose(&conv.weights(), perm).unwrap();
    let (n, groups) = (conv.kernels as usize, conv.groups as usize);
    let elements = buffer.as_slice::<f32>();
    let mut out = vec![0.0; points * n * groups];
    for g in 0..groups {
        let b = weights.as_slice::<f32>()[g * n * depth..][..n * depth].to_vec();
        let read = |at: Option<i64>| at.map_or(0.0, |at| elements[at as usize]);
        let a = (g * points..(g + 1) * points).flat_map(|m| table.row(m)).map(read).collect();
        let b = transpose(&Tensor::from_vec(&[n, depth], b), &[1, 0]).unwrap();
        let c = matmul(&Tensor::from_vec(&[points, depth], a), &b).unwrap();
        for (i, &sum) in c.as_slice::<f32>().iter().enumerate() {
            let (m, kernel) = (i / n, g * n + i % n);
            let (image, pixel) = (m / (rows * columns), m % (rows * columns));
            out[(image * groups * n + kernel) * rows * columns + pixel] = sum;
        }
    }
    Tensor::from_vec(&[conv.batch as usize, groups * n, rows, columns], out)
}

#[test]
fn convolutions() {
    let (mut separable, mut crossing) = (0, 0);
    for i in 0..160_u64 {
        let pick = |salt: u64, n: u64| (i * 2_654_435_761 + salt * 40_503).wrapping_mul(0x9E37_79B9) / 65_536 % n;
        let conv = Conv {
            batch: 1 + pick(1, 2),
            groups: 1 + pick(2, 3),
            channels: 1 + pick(3, 6),
            kernels: 1 + pick(4, 3),
            size: [3 + pick(5, 5), 3 + pick(6, 5)],
            taps: [1 + pick(7, 3), 1 + pick(8, 3)],
            strides: [1 + pick(9, 2), 1 + pick(10, 2)],
            dilations: [1 + pick(11, 2), 1 + pick(12, 2)],
            pad: pick(13, 2),
        };
        let Some(windows) = conv.windows() else { continue };
        let order = [ReductionOrder::ChannelsFirst, ReductionOrder::ChannelsLast][pick(14, 2) as usize];
        let access = AccessFunction::conv(conv.batch, conv.groups, conv.channels, &windows, order);
        // As numbers: zeros have either sign.
        let wanted = conv.reference().to_f64();
        for text in ["NCHW", "NHWC", "CNHW", "NCHW4c", "NHWC8c", "NCHW2h4w", "NCHW3c2h", "2h2wNCHW"] {
            let sizes: Vec<i64> = conv.input().shape().iter().map(|&d| d as i64).collect();
            let layout = text.parse::<TiledLayout>().unwrap().of("NCHW", &sizes).unwrap();
            let buffer = packed(&conv.input(), &layout);
            let table = access.indirect_table(&layout).unwrap();
            let found = by_table(&conv, &buffer, order, &table);
            assert_eq!(found.to_f64(), wanted, "{text} {conv:?}");
            match access.separable_table(&layout) {
                Ok(table) => {
                    let found = by_table(&conv, &buffer, order, &table);
                    assert_eq!(found.to_f64(), wanted, "{text} {conv:?}");
                    separable += 1;
                }
                Err(LayoutError::NotSeparable { .. }) => crossing += 1,
                Err(other) => assert!(conv.pad > 0 && matches!(other, LayoutError::OutOfBounds { .. }), "{other}"),
            }
        }
    }
    assert!(separable > 200 && crossing > 30, "{separable} {crossing}");
}
