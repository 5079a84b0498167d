//! What becomes of sums: corrections and other summands are added, and they are quantized again.

use std::ops::Range;

/// Finished rows of a panel.
pub(super) struct Finish<'a> {
    /// The sums, a row of `width` after the other.
    pub sums: &'a [i32],
    /// How many columns a panel has.
    pub width: usize,
    /// Which rows of the result these are.
    pub rows: Range<usize>,
    /// Which columns.
    pub columns: Range<usize>,
    /// From row to row of the result.
    pub stride: usize,
    /// Added to each column of the result.
    pub bias: &'a [i32],
    /// For each row of `sums` something, of which each column of the result adds its multiple.
    pub rest: Option<(&'a [i32], &'a [i32])>,
    /// Added to each element of the result.
    pub add: Option<&'a [i32]>,
}

/// Where rows go.
pub enum Finished<'a> {
    /// The sums themselves.
    Sums(&'a mut [i32]),
    /// Sums times scales, rounded to bytes.
    Quantized(&'a mut [u8], &'a Scales),
}

impl<'a> Finished<'a> {
    /// So many elements after the other; the last may be fewer.
    pub(super) fn blocks(self, elements: usize) -> Box<dyn Iterator<Item = Finished<'a>> + Send + 'a> {
        match self {
            Finished::Sums(c) => Box::new(c.chunks_mut(elements).map(Finished::Sums)),
            Finished::Quantized(c, by) => Box::new(c.chunks_mut(elements).map(move |c| Finished::Quantized(c, by))),
        }
    }
}

/// How sums become bytes: times a scale, plus a zero point, rounded half to even and saturated.
#[derive(Clone, Debug)]
pub struct Scales {
    /// A scale for each column.
    scales: Vec<f64>,
    zero: f64,
    low: f64,
    high: f64,
}

impl Scales {
    /// To bytes with a sign or without, from a scale for each column.
    pub fn new(scales: Vec<f64>, zero: i32, signed: bool) -> Scales {
        let (low, high) = if signed { (-128.0, 127.0) } else { (0.0, 255.0) };
        Scales { scales, zero: zero.into(), low, high }
    }

    /// For how many columns.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// The sums of columns from one on, as bytes.
    #[inline(always)]
    pub(crate) fn quantize(&self, sums: impl Iterator<Item = i32>, first: usize, to: &mut [u8]) {
        for ((to, sum), scale) in to.iter_mut().zip(sums).zip(&self.scales[first..]) {
            let x = f64::from(sum) * scale + self.zero;
            // What is no number stays none, whose last byte is zero.
            let x = if x < self.low { self.low } else { x };
            let x = if x > self.high { self.high } else { x };
            *to = (x + ROUND).to_bits() as u8;
        }
    }
}

/// Added to a number of less than 31 bits it leaves that, rounded half to even, in the last bits: there are no more after them.
const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;

/// Writes finished rows.
#[inline(always)]
pub(super) fn finish(f: &Finish<'_>, to: &mut Finished<'_>) {
    let columns = f.columns.clone();
    let bias = &f.bias[columns.clone()];
    for (i, sums) in f.rows.clone().zip(f.sums.chunks_exact(f.width)) {
        let at = i * f.stride;
        let sums = sums.iter().zip(bias).map(|(sum, bias)| sum.wrapping_add(*bias));
        if f.rest.is_none() && f.add.is_none() {
            write(sums, at, columns.clone(), to);
            continue;
        }
        let mut row = [0; super::MAX_WIDTH];
        let row = &mut row[..columns.len()];
        row.iter_mut().zip(sums).for_each(|(to, sum)| *to = sum);
        if let Some((rest, factors)) = f.rest {
            let rest = rest[i - f.rows.start];
            row.iter_mut().zip(&factors[columns.clone()]).for_each(|(r, f)| *r = r.wrapping_add(rest.wrapping_mul(*f)));
        }
        if let Some(add) = f.add {
            row.iter_mut().zip(&add[at + columns.start..]).for_each(|(r, a)| *r = r.wrapping_add(*a));
        }
        write(row.iter().copied(), at, columns.clone(), to);
    }
}

/// Writes the sums of a row that begins at `at`.
#[inline(always)]
fn write(sums: impl Iterator<Item = i32>, at: usize, columns: Range<usize>, to: &mut Finished<'_>) {
    match to {
        Finished::Sums(c) => c[at..][columns].iter_mut().zip(sums).for_each(|(c, sum)| *c = sum),
        Finished::Quantized(c, by) => by.quantize(sums, columns.start, &mut c[at..][columns]),
    }
}
