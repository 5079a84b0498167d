//! Products of bytes with a sparse constant: words for generated code, and a loop over compressed rows where there is none.

use super::{Kernel, Prepared, constant, dtype, extents};
use crate::transpose;
use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::sparse::{IntegerProduct, Packing, WordPacking};

/// Prepares `sparse.words`.
pub(super) fn words(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let words = WordPacking::of(args)?;
    let columns = words.shape[1];
    let run = move |workers: &Workers, data: &[&[u8]], out: &mut [u8]| {
        let (x, out) = (data[0], bytemuck::cast_slice_mut::<u8, u32>(out));
        let threads = workers.for_steps(out.len() / transpose::WORDS_PER_STEP);
        let parts = out.chunks_mut(columns.max(1) * ROWS).enumerate();
        workers.share(threads, parts, |(part, out)| pack(&words, x, part * ROWS, out));
        Ok(())
    };
    Some(Kernel::shared([0], run).into())
}

/// Rows of words that are packed together, a cache line of a transposed matrix.
const ROWS: usize = 16;

/// Packs rows of words from `first` on, a multiple of 2.
fn pack(words: &WordPacking, x: &[u8], first: usize, out: &mut [u32]) {
    let columns = words.shape[1].max(1);
    let done = match (words.packing, words.transposed) {
        (Packing::Quads, true) => transposed_quads(words, x, first, out),
        (Packing::Pairs, true) => transposed_pairs(words, x, first, out),
        (_, false) => whole_rows(words, x, first, out),
    };
    let at = |row: usize, column: usize| {
        if words.transposed { x[column * words.depth + row] } else { x[row * columns + column] }
    };
    for (i, out) in out.chunks_exact_mut(columns).enumerate().skip(done) {
        out.iter_mut().enumerate().for_each(|(n, word)| *word = words.word([first + i, n], at));
    }
}

/// Bits that flip the sign of each byte of quads, if bytes are signed.
fn flip(words: &WordPacking) -> u32 {
    if words.dtype == DType::I8 { 0x8080_8080 } else { 0 }
}

/// Packs the rows of words whose bytes are all in the matrix; returns their number.
fn whole_rows(words: &WordPacking, x: &[u8], first: usize, out: &mut [u32]) -> usize {
    let (columns, count) = (words.shape[1].max(1), words.packing.elements());
    let whole = (out.len() / columns).min((words.depth / count).saturating_sub(first));
    for (i, out) in out.chunks_exact_mut(columns).enumerate().take(whole) {
        let row = |k: usize| &x[((first + i) * count + k) * columns..][..columns];
        if words.packing == Packing::Quads {
            let (rows, flip) = ([row(0), row(1), row(2), row(3)], flip(words));
            for (n, word) in out.iter_mut().enumerate() {
                *word = u32::from_le_bytes([rows[0][n], rows[1][n], rows[2][n], rows[3][n]]) ^ flip;
            }
        } else {
            run_widest(RowPairs { rows: [row(0), row(1)], sign: sign(words), out });
        }
    }
    whole
}

/// Packs the rows of words of a transposed matrix whose bytes are all there; returns their number.
fn transposed_quads(words: &WordPacking, x: &[u8], first: usize, out: &mut [u32]) -> usize {
    let columns = words.shape[1].max(1);
    let whole = (out.len() / columns).min((words.depth / QUAD).saturating_sub(first));
    let elements = x.get(first * QUAD..).unwrap_or_default();
    let Ok(matrix) = transpose::WordMatrix::new(elements, words.depth, [columns, whole]) else { return 0 };
    matrix.transpose(&mut out[..whole * columns], flip(words));
    whole
}

/// Packs the rows of words of a transposed matrix, whose bytes are transposed four at a time, as far as these are there; returns their
/// number.
fn transposed_pairs(words: &WordPacking, x: &[u8], first: usize, out: &mut [u32]) -> usize {
    let columns = words.shape[1].max(1);
    let whole = (out.len() / columns / 2).min((words.depth / QUAD).saturating_sub(first / 2));
    let elements = x.get(first / 2 * QUAD..).unwrap_or_default();
    let Ok(matrix) = transpose::WordMatrix::new(elements, words.depth, [columns, whole]) else { return 0 };
    let mut quads = vec![0; whole * columns];
    matrix.transpose(&mut quads, 0);
    for (quads, out) in quads.chunks_exact(columns).zip(out.chunks_exact_mut(2 * columns)) {
        run_widest(QuadPairs { quads, sign: sign(words), out });
    }
    2 * whole
}

/// Bytes of a word.
const QUAD: usize = 4;

/// The sign bit of bytes, if they are signed.
fn sign(words: &WordPacking) -> u16 {
    if words.dtype == DType::I8 { 0x80 } else { 0 }
}

/// Two bytes as 16 bits each, extended by their sign bit.
#[inline(always)]
fn pair(low: u8, high: u8, sign: u16) -> u32 {
    let [low, high] = [low, high].map(|byte| u32::from((u16::from(byte) ^ sign).wrapping_sub(sign)));
    low | high << 16
}

/// Words of pairs, from two rows of bytes.
struct RowPairs<'a> {
    rows: [&'a [u8]; 2],
    sign: u16,
    out: &'a mut [u32],
}

impl Loops for RowPairs<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        for ((word, &low), &high) in self.out.iter_mut().zip(self.rows[0]).zip(self.rows[1]) {
            *word = pair(low, high, self.sign);
        }
    }
}

/// Two rows of words of pairs, from a row of words of quads.
struct QuadPairs<'a> {
    quads: &'a [u32],
    sign: u16,
    out: &'a mut [u32],
}

impl Loops for QuadPairs<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let (first, second) = self.out.split_at_mut(self.quads.len());
        for ((first, second), &quad) in first.iter_mut().zip(second).zip(self.quads) {
            let [a, b, c, d] = quad.to_le_bytes();
            (*first, *second) = (pair(a, b, self.sign), pair(c, d, self.sign));
        }
    }
}

/// Prepares `sparse.matmul_integer`, as a loop over compressed rows.
pub(super) fn matmul(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let product = IntegerProduct::of(m, args.op?)?;
    let [rows, depth, columns] = product.extents;
    let (is_right, signed) = (product.is_right, dtype(m, m.value_type(product.dense))? == DType::I8);
    let (name, zero) = if is_right { ("a", "a_zero_point") } else { ("b", "b_zero_point") };
    let [dense, zero] = [name, zero].map(|name| super::position(args, name));
    let dense = dense?;
    let nonzeros = product.weights.iter().copied().enumerate().filter(|(_, weight)| *weight != 0);
    let nonzeros: Vec<(usize, i32)> = nonzeros.map(|(i, weight)| (i, weight.into())).collect();
    (extents(m, args.result_types[0])?.iter().product::<usize>() == rows * columns).then_some(())?;
    constant(args, if is_right { "b" } else { "a" })?;
    let run = move |data: &[&[u8]], out: &mut [u8]| {
        let value = |byte: u8| if signed { i32::from(byte.cast_signed()) } else { byte.into() };
        let zero = data.get(1).and_then(|zero| zero.first()).map_or(0, |&byte| value(byte));
        let (x, out) = (data[0], bytemuck::cast_slice_mut::<u8, i32>(out));
        out.fill(0);
        for &(at, weight) in &nonzeros {
            let (row, k) = (at / depth, at % depth);
            for n in 0..columns {
                let (from, to) =
                    if is_right { (n * depth + k, n * rows + row) } else { (k * columns + n, row * columns + n) };
                out[to] = out[to].wrapping_add(weight.wrapping_mul(value(x[from]) - zero));
            }
        }
        Ok(())
    };
    Some(Kernel::new([Some(dense), zero].into_iter().flatten(), run).into())
}
