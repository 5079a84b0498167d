//! Channel shuffles between group convolutions are exact on small integers, and mostly free.

use super::{Layer, check, compiled, constant, extents, list, parse, pick};
use gradus::Tool;
use gradus::ir::random::Random;

/// A group convolution, a shuffle, a depthwise convolution and another group convolution.
struct Network {
    layer: Layer,
    /// Whether the second convolution's groups have the same distances, so that it can fold the shuffle.
    is_even: bool,
}

impl Network {
    fn of(random: &mut Random) -> Network {
        let (groups, each, batch) =
            (pick(random, &[2, 3, 4]), pick(random, &[1, 2, 4, 6, 9, 12, 17, 20]), pick(random, &[1, 2]));
        let (channels, kernel) = (groups * each, pick(random, &[1, 2, 3]));
        let [pad, stride] = [pick(random, &[0, 1]), pick(random, &[1, 2])];
        let image = [(); 2].map(|()| kernel + random.below(5) as usize);
        let output = image.map(|d| (d + 2 * pad - kernel) / stride + 1);
        let filters = groups * pick(random, &[1, 3, 16, 18]);
        let before = [
            constant(random, "w", &[channels, 2, 1, 1]),
            constant(random, "d", &[channels, 1, kernel, kernel]),
            constant(random, "db", &[channels]),
            constant(random, "v", &[filters, each, 1, 1]),
            constant(random, "vb", &[filters]),
            format!(
                "  %split = arith.constant dense<[{batch}, {groups}, {each}, {}, {}]> : tensor<5xi64>\n",
                image[0], image[1]
            ),
            format!(
                "  %join = arith.constant dense<[{batch}, {channels}, {}, {}]> : tensor<4xi64>\n",
                image[0], image[1]
            ),
        ];
        let of = |channels: &[usize], image: [usize; 2]| {
            format!("tensor<{}f32>", extents(&[&[batch], channels, &image].concat()))
        };
        let (x, mixed, made) = (of(&[2 * groups], image), of(&[channels], image), of(&[channels], output));
        let (apart, turned) = (of(&[groups, each], image), of(&[each, groups], image));
        let result = extents(&[&[batch, filters][..], &output].concat());
        let pads = list(&[pad; 4]);
        let body = format!(
            "  %0 = graph.conv %x, %w {{group = {groups} : i64}} : ({x}, tensor<{channels}x2x1x1xf32>) -> {mixed}
  %1 = graph.reshape %0, %split : ({mixed}, tensor<5xi64>) -> {apart}
  %2 = graph.transpose %1 {{perm = array<i64: 0, 2, 1, 3, 4>}} : ({apart}) -> {turned}
  %3 = graph.reshape %2, %join : ({turned}, tensor<4xi64>) -> {mixed}
  %4 = graph.conv %3, %d, %db {{group = {channels} : i64, pads = {pads}, strides = {}}} : ({mixed}, tensor<{channels}x1x{kernel}x{kernel}xf32>, tensor<{channels}xf32>) -> {made}
  %5 = graph.conv %4, %v, %vb {{group = {groups} : i64}} : ({made}, tensor<{filters}x{each}x1x1xf32>, tensor<{filters}xf32>) -> tensor<{result}f32>
",
            list(&[stride; 2])
        );
        let text = format!(
            "func.func @main(%x: {x}) -> tensor<{result}f32> {{\n{}{body}  return %5 : tensor<{result}f32>\n}}\n",
            before.concat()
        );
        let input = [&[batch, 2 * groups][..], &image].concat();
        Network { layer: Layer { text, input }, is_even: each.is_multiple_of(groups) }
    }
}

#[test]
fn shuffles_are_folded() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let mut folded = 0;
    for number in 0..100 {
        let mut random = Random::of(("shuffle", number));
        let Network { layer, is_even } = Network::of(&mut random);
        let m = parse(&ctx, &layer.text).unwrap_or_else(|| panic!("it is valid: {}", layer.text));
        let transposes =
            compiled(&tool, &m, "{target=cpu}").to_text(Default::default()).matches("graph.transpose").count();
        assert!(!is_even || transposes == 0, "{}", layer.text);
        folded += usize::from(transposes == 0);
        check(&tool, &ctx, &layer, "{target=cpu}", &mut random);
    }
    assert!((30..100).contains(&folded), "{folded}");
}
