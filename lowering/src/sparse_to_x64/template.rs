//! Encoded instructions that are repeated with another displacement.

use gradus_machines::x64::{Inst, encode};

/// An encoded instruction, whose last bytes are a displacement.
#[derive(Clone, Copy, Default)]
pub(super) struct Template {
    bytes: [u8; 16],
    len: usize,
}

impl Template {
    /// Encodes an instruction.
    pub fn of(inst: &Inst) -> Template {
        Template::of_all(&[inst])
    }

    /// Encodes instructions of at most 16 bytes together, of which the last one may have a displacement.
    pub fn of_all(insts: &[&Inst]) -> Template {
        let (mut bytes, mut code) = ([0; 16], Vec::with_capacity(16));
        insts.iter().for_each(|inst| encode(inst, &mut code));
        bytes[..code.len()].copy_from_slice(&code);
        Template { bytes, len: code.len() }
    }

    /// Appends the instruction, with other last bytes.
    #[inline]
    pub fn emit<const N: usize>(&self, last: &[u8; N], out: &mut Vec<u8>) {
        // A copy of constant length is one store.
        let end = out.len() + self.len;
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
        out[end - N..].copy_from_slice(last);
    }
}
