//! Code generation.
//!
//! For each chunk of rows of B and each group of rows of A there is a loop over the panels of columns, whose body has one
//! multiply-add per nonzero and vector:
//!
//! ```text
//!   mov rax, rcx
//! L: acc = -0, or the sums of the chunks before
//!   b = B[k, rax..]                  for each k with a nonzero in the group
//!   acc[r] += pool[i] * b            for each nonzero A[r, k]
//!   C[r, rax..] = acc[r]
//!   add rax, panel; cmp rax, r8; jb L
//! ```
//!
//! A sum begins with -0, so that a sum of one product is that product, and is 0 in rows without nonzeros.

use super::matrix::{Entry, Matrix};
use super::plan::{ELEMENT, Plan, Values};
use gradus_dialects::x64::{Inst, Instruction, Mem, Rm, Width, encode, ops};

const RAX: u8 = 0;
const RCX: u8 = 1;
const RDX: u8 = 2;
const RSI: u8 = 6;
const RDI: u8 = 7;
const R8: u8 = 8;
const R9: u8 = 9;
const R11: u8 = 11;

/// Code with its pool of constants.
pub(super) struct Generated {
    pub code: Vec<u8>,
    pub pool: Vec<f32>,
}

/// Generates the code of a plan.
pub(super) fn generate(matrix: &Matrix, plan: &Plan) -> Generated {
    let mut g = Generator {
        matrix,
        plan,
        code: Vec::with_capacity(matrix.values().len() * 9 + 4096),
        pool: Vec::new(),
        base: 0,
    };
    g.prologue();
    let groups: Vec<(usize, Vec<Entry>)> =
        (0..matrix.rows).step_by(plan.form.rows).map(|first| (first, matrix.group(first, plan.form.rows))).collect();
    let mut done = vec![0; groups.len()];
    for start in (0..matrix.depth).step_by(plan.chunk) {
        let end = (start + plan.chunk) as u32;
        for ((first, entries), done) in groups.iter().zip(&mut done) {
            let count = entries[*done..].partition_point(|entry| entry.column < end);
            let entries = &entries[*done..*done + count];
            *done += count;
            if start == 0 || !entries.is_empty() {
                let rows = plan.form.rows.min(matrix.rows - first);
                g.group(*first, rows, entries, start == 0);
            }
        }
    }
    g.scalar(&ops::VZEROUPPER, 0, Rm::Reg(0), 0);
    g.scalar(&ops::RET, 0, Rm::Reg(0), 0);
    Generated { code: g.code, pool: g.pool }
}

struct Generator<'a> {
    matrix: &'a Matrix,
    plan: &'a Plan,
    code: Vec<u8>,
    pool: Vec<f32>,
    /// Index of the pool's element at `r11`.
    base: usize,
}

impl Generator<'_> {
    fn scalar(&mut self, what: &'static Instruction, reg: u8, rm: Rm, imm: i32) {
        encode(&Inst::scalar(what, reg, rm, imm), &mut self.code);
    }

    fn vector(&mut self, what: &'static Instruction, reg: u8, src: u8, rm: Rm) {
        encode(&Inst::vector(what, self.plan.form.width, reg, src, rm), &mut self.code);
    }

    /// A load or store of vector `v` of a panel, under its mask.
    fn moved(&mut self, what: &'static Instruction, reg: u8, base: u8, offset: usize, v: usize) {
        let mem = Mem::at(base, (offset + v * self.plan.form.width.bytes()) as i32).indexed(RAX);
        let mask = if self.plan.masked { v as u8 + 1 } else { 0 };
        encode(&Inst::vector(what, self.plan.form.width, reg, 0, Rm::Mem(mem)).masked(mask), &mut self.code);
    }

    /// Sets the masks, and the address of the magnitudes.
    fn prologue(&mut self) {
        for v in 0..self.plan.form.vectors as u8 {
            if !self.plan.masked {
                break;
            }
            if v > 0 {
                self.scalar(&ops::SHR, R9, Rm::Reg(0), 16);
            }
            self.scalar(&ops::KMOVW, v + 1, Rm::Reg(R9), 0);
        }
        self.pool.push(-0.0);
        self.vector(&ops::VBROADCASTSS, self.negative_zero(), 0, Rm::Mem(Mem::at(RDX, 0)));
        if let Values::Magnitudes(all) = &self.plan.values {
            self.pool.resize(all.len() + 1, 0.0);
            all.iter().for_each(|(&bits, &i)| self.pool[i + 1] = f32::from_bits(bits));
            self.rebase(0);
        }
    }

    /// The register that holds -0.
    fn negative_zero(&self) -> u8 {
        if self.plan.form.width == Width::Zmm { 31 } else { 15 }
    }

    /// Number of elements of the pool that short displacements from `r11` reach, on either side.
    fn reach(&self) -> usize {
        if self.plan.form.width == Width::Zmm { 128 } else { 32 }
    }

    /// Points `r11` at the middle of the elements from `first` on.
    fn rebase(&mut self, first: usize) {
        self.base = first + self.reach();
        let mem = Mem::at(RDX, (self.base * ELEMENT) as i32);
        self.scalar(&ops::LEA, R11, Rm::Mem(mem), 0);
    }

    /// The loop of a group of rows and a chunk.
    fn group(&mut self, first: usize, rows: usize, entries: &[Entry], is_first_chunk: bool) {
        let (vectors, row) = (self.plan.form.vectors, self.plan.columns * ELEMENT);
        self.scalar(&ops::MOV, RAX, Rm::Reg(RCX), 0);
        let head = self.code.len();
        if matches!(self.plan.values, Values::Sequence) {
            self.rebase(self.pool.len());
        }
        let (matrix, all) = (self.matrix, (0..rows).flat_map(|r| (0..vectors).map(move |v| (r, v))));
        for (r, v) in all.clone() {
            let register = (r * vectors + v) as u8;
            if is_first_chunk && matrix.is_zero(first + r) {
                self.vector(&ops::VXORPS, register, register, Rm::Reg(register));
            } else if is_first_chunk {
                self.vector(&ops::VMOVUPS, register, 0, Rm::Reg(self.negative_zero()));
            } else {
                self.moved(&ops::VMOVUPS, register, RSI, (first + r) * row, v);
            }
        }
        for of_column in entries.chunk_by(|a, b| a.column == b.column) {
            for v in 0..vectors {
                self.moved(&ops::VMOVUPS, self.operand(v), RDI, of_column[0].column as usize * row, v);
            }
            of_column.iter().for_each(|entry| self.nonzero(entry));
        }
        for (r, v) in all {
            self.moved(&ops::VMOVUPS_STORE, (r * vectors + v) as u8, RSI, (first + r) * row, v);
        }
        self.scalar(&ops::ADD_IMM, RAX, Rm::Reg(0), (self.plan.form.panel() * ELEMENT) as i32);
        self.scalar(&ops::CMP, RAX, Rm::Reg(R8), 0);
        self.scalar(&ops::JB, 0, Rm::Reg(0), 0);
        let end = self.code.len();
        let back = (head as i64 - end as i64) as i32;
        self.code[end - 4..].copy_from_slice(&back.to_le_bytes());
    }

    /// The register of vector `v` of a row of B.
    fn operand(&self, v: usize) -> u8 {
        (self.plan.form.rows * self.plan.form.vectors + v) as u8
    }

    /// The multiply-adds of a nonzero.
    fn nonzero(&mut self, entry: &Entry) {
        let vectors = self.plan.form.vectors;
        let first = entry.row * vectors as u8;
        if entry.value.abs() == 1.0 {
            let what = if entry.value > 0.0 { &ops::VADDPS } else { &ops::VSUBPS };
            for v in 0..vectors {
                let register = first + v as u8;
                self.vector(what, register, register, Rm::Reg(self.operand(v)));
            }
            return;
        }
        let (what, index) = match &self.plan.values {
            Values::Magnitudes(all) => {
                let what = if entry.value > 0.0 { &ops::VFMADD231PS } else { &ops::VFNMADD231PS };
                (what, all[&entry.value.abs().to_bits()] + 1)
            }
            Values::Sequence => {
                self.pool.push(entry.value);
                (&ops::VFMADD231PS, self.pool.len() - 1)
            }
        };
        let reach = self.reach();
        if index >= self.base + reach {
            self.scalar(&ops::ADD_IMM, R11, Rm::Reg(0), (2 * reach * ELEMENT) as i32);
            self.base += 2 * reach;
        }
        let value = Mem::at(R11, (index as i64 - self.base as i64) as i32 * ELEMENT as i32);
        if self.plan.form.folds_values() {
            self.vector(what, first, self.operand(0), Rm::Mem(value.broadcast()));
            return;
        }
        let broadcast = self.operand(vectors);
        self.vector(&ops::VBROADCASTSS, broadcast, 0, Rm::Mem(value));
        for v in 0..vectors {
            self.vector(what, first + v as u8, self.operand(v), Rm::Reg(broadcast));
        }
    }
}
