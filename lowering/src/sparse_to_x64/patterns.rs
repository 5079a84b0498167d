//! Pattern dispatch: one function per pattern of nonzeros in a chunk of columns, and the weights in the order of their use.
//!
//! The function of a pattern loops over the columns of B:
//!
//! ```text
//!   w[j] = weights[j]                for each bit of the pattern
//!   mov rax, rcx
//! L: acc = C[rax..]
//!   acc += w[j] * B[i, rax..]        for bit i, the j-th of the pattern
//!   C[rax..] = acc
//!   add rax, panel; cmp rax, r8; jb L
//! ```

use crate::emit::Emitter;
use crate::sparse_product::{Matrix, Packed};
use gradus_ir::{Attr, OpDecl, Type, Value};
use gradus_machines::x64::{DispatchOp, Inst, Instruction, Mem, Rm, Width, encode, ops};

/// Bytes of a row of B per call, so that rows of a chunk stay in the L1 cache.
const TILE: usize = 2048;
/// The register of a vector of B, after those of sums.
const ELEMENT: u8 = 4;
/// The first register of a weight.
const WEIGHT: u8 = 8;

const RAX: u8 = 0;
const RCX: u8 = 1;
const RDX: u8 = 2;
const RSI: u8 = 6;
const RDI: u8 = 7;
const R8: u8 = 8;
const R9: u8 = 9;

/// The functions of a product with `columns` columns.
pub(super) struct Patterns {
    /// Columns of a chunk.
    bits: usize,
    width: Width,
    /// Vectors per panel.
    vectors: usize,
    masked: bool,
    columns: usize,
    element: usize,
}

impl Patterns {
    /// Chooses panels of the columns; `None` if, without masks, they do not fill panels, or if rows of a chunk are out of reach.
    pub fn of(matrix: &Matrix, columns: usize, bits: usize, width: Width) -> Option<Patterns> {
        let element = matrix.element();
        let row = columns.checked_mul(element)?;
        row.checked_mul(bits.max(matrix.depth).max(matrix.rows)).filter(|&n| n < 1 << 30)?;
        let masked = width == Width::Zmm && row % width.bytes() != 0;
        let fits = |vectors: &usize| masked || row.is_multiple_of(vectors * width.bytes());
        let widest = if masked { row.div_ceil(width.bytes()).min(4) } else { 4 };
        let vectors = (1..=widest).rev().filter(|&n| n != 3).find(fits)?;
        (1..=8).contains(&bits).then_some(Patterns { bits, width, vectors, masked, columns, element })
    }

    /// Generates all functions. Returns their code and the start of each, with the end.
    pub fn generate(&self) -> (Vec<u8>, Vec<i64>) {
        let (mut code, mut starts) = (Vec::new(), vec![0]);
        for pattern in 0..1 << self.bits {
            self.function(pattern, &mut code);
            starts.push(code.len() as i64);
        }
        (code, starts)
    }

    fn instructions(&self) -> [&'static Instruction; 4] {
        match self.element {
            8 => [&ops::VMOVUPD, &ops::VMOVUPD_STORE, &ops::VBROADCASTSD, &ops::VFMADD231PD],
            _ => [&ops::VMOVUPS, &ops::VMOVUPS_STORE, &ops::VBROADCASTSS, &ops::VFMADD231PS],
        }
    }

    fn function(&self, pattern: u32, code: &mut Vec<u8>) {
        let [load, store, broadcast, fma] = self.instructions();
        let (bytes, row) = (self.width.bytes(), self.columns * self.element);
        let scalar = |code: &mut Vec<u8>, what, reg, rm, imm| encode(&Inst::scalar(what, reg, rm, imm), code);
        for v in 0..if self.masked { self.vectors as u8 } else { 0 } {
            if v > 0 {
                scalar(code, &ops::SHR, R9, Rm::Reg(0), (bytes / self.element) as i32);
            }
            scalar(code, &ops::KMOVW, v + 1, Rm::Reg(R9), 0);
        }
        scalar(code, &ops::MOV, RAX, Rm::Reg(RCX), 0);
        let set: Vec<usize> = (0..self.bits).filter(|i| pattern >> i & 1 == 1).collect();
        for j in 0..set.len() {
            let weight = Rm::Mem(Mem::at(RDX, (j * self.element) as i32));
            encode(&Inst::vector(broadcast, self.width, WEIGHT + j as u8, 0, weight), code);
        }
        let head = code.len();
        let moved = |what, reg, base, offset: usize, v: usize| {
            let mem = Mem::at(base, (offset + v * bytes) as i32).indexed(RAX);
            Inst::vector(what, self.width, reg, 0, Rm::Mem(mem)).masked(if self.masked { v as u8 + 1 } else { 0 })
        };
        let vectors = 0..self.vectors;
        vectors.clone().for_each(|v| encode(&moved(load, v as u8, RSI, 0, v), code));
        for (j, i) in set.iter().enumerate() {
            for v in vectors.clone() {
                encode(&moved(load, ELEMENT, RDI, i * row, v), code);
                encode(&Inst::vector(fma, self.width, v as u8, ELEMENT, Rm::Reg(WEIGHT + j as u8)), code);
            }
        }
        vectors.for_each(|v| encode(&moved(store, v as u8, RSI, 0, v), code));
        scalar(code, &ops::ADD_IMM, RAX, Rm::Reg(0), (self.vectors * bytes) as i32);
        scalar(code, &ops::CMP, RAX, Rm::Reg(R8), 0);
        scalar(code, &ops::JB, 0, Rm::Reg(0), 0);
        let end = code.len();
        let back = (head as i64 - end as i64) as i32;
        code[end - 4..].copy_from_slice(&back.to_le_bytes());
        [&ops::VZEROUPPER, &ops::RET].iter().for_each(|what| encode(&Inst::scalar(what, 0, Rm::Reg(0), 0), code));
    }

    /// Creates the dispatch. Returns its result, `[rows, columns]`.
    pub fn call(
        &self,
        e: &mut Emitter<'_, '_>,
        (callee, starts): (Attr, &[i64]),
        matrix: &Matrix,
        b: Value,
    ) -> Option<Value> {
        let [weights, patterns] = Packed::of(matrix, self.bits).constants(e, matrix)?;
        let ctx = e.m().ctx.clone();
        let int = |n: usize| ctx.int_attr(Type::I64, n as i64);
        let (panel, starts) = (self.vectors * self.width.bytes(), ctx.i64_array_attr(starts));
        let tile = int((TILE / panel).max(1) * panel);
        let mut attrs = vec![
            ("callee", callee),
            ("bits", int(self.bits)),
            ("starts", starts),
            ("panel", int(panel)),
            ("tile", tile),
        ];
        attrs.extend(self.masked.then_some(("masked", Attr::UNIT)));
        let ty = ctx.tensor_type(&[matrix.rows as i64, self.columns as i64], matrix.element_type());
        let call = e.op(DispatchOp::INFO.name, &[&[weights], &[patterns], &[b]], &attrs, &[ty])?;
        Some(e.m().result(call, 0))
    }
}
