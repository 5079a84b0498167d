//! Table lookup on bytes.

use super::{Kernel, Prepared, constant, dtype, extents};
use crate::lookup::{self, ENTRIES};
use crate::workers::Workers;
use gradus_ir::{DType, Module, OpArgs};

/// Number of elements whose lookup takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 2;

/// A table in the order of bytes: that of unsigned integers.
type Table = [u8; ENTRIES];

/// Prepares `graph.table` with a constant table.
pub(super) fn table(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (shape, table) = (extents(m, args.operand_type(0))?, constant(args, "table")?);
    let first: u8 = if dtype(m, args.operand_type(0))? == DType::I8 { 0x80 } else { 0 };
    let row = |row: &[u8]| -> Table { std::array::from_fn(|byte| row[usize::from(byte as u8 ^ first)]) };
    let tables: Vec<Table> = table.bytes().chunks_exact(ENTRIES).map(row).collect();
    let axis = usize::try_from(args.int("axis")?).ok()?;
    let inner = match tables.len() {
        1 => shape.iter().product(),
        n => shape.get(axis).filter(|&&extent| extent == n).map(|_| shape[axis + 1..].iter().product())?,
    };
    let kernel = Kernel::shared([0], move |workers, data, out| {
        lookup(workers, &tables, inner, data[0], out);
        Ok(())
    });
    Some(kernel.into())
}

/// Looks up all elements, on several threads if that pays. Each `inner` elements in a row have the next table.
fn lookup(workers: &Workers, tables: &[Table], inner: usize, x: &[u8], out: &mut [u8]) {
    let (inner, period) = (inner.max(1), inner.max(1) * tables.len());
    let threads = workers.for_steps(x.len() / ELEMENTS_PER_STEP);
    // Each part begins with the first table, or is a part of the only one's elements.
    let whole = if tables.len() == 1 { 1 } else { period };
    let part = x.len().div_ceil(Workers::parts(threads)).next_multiple_of(whole).max(1);
    workers.share(threads, x.chunks(part).zip(out.chunks_mut(part)), |(x, out)| {
        if inner == 1 {
            for (x, out) in x.chunks(period).zip(out.chunks_mut(period)) {
                out.iter_mut().zip(x).zip(tables).for_each(|((y, &x), table)| *y = table[usize::from(x)]);
            }
            return;
        }
        let rows = x.chunks(inner).zip(out.chunks_mut(inner)).zip(tables.iter().cycle());
        for ((x, out), table) in rows {
            lookup::lookup(table, x, out);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_find_the_table_of_each_element() {
        for (inner, rows) in [(1, 5), (7, 3), (100_003, 1), (1, 1), (4, 2)] {
            let tables: Vec<Table> = (0..rows).map(|row| std::array::from_fn(|x| (x * 3 + row) as u8)).collect();
            let x: Vec<u8> = (0..inner * rows * 301).map(|i| (i * 7 % 256) as u8).collect();
            let want: Vec<u8> = x.iter().enumerate().map(|(i, &x)| tables[i / inner % rows][usize::from(x)]).collect();
            for threads in [1, 3] {
                let mut out = vec![0; x.len()];
                lookup(&Workers::new(threads).unwrap(), &tables, inner, &x, &mut out);
                assert!(out == want, "{inner} {rows} {threads}");
            }
        }
    }
}
