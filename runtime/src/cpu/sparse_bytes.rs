//! Products of bytes with a sparse constant: words for generated code, and a loop over compressed rows where there is none.

use super::{Kernel, Prepared, constant, dtype, extents};
use crate::transpose;
use crate::workers::Workers;
use gradus_dialects::sparse::{IntegerProduct, Packing, Words};
use gradus_ir::{DType, Module, OpArgs};

/// Prepares `sparse.words`.
pub(super) fn words(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let words = Words::of(args)?;
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

/// Packs rows of words from `first` on.
fn pack(words: &Words, x: &[u8], first: usize, out: &mut [u32]) {
    let (columns, count) = (words.shape[1], words.packing.elements());
    let flip = if words.packing == Packing::Quads && words.dtype == DType::I8 { 0x8080_8080 } else { 0 };
    let mut done = 0;
    if words.transposed && words.packing == Packing::Quads {
        let whole = (out.len() / columns.max(1)).min((words.depth / count).saturating_sub(first));
        let elements = x.get(first * count..).unwrap_or_default();
        if let Ok(matrix) = transpose::Words::new(elements, words.depth, [columns, whole]) {
            matrix.transpose(&mut out[..whole * columns], flip);
            done = whole;
        }
    }
    for (i, out) in out.chunks_exact_mut(columns.max(1)).enumerate().skip(done) {
        let row = (first + i) * count;
        let is_whole = words.packing == Packing::Quads && !words.transposed && row + count <= words.depth;
        if !is_whole {
            let at = |row: usize, column: usize| {
                if words.transposed { x[column * words.depth + row] } else { x[row * columns + column] }
            };
            out.iter_mut().enumerate().for_each(|(n, word)| *word = words.word([first + i, n], at));
        } else {
            let rows: [&[u8]; 4] = std::array::from_fn(|i| &x[(row + i) * columns..][..columns]);
            for (n, word) in out.iter_mut().enumerate() {
                *word = u32::from_le_bytes([rows[0][n], rows[1][n], rows[2][n], rows[3][n]]) ^ flip;
            }
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
