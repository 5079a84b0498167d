//! Padding and cropping.

use crate::KernelResult;
use crate::movement::{buffer, from_bytes};
use crate::shape::{normalize_axes, strides};
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;

/// The source of padding elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PadMode {
    /// A constant.
    #[default]
    Constant,
    /// Reflection at the edge, without repeating the edge element.
    Reflect,
    /// The edge element.
    Edge,
    /// Wraparound from the other end.
    Wrap,
}

/// A run of output positions along one axis: its length, and the input position of its first element, or `None` for the
/// constant.
type Segment = (usize, Option<usize>);

/// `Pad` (2, 11, 13, 18, 19): adds `pads` (all begins, then all ends; negative ones crop) along `axes`, or along all
/// axes if empty. `value` is a scalar of the type of `x`; zero when absent.
pub fn pad(x: &Tensor, pads: &[i64], axes: &[i64], mode: PadMode, value: Option<&Tensor>) -> KernelResult {
    let axes = if axes.is_empty() { (0..x.rank()).collect() } else { normalize_axes(axes, x.rank())? };
    if pads.len() != axes.len() * 2 {
        return Err(format!("{} axes need twice as many pads, not {}", axes.len(), pads.len()).into());
    }
    let fill = match value {
        Some(v) if v.dtype() != x.dtype() || v.len() != 1 => {
            return Err(format!("the padding should be one {}, not {v:?}", x.dtype()).into());
        }
        Some(v) => v.bytes().to_vec(),
        None => vec![0; x.dtype().size()],
    };
    let shape = pad_dims(x.shape(), pads, &axes)?;
    let mut out = buffer(x.dtype(), &shape)?;
    let mut maps = Vec::with_capacity(x.rank());
    for (axis, &n) in x.shape().iter().enumerate() {
        let before = axes.iter().position(|&a| a == axis).map_or(0, |i| pads[i]);
        maps.push(if out.capacity() == 0 { Vec::new() } else { axis_map(n, shape[axis], before, mode)? });
    }
    if out.capacity() > 0 {
        copy(x, &maps, &fill, &mut out);
    }
    from_bytes(x.dtype(), &shape, out)
}

/// Returns the shape after padding; `axes` are normalized.
pub fn pad_dims(input: &[usize], pads: &[i64], axes: &[usize]) -> Result<Vec<usize>, Violation> {
    let mut shape = input.to_vec();
    for (i, &axis) in axes.iter().enumerate() {
        let sum = |n: i64| n.checked_add(*pads.get(i)?)?.checked_add(*pads.get(i + axes.len())?);
        let extent = i64::try_from(shape[axis]).ok().and_then(sum).and_then(|n| usize::try_from(n).ok());
        shape[axis] = extent.ok_or_else(|| format!("pads {pads:?} do not fit {input:?}"))?;
    }
    super::shape::checked_elements(&shape)?;
    Ok(shape)
}

/// Runs of input positions for the output positions along one axis.
fn axis_map(n: usize, out: usize, before: i64, mode: PadMode) -> Result<Vec<Segment>, Violation> {
    let (n, before) = (i128::try_from(n).map_err(|e| e.to_string())?, i128::from(before));
    if n == 0 && mode != PadMode::Constant && out > 0 {
        return Err("an empty axis can only be padded with a constant".into());
    }
    let mut map: Vec<Segment> = Vec::new();
    for o in 0..out {
        let at = o as i128 - before;
        let from = match mode {
            _ if (0..n).contains(&at) => Some(at),
            PadMode::Constant => None,
            PadMode::Edge => Some(at.clamp(0, n - 1)),
            PadMode::Wrap => Some(at.rem_euclid(n)),
            PadMode::Reflect => {
                // Reflections alternate in direction, so the pattern has a period of two copies.
                let phase = at.rem_euclid((2 * n - 2).max(1));
                Some(phase.min(2 * n - 2 - phase).max(0))
            }
        };
        let from = from.and_then(|f| usize::try_from(f).ok());
        match (map.last_mut(), from) {
            (Some((len, Some(start))), Some(f)) if *start + *len == f => *len += 1,
            (Some((len, None)), None) => *len += 1,
            _ => map.push((1, from)),
        }
    }
    Ok(map)
}

/// Fills `out` row by row along the last axis.
fn copy(x: &Tensor, maps: &[Vec<Segment>], fill: &[u8], out: &mut Vec<u8>) {
    let Some((last, outer)) = maps.split_last() else {
        out.extend_from_slice(x.bytes());
        return;
    };
    let (size, from) = (x.dtype().size(), strides(x.shape()));
    // Only the last axis uses runs; the others are expanded to one entry per position.
    let expand = |m: &Vec<Segment>| -> Vec<Option<usize>> {
        m.iter().flat_map(|&(len, start)| (0..len).map(move |i| start.map(|s| s + i))).collect()
    };
    let outer: Vec<Vec<Option<usize>>> = outer.iter().map(expand).collect();
    let rows: usize = outer.iter().map(Vec::len).product();
    for row in 0..rows {
        let (mut rest, mut base) = (row, Some(0));
        for (axis, positions) in outer.iter().enumerate().rev() {
            let at = positions[rest % positions.len()];
            rest /= positions.len();
            base = base.zip(at).map(|(b, p): (usize, usize)| b + p * from[axis]);
        }
        for &(len, start) in last {
            match base.zip(start) {
                Some((b, s)) => out.extend_from_slice(&x.bytes()[(b + s) * size..(b + s + len) * size]),
                None => (0..len).for_each(|_| out.extend_from_slice(fill)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        let x = Tensor::from_vec(&[3], vec![1i32, 2, 3]);
        let run = |pads: &[i64], mode| pad(&x, pads, &[], mode, None).unwrap().to_i64().unwrap();
        assert_eq!(run(&[2, 1], PadMode::Constant), [0, 0, 1, 2, 3, 0]);
        assert_eq!(run(&[3, 3], PadMode::Reflect), [2, 3, 2, 1, 2, 3, 2, 1, 2]);
        assert_eq!(run(&[1, 2], PadMode::Edge), [1, 1, 2, 3, 3, 3]);
        assert_eq!(run(&[1, 2], PadMode::Wrap), [3, 1, 2, 3, 1, 2]);
        assert_eq!(run(&[-1, 1], PadMode::Constant), [2, 3, 0]);
        assert!(pad(&x, &[-4, 0], &[], PadMode::Constant, None).is_err());
        assert!(pad(&x, &[i64::MAX, 1], &[], PadMode::Constant, None).is_err());
    }
}
