//! How the kernel of `addr.sparse_gemm` divides a product: its rules, for the kernel and for prices.

/// Minimum number of vectors of blocks that are narrower so that they need no chunks.
const MIN_VECTORS: usize = 4;

/// Bytes of a block of columns that stay in the L1 cache, about, while all rows of the matrix are computed: measured on Zen 3.
const NEAR: usize = 48 << 10;

/// Average number of nonzeros of a row and chunk, at least: the end of their loop is mispredicted.
const MIN_NONZEROS: usize = 12;

/// Average number of reads of a row of the dense operand from which on it is divided and packed.
const MIN_READS: usize = 4;

/// Bytes from which on a dense operand is beyond the L2 cache.
const FAR: usize = 2 << 20;

/// Average number of reads of a row of the dense operand up to which whole rows are read one after the other, if it is beyond the L2 cache:
/// measured on Zen 3, products of 256x1152 by 3136 columns.
const MAX_STREAMED: usize = 8;

/// The numbers of a product by compressed rows on which its division depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SparseShape {
    /// Number of rows of the matrix.
    pub rows: usize,
    /// Number of rows of the dense operand that are read.
    pub depth: usize,
    /// Number of nonzeros.
    pub nonzeros: usize,
}

/// The division of a strip of columns into blocks, each of which is computed for all rows, and of the rows of the dense operand into chunks, whose
/// lines of a block stay in the L1 cache while they are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Division {
    /// Maximum number of vectors of a block.
    pub vectors: usize,
    /// Number of blocks.
    pub blocks: usize,
    /// Maximum number of chunks.
    pub chunks: usize,
}

impl Division {
    /// Maximum number of vectors of a block.
    pub const MAX_VECTORS: usize = 8;
}

impl SparseShape {
    /// Divides the product for strips of some vectors, of a size in bytes.
    pub fn divide(self, vectors: usize, bytes: usize) -> Division {
        let near = NEAR / bytes;
        let narrow = near / self.depth.max(1);
        // Narrower blocks may save chunks, for each of which sums are loaded and stored.
        let is_narrow = self.is_read_often() && (MIN_VECTORS..Division::MAX_VECTORS).contains(&narrow);
        let most = if is_narrow { narrow } else { Division::MAX_VECTORS };
        let blocks = vectors.div_ceil(most).max(1);
        let size = (near / vectors.div_ceil(blocks).max(1)).max(1);
        let useful = self.nonzeros / self.rows.saturating_mul(MIN_NONZEROS).max(1);
        let chunks = if self.is_read_often() { self.depth.div_ceil(size).min(useful).max(1) } else { 1 };
        Division { vectors: most, blocks, chunks }
    }

    /// Whether rows of the dense operand are read so often that they are worth division and packing.
    pub fn is_read_often(self) -> bool {
        self.nonzeros > 0 && self.nonzeros >= MIN_READS.saturating_mul(self.depth)
    }

    /// Whether rows of the dense operand are read so seldom that whole ones are read, if they are beyond the L2 cache.
    pub fn is_streamed(self) -> bool {
        self.nonzeros < MAX_STREAMED.saturating_mul(self.depth)
    }

    /// Whether a dense operand of a size in bytes is beyond the L2 cache.
    pub fn is_far(bytes: usize) -> bool {
        bytes > FAR
    }
}
