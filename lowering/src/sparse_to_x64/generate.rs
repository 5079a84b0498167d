//! Code generation.
//!
//! For each chunk of rows of B and each group of rows of A there is a loop over the panels of columns, whose body has one
//! multiply-add per nonzero and vector:
//!
//! ```text
//!   mov rax, rcx
//! L: acc = -0, or the sums of the chunks before
//!   b = B[k, rax..]                  for each k with a nonzero in the group
//!   acc[r] += pool[i] * b            for each nonzero A[r, k]; or of B[k, rax..], if there is one only and there are no masks
//!   acc[r] = min(max(acc[r] + residual[r, rax..], low), high)   in the last chunk, if there is an epilogue
//!   C[r, rax..] = acc[r]
//!   add rax, panel; cmp rax, r8; jb L
//! ```
//!
//! Row `k` of B begins at an offset of its own: in an image, at the position that a tap reads for output position 0. A sum begins
//! with the bias; without one, with -0, so that a sum of one product is that product, and is 0 in rows without nonzeros.

use super::epilogue::Epilogue;
use super::plan::{CodePlan, PoolValues};
use super::template::Template;
use crate::sparse_product::{Matrix, RowNonzero};
use gradus_ir::DType;
use gradus_machines::x64::{Inst, Instruction, Mem, Rm, Width, encode, ops};
use gradus_networks::sparse::Packing;

pub(super) const RAX: u8 = 0;
const RCX: u8 = 1;
pub(super) const RDX: u8 = 2;
pub(super) const RSI: u8 = 6;
pub(super) const RDI: u8 = 7;
const R8: u8 = 8;
const R9: u8 = 9;
pub(super) const R10: u8 = 10;
pub(super) const R11: u8 = 11;

/// Size of a cache line.
const LINE: usize = 64;
/// Distance in bytes between code and the code that it prefetches.
const AHEAD: usize = 4096;
/// A displacement that takes 32 bits.
const FAR: usize = 0x1000_0001;

/// Code with its pool of constants.
pub(super) struct Generated {
    pub code: Vec<u8>,
    pub pool: Vec<f64>,
}

/// The instructions of an element type.
struct Instructions {
    load: &'static Instruction,
    store: &'static Instruction,
    broadcast: &'static Instruction,
    add: &'static Instruction,
    sub: &'static Instruction,
    /// Multiply-add, and the negated one.
    fma: [&'static Instruction; 2],
    /// Whether `fma` only multiplies, so that products are added.
    adds_products: bool,
}

const F32: Instructions = Instructions {
    load: &ops::VMOVUPS,
    store: &ops::VMOVUPS_STORE,
    broadcast: &ops::VBROADCASTSS,
    add: &ops::VADDPS,
    sub: &ops::VSUBPS,
    fma: [&ops::VFMADD231PS, &ops::VFNMADD231PS],
    adds_products: false,
};

const F64: Instructions = Instructions {
    load: &ops::VMOVUPD,
    store: &ops::VMOVUPD_STORE,
    broadcast: &ops::VBROADCASTSD,
    add: &ops::VADDPD,
    sub: &ops::VSUBPD,
    fma: [&ops::VFMADD231PD, &ops::VFNMADD231PD],
    adds_products: false,
};

/// Words have no signs: the negated multiply-add is not used.
const QUADS: Instructions =
    Instructions { add: &ops::VPADDD, sub: &ops::VPADDD, fma: [&ops::VPDPBUSD, &ops::VPDPBUSD], ..F32 };

const PAIRS: Instructions = Instructions { fma: [&ops::VPMADDWD, &ops::VPMADDWD], adds_products: true, ..QUADS };

impl Instructions {
    fn of(matrix: &Matrix) -> Instructions {
        match (matrix.packing, matrix.dtype) {
            (Some(Packing::Quads), _) => QUADS,
            (Some(Packing::Pairs), _) => PAIRS,
            (None, DType::F64) => F64,
            _ => F32,
        }
    }
}

/// Generates the code of a plan. Row `k` of B begins at element `offsets[k]`.
pub(super) fn generate(matrix: &Matrix, plan: &CodePlan, offsets: &[usize], epilogue: &Epilogue) -> Generated {
    let mut g = Generator {
        matrix,
        plan,
        offsets,
        epilogue,
        element: matrix.element(),
        instructions: Instructions::of(matrix),
        hot: Hot::default(),
        first_magnitude: 0,
        code: Vec::with_capacity(plan.num_bytes + plan.num_bytes / 4 + 4096),
        pool: Vec::with_capacity(matrix.values().len() + matrix.rows + 4),
        base: 0,
        prefetched: 0,
    };
    g.prologue();
    g.hot = g.hot();
    let groups: Vec<(usize, Vec<RowNonzero>)> =
        (0..matrix.rows).step_by(plan.form.rows).map(|first| (first, matrix.group(first, plan.form.rows))).collect();
    let mut done = vec![0; groups.len()];
    for start in (0..matrix.depth).step_by(plan.chunk) {
        let end = (start + plan.chunk) as u32;
        for ((first, all), done) in groups.iter().zip(&mut done) {
            let count = all[*done..].partition_point(|entry| entry.column < end);
            let entries = &all[*done..*done + count];
            *done += count;
            if start == 0 || !entries.is_empty() {
                let rows = plan.form.rows.min(matrix.rows - first);
                g.group(*first, rows, entries, [start == 0, *done == all.len()]);
            }
        }
    }
    g.scalar(&ops::VZEROUPPER, 0, Rm::Reg(0), 0);
    g.scalar(&ops::RET, 0, Rm::Reg(0), 0);
    Generated { code: g.code, pool: g.pool }
}

struct Generator<'a> {
    matrix: &'a Matrix,
    plan: &'a CodePlan,
    offsets: &'a [usize],
    epilogue: &'a Epilogue,
    /// Size of an element in bytes.
    element: usize,
    instructions: Instructions,
    hot: Hot,
    /// Index of the first magnitude in the pool.
    first_magnitude: usize,
    code: Vec<u8>,
    pool: Vec<f64>,
    /// Index of the pool's element at `r11`.
    base: usize,
    /// End of the code whose successor is prefetched.
    prefetched: usize,
}

/// Instructions that differ in a displacement only, encoded once.
#[derive(Default)]
struct Hot {
    /// Loads of each vector of a row of B, with 32-bit displacements.
    loads: Vec<Template>,
    /// Broadcast of a value, with an 8-bit displacement.
    broadcast: Template,
    /// Multiply-adds, and negated ones, of each accumulator; with an 8-bit displacement if values are folded.
    fma: [Vec<Template>; 2],
    /// The same for a row of B in memory, with 32-bit displacements; empty where rows are loaded.
    fma_of_row: [Vec<Template>; 2],
}

impl Generator<'_> {
    /// Encodes the instructions of nonzeros.
    fn hot(&self) -> Hot {
        let form = self.plan.form;
        let vector = |what, reg, src, rm| Inst::vector(what, form.width, reg, src, rm);
        let value = Rm::Mem(Mem::at(R11, self.element as i32));
        let accumulators = 0..(form.rows * form.vectors) as u8;
        let fma = |what| {
            let of = |acc: u8| {
                let operand = self.operand(usize::from(acc) % form.vectors);
                let rm = if form.folds_values() { folded(value) } else { Rm::Reg(self.operand(form.vectors)) };
                if self.instructions.adds_products {
                    let product = vector(what, self.spare(), operand, rm);
                    let sum = vector(self.instructions.add, acc, acc, Rm::Reg(self.spare()));
                    return Template::of_all(&[&product, &sum]);
                }
                Template::of(&vector(what, acc, operand, rm))
            };
            accumulators.clone().map(of).collect()
        };
        let fma_of_row = |what| match self.may_fold_rows() {
            true => accumulators.clone().map(|acc| Template::of(&self.fma_of_row(what, acc, FAR))).collect(),
            false => Vec::new(),
        };
        let load = |v| Template::of(&self.moving(self.instructions.load, self.operand(v), RDI, FAR, v));
        Hot {
            loads: (0..form.vectors).map(load).collect(),
            broadcast: Template::of(&vector(self.instructions.broadcast, self.operand(form.vectors), 0, value)),
            fma: self.instructions.fma.map(fma),
            fma_of_row: self.instructions.fma.map(fma_of_row),
        }
    }

    /// Whether multiply-adds may read rows of B from memory: products of floats with vectors that have no masks.
    fn may_fold_rows(&self) -> bool {
        self.plan.form.width != Width::Zmm && self.matrix.packing.is_none()
    }

    /// The multiply-add of an accumulator with the broadcast value and a vector of the row of B at a byte offset.
    fn fma_of_row(&self, what: &'static Instruction, acc: u8, offset: usize) -> Inst {
        let form = self.plan.form;
        let at = offset + usize::from(acc) % form.vectors * form.width.bytes();
        let row = Rm::Mem(Mem::at(RDI, at as i32).indexed(RAX));
        Inst::vector(what, form.width, acc, self.operand(form.vectors), row)
    }

    fn scalar(&mut self, what: &'static Instruction, reg: u8, rm: Rm, imm: i32) {
        encode(&Inst::scalar(what, reg, rm, imm), &mut self.code);
    }

    fn vector(&mut self, what: &'static Instruction, reg: u8, src: u8, rm: Rm) {
        encode(&Inst::vector(what, self.plan.form.width, reg, src, rm), &mut self.code);
    }

    /// A load or store of vector `v` of a panel, under its mask.
    fn moved(&mut self, what: &'static Instruction, reg: u8, base: u8, offset: usize, v: usize) {
        encode(&self.moving(what, reg, base, offset, v), &mut self.code);
    }

    fn moving(&self, what: &'static Instruction, reg: u8, base: u8, offset: usize, v: usize) -> Inst {
        let mem = Mem::at(base, (offset + v * self.plan.form.width.bytes()) as i32).indexed(RAX);
        let mask = if self.plan.masked { v as u8 + 1 } else { 0 };
        Inst::vector(what, self.plan.form.width, reg, 0, Rm::Mem(mem)).masked(mask)
    }

    /// Loads the vectors of a row of B.
    fn load(&mut self, offset: usize) {
        let (form, long) = (self.plan.form, 128 * self.plan.form.width.bytes());
        for v in 0..form.vectors {
            if offset < long {
                self.moved(self.instructions.load, self.operand(v), RDI, offset, v);
            } else {
                let displacement = (offset + v * form.width.bytes()) as i32;
                self.hot.loads[v].emit(&displacement.to_le_bytes(), &mut self.code);
            }
        }
    }

    /// Sets the masks, and the address of the magnitudes.
    fn prologue(&mut self) {
        for v in 0..self.plan.form.vectors as u8 {
            if !self.plan.masked {
                break;
            }
            if v > 0 {
                self.scalar(&ops::SHR, R9, Rm::Reg(0), (self.plan.form.width.bytes() / self.element) as i32);
            }
            self.scalar(&ops::KMOVW, v + 1, Rm::Reg(R9), 0);
        }
        if self.plan.prefetches {
            self.scalar(&ops::MOV, R9, Rm::Reg(RAX), 0);
        }
        self.pool.push(-0.0);
        if self.matrix.packing.is_none() {
            self.vector(self.instructions.broadcast, self.spare(), 0, Rm::Mem(Mem::at(RDX, 0)));
        }
        self.pool.extend(self.epilogue.bias.iter().flatten());
        self.pool.extend([self.epilogue.low, self.epilogue.high].iter().flatten().map(|&bound| f64::from(bound)));
        self.first_magnitude = self.pool.len();
        if let PoolValues::Magnitudes(all) = &self.plan.values {
            let first = self.first_magnitude;
            self.pool.resize(first + all.len(), 0.0);
            all.iter().for_each(|(&bits, &i)| self.pool[first + i] = f64::from_bits(bits));
            self.rebase(first);
        }
    }

    /// The register that holds -0; that of products before they are added, if elements are words.
    fn spare(&self) -> u8 {
        if self.plan.form.width == Width::Zmm { 31 } else { 15 }
    }

    /// Points `r11` at the middle of the elements from `first` on.
    fn rebase(&mut self, first: usize) {
        self.base = first + self.plan.form.reach(self.element);
        let mem = Mem::at(RDX, (self.base * self.element) as i32);
        self.scalar(&ops::LEA, R11, Rm::Mem(mem), 0);
    }

    /// The loop of a group of rows and a chunk.
    fn group(&mut self, first: usize, rows: usize, entries: &[RowNonzero], [is_first_chunk, is_last_chunk]: [bool; 2]) {
        let (vectors, row) = (self.plan.form.vectors, self.plan.columns.band() * self.element);
        self.scalar(&ops::MOV, RAX, Rm::Reg(RCX), 0);
        let head = self.code.len();
        if matches!(self.plan.values, PoolValues::Sequence) {
            self.rebase(self.pool.len());
        }
        let all = (0..rows).flat_map(|r| (0..vectors).map(move |v| (r, v)));
        for (r, v) in all.clone() {
            let register = (r * vectors + v) as u8;
            if is_first_chunk {
                self.start(register, first + r);
            } else {
                self.moved(self.instructions.load, register, RSI, (first + r) * row, v);
            }
        }
        for of_column in entries.chunk_by(|a, b| a.column == b.column) {
            let offset = self.offsets[of_column[0].column as usize] * self.element;
            let is_folded = of_column.len() == 1 && of_column[0].value.abs() != 1.0 && self.may_fold_rows();
            if !is_folded {
                self.load(offset);
            }
            for entry in of_column {
                self.nonzero(entry, Some(offset).filter(|_| is_folded));
                self.prefetch();
            }
        }
        if is_last_chunk {
            self.finish(first, rows);
        }
        for (r, v) in all {
            self.moved(self.instructions.store, (r * vectors + v) as u8, RSI, (first + r) * row, v);
        }
        self.scalar(&ops::ADD_IMM, RAX, Rm::Reg(0), self.plan.form.panel_bytes() as i32);
        self.scalar(&ops::CMP, RAX, Rm::Reg(R8), 0);
        self.scalar(&ops::JB, 0, Rm::Reg(0), 0);
        let end = self.code.len();
        let back = (head as i64 - end as i64) as i32;
        self.code[end - 4..].copy_from_slice(&back.to_le_bytes());
    }

    /// Prefetches the line of code at a distance, once per line.
    fn prefetch(&mut self) {
        if self.plan.prefetches && self.code.len() >= self.prefetched + LINE {
            self.prefetched += LINE;
            let mem = Mem::at(R9, (self.prefetched + AHEAD) as i32);
            self.scalar(&ops::PREFETCHT1, 0, Rm::Mem(mem), 0);
        }
    }

    /// Sets an accumulator of a row to its bias; to -0 without one, or to 0 in rows without nonzeros.
    fn start(&mut self, register: u8, row: usize) {
        if self.epilogue.bias_of(row).is_some() {
            let place = ((1 + row) * self.element) as i32;
            self.vector(self.instructions.broadcast, register, 0, Rm::Mem(Mem::at(RDX, place)));
        } else if self.matrix.is_zero(row) || self.matrix.packing.is_some() {
            self.vector(&ops::VXORPS, register, register, Rm::Reg(register));
        } else {
            self.vector(self.instructions.load, register, 0, Rm::Reg(self.spare()));
        }
    }

    /// Adds the residual to the accumulators and clamps them. A NaN stays, as the second operand of an extremum.
    fn finish(&mut self, first: usize, rows: usize) {
        let (vectors, row, operand) =
            (self.plan.form.vectors, self.plan.columns.band() * self.element, self.operand(0));
        if self.epilogue.has_residual {
            for (r, v) in (0..rows).flat_map(|r| (0..vectors).map(move |v| (r, v))) {
                let register = (r * vectors + v) as u8;
                self.moved(self.instructions.load, operand, R10, (first + r) * row, v);
                self.vector(self.instructions.add, register, register, Rm::Reg(operand));
            }
        }
        let (low, high) = (self.epilogue.low, self.epilogue.high);
        let bounds = [low.map(|_| (&ops::VMAXPS, 1 + usize::from(high.is_some()))), high.map(|_| (&ops::VMINPS, 1))];
        for (what, from_end) in bounds.into_iter().flatten() {
            let place = (self.first_magnitude - from_end) * self.element;
            self.vector(self.instructions.broadcast, operand, 0, Rm::Mem(Mem::at(RDX, place as i32)));
            for register in 0..(rows * vectors) as u8 {
                self.vector(what, register, operand, Rm::Reg(register));
            }
        }
    }

    /// The multiply-adds of the accumulators from `first` on with the broadcast value and the row of B at a byte offset.
    fn multiply_row(&mut self, kind: usize, first: usize, offset: usize) {
        let (vectors, width) = (self.plan.form.vectors, self.plan.form.width.bytes());
        for acc in first..first + vectors {
            let displacement = (offset + (acc - first) * width) as i32;
            if i8::try_from(displacement).is_ok() {
                encode(&self.fma_of_row(self.instructions.fma[kind], acc as u8, offset), &mut self.code);
            } else {
                self.hot.fma_of_row[kind][acc].emit(&displacement.to_le_bytes(), &mut self.code);
            }
        }
    }

    /// The register of vector `v` of a row of B.
    fn operand(&self, v: usize) -> u8 {
        (self.plan.form.rows * self.plan.form.vectors + v) as u8
    }

    /// Emits the multiply-adds of a nonzero, one for each vector of columns. `row`: the byte offset of the row of B, if it is not loaded.
    fn nonzero(&mut self, entry: &RowNonzero, row: Option<usize>) {
        let vectors = self.plan.form.vectors;
        let first = usize::from(entry.row) * vectors;
        let is_word = self.matrix.packing.is_some();
        if entry.value.abs() == 1.0 && !is_word {
            let what = if entry.value > 0.0 { self.instructions.add } else { self.instructions.sub };
            for v in 0..vectors {
                let register = (first + v) as u8;
                self.vector(what, register, register, Rm::Reg(self.operand(v)));
            }
            return;
        }
        let (is_negated, index) = match &self.plan.values {
            PoolValues::Magnitudes(all) if is_word => (false, all[&entry.value.to_bits()] + self.first_magnitude),
            PoolValues::Magnitudes(all) => {
                (entry.value < 0.0, all[&entry.value.abs().to_bits()] + self.first_magnitude)
            }
            PoolValues::Sequence => {
                self.pool.push(entry.value);
                (false, self.pool.len() - 1)
            }
        };
        let reach = self.plan.form.reach(self.element);
        if index >= self.base + reach {
            self.scalar(&ops::ADD_IMM, R11, Rm::Reg(0), (2 * reach * self.element) as i32);
            self.base += 2 * reach;
        }
        let (kind, away) = (usize::from(is_negated), index as i64 - self.base as i64);
        let (folds, fma) = (self.plan.form.folds_values(), &self.hot.fma[kind][first..first + vectors]);
        let value = if folds { &fma[0] } else { &self.hot.broadcast };
        if away == 0 {
            // Without a displacement, the instruction is shorter.
            let mem = Rm::Mem(Mem::at(R11, 0));
            let (width, to) = (self.plan.form.width, self.operand(vectors));
            let inst = match folds {
                true => Inst::vector(self.instructions.fma[kind], width, first as u8, self.operand(0), folded(mem)),
                false => Inst::vector(self.instructions.broadcast, width, to, 0, mem),
            };
            encode(&inst, &mut self.code);
        } else {
            let unit = if self.plan.form.width == Width::Zmm { 1 } else { self.element as i64 };
            value.emit(&[(away * unit) as u8], &mut self.code);
        }
        match row {
            Some(offset) => self.multiply_row(kind, first, offset),
            None if !folds => fma.iter().for_each(|fma| fma.emit(&[], &mut self.code)),
            None => {}
        }
    }
}

/// A memory operand, broadcast by the instruction.
fn folded(operand: Rm) -> Rm {
    if let Rm::Mem(mem) = operand { Rm::Mem(mem.broadcast()) } else { operand }
}
