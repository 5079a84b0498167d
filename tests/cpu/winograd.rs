//! Winograd convolution is exact on small integers, whose halves and quarters are exact.

use super::{Layer, check, compiled, constant, extents, list, parse, pick};
use gradus::Tool;
use gradus::ir::random::Random;

/// Returns a layer of few tiles.
fn small(random: &mut Random) -> Layer {
    let [channels, filters] = [(); 2].map(|()| pick(random, &[1, 3, 16, 32, 33, 64]));
    let image = [(); 2].map(|()| 1 + random.below(18) as usize);
    let batch = pick(random, &[1, 2, 3]);
    layer(random, [batch, channels, filters], image)
}

fn layer(random: &mut Random, [batch, channels, filters]: [usize; 3], image: [usize; 2]) -> Layer {
    let pads: Vec<usize> = (0..4).map(|i| random.below(4) as usize + 2 * usize::from(image[i % 2] < 3)).collect();
    let output = [0, 1].map(|i| image[i] + pads[i] + pads[i + 2] - 2);
    let weights = [filters, channels, 3, 3];
    let mut before = constant(random, "w", &weights);
    let (mut operands, mut types) = ("%x, %w", format!(", tensor<{}f32>", extents(&weights)));
    if random.below(2) == 0 {
        before += &constant(random, "b", &[filters]);
        operands = "%x, %w, %b";
        types += &format!(", tensor<{filters}xf32>");
    }
    let op = format!("graph.conv {operands} {{pads = {}}}", list(&pads));
    let made = extents(&[&[batch, filters][..], &output].concat());
    Layer::of(&before, &op, &types, &[&[batch, channels][..], &image].concat(), &made)
}

/// Layers that are processed in strips, also within a batch.
fn large(random: &mut Random, number: u64) -> Layer {
    match number {
        0 => layer(random, [1, 32, 64], [67, 65]),
        1 => layer(random, [3, 32, 65], [37, 38]),
        _ => layer(random, [1, 32, 1400], [16, 16]),
    }
}

#[test]
fn windows_are_fewer_products() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    for number in 0..40 {
        let mut random = Random::of(("winograd", number));
        let layer = if number < 3 { large(&mut random, number) } else { small(&mut random) };
        let m = parse(&ctx, &layer.text).unwrap_or_else(|| panic!("it is valid: {}", layer.text));
        let products = |reading| compiled(&tool, &m, reading).to_text(Default::default()).matches("addr.gemm").count();
        let strips = products("{algorithm=winograd}") / 16;
        assert!(products("{layout=auto}") <= 1 && (number < 3) == (strips > 1) && strips > 0, "{}", layer.text);
        check(&tool, &ctx, &layer, "{algorithm=winograd}", &mut random);
    }
}
