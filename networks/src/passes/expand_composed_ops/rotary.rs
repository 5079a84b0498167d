//! Rotary position embeddings.

use super::{ComposedOp, known_product};
use gradus_ir::{Refusal, Value};

/// Axis of the elements of a head, in operands of four axes.
const ELEMENTS: i64 = 3;

/// Emits the rotation of pairs of elements: `(cos * a - sin * b, sin * a + cos * b)`. Operands of three axes are computed as
/// `[B, S, H, D]`, others as `[B, H, S, D]`.
pub(super) fn embedding(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = c.operand("x")?;
    let dims = c.shape(x)?;
    let (heads, width) = match dims[..] {
        [_, _, width] => (c.int("num_heads")?, width),
        [_, _, _, width] => (1, width),
        _ => return Err(Refusal::of(x, "an operand of other than three or four axes")),
    };
    known_product(&[width])?;
    if heads <= 0 || width % heads != 0 {
        return Err(Refusal::of(x, "elements that do not split into the heads"));
    }
    let extent = width / heads;
    let rotated = match c.int("rotary_embedding_dim")? {
        0 => extent,
        given => given,
    };
    if rotated <= 0 || rotated > extent || rotated % 2 != 0 {
        return Err(Refusal::of(x, "elements of a head that are no pairs"));
    }
    let in_heads = if dims.len() == 3 { c.e.reshape(x, 2, &[heads, extent])? } else { x };
    let head_axis = if dims.len() == 3 { 2 } else { 1 };
    let [cos, sin] = ["cos_cache", "sin_cache"].map(|name| angles(c, name, head_axis));
    let all = if rotated < extent { c.e.slice(in_heads, ELEMENTS, 0, rotated) } else { in_heads };
    let pairs = pairs(c, all, rotated);
    let rotated_pairs = rotate(c, pairs, [cos?, sin?]);
    let mut y = joined(c, rotated_pairs, rotated)?;
    if rotated < extent {
        let rest = c.e.slice(in_heads, ELEMENTS, rotated, extent);
        y = c.e.concat(&[y, rest], ELEMENTS);
    }
    Ok(vec![if dims.len() == 3 { c.e.reshape(y, 2, &[width])? } else { y }])
}

/// Emits the cosines or sines of each position, which are the same for all heads.
fn angles(c: &mut ComposedOp<'_, '_>, name: &str, head_axis: i64) -> Result<Value, Refusal> {
    let cache = c.operand(name)?;
    c.shape(cache)?;
    let rows = match c.optional("position_ids") {
        Some(positions) => c.e.rows(cache, positions),
        None => cache,
    };
    Ok(c.e.unsqueeze(rows, &[head_axis]))
}

/// Emits the first and second elements of pairs.
fn pairs(c: &mut ComposedOp<'_, '_>, x: Value, extent: i64) -> [Value; 2] {
    let half = extent / 2;
    match c.flag("interleaved") {
        true => [0, 1].map(|first| c.e.strided_slice(x, ELEMENTS, [first, extent], 2)),
        false => [0, half].map(|first| c.e.slice(x, ELEMENTS, first, first + half)),
    }
}

fn rotate(c: &mut ComposedOp<'_, '_>, [first, second]: [Value; 2], [cos, sin]: [Value; 2]) -> [Value; 2] {
    let [a, b] = [(cos, first), (sin, second)].map(|(angle, x)| c.e.mul(angle, x));
    let real = c.e.sub(a, b);
    let [a, b] = [(sin, first), (cos, second)].map(|(angle, x)| c.e.mul(angle, x));
    [real, c.e.add(a, b)]
}

/// Emits the elements of pairs in the order of the operand.
fn joined(c: &mut ComposedOp<'_, '_>, pairs: [Value; 2], extent: i64) -> Result<Value, Refusal> {
    if !c.flag("interleaved") {
        return Ok(c.e.concat(&pairs, ELEMENTS));
    }
    let stacked = c.e.stack(&pairs, ELEMENTS + 1);
    c.e.reshape(stacked, ELEMENTS as usize, &[extent])
}
