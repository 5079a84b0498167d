//! Tables of bytes as lines: a table of a channel that is a rounded and bounded line takes 8 bytes instead of 256.

use gradus_simulators::cluster::Elem;

/// Lines, one per channel, bounded alike: `clamp(round(x * scale + bias), low, high)`, rounded half to even.
#[derive(Clone, PartialEq, Debug)]
pub struct ClampedAffine {
    /// Slopes.
    pub scales: Vec<f32>,
    /// Values at 0.
    pub biases: Vec<f32>,
    /// Least value.
    pub low: f32,
    /// Largest value.
    pub high: f32,
}

/// Entries of a table.
const ENTRIES: usize = 256;

/// Room between the bounds of a line that is enough, so that rounding in f32 does not matter.
const ROOM: f64 = 1e-3;

/// Steps of the search for a slope.
const STEPS: usize = 60;

/// Returns the lines of tables, which begin with the entry of the least integer of `from`; `None` if one is no line. The lines are the tables:
/// each entry is compared.
pub fn affine_tables(tables: &[u8], from: Elem, to: Elem) -> Option<ClampedAffine> {
    let value = |byte: u8| if to == Elem::I8 { f32::from(byte.cast_signed()) } else { f32::from(byte) };
    let first = if from == Elem::I8 { -128.0 } else { 0.0 };
    let (low, high) =
        tables.iter().map(|&byte| value(byte)).fold((f32::MAX, f32::MIN), |(l, h), v| (l.min(v), h.max(v)));
    let mut all = ClampedAffine { scales: Vec::new(), biases: Vec::new(), low, high };
    for table in tables.chunks_exact(ENTRIES) {
        let points: Vec<[f32; 2]> =
            table.iter().enumerate().map(|(i, &byte)| [first + i as f32, value(byte)]).collect();
        let [scale, bias] = affine_table(&points, low, high)?;
        let is_exact = |&[x, y]: &[f32; 2]| (x * scale + bias).clamp(low, high).round_ties_even() == y;
        points.iter().all(is_exact).then_some(())?;
        all.scales.push(scale);
        all.biases.push(bias);
    }
    Some(all)
}

/// Returns slope and value at 0 of a line that is within a half of all points between the bounds, if there may be one.
fn affine_table(points: &[[f32; 2]], low: f32, high: f32) -> Option<[f32; 2]> {
    let inner: Vec<&[f32; 2]> = points.iter().filter(|p| low < p[1] && p[1] < high).collect();
    // Between the first and the last point within bounds, the slope is that of their difference, within 1.
    let [mut least, mut most] = match (inner.first(), inner.last()) {
        (Some(a), Some(b)) if a[0] < b[0] => {
            [-1.0, 1.0].map(|round| (f64::from(b[1] - a[1]) + round) / f64::from(b[0] - a[0]))
        }
        _ => [-300.0, 300.0],
    };
    let mut best = (f64::NEG_INFINITY, [0.0; 2]);
    for _ in 0..STEPS {
        // The room between the bounds is a concave function of the slope.
        let [a, b] = [(2.0 * least + most) / 3.0, (least + 2.0 * most) / 3.0];
        let [at_a, at_b] = [a, b].map(|slope| biases(points, slope, low, high));
        for (slope, [from, to]) in [(a, at_a), (b, at_b)] {
            if to - from > best.0 {
                best = (to - from, [slope as f32, ((from + to) / 2.0) as f32]);
            }
        }
        if best.0 > ROOM {
            break;
        }
        [least, most] = if at_a[1] - at_a[0] < at_b[1] - at_b[0] { [a, most] } else { [least, b] };
    }
    (best.0 > 0.0).then_some(best.1)
}

/// Returns the least and the largest value at 0 of a line of a slope that is within a half of all points. Points at a bound may be beyond it.
fn biases(points: &[[f32; 2]], slope: f64, low: f32, high: f32) -> [f64; 2] {
    // A value is at most a table's width beyond the bounds.
    let mut range = [-1e6, 1e6];
    for &[x, y] in points {
        let middle = f64::from(y) - slope * f64::from(x);
        if y > low {
            range[0] = f64::max(range[0], middle - 0.5);
        }
        if y < high {
            range[1] = f64::min(range[1], middle + 0.5);
        }
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of lines with their slopes and values at 0, bounded from `low` on.
    fn tables(list: &[[f32; 2]], first: f32, low: f32) -> Vec<u8> {
        let entry = |[scale, bias]: [f32; 2], i: usize| {
            (scale * (first + i as f32) + bias).round_ties_even().clamp(low, 255.0) as u8
        };
        list.iter().flat_map(|&line| (0..ENTRIES).map(move |i| entry(line, i))).collect()
    }

    #[test]
    fn rounded_lines_are_found() {
        let slopes =
            [[0.37, 12.3], [-1.907, 200.0], [0.001, 17.0], [14.0, -900.0], [0.0, 255.0], [1.0, 0.0], [-0.02, 300.0]];
        for (from, first) in [(Elem::U8, 0.0), (Elem::I8, -128.0)] {
            for low in [0.0, 17.0] {
                let tables = tables(&slopes, first, low);
                let found = affine_tables(&tables, from, Elem::U8).expect("they are lines");
                for (k, table) in tables.chunks(ENTRIES).enumerate() {
                    for (i, &byte) in table.iter().enumerate() {
                        let value = (first + i as f32) * found.scales[k] + found.biases[k];
                        assert_eq!(value.clamp(found.low, found.high).round_ties_even(), f32::from(byte), "{k} {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_tables_are_no_lines() {
        let curve: Vec<u8> = (0..ENTRIES).map(|i| (i * i / 255) as u8).collect();
        assert_eq!(affine_tables(&curve, Elem::U8, Elem::U8), None);
        let mut one_off = tables(&[[0.5, 3.0]], 0.0, 0.0);
        one_off[100] += 2;
        assert_eq!(affine_tables(&one_off, Elem::U8, Elem::I8), None);
    }
}
