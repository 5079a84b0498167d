//! Products that read channels through tables, behind transpositions of channels: those of group convolutions.

use super::network::{Network, Tensor, tensor};
use gradus_ir::random::Random;

/// Maximum number of channels.
const MAX_CHANNELS: i64 = 12;

/// Draws a shuffle of the channels of some pixels, and products behind it: per channel, of groups, or both.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let pixels = 1 + n.random.below(4) as i64;
    let (first, second) = (1 + n.random.below(4) as i64, 1 + n.random.below(4) as i64);
    let channels = (first * second).min(MAX_CHANNELS);
    let (first, second) = if first * second == channels { (first, second) } else { (channels / 2, 2) };
    let x = n.parameter(&[pixels, first, second], "f32");
    let turned = n.generic("graph.transpose", &[&x], "perm = array<i64: 0, 2, 1>", &[pixels, second, first], "f32");
    let mut y = flattened(&mut n, &turned);
    if n.random.percent(65) {
        y = per_channel(&mut n, &y);
    }
    if n.random.percent(80) {
        y = of_groups(&mut n, &y);
    }
    n.values.push(y);
    if n.random.percent(15) {
        n.values.push(turned);
    }
    n.finish()
}

/// Merges the channels of pixels.
fn flattened(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let shape = [x.shape[0], x.shape[1] * x.shape[2]];
    let to = n.constant(&[2], "i64", &format!("[{}, {}]", shape[0], shape[1]));
    n.generic("graph.reshape", &[x, &to], "", &shape, "f32")
}

/// Creates a constant of addresses.
fn addresses(n: &mut Network<'_>, shape: &[i64], all: &[i64]) -> Tensor {
    let list = |numbers: &[i64]| format!("[{}]", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
    let text = match *shape {
        [_, columns] => {
            let rows: Vec<String> = all.chunks(columns as usize).map(list).collect();
            format!("[{}]", rows.join(", "))
        }
        _ => list(all),
    };
    n.constant(shape, "i32", &text)
}

/// Sums pixels, each times a factor per channel.
fn per_channel(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let (pixels, channels) = (x.shape[0], x.shape[1]);
    let (rows, taps) = (1 + n.random.below(4) as i64, 1 + n.random.below(3) as i64);
    let at = |random: &mut Random| match random.percent(15) {
        true => -1,
        false => random.below(pixels as u64) as i64 * channels,
    };
    let all: Vec<i64> = (0..rows * taps).map(|_| at(n.random)).collect();
    let bases = addresses(n, &[rows, taps], &all);
    let factors = n.weights(&[taps, channels], "f32", 90);
    let bias = n.random.percent(40).then(|| n.weights(&[channels], "f32", 90));
    let (name, ty) = match &bias {
        Some(bias) => (format!(" bias {}", bias.name), format!(", tensor<{}>", tensor(&bias.shape, "f32"))),
        None => Default::default(),
    };
    let shape = [rows, channels];
    let types = [&x.shape[..], &factors.shape].map(|shape| tensor(shape, "f32"));
    let text = format!(
        "addr.depthwise {}[{}], {}{name} : (tensor<{}>, tensor<{}>, tensor<{}>{ty}) -> tensor<{}>",
        x.name,
        bases.name,
        factors.name,
        types[0],
        tensor(&bases.shape, "i32"),
        types[1],
        tensor(&shape, "f32")
    );
    n.op(&shape, "f32", &text)
}

/// Multiplies the channels of groups, or of all, by a matrix.
fn of_groups(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let (pixels, channels) = (x.shape[0], x.shape[1]);
    let divisors: Vec<i64> = (1..=channels).filter(|d| channels % d == 0).collect();
    let groups = if n.random.percent(40) { 1 } else { n.random.pick(&divisors) };
    let own = channels / groups;
    // Some read the channels of their group in another order, or not all.
    let mut order: Vec<i64> = (0..own).collect();
    if n.random.percent(30) {
        order.reverse();
    }
    let step = if n.random.percent(20) { 1 } else { own };
    let all: Vec<i64> = (0..groups).flat_map(|g| (0..pixels).map(move |pixel| pixel * channels + g * step)).collect();
    let shape = if groups == 1 { vec![pixels] } else { vec![groups, pixels] };
    let (base, relative) = (addresses(n, &shape, &all), addresses(n, &[own], &order));
    let columns = groups * (1 + n.random.below(3) as i64);
    let factors = n.weights(&[columns, own], "f32", 90);
    let result = [pixels, columns];
    let text = format!(
        "addr.gemm {}[{} + {}], {} : (tensor<{}>, tensor<{}>, tensor<{}>, tensor<{}>) -> tensor<{}>",
        x.name,
        base.name,
        relative.name,
        factors.name,
        tensor(&x.shape, "f32"),
        tensor(&base.shape, "i32"),
        tensor(&relative.shape, "i32"),
        tensor(&factors.shape, "f32"),
        tensor(&result, "f32")
    );
    n.op(&result, "f32", &text)
}
