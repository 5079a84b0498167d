//! Sparse constants by compressed rows.

use gradus_ir::Tensor;

/// A matrix of f32 by compressed sparse rows.
pub(super) struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub depth: usize,
    /// Start of each row among the nonzeros, and their number.
    starts: Vec<u32>,
    /// Column of each nonzero, ascending in a row.
    columns: Vec<u32>,
    values: Vec<f32>,
}

/// A nonzero of a group of rows.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    /// Column of the matrix.
    pub column: u32,
    /// Row in the group.
    pub row: u8,
    /// Value.
    pub value: f32,
}

impl Matrix {
    /// Reads the nonzeros of a constant `[rows, depth]`, or of its transpose.
    pub fn of(tensor: &Tensor, is_transposed: bool) -> Option<Matrix> {
        let (&[rows, depth], values) = (tensor.shape(), tensor.as_slice::<f32>()) else { return None };
        let (rows, depth, [down, across]) = match is_transposed {
            false => (rows, depth, [depth, 1]),
            true => (depth, rows, [1, depth]),
        };
        Matrix::gather([rows, depth], |row| (0..depth).map(move |k| (k, row * down + k * across)), &values)
    }

    /// Reads the nonzeros of filters `[M, C / groups, K...]` as a matrix `[M, C * K]`.
    pub fn of_filters(tensor: &Tensor, groups: usize) -> Option<Matrix> {
        let (values, &rows) = (tensor.as_slice::<f32>(), tensor.shape().first()?);
        let (width, per_group) = (values.len().checked_div(rows)?, rows.checked_div(groups).filter(|&n| n > 0)?);
        let row = |row: usize| (0..width).map(move |k| (row / per_group * width + k, row * width + k));
        Matrix::gather([rows, width.checked_mul(groups)?], row, &values)
    }

    /// Collects the nonzeros of rows, given the columns and places of their elements.
    fn gather<E: Iterator<Item = (usize, usize)>>(
        [rows, depth]: [usize; 2],
        row: impl Fn(usize) -> E,
        values: &[f32],
    ) -> Option<Matrix> {
        (values.len() < u32::MAX as usize && depth < u32::MAX as usize && !values.is_empty()).then_some(())?;
        let mut matrix = Matrix { rows, depth, starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for elements in (0..rows).map(row) {
            for (column, at) in elements.filter(|&(_, at)| values[at] != 0.0) {
                matrix.columns.push(column as u32);
                matrix.values.push(values[at]);
            }
            matrix.starts.push(matrix.columns.len() as u32);
        }
        Some(matrix)
    }

    /// Values of all nonzeros, by rows.
    pub fn values(&self) -> &[f32] {
        &self.values
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
    pub fn group(&self, first: usize, size: usize) -> Vec<Entry> {
        let rows = first..(first + size).min(self.rows);
        let range = self.starts[rows.start] as usize..self.starts[rows.end] as usize;
        let mut next = vec![0; self.depth + 1];
        self.columns[range.clone()].iter().for_each(|&column| next[column as usize + 1] += 1);
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        let mut entries = vec![Entry::default(); range.len()];
        for row in rows {
            for i in self.starts[row] as usize..self.starts[row + 1] as usize {
                let place: &mut usize = &mut next[self.columns[i] as usize];
                entries[*place] = Entry { column: self.columns[i], row: (row - first) as u8, value: self.values[i] };
                *place += 1;
            }
        }
        entries
    }
}
