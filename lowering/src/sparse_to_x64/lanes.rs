//! The code of a product with one column, whose rows are in the lanes of vectors.
//!
//! Sixteen rows are computed at a time. In each step, rows add the products of their next nonzeros, which are in a window of two blocks
//! of the dense operand; the window moves on when no row has nonzeros left in its first block:
//!
//! ```text
//!   acc = starts[rows]
//!   even, odd = B[0..15] and a zero, B[15..30] and a zero
//!   index = pool[bytes of the step]            for each step
//!   index = lanes of even and odd at index
//!   acc += index * pool[values of the step]
//!   even = B[30..45] and a zero                where the window moves, and so on
//!   C[rows] = min(max(acc + residual[rows], low), high)
//! ```
//!
//! A row without a nonzero in the window multiplies the zero by -0, which changes no sum. Indices are bytes, four to an element of the pool.

use super::epilogue::Epilogue;
use super::form::Columns;
use super::generate::{Generated, R10, R11, RAX, RDI, RDX, RSI};
use crate::sparse_product::Matrix;
use gradus_dialects::x64::{Inst, Instruction, Mem, Rm, Width, encode, ops};
use gradus_ir::DType;

/// Lanes of a vector, and elements of the dense operand in one.
const LANES: usize = 16;
const BLOCK: usize = LANES - 1;
/// The lane of the zero.
const ZERO: u8 = BLOCK as u8;
/// Steps whose operands short displacements reach, on either side.
const REACH: usize = 128;
/// Bytes of the values and of the indices of a step.
const VALUES: usize = LANES * ELEMENT;
const INDICES: usize = LANES;
const ELEMENT: usize = 4;

// Vector registers: the sums, the operands of a step, the bounds, and the blocks with even and with odd numbers.
const SUM: u8 = 0;
const INDEX: u8 = 1;
const LOW: u8 = 2;
const HIGH: u8 = 3;
const BLOCKS: [u8; 2] = [4, 5];
// Mask registers: whole blocks, the last block, and the last rows.
const WHOLE: u8 = 1;
const LAST: u8 = 2;
const ROWS: u8 = 3;

/// Whether the code computes a product whose dense operand has rows at `offsets`: one of f32 with one column, with vectors of 512 bits.
pub(super) fn suits(matrix: &Matrix, columns: Columns, offsets: &[usize], width: Width) -> bool {
    let is_vector = columns.all == 1 && offsets.iter().enumerate().all(|(k, &at)| k == at);
    width == Width::Zmm && is_vector && matrix.dtype == DType::F32
}

/// Generates the code.
pub(super) fn generate(matrix: &Matrix, epilogue: &Epilogue) -> Generated {
    let schedule = Schedule::of(matrix);
    let padded = matrix.rows.next_multiple_of(LANES);
    let mut pool: Vec<f64> = (0..matrix.rows).map(|row| start(matrix, epilogue, row)).collect();
    pool.resize(padded, 0.0);
    let bounds = pool.len();
    pool.extend([epilogue.low, epilogue.high].map(|bound| f64::from(bound.unwrap_or(0.0))));
    pool.resize(bounds + LANES, 0.0);
    let values = pool.len();
    pool.extend(&schedule.values);
    let indices = pool.len();
    pool.extend(schedule.indices.as_chunks().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes))));
    let code = Vec::with_capacity(schedule.events.len() * 24);
    let mut g = Generator { matrix, epilogue, bounds: bounds * ELEMENT, code };
    g.prologue([values, indices].map(|first| first * ELEMENT));
    let mut events = schedule.events.iter();
    let mut step = 0;
    for first in (0..matrix.rows).step_by(LANES) {
        g.start(first);
        for event in events.by_ref().take_while(|event| !matches!(event, Event::End)) {
            match *event {
                Event::Block(block) => g.block(block),
                _ => {
                    g.step(step);
                    step += 1;
                }
            }
        }
        g.finish(first);
    }
    g.emit(Inst::scalar(&ops::VZEROUPPER, 0, Rm::Reg(0), 0));
    g.emit(Inst::scalar(&ops::RET, 0, Rm::Reg(0), 0));
    Generated { code: g.code, pool }
}

/// The number with which the sum of a row begins: its bias, or what changes no product, or 0 in rows without nonzeros.
fn start(matrix: &Matrix, epilogue: &Epilogue, row: usize) -> f64 {
    epilogue.bias_of(row).unwrap_or(if matrix.is_zero(row) { 0.0 } else { -0.0 })
}

/// An event in the computation of sixteen rows.
enum Event {
    /// A block is loaded.
    Block(usize),
    /// Products are added.
    Step,
    /// The rows have no more nonzeros.
    End,
}

/// The steps of all rows, with their values and indices.
#[derive(Default)]
struct Schedule {
    events: Vec<Event>,
    values: Vec<f64>,
    indices: Vec<u8>,
}

impl Schedule {
    fn of(matrix: &Matrix) -> Schedule {
        let mut schedule = Schedule::default();
        for first in (0..matrix.rows).step_by(LANES) {
            let rows = first..matrix.rows.min(first + LANES);
            let mut rows: Vec<_> = rows.map(|row| matrix.row(row).peekable()).collect();
            schedule.events.extend((0..2).filter(|block| block * BLOCK < matrix.depth).map(Event::Block));
            for block in 0..matrix.depth.div_ceil(BLOCK) {
                let end = (block + 1) * BLOCK;
                while rows.iter_mut().any(|row| row.peek().is_some_and(|one| one.0 < end)) {
                    schedule.step(rows.iter_mut().map(|row| row.next_if(|one| one.0 < end + BLOCK)));
                }
                let next = block + 2;
                if next * BLOCK < matrix.depth && rows.iter_mut().any(|row| row.peek().is_some()) {
                    schedule.events.push(Event::Block(next));
                }
            }
            schedule.events.push(Event::End);
        }
        schedule
    }

    /// Adds a step of the next nonzeros of rows.
    fn step(&mut self, rows: impl Iterator<Item = Option<(usize, f64)>>) {
        let end = self.values.len() + LANES;
        for nonzero in rows {
            let index = |column: usize| (column / BLOCK % 2 * LANES + column % BLOCK) as u8;
            self.indices.push(nonzero.map_or(ZERO, |(column, _)| index(column)));
            self.values.push(nonzero.map_or(-0.0, |(_, value)| value));
        }
        self.indices.resize(end, ZERO);
        self.values.resize(end, -0.0);
        self.events.push(Event::Step);
    }
}

struct Generator<'a> {
    matrix: &'a Matrix,
    epilogue: &'a Epilogue,
    /// Byte of the pool at which the bounds are.
    bounds: usize,
    code: Vec<u8>,
}

impl Generator<'_> {
    fn emit(&mut self, inst: Inst) {
        encode(&inst, &mut self.code);
    }

    fn vector(&mut self, what: &'static Instruction, reg: u8, src: u8, rm: Rm) {
        self.emit(Inst::vector(what, Width::Zmm, reg, src, rm));
    }

    /// A mask of the first `n` lanes.
    fn mask(&mut self, register: u8, n: usize) {
        self.emit(Inst::scalar(&ops::MOV_IMM, RAX, Rm::Reg(0), (1 << n) - 1));
        self.emit(Inst::scalar(&ops::KMOVW, register, Rm::Reg(RAX), 0));
    }

    /// Sets the masks and bounds, and the addresses of values and indices, whose first bytes in the pool are given.
    fn prologue(&mut self, [values, indices]: [usize; 2]) {
        self.mask(WHOLE, BLOCK);
        self.mask(LAST, (self.matrix.depth - 1) % BLOCK + 1);
        self.mask(ROWS, (self.matrix.rows - 1) % LANES + 1);
        for (register, at, size) in [(R11, values, VALUES), (RAX, indices, INDICES)] {
            let mem = Mem::at(RDX, (at + REACH * size) as i32);
            self.emit(Inst::scalar(&ops::LEA, register, Rm::Mem(mem), 0));
        }
        let (low, high) = (self.epilogue.low, self.epilogue.high);
        for (register, _) in [(LOW, low), (HIGH, high)].into_iter().filter(|(_, bound)| bound.is_some()) {
            let mem = Mem::at(RDX, (self.bounds + usize::from(register - LOW) * ELEMENT) as i32);
            self.vector(&ops::VBROADCASTSS, register, 0, Rm::Mem(mem));
        }
        for block in BLOCKS {
            // Indices in a block that does not exist are of no step, but the register is read.
            self.vector(&ops::VXORPS, block, block, Rm::Reg(block));
        }
    }

    /// Begins the sums of rows.
    fn start(&mut self, first: usize) {
        self.vector(&ops::VMOVUPS, SUM, 0, Rm::Mem(Mem::at(RDX, (first * ELEMENT) as i32)));
    }

    /// Loads a block.
    fn block(&mut self, block: usize) {
        let mem = Mem::at(RDI, (block * BLOCK * ELEMENT) as i32);
        let mask = if (block + 1) * BLOCK < self.matrix.depth { WHOLE } else { LAST };
        self.emit(Inst::vector(&ops::VMOVUPS, Width::Zmm, BLOCKS[block % 2], 0, Rm::Mem(mem)).masked(mask));
    }

    /// Adds the products of a step.
    fn step(&mut self, step: usize) {
        if step > 0 && step.is_multiple_of(2 * REACH) {
            for (register, size) in [(R11, VALUES), (RAX, INDICES)] {
                self.emit(Inst::scalar(&ops::ADD_IMM, register, Rm::Reg(0), (2 * REACH * size) as i32));
            }
        }
        let away = (step % (2 * REACH)) as i32 - REACH as i32;
        let [values, indices] = [(R11, VALUES), (RAX, INDICES)].map(|(base, size)| Mem::at(base, away * size as i32));
        let [even, odd] = BLOCKS;
        self.vector(&ops::VPMOVZXBD, INDEX, 0, Rm::Mem(indices));
        self.vector(&ops::VPERMI2PS, INDEX, even, Rm::Reg(odd));
        self.vector(&ops::VFMADD231PS, SUM, INDEX, Rm::Mem(values));
    }

    /// Adds the residual to sums, clamps them and stores them. A NaN stays, as the second operand of an extremum.
    fn finish(&mut self, first: usize) {
        let mask = if first + LANES <= self.matrix.rows { 0 } else { ROWS };
        let of_rows = |what, register, base| {
            let mem = Mem::at(base, (first * ELEMENT) as i32);
            Inst::vector(what, Width::Zmm, register, 0, Rm::Mem(mem)).masked(mask)
        };
        if self.epilogue.has_residual {
            self.emit(of_rows(&ops::VMOVUPS, INDEX, R10));
            self.vector(&ops::VADDPS, SUM, SUM, Rm::Reg(INDEX));
        }
        if self.epilogue.low.is_some() {
            self.vector(&ops::VMAXPS, SUM, LOW, Rm::Reg(SUM));
        }
        if self.epilogue.high.is_some() {
            self.vector(&ops::VMINPS, SUM, HIGH, Rm::Reg(SUM));
        }
        self.emit(of_rows(&ops::VMOVUPS_STORE, SUM, RSI));
    }
}
