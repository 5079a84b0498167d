//! The placement of operands and results in memory.

use super::{LoopOrder, Mapping, ProductPlan, Shape};
use crate::nna::hazard::FaultKind;
use crate::nna::machine::{CHANNELS, KERNEL, NnaMachine, TAPS, VECTOR};
use crate::nna::memory::ByteMemory;

/// Lanes of a requantization.
const LANES: usize = VECTOR / 4;

/// The placement of a product's operands and results in memory, in bytes.
///
/// Sums are `[outer, inner]` of 32 bits, with `outer` the columns of the dense mapping and the rows of the others; `inner` is
/// padded to a multiple of 32. So are requantized bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// Extents.
    pub shape: Shape,
    /// Choices.
    pub plan: ProductPlan,
    /// First byte of the kernels, or of the left matrix.
    pub weights: u32,
    /// First byte of the right matrix, or of its columns.
    pub features: u32,
    /// Bytes from a row of the features to the next.
    pub pitch: usize,
    /// First byte of the sixteen vectors that select the diagonals of 32x32 matrices.
    pub patterns: u32,
    /// First byte of the factors of a requantization: of the dense mapping a lane per row, of the others a vector per row.
    pub scales: u32,
    /// First byte of the sums.
    pub sums: u32,
    /// Outer extent of the sums.
    pub outer: usize,
    /// Inner extent of the sums, a multiple of 32.
    pub inner: usize,
    /// First byte of the requantized bytes.
    pub bytes: u32,
    /// Bytes in all.
    pub size: u32,
}

impl Layout {
    /// Places the operands and results of a product.
    ///
    /// # Errors
    /// They do not fit in memory.
    pub fn new(shape: Shape, plan: ProductPlan, machine: &NnaMachine) -> Result<Layout, String> {
        let Shape { rows, depth, columns } = shape;
        let dense = plan.mapping == Mapping::Dense;
        let (outer, inner) = if dense { (columns, rows) } else { (rows, columns) };
        let inner = inner.next_multiple_of(CHANNELS);
        let pitch = match dense {
            true => depth.next_multiple_of(CHANNELS),
            false if plan.padded => inner,
            false => columns,
        };
        let kernels = plan.extents(shape).0 * kernel_bytes(depth);
        let requantized = plan.requantize.is_some();
        let scales = if dense { inner * 4 } else { outer * VECTOR };
        let mut end = 0_usize;
        let mut place = |len: usize| {
            let start = end;
            end = (end + len).next_multiple_of(VECTOR);
            start as u32
        };
        let layout = Layout {
            shape,
            plan,
            weights: place(if dense { kernels } else { rows * depth }),
            features: place(if dense { columns } else { depth } * pitch),
            pitch,
            patterns: place(if plan.mapping == Mapping::Diagonal { LANES * VECTOR } else { 0 }),
            scales: place(if requantized { scales } else { 0 }),
            sums: place(4 * outer * inner),
            outer,
            inner,
            bytes: place(if requantized { outer * inner } else { 0 }),
            size: 0,
        };
        match end <= machine.memory as usize {
            true => Ok(Layout { size: end as u32, ..layout }),
            false => Err(format!("{end} bytes do not fit in a memory of {}", machine.memory)),
        }
    }

    /// Returns the groups of nine taps, and the taps of the last one.
    pub fn groups(&self) -> (usize, usize) {
        let group = self.plan.group();
        let groups = self.shape.depth.div_ceil(group);
        let rest = self.shape.depth - (groups - 1) * group;
        (groups, rest.div_ceil(group / TAPS))
    }

    /// Returns the index of an output in the sums.
    fn sum_index(&self, row: usize, column: usize) -> usize {
        let (outer, inner) = if self.plan.mapping == Mapping::Dense { (column, row) } else { (row, column) };
        outer * self.inner + inner
    }

    /// Returns memory with both operands, `[M, K]` and `[K, N]`, and if the plan needs them the initial sums, `[M, N]`, and the
    /// factors of the requantization, one per row. All other bytes are poison.
    ///
    /// # Errors
    /// An operand has another size.
    pub fn image(&self, a: &[i8], b: &[i8], initial: &[i32], scales: &[i32], fill: u8) -> Result<ByteMemory, String> {
        let Shape { rows, depth, columns } = self.shape;
        let expected = [
            ("left matrix", a.len(), rows * depth),
            ("right matrix", b.len(), depth * columns),
            ("initial sums", initial.len(), if self.plan.initial { rows * columns } else { 0 }),
            ("factors", scales.len(), if self.plan.requantize.is_some() { rows } else { 0 }),
        ];
        if let Some((name, len, expected)) = expected.into_iter().find(|(_, len, expected)| len != expected) {
            return Err(format!("the {name} has {len} elements instead of {expected}"));
        }
        let mut memory = ByteMemory::new(self.size as usize, fill);
        let mut put = |at: u32, bytes: &[u8]| memory.fill(at, bytes).map_err(|class| class.name().to_owned());
        if self.plan.mapping == Mapping::Dense {
            put(self.weights, &self.dense_kernels(a))?;
            put(self.features, &self.dense_columns(b))?;
        } else {
            put(self.weights, &a.iter().map(|&value| value as u8).collect::<Vec<u8>>())?;
            put(self.features, &self.rows(b))?;
        }
        if self.plan.mapping == Mapping::Diagonal {
            put(self.patterns, &patterns())?;
        }
        put(self.scales, &self.scale_vectors(scales))?;
        if self.plan.initial || self.plan.requantize.is_some() {
            let mut sums = vec![0_u8; 4 * self.outer * self.inner];
            for (i, sum) in initial.iter().enumerate() {
                let at = 4 * self.sum_index(i / columns, i % columns);
                sums[at..at + 4].copy_from_slice(&sum.to_le_bytes());
            }
            put(self.sums, &sums)?;
        }
        Ok(memory)
    }

    /// Returns the kernels of the dense mapping, in the order in which they are read.
    fn dense_kernels(&self, a: &[i8]) -> Vec<u8> {
        let Shape { rows, depth, .. } = self.shape;
        let kernels = self.plan.extents(self.shape).0;
        let mut bytes = vec![0; kernels * kernel_bytes(depth)];
        for (i, &value) in a.iter().enumerate() {
            let (row, k) = (i / depth, i % depth);
            debug_assert!(row < rows);
            let (group, tap, channel) = (k / self.plan.group(), k % self.plan.group() / CHANNELS, k % CHANNELS);
            let within = (tap * CHANNELS + row % CHANNELS) * CHANNELS + channel;
            bytes[self.kernel_offset(row / CHANNELS, group) + within] = value as u8;
        }
        bytes
    }

    /// Returns the byte of a kernel of the dense mapping among all: kernels that are resident together are neighbours.
    fn kernel_offset(&self, kernel: usize, group: usize) -> usize {
        let (kernels, all) = (self.plan.extents(self.shape).0, kernel_bytes(self.shape.depth));
        let (groups, taps) = self.groups();
        let size = if group + 1 < groups { KERNEL } else { taps * CHANNELS * CHANNELS };
        if self.plan.order == LoopOrder::StepOuter {
            return group * kernels * KERNEL + kernel * size;
        }
        let first = kernel / self.plan.resident * self.plan.resident;
        let resident = self.plan.resident.min(kernels - first);
        first * all + group * resident * KERNEL + (kernel - first) * size
    }

    /// Returns the columns of the right matrix, each padded to a multiple of 32.
    fn dense_columns(&self, b: &[i8]) -> Vec<u8> {
        let mut bytes = vec![0; self.shape.columns * self.pitch];
        for (k, row) in b.chunks_exact(self.shape.columns).enumerate() {
            row.iter().enumerate().for_each(|(column, &value)| bytes[column * self.pitch + k] = value as u8);
        }
        bytes
    }

    /// Returns the rows of the right matrix, each padded to the pitch.
    fn rows(&self, b: &[i8]) -> Vec<u8> {
        let mut bytes = vec![0; self.shape.depth * self.pitch];
        for (to, row) in bytes.chunks_exact_mut(self.pitch).zip(b.chunks_exact(self.shape.columns)) {
            to.iter_mut().zip(row).for_each(|(to, &value)| *to = value as u8);
        }
        bytes
    }

    fn scale_vectors(&self, scales: &[i32]) -> Vec<u8> {
        if self.plan.mapping == Mapping::Dense && !scales.is_empty() {
            let padded = scales.iter().copied().chain(std::iter::repeat(0)).take(self.inner);
            return padded.flat_map(i32::to_le_bytes).collect();
        }
        scales.iter().flat_map(|scale| [*scale; LANES]).flat_map(i32::to_le_bytes).collect()
    }

    /// Returns the sums, `[M, N]`.
    ///
    /// # Errors
    /// A sum was not written.
    pub fn sums(&self, memory: &ByteMemory) -> Result<Vec<i32>, FaultKind> {
        let mut sums = Vec::with_capacity(self.shape.rows * self.shape.columns);
        for row in 0..self.shape.rows {
            for column in 0..self.shape.columns {
                let at = self.sums + 4 * self.sum_index(row, column) as u32;
                let bytes = memory.initialized(at, 4)?;
                sums.push(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            }
        }
        Ok(sums)
    }

    /// Returns the requantized bytes, `[M, N]`.
    ///
    /// # Errors
    /// A byte was not written.
    pub fn bytes(&self, memory: &ByteMemory) -> Result<Vec<i8>, FaultKind> {
        let columns = self.shape.columns;
        let byte = |i: usize| {
            let at = self.bytes + self.sum_index(i / columns, i % columns) as u32;
            memory.initialized(at, 1).map(|bytes| bytes[0] as i8)
        };
        (0..self.shape.rows * columns).map(byte).collect()
    }
}

/// Returns the bytes of a kernel of the dense mapping over all groups.
fn kernel_bytes(depth: usize) -> usize {
    depth.div_ceil(CHANNELS) * CHANNELS * CHANNELS
}

/// Returns the vectors that keep the diagonal of a 32x32 matrix: of vector `i` the bytes `2i` of the lower half and `2i + 1` of
/// the upper half.
fn patterns() -> Vec<u8> {
    let mut bytes = vec![0; LANES * VECTOR];
    for channel in 0..CHANNELS {
        bytes[channel * CHANNELS + channel] = 0xff;
    }
    bytes
}
