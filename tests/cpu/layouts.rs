//! Every op with tables in every layout, padded or not: by tables, with exact results, and a remark where addresses are indirect.

use super::{Layer, READINGS, check, constant, extents, list, parse};
use gradus::Tool;
use gradus::ir::pass::{PassEvent, Pipeline, RunOptions, Watch};
use gradus::ir::random::Random;

/// Layouts of images: all kinds of orders, tiles of channels, of rows and columns, and tiles outside their dimension.
const LAYOUTS: [&str; 12] =
    ["NCHW", "NHWC", "CNHW", "NHCW", "HWCN", "NCHW4c", "NCHW8c", "NHWC4c", "NHC3cW", "NCHW2h2w", "2wNCHW", "NCHW2w4c"];

/// Kinds of ops.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Line,
    Image,
    Volume,
    Grouped,
    Depthwise,
    Transposed,
    MaxPool,
    Product,
}

const KINDS: [Kind; 8] = [
    Kind::Line,
    Kind::Image,
    Kind::Volume,
    Kind::Grouped,
    Kind::Depthwise,
    Kind::Transposed,
    Kind::MaxPool,
    Kind::Product,
];

impl Kind {
    /// Draws a layer. Channels are no multiple of most tiles.
    fn layer(self, random: &mut Random, is_padded: bool, stride: usize) -> Layer {
        if let Kind::Product = self {
            let before = constant(random, "w", &[6, 5]) + &constant(random, "b", &[4, 5]);
            let op = "graph.gemm %x, %w, %b {transA = 1 : i64, alpha = 2.0 : f32}";
            return Layer::of(&before, op, ", tensor<6x5xf32>, tensor<4x5xf32>", &[6, 4], "4x5x");
        }
        let rank = match self {
            Kind::Line => 1,
            Kind::Volume => 3,
            _ => 2,
        };
        let (channels, filters, group) = match self {
            Kind::Grouped => (6, 4, 2),
            Kind::Depthwise => (6, 6, 6),
            Kind::MaxPool => (6, 6, 1),
            _ => (6, 5, 1),
        };
        let pads: Vec<usize> = (0..2 * rank).map(|i| if is_padded { 1 + i % 2 } else { 0 }).collect();
        let (kernel, image) = (3, 6);
        let output = |i: usize| match self {
            Kind::Transposed => (image - 1) * stride + kernel - pads[i] - pads[rank + i],
            _ => (image + pads[i] + pads[rank + i] - kernel) / stride + 1,
        };
        let input = [&[2, channels][..], &vec![image; rank]].concat();
        let made = extents(&[&[2, filters][..], &(0..rank).map(output).collect::<Vec<_>>()].concat());
        let window = format!("pads = {}, strides = {}", list(&pads), list(&vec![stride; rank]));
        if let Kind::MaxPool = self {
            let op = format!("graph.max_pool %x {{kernel_shape = {}, {window}}}", list(&vec![kernel; rank]));
            return Layer::of("", &op, "", &input, &made);
        }
        let (name, outer) = match self {
            Kind::Transposed => ("conv_transpose", [channels, filters / group]),
            _ => ("conv", [filters, channels / group]),
        };
        let weights = [&outer[..], &vec![kernel; rank]].concat();
        let before = constant(random, "w", &weights) + &constant(random, "b", &[filters]);
        let op = format!("graph.{name} %x, %w, %b {{group = {group} : i64, {window}}}");
        let types = format!(", tensor<{}f32>, tensor<{filters}xf32>", extents(&weights));
        Layer::of(&before, &op, &types, &input, &made)
    }
}

/// Lowers a layer. Returns the program and the remarks.
fn lowered(tool: &Tool, layer: &Layer, options: &str) -> (String, Vec<String>) {
    let mut m = parse(&tool.context(), &layer.text).expect("it is valid");
    let text = format!("builtin.module(convert-graph-to-addr{options})");
    let mut pipeline = Pipeline::parse(&text, &tool.passes).expect("it is a pipeline");
    let mut remarks = Vec::new();
    let mut watch = Watch::new(|event| {
        if let PassEvent::Diagnostic(remark) = event {
            remarks.push(remark.message);
        }
    });
    assert!(pipeline.run(&mut m, &RunOptions::default(), &mut watch).is_ok());
    drop(watch);
    (m.to_text(Default::default()), remarks)
}

#[test]
fn every_op_reads_every_layout() {
    let (tool, mut counts) = (Tool::gradus(), [0; 3]);
    let ctx = tool.context();
    for (layout, kind) in LAYOUTS.iter().flat_map(|layout| KINDS.map(|kind| (*layout, kind))) {
        for (is_padded, stride) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
            let mut random = Random::of((layout, kind as u64, u64::from(is_padded), stride as u64));
            let layer = kind.layer(&mut random, is_padded, stride);
            for more in ["", " min-run=1", " encoding=running min-run=100"] {
                let options = format!("{{layout={layout}{more}}}");
                let (text, remarks) = lowered(&tool, &layer, &options);
                let ops = ["graph.conv", "graph.max_pool", "graph.gemm"];
                assert!(ops.iter().all(|op| !text.contains(op)), "{kind:?} {options}: {text}");
                let named: Vec<&String> =
                    remarks.iter().filter(|remark| remark.contains("is not separable in")).collect();
                let is_whole = remarks.len() == named.len();
                assert!(is_whole && (named.is_empty() || text.contains("addr.indirect_gemm")), "{remarks:?}");
                assert!(named.iter().all(|remark| remark.contains("dimension '") && remark.contains("tiles of")));
                for (count, holds) in counts.iter_mut().zip([
                    text.contains("addr.gemm"),
                    text.contains("addr.indirect_gemm"),
                    !named.is_empty(),
                ]) {
                    *count += usize::from(holds);
                }
                check(&tool, &ctx, &layer, &options, &mut random);
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "separable, indirect, remarks: {counts:?}");
}

/// Pools write the layout that they read, so that two of them convert no layout in between.
#[test]
fn pools_write_the_layout_that_they_read() {
    let tool = Tool::gradus();
    for layout in ["NCHW4c", "NHWC", "NCHW2h2w"] {
        let text = "func.func @main(%x: tensor<1x6x9x9xf32>) -> tensor<1x6x3x3xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 3, 3>} : (tensor<1x6x9x9xf32>) -> tensor<1x6x7x7xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x6x7x7xf32>) -> tensor<1x6x3x3xf32>
  return %1 : tensor<1x6x3x3xf32>
}
";
        let layer = Layer { text: text.to_owned(), input: vec![1, 6, 9, 9] };
        let (text, remarks) = lowered(&tool, &layer, &format!("{{layout={layout}}}"));
        assert!(remarks.is_empty() && text.matches("addr.pool").count() == 2, "{text}");
        let mut random = Random::of(layout);
        check(&tool, &tool.context(), &layer, &format!("{{layout={layout}}}"), &mut random);
    }
}

/// Images without channels cannot be read in a layout: a remark says so.
#[test]
fn unknown_dimensions_are_named() {
    let tool = Tool::gradus();
    let layer = Kind::Image.layer(&mut Random::of("unknown"), false, 1);
    let (_, remarks) = lowered(&tool, &layer, "{layout=NKHW}");
    assert_eq!(remarks, ["images are read in NHWC instead of NKHW: the layout has no dimension 'C'"]);
    assert!(READINGS.iter().all(|reading| lowered(&tool, &layer, reading).0.contains("addr.")));
}
