//! Attention as exporters write it: two products around a softmax, with a scale, a mask, and transpositions that divide features
//! among heads.

use super::networks::{Network, Tensor};
use gradus_ir::random::Random;

/// Draws an attention of one or several heads.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let mut few = || 1 + n.random.below(3) as i64;
    let [b, h, s, t, d, width] = [few(), few(), few(), few(), few(), few()];
    let (b, is_flat) = if n.random.percent(25) { (1, true) } else { (b, false) };
    let mut queries = heads(&mut n, [b, h, s, d]);
    let keys = heads(&mut n, [b, h, t, d]);
    let mut columns = transposed(&mut n, &keys);
    let mut values = heads(&mut n, [b, h, t, width]);
    if is_flat {
        [queries, columns, values] = [queries, columns, values].map(|x| n.reshaped(&x, &x.shape[1..]));
    }
    let batch = queries.shape[..queries.shape.len() - 2].to_vec();
    let product = n.generic("graph.matmul", &[&queries, &columns], "", &[&batch[..], &[s, t]].concat(), "f32");
    let scores = scaled(&mut n, &product);
    let scores = masked(&mut n, &scores);
    let axis = if n.random.percent(90) { -1 } else { n.random.below(scores.shape.len() as u64) as i64 };
    let probabilities = n.generic("graph.softmax", &[&scores], &format!("axis = {axis} : i64"), &scores.shape, "f32");
    let shape = [&batch[..], &[s, width]].concat();
    let mut y = n.generic("graph.matmul", &[&probabilities, &values], "", &shape, "f32");
    if n.random.percent(15) {
        n.values.push(if n.random.percent(50) { probabilities } else { scores });
    }
    if !is_flat && n.random.percent(65) {
        let perm = "perm = array<i64: 0, 2, 1, 3>";
        y = n.generic("graph.transpose", &[&y], perm, &[b, s, h, width], "f32");
        if n.random.percent(70) {
            y = n.reshaped(&y, &[b, s, h * width]);
        }
    }
    n.values.push(y);
    n.finish()
}

/// Creates heads `[B, H, S, D]`: a parameter, or the transposition of one that may be of rank 3.
fn heads(n: &mut Network<'_>, [b, h, s, d]: [i64; 4]) -> Tensor {
    let x = match n.random.below(3) {
        0 => return n.parameter(&[b, h, s, d], "f32"),
        1 => n.parameter(&[b, s, h, d], "f32"),
        _ => {
            let x = n.parameter(&[b, s, h * d], "f32");
            n.reshaped(&x, &[b, s, h, d])
        }
    };
    n.generic("graph.transpose", &[&x], "perm = array<i64: 0, 2, 1, 3>", &[b, h, s, d], "f32")
}

/// Returns keys in columns: transposed, or another parameter.
fn transposed(n: &mut Network<'_>, keys: &Tensor) -> Tensor {
    let &[b, h, t, d] = &keys.shape[..] else { return keys.clone() };
    match n.random.below(4) {
        0 => n.parameter(&[b, h, d, t], "f32"),
        1 => {
            let x = n.parameter(&[b, t, h, d], "f32");
            n.generic("graph.transpose", &[&x], "perm = array<i64: 0, 2, 3, 1>", &[b, h, d, t], "f32")
        }
        _ => n.generic("graph.transpose", &[keys], "perm = array<i64: 0, 1, 3, 2>", &[b, h, d, t], "f32"),
    }
}

/// Scales scores by a constant, seldom one that is not positive, or by a parameter.
fn scaled(n: &mut Network<'_>, scores: &Tensor) -> Tensor {
    let scale = match n.random.below(8) {
        0 | 1 => return scores.clone(),
        2 => n.parameter(&[], "f32"),
        3 => n.constant(&[], "f32", "-0.5"),
        4 => n.constant(&[1], "f32", "[0.25]"),
        _ => n.constant(&[], "f32", "1.5"),
    };
    let (name, is_first) = (if n.random.percent(50) { "graph.mul" } else { "graph.div" }, n.random.percent(20));
    let operands = if is_first { [&scale, scores] } else { [scores, &scale] };
    n.generic(name, &operands, "", &scores.shape, "f32")
}

/// Adds a mask of extents that broadcast, seldom with an infinite element.
fn masked(n: &mut Network<'_>, scores: &Tensor) -> Tensor {
    if n.random.percent(35) {
        return scores.clone();
    }
    let rank = scores.shape.len();
    let own = |n: &mut Network<'_>, i: usize| {
        if n.random.percent(if i + 1 == rank { 85 } else { 40 }) { scores.shape[i] } else { 1 }
    };
    let shape: Vec<i64> = (0..rank).map(|i| own(n, i)).collect();
    let shape = &shape[n.random.below(rank as u64) as usize..];
    let mask = match n.random.percent(25) {
        true => n.constant(shape, "f32", "0xFF800000"),
        false => n.parameter(shape, "f32"),
    };
    let operands = if n.random.percent(25) { [&mask, scores] } else { [scores, &mask] };
    n.generic("graph.add", &operands, "", &scores.shape, "f32")
}
