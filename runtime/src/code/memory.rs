//! Memory of verified code.

#![allow(unsafe_code)]

use super::verify::verify;
use crate::KernelError;
use crate::workers::{DisjointWriter, Workers};
use gradus_machines::x64::{Abi, ColumnRange};
use memmap2::{Mmap, MmapMut};

/// Maximum size of code in bytes.
const MAX_BYTES: usize = 1 << 26;

/// A verified function in memory of its own, which is unmapped on drop. The memory is writable while the bytes are copied,
/// and then executable and not writable.
pub struct Code {
    map: Mmap,
    abi: Abi,
}

/// Average size of an instruction in bytes.
const BYTES_PER_STEP: usize = 8;

impl Code {
    /// Verifies code and makes it executable.
    ///
    /// # Errors
    /// The code is too large or fails verification, the machine lacks instructions, or memory cannot be mapped.
    pub fn load(code: &[u8], abi: Abi) -> Result<Code, KernelError> {
        if code.len() > MAX_BYTES {
            return Err(format!("code of {} bytes is larger than {MAX_BYTES}", code.len()).into());
        }
        let features = verify(code, &abi).map_err(|(at, why)| format!("byte {at}: {why}"))?;
        if !features.are_supported() {
            return Err("this machine lacks instructions that the code uses".into());
        }
        let map = MmapMut::map_anon(code.len()).and_then(|mut map| {
            map.copy_from_slice(code);
            map.make_exec()
        });
        Ok(Code { map: map.map_err(|e| format!("no executable memory: {e}"))?, abi })
    }

    /// The sizes for which the code was verified.
    pub fn abi(&self) -> &Abi {
        &self.abi
    }

    /// The size of the code.
    pub fn num_bytes(&self) -> usize {
        self.map.len()
    }

    /// The number of instructions of a run, about.
    pub fn steps(&self) -> usize {
        let panels = self.abi.strips * self.abi.strip().div_ceil(self.abi.panel);
        (self.map.len() / BYTES_PER_STEP).saturating_mul(panels as usize)
    }

    /// Computes the result from the pool, `b` and the residual, if the code adds one.
    ///
    /// # Errors
    /// A slice has another size than the code was verified for.
    pub fn run(&self, workers: &Workers, operands: &[&[u8]], out: &mut [u8]) -> Result<(), KernelError> {
        let (pool, b, residual) = match *operands {
            [pool, b] => (pool, b, &[][..]),
            [pool, b, residual] => (pool, b, residual),
            _ => return Err("code has two or three operands".into()),
        };
        let sizes = [pool.len(), b.len(), residual.len(), out.len()].map(|len| len as u64);
        if sizes != [self.abi.pool, self.abi.input, self.abi.residual, self.abi.output] {
            return Err("operands have other sizes than the code".into());
        }
        let (operands, out) = ([pool, b, residual], DisjointWriter::new(out));
        let panels = self.abi.full() / self.abi.panel;
        let threads = workers.for_steps(self.steps());
        // Few strips are divided themselves.
        let share = panels.div_ceil((threads as u64).div_ceil(self.abi.strips)).max(1) * self.abi.panel;
        let parts = Abi { tile: self.abi.tile.min(share), ..self.abi };
        // A tail without a mask overlaps another tile.
        let last = self.abi.tail().filter(|_| !self.abi.masked);
        let tiles = |strip| parts.tiles().filter(move |tile| Some(*tile) != last).map(move |tile| (strip, tile));
        // SAFETY: the sizes are those of the verification; different strips, and different tiles but the last, are different columns.
        let call = |(strip, tile)| unsafe { self.call(operands, out, strip, tile) };
        workers.share(threads, (0..self.abi.strips).flat_map(tiles), call);
        if let Some(last) = last {
            workers.share(threads, (0..self.abi.strips).map(|strip| (strip, last)), call);
        }
        Ok(())
    }

    /// Computes one tile of code without a residual.
    ///
    /// # Errors
    /// A slice has another size than the code was verified for, or the code was not verified for the tile.
    pub fn run_tile(&self, [pool, b]: [&[u8]; 2], out: &mut [u8], tile: ColumnRange) -> Result<(), KernelError> {
        let sizes = [pool.len(), b.len(), 0, out.len()].map(|len| len as u64);
        if sizes != [self.abi.pool, self.abi.input, self.abi.residual, self.abi.output] {
            return Err("operands have other sizes than the code".into());
        }
        let (full, panel, ColumnRange { start, end, mask }) = (self.abi.full(), self.abi.panel, tile);
        let is_whole = start < end && end <= full && start % panel == 0 && end % panel == 0 && mask == self.abi.all();
        if !is_whole && Some(tile) != self.abi.tail() {
            return Err("the code was not verified for the tile".into());
        }
        // SAFETY: the sizes are those of the verification, and the tile is one of its tiles.
        unsafe { self.call([pool, b, &[]], DisjointWriter::new(out), 0, tile) };
        Ok(())
    }

    /// Computes a tile of a strip.
    ///
    /// # Safety
    /// Slices and output have the sizes of `abi`, there is the strip, and the tile is one of its tiles or a part of one in whole panels.
    #[cfg(target_arch = "x86_64")]
    unsafe fn call(&self, [pool, b, residual]: [&[u8]; 3], out: DisjointWriter<u8>, strip: u64, tile: ColumnRange) {
        let (b, start) = (&b[(strip * self.abi.pitch) as usize..], self.abi.start(strip) as usize);
        // SAFETY: the map holds the code from its first byte on. The verifier has proved for all such tiles that it reads
        // these operands only, writes the output only, changes the registers only that the System V convention leaves to
        // functions, and returns. It has a register more than that convention has for arguments.
        unsafe {
            std::arch::asm!(
                "call rax",
                inout("rax") self.map.as_ptr() => _,
                inout("rdi") b.as_ptr() => _,
                inout("rsi") out.at(start) => _,
                inout("rdx") pool.as_ptr() => _,
                inout("rcx") tile.start => _,
                inout("r8") tile.end => _,
                inout("r9") tile.mask => _,
                inout("r10") residual.get(start..).unwrap_or_default().as_ptr() => _,
                clobber_abi("sysv64"),
            );
        }
    }

    /// Never called: no features are supported.
    ///
    /// # Safety
    /// None.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn call(&self, _: [&[u8]; 3], _: DisjointWriter<u8>, _: u64, _: ColumnRange) {}
}
