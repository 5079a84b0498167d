//! Sparse matrices as patterns of nonzeros: what ops that dispatch by pattern have in common.
//!
//! Rows are divided into chunks of `bits` columns. A pattern has a bit for each nonzero of a chunk, of which bit 0 is the first column, and
//! selects one of `2^bits` functions. Nonzeros are a list of weights, in the order of rows and columns.

use gradus_ir::{DType, OpArgs, Violation};

/// The functions and sizes of a dispatch with the operands weights `[W]`, patterns `[M, C]` and `b`, `[K, N]`.
pub struct PatternDispatch {
    /// Columns of a chunk.
    pub bits: usize,
    /// First byte of each function, and the end of the last.
    pub starts: Vec<usize>,
    /// Number of rows of the result.
    pub rows: usize,
    /// Number of rows of `b`.
    pub depth: usize,
    /// Number of columns of `b` and of the result.
    pub columns: usize,
    /// Number of weights.
    pub weights: usize,
    /// Size of an element in bytes.
    pub element: usize,
}

/// An execution of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatternCall {
    /// Number of the function.
    pub pattern: usize,
    /// Row of the result.
    pub row: usize,
    /// First row of `b` of the chunk.
    pub first: usize,
    /// First weight.
    pub weight: usize,
}

impl PatternDispatch {
    /// Reads the attributes `bits` and `starts` and the types of an op.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(args: &OpArgs<'_>) -> Result<PatternDispatch, Violation> {
        let ctx = args.ctx();
        let bits = args.int("bits").filter(|bits| (1..=8).contains(bits)).ok_or("requires 1 to 8 bits")? as usize;
        let starts = args.ints("starts").and_then(|all| all.into_iter().map(|n| usize::try_from(n).ok()).collect());
        let starts = starts.filter(|all: &Vec<usize>| all.len() == (1 << bits) + 1 && all.is_sorted());
        let starts = starts.ok_or("requires a start for each pattern and the end, in order")?;
        let shape = |i: usize| ctx.static_shape(args.operand_type(i));
        let (Some(&[weights]), Some(&[rows, chunks]), Some(&[depth, columns])) = (shape(0), shape(1), shape(2)) else {
            return Err("requires a vector and two matrices of static shape".into());
        };
        let result = *args.result_types.first().ok_or("has no result")?;
        let has_result = ctx.static_shape(result) == Some(&[rows, columns]);
        let [weights, rows, depth, columns, chunks] =
            [weights, rows, depth, columns, chunks].map(|d| usize::try_from(d).unwrap_or(0));
        if !has_result || depth.max(1).div_ceil(bits) != chunks {
            return Err("requires patterns for all rows of the result and of 'b'".into());
        }
        let dtype = ctx.dtype(ctx.element_type(result));
        let is_same = [0, 2].iter().all(|&i| ctx.dtype(ctx.element_type(args.operand_type(i))) == dtype);
        if !is_same || ctx.dtype(ctx.element_type(args.operand_type(1))) != Some(DType::U8) {
            return Err("requires patterns of ui8 and other elements of one type".into());
        }
        let element = dtype.filter(|dtype| matches!(dtype.size(), 4 | 8)).ok_or("requires elements of 4 or 8 bytes")?;
        let element = element.size();
        let is_small = |n: usize, m: usize| n.checked_mul(m).is_some_and(|all| all < (1 << 31) / element);
        if !is_small(depth, columns) || !is_small(rows, columns) || !is_small(weights, 1) {
            return Err("requires operands of less than 2 GiB".into());
        }
        Ok(PatternDispatch { bits, starts, rows, depth, columns, weights, element })
    }

    /// Size of a row of `b` and of the result in bytes.
    pub fn row_bytes(&self) -> usize {
        self.columns * self.element
    }

    /// The bytes of a function in the code of all.
    pub fn function<'c>(&self, pattern: usize, code: &'c [u8]) -> &'c [u8] {
        &code[self.starts[pattern]..self.starts[pattern + 1]]
    }

    /// The number of rows of `b` that a pattern reads, up to its last nonzero.
    pub fn reach(pattern: usize) -> usize {
        (usize::BITS - pattern.leading_zeros()) as usize
    }

    /// The executions of functions for all rows and chunks, without those of the empty pattern.
    ///
    /// # Errors
    /// A pattern that is no number of `bits` bits, or that has nonzeros beyond `b` or the weights.
    pub fn steps(&self, patterns: &[u8]) -> Result<Vec<PatternCall>, Violation> {
        let (chunks, mut weight) = (self.depth.max(1).div_ceil(self.bits), 0);
        let mut steps = Vec::new();
        for (i, &pattern) in patterns.iter().enumerate() {
            let (pattern, first) = (usize::from(pattern), i % chunks * self.bits);
            if pattern >> self.bits != 0 || pattern != 0 && first + PatternDispatch::reach(pattern) > self.depth {
                return Err(format!("pattern {i} has nonzeros beyond its columns").into());
            }
            if pattern != 0 {
                steps.push(PatternCall { pattern, row: i / chunks, first, weight });
            }
            weight += pattern.count_ones() as usize;
        }
        if weight > self.weights { Err("patterns have more nonzeros than there are weights".into()) } else { Ok(steps) }
    }

    /// Fills the result as sums of floats begin: -0, or 0 in rows without nonzeros.
    pub fn begin_sums(&self, steps: &[PatternCall], out: &mut [u8]) {
        out.fill(0);
        for rows in steps.chunk_by(|a, b| a.row == b.row) {
            let sums = &mut out[rows[0].row * self.row_bytes()..][..self.row_bytes()];
            sums.chunks_exact_mut(self.element).for_each(|sum| sum[self.element - 1] = 0x80);
        }
    }
}
