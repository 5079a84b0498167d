//! Attention as exporters write it: two products around a softmax, with a scale, a mask, and transpositions that divide features
//! among heads.

use super::network::{Network, Tensor};
use super::networks::cast;
use gradus_ir::random::Random;

/// Element types.
const TYPES: [&str; 8] = ["f32", "f32", "f32", "f32", "f32", "f16", "bf16", "f64"];
/// Summands that hide a key: finite ones, of which some leave nothing of a score, and the infinite one of each type.
const HIDING: [&str; 4] = ["-1.0e9", "-10000.0", "-1.0e4", "-100.0"];
const INFINITE: [(&str, &str); 4] =
    [("f32", "0xFF800000"), ("f16", "0xFC00"), ("bf16", "0xFF80"), ("f64", "0xFFF0000000000000")];
/// Least finite numbers of types.
const LEAST: [(&str, &str); 4] =
    [("f32", "-3.40282347e+38"), ("f16", "-65504.0"), ("bf16", "-3.38953139e+38"), ("f64", "-1.7976931348623157e+308")];

/// Draws an attention of one or several heads.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let elem = n.random.pick(&TYPES);
    if n.random.percent(30) {
        return fused(n, elem);
    }
    let mut few = || 1 + n.random.below(3) as i64;
    let [b, h, s, t, d, width] = [few(), few(), few(), few(), few(), few()];
    let (b, is_flat) = if n.random.percent(25) { (1, true) } else { (b, false) };
    let mut queries = heads(&mut n, [b, h, s, d], elem);
    let keys = heads(&mut n, [b, h, t, d], elem);
    let mut columns = transposed(&mut n, &keys);
    let mut values = heads(&mut n, [b, h, t, width], elem);
    if is_flat {
        [queries, columns, values] = [queries, columns, values].map(|x| n.reshaped(&x, &x.shape[1..]));
    }
    let batch = queries.shape[..queries.shape.len() - 2].to_vec();
    let product = n.generic("graph.matmul", &[&queries, &columns], "", &[&batch[..], &[s, t]].concat(), elem);
    let scores = scaled(&mut n, &product);
    let scores = masked(&mut n, &scores);
    let axis = if n.random.percent(90) { -1 } else { n.random.below(scores.shape.len() as u64) as i64 };
    let probabilities = n.generic("graph.softmax", &[&scores], &format!("axis = {axis} : i64"), &scores.shape, elem);
    let shape = [&batch[..], &[s, width]].concat();
    let mut y = n.generic("graph.matmul", &[&probabilities, &values], "", &shape, elem);
    if n.random.percent(15) {
        n.values.push(if n.random.percent(50) { probabilities } else { scores });
    }
    if !is_flat && n.random.percent(65) {
        let perm = "perm = array<i64: 0, 2, 1, 3>";
        y = n.generic("graph.transpose", &[&y], perm, &[b, s, h, width], elem);
        if n.random.percent(70) {
            y = n.reshaped(&y, &[b, s, h * width]);
        }
    }
    n.values.push(y);
    n.finish()
}

/// Creates heads `[B, H, S, D]`: a parameter, or the transposition of one that may be of rank 3.
fn heads(n: &mut Network<'_>, [b, h, s, d]: [i64; 4], elem: &'static str) -> Tensor {
    let x = match n.random.below(3) {
        0 => return n.parameter(&[b, h, s, d], elem),
        1 => n.parameter(&[b, s, h, d], elem),
        _ => {
            let x = n.parameter(&[b, s, h * d], elem);
            n.reshaped(&x, &[b, s, h, d])
        }
    };
    n.generic("graph.transpose", &[&x], "perm = array<i64: 0, 2, 1, 3>", &[b, h, s, d], elem)
}

/// Returns keys in columns: transposed, or another parameter.
fn transposed(n: &mut Network<'_>, keys: &Tensor) -> Tensor {
    let &[b, h, t, d] = &keys.shape[..] else { return keys.clone() };
    match n.random.below(4) {
        0 => n.parameter(&[b, h, d, t], keys.elem),
        1 => {
            let x = n.parameter(&[b, t, h, d], keys.elem);
            n.generic("graph.transpose", &[&x], "perm = array<i64: 0, 2, 3, 1>", &[b, h, d, t], keys.elem)
        }
        _ => n.generic("graph.transpose", &[keys], "perm = array<i64: 0, 1, 3, 2>", &[b, h, d, t], keys.elem),
    }
}

/// Scales scores by a constant, seldom one that is not positive, or by a parameter.
fn scaled(n: &mut Network<'_>, scores: &Tensor) -> Tensor {
    let scale = match n.random.below(8) {
        0 | 1 => return scores.clone(),
        2 => n.parameter(&[], scores.elem),
        3 => n.constant(&[], scores.elem, "-0.5"),
        4 => n.constant(&[1], scores.elem, "[0.25]"),
        _ => n.constant(&[], scores.elem, "1.5"),
    };
    let (name, is_first) = (if n.random.percent(50) { "graph.mul" } else { "graph.div" }, n.random.percent(20));
    let operands = if is_first { [&scale, scores] } else { [scores, &scale] };
    n.generic(name, &operands, "", &scores.shape, scores.elem)
}

/// Returns a summand that hides a key.
fn hiding(n: &mut Network<'_>, elem: &str) -> &'static str {
    let of_type =
        |of: &[(&str, &'static str)]| of.iter().find(|entry| entry.0 == elem).map_or(HIDING[0], |entry| entry.1);
    match n.random.below(4) {
        0 => of_type(&INFINITE),
        1 => of_type(&LEAST),
        // Out of range, it would be infinite too.
        _ if elem == "f16" => HIDING[1],
        _ => n.random.pick(&HIDING),
    }
}

/// Adds a mask of extents that broadcast, selects by one, or subtracts a multiple of one of integers.
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
    let (elem, hidden) = (scores.elem, hiding(n, scores.elem));
    let mask = match n.random.below(8) {
        0 => n.constant(shape, elem, hidden),
        1 => {
            let elements = (0..shape.iter().product::<i64>())
                .map(|_| if n.random.percent(50) { hidden.to_owned() } else { "0.0".to_owned() });
            let elements: Vec<String> = elements.collect();
            n.listed(shape, elem, &elements)
        }
        2 | 3 => {
            let (visible, hidden) = (n.parameter(shape, "i1"), n.constant(&[], elem, hidden));
            let operands = if n.random.percent(70) { [&visible, scores, &hidden] } else { [&visible, &hidden, scores] };
            return n.generic("graph.where", &operands, "", &scores.shape, elem);
        }
        4 | 5 => {
            // Ones are visible: (1 - mask) * hidden.
            let kind = n.random.pick(&["i64", "i32", "i1", "i8"]);
            let mask = n.weights(shape, kind, 30);
            let real = cast(n, &mask, elem);
            let [one, factor] = ["1.0", hidden].map(|number| n.constant(&[], elem, number));
            let inverse = n.generic("graph.sub", &[&one, &real], "", shape, elem);
            n.generic("graph.mul", &[&inverse, &factor], "", shape, elem)
        }
        _ => n.parameter(shape, elem),
    };
    let operands = if n.random.percent(25) { [&mask, scores] } else { [scores, &mask] };
    n.generic("graph.add", &operands, "", &scores.shape, elem)
}

/// Draws an attention as one op, with a mask of floats, integers or flags.
fn fused(mut n: Network<'_>, elem: &'static str) -> String {
    let [b, group, s, t, d, width] = [2, 2, 4, 4, 4, 3].map(|most| n.extent(most));
    let kv = n.extent(2);
    let h = group * kv;
    let [q, k, v] = [[b, h, s, d], [b, kv, t, d], [b, kv, t, width]].map(|shape| n.parameter(&shape, elem));
    let past = if n.random.percent(40) { n.extent(3) } else { 0 };
    let mask = n.random.percent(60).then(|| {
        let kind = n.random.pick(&[elem, elem, "i1", "i32", "i64"]);
        let keys = past + t;
        let shape: &[i64] = if n.random.percent(60) { &[s, keys] } else { &[b, 1, s, keys] };
        match kind == elem && n.random.percent(50) {
            true => {
                let hidden = hiding(&mut n, elem);
                n.constant(shape, elem, hidden)
            }
            false => n.weights(shape, kind, 40),
        }
    });
    let mut optional: Vec<(&str, Tensor)> = mask.into_iter().map(|mask| ("mask", mask)).collect();
    if past > 0 {
        optional.push(("past_key", n.parameter(&[b, kv, past, d], elem)));
        optional.push(("past_value", n.parameter(&[b, kv, past, width], elem)));
    } else if n.random.percent(20) {
        let lengths: Vec<String> = (0..b).map(|_| n.random.below(t as u64 + 1).to_string()).collect();
        optional.push(("lengths", n.listed(&[b], "i64", &lengths)));
    }
    let attrs = limits(&mut n);
    let words: String = optional.iter().map(|(word, value)| format!(" {word} {}", value.name)).collect();
    let types: Vec<String> =
        [&q, &k, &v].into_iter().chain(optional.iter().map(|(_, value)| value)).map(Tensor::ty).collect();
    let y = Tensor { shape: vec![b, h, s, width], ..q.clone() };
    let (names, types, result) = ([&q.name, &k.name, &v.name].map(String::as_str).join(", "), types.join(", "), y.ty());
    let op = format!("graph.attention {names}{words}{attrs} : ({types}) -> {result}");
    let y = n.op(&y.shape, elem, &op);
    n.values.push(y);
    n.finish()
}

/// Draws what limits the visible keys and the scores of an attention, as a dictionary.
fn limits(n: &mut Network<'_>) -> String {
    let mut attrs = Vec::new();
    if n.random.percent(40) {
        attrs.push("is_causal = 1 : i64".to_owned());
    }
    for side in ["left", "right"] {
        if n.random.percent(20) {
            attrs.push(format!("{side}_window_size = {} : i64", n.random.below(4)));
        }
    }
    if n.random.percent(15) {
        attrs.push("softcap = 2.0 : f32".to_owned());
    }
    if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) }
}
