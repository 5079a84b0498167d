//! Sparse constants by compressed rows.

use crate::emit::Emitter;
use gradus_ir::{DType, Tensor, Type, Value};
use gradus_networks::sparse::Packing;
use std::ops::Range;

/// A matrix of f32, f64 or i32 by compressed sparse rows.
pub(crate) struct Matrix {
    /// Type of the elements.
    pub dtype: DType,
    /// What elements hold, if they are words of several columns.
    pub packing: Option<Packing>,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub depth: usize,
    /// Start of each row among the nonzeros, and their number.
    starts: Vec<u32>,
    /// Column of each nonzero, ascending in a row.
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// A nonzero of a group of rows.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowNonzero {
    /// Column of the matrix.
    pub column: u32,
    /// Row in the group.
    pub row: u8,
    /// Value.
    pub value: f64,
}

impl Matrix {
    /// The type of the elements in the IR.
    pub fn element_type(&self) -> Type {
        match self.dtype {
            DType::F64 => Type::F64,
            DType::I32 => Type::I32,
            _ => Type::F32,
        }
    }

    /// Creates a constant of numbers in the type of the elements.
    pub fn constant(&self, e: &mut Emitter<'_, '_>, values: &[f64]) -> Option<Value> {
        let shape = [values.len()];
        let tensor = match self.dtype {
            DType::F64 => Tensor::from_vec(&shape, values.to_vec()),
            DType::I32 => Tensor::from_vec(&shape, values.iter().map(|&x| x as i32).collect()),
            _ => Tensor::from_vec(&shape, values.iter().map(|&x| x as f32).collect()),
        };
        e.constant(&tensor, self.element_type())
    }

    /// Reads the nonzeros of a constant `[rows, depth]`, or of its transpose. Those of bf16 are f32.
    pub fn of(tensor: &Tensor, is_transposed: bool) -> Option<Matrix> {
        let &[rows, depth] = tensor.shape() else { return None };
        match tensor.dtype() {
            DType::F32 => Matrix::read(&tensor.as_slice::<f32>(), [rows, depth], is_transposed, DType::F32),
            // Products of bf16 are computed in f32.
            DType::BF16 => Matrix::read(&tensor.to_f64(), [rows, depth], is_transposed, DType::F32),
            DType::F64 => Matrix::read(&tensor.as_slice::<f64>(), [rows, depth], is_transposed, DType::F64),
            DType::I32 => Matrix::read(&tensor.as_slice::<i32>(), [rows, depth], is_transposed, DType::I32),
            _ => None,
        }
    }

    fn read<T>(values: &[T], [rows, depth]: [usize; 2], is_transposed: bool, dtype: DType) -> Option<Matrix>
    where
        T: Copy + Into<f64>,
    {
        if !is_transposed {
            return Matrix::gather(values, [rows, depth], depth, |_| 0, dtype);
        }
        let transposed: Vec<T> = (0..depth).flat_map(|k| (0..rows).map(move |row| values[row * depth + k])).collect();
        Matrix::gather(&transposed, [depth, rows], rows, |_| 0, dtype)
    }

    /// Packs a matrix `[rows, depth]` of bytes into words.
    pub fn of_words(weights: &[i16], [rows, depth]: [usize; 2], packing: Packing) -> Option<Matrix> {
        let words = weights.chunks_exact(depth).flat_map(|row| row.chunks(packing.elements()));
        let words: Vec<i32> = words.map(|elements| packing.word(elements)).collect();
        let width = depth.div_ceil(packing.elements());
        Some(Matrix { packing: Some(packing), ..Matrix::gather(&words, [rows, width], width, |_| 0, DType::I32)? })
    }

    /// Reads the nonzeros of filters `[M, C / groups, K...]` of f32 as a matrix `[M, C * K]`.
    pub fn of_filters(tensor: &Tensor, groups: usize) -> Option<Matrix> {
        let (values, &rows) = (tensor.as_slice::<f32>(), tensor.shape().first()?);
        let (width, per_group) = (values.len().checked_div(rows)?, rows.checked_div(groups).filter(|&n| n > 0)?);
        Matrix::gather(&values, [rows, width.checked_mul(groups)?], width, |row| row / per_group * width, DType::F32)
    }

    /// Collects the nonzeros of rows of `width` elements, of which the first is in column `first(row)`.
    fn gather<T: Copy + Into<f64>>(
        values: &[T],
        [rows, depth]: [usize; 2],
        width: usize,
        first: impl Fn(usize) -> usize,
        dtype: DType,
    ) -> Option<Matrix> {
        (values.len() < u32::MAX as usize && depth < u32::MAX as usize && !values.is_empty()).then_some(())?;
        let (columns, found_values) = (Vec::new(), Vec::new());
        let mut matrix = Matrix { dtype, packing: None, rows, depth, starts: vec![0], columns, values: found_values };
        let mut found = vec![(0, 0.0); width];
        for (row, elements) in values.chunks_exact(width).enumerate() {
            // Nonzeros are written one after the other without a branch, which would be mispredicted at most of them.
            let mut count = 0;
            for (column, &value) in (first(row) as u32..).zip(elements) {
                let value = value.into();
                found[count] = (column, value);
                count += usize::from(value != 0.0);
            }
            matrix.columns.extend(found[..count].iter().map(|one| one.0));
            matrix.values.extend(found[..count].iter().map(|one| one.1));
            matrix.starts.push(matrix.columns.len() as u32);
        }
        Some(matrix)
    }

    /// Copies some rows.
    pub fn rows_of(&self, rows: Range<usize>) -> Matrix {
        let starts = &self.starts[rows.start..=rows.end];
        let (first, range) = (starts[0], starts[0] as usize..starts[rows.len()] as usize);
        Matrix {
            rows: rows.len(),
            starts: starts.iter().map(|start| start - first).collect(),
            columns: self.columns[range.clone()].to_vec(),
            values: self.values[range].to_vec(),
            ..*self
        }
    }

    /// Size of an element in bytes.
    pub fn element(&self) -> usize {
        self.dtype.size()
    }

    /// Values of all nonzeros, by rows.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Columns and values of the nonzeros of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
        self.columns[range.clone()].iter().map(|&column| column as usize).zip(self.values[range].iter().copied())
    }

    /// Whether a row has no nonzeros.
    pub fn is_zero(&self, row: usize) -> bool {
        self.starts[row] == self.starts[row + 1]
    }

    /// Number of rows of B that groups of `size` rows read: the sum over groups of their distinct columns.
    pub fn distinct_columns(&self, size: usize) -> usize {
        let mut last = vec![0; self.depth];
        let mut count = 0;
        for (row, ends) in self.starts.windows(2).enumerate() {
            let group = row / size + 1;
            for &column in &self.columns[ends[0] as usize..ends[1] as usize] {
                let seen = std::mem::replace(&mut last[column as usize], group);
                count += usize::from(seen != group);
            }
        }
        count
    }

    /// The nonzeros of a group of rows, by columns: a counting sort.
    pub fn group(&self, first: usize, size: usize) -> Vec<RowNonzero> {
        let rows = first..(first + size).min(self.rows);
        let range = self.starts[rows.start] as usize..self.starts[rows.end] as usize;
        let mut next = vec![0; self.depth + 1];
        self.columns[range.clone()].iter().for_each(|&column| next[column as usize + 1] += 1);
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        let mut entries = vec![RowNonzero::default(); range.len()];
        for row in rows {
            for i in self.starts[row] as usize..self.starts[row + 1] as usize {
                let place: &mut usize = &mut next[self.columns[i] as usize];
                entries[*place] =
                    RowNonzero { column: self.columns[i], row: (row - first) as u8, value: self.values[i] };
                *place += 1;
            }
        }
        entries
    }
}
