//! Memory and registers whose bytes may be poison.

use super::hazard::FaultKind;
use super::machine::VECTOR;

/// A vector register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VectorRegister {
    /// Bytes.
    pub bytes: [u8; VECTOR],
    /// A bit for each byte that is poison.
    pub poison: u64,
}

impl VectorRegister {
    /// Returns a register of poison, whose bytes are `fill`.
    pub fn poison(fill: u8) -> VectorRegister {
        VectorRegister { bytes: [fill; VECTOR], poison: u64::MAX }
    }

    /// Returns a register of 32-bit lanes.
    pub fn of_lanes(lanes: &[i32; VECTOR / 4]) -> VectorRegister {
        let mut bytes = [0; VECTOR];
        bytes.chunks_exact_mut(4).zip(lanes).for_each(|(bytes, lane)| bytes.copy_from_slice(&lane.to_le_bytes()));
        VectorRegister { bytes, poison: 0 }
    }

    /// Returns the 32-bit lanes.
    pub fn lanes(&self) -> [i32; VECTOR / 4] {
        let mut lanes = [0; VECTOR / 4];
        lanes.iter_mut().zip(self.bytes.chunks_exact(4)).for_each(|(lane, b)| {
            *lane = i32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        });
        lanes
    }
}

/// Byte-addressed memory.
#[derive(Clone, Debug)]
pub struct ByteMemory {
    bytes: Vec<u8>,
    /// A bit for each byte that is initialized.
    valid: Vec<u64>,
}

impl ByteMemory {
    /// Returns memory of poison, whose bytes are `fill`.
    pub fn new(size: usize, fill: u8) -> ByteMemory {
        ByteMemory { bytes: vec![fill; size], valid: vec![0; size / 64 + 2] }
    }

    /// Returns the range of an access.
    fn range(&self, address: u32, len: usize) -> Result<std::ops::Range<usize>, FaultKind> {
        let start = address as usize;
        match start.checked_add(len) {
            Some(end) if end <= self.bytes.len() => Ok(start..end),
            _ => Err(FaultKind::MemoryBounds),
        }
    }

    /// Reads up to 64 bytes with a bit for each that is poison.
    ///
    /// # Errors
    /// A byte is outside of memory.
    pub fn read(&self, address: u32, len: usize) -> Result<(&[u8], u64), FaultKind> {
        let range = self.range(address, len)?;
        let (word, bit) = (range.start / 64, range.start % 64);
        let both = u128::from(self.valid[word]) | u128::from(self.valid[word + 1]) << 64;
        Ok((&self.bytes[range], !((both >> bit) as u64) & mask(len)))
    }

    /// Writes up to 64 bytes.
    ///
    /// # Errors
    /// A byte is outside of memory.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), FaultKind> {
        let range = self.range(address, bytes.len())?;
        let (word, bit) = (range.start / 64, range.start % 64);
        let valid = u128::from(mask(bytes.len())) << bit;
        self.valid[word] |= valid as u64;
        self.valid[word + 1] |= (valid >> 64) as u64;
        self.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    /// Writes bytes of any number, as before a program starts.
    ///
    /// # Errors
    /// A byte is outside of memory.
    pub fn fill(&mut self, address: u32, bytes: &[u8]) -> Result<(), FaultKind> {
        self.range(address, bytes.len())?;
        let chunks = bytes.chunks(64).enumerate();
        chunks.into_iter().try_for_each(|(i, chunk)| self.write(address + 64 * i as u32, chunk))
    }

    /// Reads initialized bytes of any number, as after the end of a program.
    ///
    /// # Errors
    /// A byte is outside of memory, or poison.
    pub fn initialized(&self, address: u32, len: usize) -> Result<&[u8], FaultKind> {
        let range = self.range(address, len)?;
        let is_valid = |i: usize| self.valid[i / 64] >> (i % 64) & 1 != 0;
        match range.clone().all(is_valid) {
            true => Ok(&self.bytes[range]),
            false => Err(FaultKind::Uninitialized),
        }
    }
}

/// Returns a bit for each of `len` bytes, at most 64.
pub fn mask(len: usize) -> u64 {
    if len >= 64 { u64::MAX } else { (1 << len) - 1 }
}
