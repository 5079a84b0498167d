//! The code of a product with one column, whose rows are in the lanes of vectors.
//!
//! As many rows as a vector has lanes are computed at a time. In each step, rows add the products of their next nonzeros, which are in a window
//! of the dense operand; the window moves on when no row has nonzeros left at its start:
//!
//! ```text
//!   acc = starts[rows]
//!   window = elements of B, and a zero         where it moves
//!   index = pool[bytes of the step]            for each step
//!   index = lanes of the window at index
//!   acc += index * pool[values of the step]
//!   C[rows] = min(max(acc + residual[rows], low), high)
//! ```
//!
//! With 512 bits the window is two blocks of 15 elements and a zero each, which are replaced in turn (`vpermi2ps`); with 256 bits it is 7
//! elements from anywhere and a zero (`vpermps`). A row without a nonzero in the window multiplies the zero by -0, which changes no sum.
//! Indices are bytes, four to an element of the pool. With 256 bits, which have no masks, the last rows are computed again.

use super::epilogue::Epilogue;
use super::generate::{Generated, R10, R11, RAX, RDI, RDX, RSI};
use crate::sparse_product::Matrix;
use gradus_ir::DType;
use gradus_machines::x64::{Inst, Instruction, Mem, Rm, Width, encode, ops};
use gradus_networks::Columns;
use std::iter::Peekable;
use std::ops::Range;

/// Size of an element.
const ELEMENT: usize = 4;

// Vector registers: the sums, the operands of a step, the bounds, the window, and with 256 bits the elements of a window that are loaded.
const SUM: u8 = 0;
const INDEX: u8 = 1;
const LOW: u8 = 2;
const HIGH: u8 = 3;
const WINDOW: [u8; 2] = [4, 5];
const FIRST: u8 = 6;
const REST: u8 = 7;
// Mask registers: whole blocks, the last block, and the last rows.
const WHOLE: u8 = 1;
const LAST: u8 = 2;
const ROWS: u8 = 3;

/// Lanes of a vector.
fn lanes(width: Width) -> usize {
    width.bytes() / ELEMENT
}

/// Whether the code computes a product whose dense operand has rows at `offsets`: one of f32 with one column, and without masks at least as many
/// rows and elements as a vector has lanes.
pub(super) fn suits(matrix: &Matrix, columns: Columns, offsets: &[usize], width: Width) -> bool {
    let is_vector = columns.all == 1 && offsets.iter().enumerate().all(|(k, &at)| k == at);
    let fits = width == Width::Zmm || matrix.rows.min(matrix.depth) >= lanes(width);
    is_vector && fits && matrix.dtype == DType::F32
}

/// Generates the code.
pub(super) fn generate(matrix: &Matrix, epilogue: &Epilogue, width: Width) -> Generated {
    let schedule = LaneSchedule::of(matrix, width);
    let mut pool: Vec<f64> = (0..matrix.rows).map(|row| start(matrix, epilogue, row)).collect();
    pool.resize(matrix.rows.next_multiple_of(lanes(width)), 0.0);
    let bounds = pool.len();
    pool.extend([epilogue.low, epilogue.high].map(|bound| f64::from(bound.unwrap_or(0.0))));
    pool.resize(bounds + lanes(width), 0.0);
    if width != Width::Zmm {
        // Lanes with a sign are loaded: all but the last, and all but the first.
        let signs = |without: usize| (0..lanes(width)).map(move |lane| if lane == without { 0.0 } else { -0.0 });
        pool.extend(signs(lanes(width) - 1).chain(signs(0)));
    }
    let values = pool.len();
    pool.extend(&schedule.values);
    let indices = pool.len();
    pool.extend(schedule.indices.as_chunks().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes))));
    let code = Vec::with_capacity(schedule.events.len() * 24);
    let mut g = Generator { matrix, epilogue, width, bounds: bounds * ELEMENT, code };
    g.prologue([values, indices].map(|first| first * ELEMENT));
    let mut events = schedule.events.iter();
    let mut step = 0;
    for rows in groups(matrix.rows, width) {
        g.start(rows.start);
        for event in events.by_ref().take_while(|event| !matches!(event, Event::End)) {
            if let Event::Load { register, first, mask } = *event {
                g.load(register, first, mask);
            } else {
                g.step(step);
                step += 1;
            }
        }
        g.finish(rows);
    }
    g.emit(Inst::scalar(&ops::VZEROUPPER, 0, Rm::Reg(0), 0));
    g.emit(Inst::scalar(&ops::RET, 0, Rm::Reg(0), 0));
    Generated { code: g.code, pool }
}

/// The rows that are computed together. Without masks the last are computed again.
fn groups(rows: usize, width: Width) -> impl Iterator<Item = Range<usize>> {
    let lanes = lanes(width);
    (0..rows).step_by(lanes).map(move |first| match width {
        Width::Zmm => first..rows.min(first + lanes),
        _ => first.min(rows - lanes)..rows.min(first + lanes),
    })
}

/// The number with which the sum of a row begins: its bias, or what changes no product, or 0 in rows without nonzeros.
fn start(matrix: &Matrix, epilogue: &Epilogue, row: usize) -> f64 {
    epilogue.bias_of(row).unwrap_or(if matrix.is_zero(row) { 0.0 } else { -0.0 })
}

/// An event in the computation of a group of rows.
enum Event {
    /// Elements of the dense operand are loaded into a register of the window, under a mask.
    Load { register: u8, first: usize, mask: u8 },
    /// Products are added.
    Step,
    /// The rows have no more nonzeros.
    End,
}

/// The steps of all rows, with their values and indices.
#[derive(Default)]
struct LaneSchedule {
    events: Vec<Event>,
    values: Vec<f64>,
    indices: Vec<u8>,
}

impl LaneSchedule {
    fn of(matrix: &Matrix, width: Width) -> LaneSchedule {
        let mut schedule = LaneSchedule::default();
        for rows in groups(matrix.rows, width) {
            let mut rows: Vec<_> = rows.map(|row| matrix.row(row).peekable()).collect();
            match width {
                Width::Zmm => schedule.blocks(&mut rows, matrix.depth),
                _ => schedule.windows(&mut rows, [lanes(width), matrix.depth]),
            }
            schedule.events.push(Event::End);
        }
        schedule
    }

    /// Adds the steps of rows whose window is two blocks.
    fn blocks(&mut self, rows: &mut [Peekable<impl Iterator<Item = (usize, f64)>>], depth: usize) {
        let lanes = lanes(Width::Zmm);
        let block = lanes - 1;
        let load = |i: usize| Event::Load {
            register: WINDOW[i % 2],
            first: i * block,
            mask: if (i + 1) * block < depth { WHOLE } else { LAST },
        };
        let index = |column: usize| column / block % 2 * lanes + column % block;
        self.events.extend((0..2).filter(|i| i * block < depth).map(load));
        for i in 0..depth.div_ceil(block) {
            let end = (i + 1) * block;
            while rows.iter_mut().any(|row| row.peek().is_some_and(|one| one.0 < end)) {
                self.step(rows, end + block, (lanes, block), index);
            }
            let next = i + 2;
            if next * block < depth && rows.iter_mut().any(|row| row.peek().is_some()) {
                self.events.push(load(next));
            }
        }
    }

    /// Adds the steps of rows whose window begins at the first nonzero that is left. The last window ends at the last element, and its first
    /// lane is the zero.
    fn windows(&mut self, rows: &mut [Peekable<impl Iterator<Item = (usize, f64)>>], [lanes, depth]: [usize; 2]) {
        let mut loaded = None;
        while let Some(next) = rows.iter_mut().filter_map(|row| row.peek().map(|one| one.0)).min() {
            let (first, mask, zero, end) = match next + lanes <= depth {
                true => (next, FIRST, lanes - 1, next + lanes - 1),
                false => (depth - lanes, REST, 0, depth),
            };
            if loaded.replace((first, mask)) != Some((first, mask)) {
                self.events.push(Event::Load { register: WINDOW[0], first, mask });
            }
            self.step(rows, end, (lanes, zero), |column| column - first);
        }
    }

    /// Adds a step of the next nonzeros of rows before a column; `index` is the lane of a column, `zero` that of the zero.
    fn step(
        &mut self,
        rows: &mut [Peekable<impl Iterator<Item = (usize, f64)>>],
        end: usize,
        (lanes, zero): (usize, usize),
        index: impl Fn(usize) -> usize,
    ) {
        let all = self.values.len() + lanes;
        for row in rows {
            let nonzero = row.next_if(|one| one.0 < end);
            self.indices.push(nonzero.map_or(zero, |(column, _)| index(column)) as u8);
            self.values.push(nonzero.map_or(-0.0, |(_, value)| value));
        }
        self.indices.resize(all, zero as u8);
        self.values.resize(all, -0.0);
        self.events.push(Event::Step);
    }
}

struct Generator<'a> {
    matrix: &'a Matrix,
    epilogue: &'a Epilogue,
    width: Width,
    /// Byte of the pool at which the bounds are.
    bounds: usize,
    code: Vec<u8>,
}

impl Generator<'_> {
    fn emit(&mut self, inst: Inst) {
        encode(&inst, &mut self.code);
    }

    fn vector(&mut self, what: &'static Instruction, reg: u8, src: u8, rm: Rm) {
        self.emit(Inst::vector(what, self.width, reg, src, rm));
    }

    /// A vector of the pool.
    fn constant(&mut self, register: u8, at: usize) {
        self.vector(&ops::VMOVUPS, register, 0, Rm::Mem(Mem::at(RDX, at as i32)));
    }

    /// Bytes of the values and of the indices of a step.
    fn sizes(&self) -> [usize; 2] {
        [lanes(self.width) * ELEMENT, lanes(self.width)]
    }

    /// Steps whose operands short displacements reach, on either side.
    fn reach(&self) -> usize {
        // Of EVEX, they count vectors.
        if self.width == Width::Zmm { 128 } else { 128 / self.width.bytes() }
    }

    /// A mask of the first `n` lanes.
    fn mask(&mut self, register: u8, n: usize) {
        self.emit(Inst::scalar(&ops::MOV_IMM, RAX, Rm::Reg(0), (1 << n) - 1));
        self.emit(Inst::scalar(&ops::KMOVW, register, Rm::Reg(RAX), 0));
    }

    /// Emits the setup of masks, bounds, and the addresses of values and indices. `firsts`: their first bytes in the pool.
    fn prologue(&mut self, firsts: [usize; 2]) {
        let (lanes, bytes) = (lanes(self.width), self.width.bytes());
        if self.width == Width::Zmm {
            self.mask(WHOLE, lanes - 1);
            self.mask(LAST, (self.matrix.depth - 1) % (lanes - 1) + 1);
            self.mask(ROWS, (self.matrix.rows - 1) % lanes + 1);
        } else {
            self.constant(FIRST, self.bounds + bytes);
            self.constant(REST, self.bounds + 2 * bytes);
        }
        for ((register, at), size) in [R11, RAX].into_iter().zip(firsts).zip(self.sizes()) {
            let mem = Mem::at(RDX, (at + self.reach() * size) as i32);
            self.emit(Inst::scalar(&ops::LEA, register, Rm::Mem(mem), 0));
        }
        let (low, high) = (self.epilogue.low, self.epilogue.high);
        for (register, _) in [(LOW, low), (HIGH, high)].into_iter().filter(|(_, bound)| bound.is_some()) {
            let mem = Mem::at(RDX, (self.bounds + usize::from(register - LOW) * ELEMENT) as i32);
            self.vector(&ops::VBROADCASTSS, register, 0, Rm::Mem(mem));
        }
        if self.width == Width::Zmm {
            // Indices in a block that does not exist are of no step, but the register is read.
            WINDOW.into_iter().for_each(|block| self.vector(&ops::VXORPS, block, block, Rm::Reg(block)));
        }
    }

    /// Begins the sums of rows.
    fn start(&mut self, first: usize) {
        self.constant(SUM, first * ELEMENT);
    }

    /// Loads elements of the dense operand.
    fn load(&mut self, register: u8, first: usize, mask: u8) {
        let rm = Rm::Mem(Mem::at(RDI, (first * ELEMENT) as i32));
        if self.width == Width::Zmm {
            self.emit(Inst::vector(&ops::VMOVUPS, self.width, register, 0, rm).masked(mask));
        } else {
            self.vector(&ops::VMASKMOVPS, register, mask, rm);
        }
    }

    /// Adds the products of a step.
    fn step(&mut self, step: usize) {
        let (reach, sizes) = (self.reach(), self.sizes());
        if step > 0 && step.is_multiple_of(2 * reach) {
            for (register, size) in [R11, RAX].into_iter().zip(sizes) {
                self.emit(Inst::scalar(&ops::ADD_IMM, register, Rm::Reg(0), (2 * reach * size) as i32));
            }
        }
        let away = (step % (2 * reach)) as i32 - reach as i32;
        let [values, indices] =
            [(R11, sizes[0]), (RAX, sizes[1])].map(|(base, size)| Mem::at(base, away * size as i32));
        self.vector(&ops::VPMOVZXBD, INDEX, 0, Rm::Mem(indices));
        let [window, second] = WINDOW;
        match self.width {
            Width::Zmm => self.vector(&ops::VPERMI2PS, INDEX, window, Rm::Reg(second)),
            _ => self.vector(&ops::VPERMPS, INDEX, INDEX, Rm::Reg(window)),
        }
        self.vector(&ops::VFMADD231PS, SUM, INDEX, Rm::Mem(values));
    }

    /// Adds the residual to sums, clamps them and stores them. A NaN stays, as the second operand of an extremum.
    fn finish(&mut self, rows: Range<usize>) {
        let (width, mask) = (self.width, if rows.len() == lanes(self.width) { 0 } else { ROWS });
        let of_rows = |what, register, base| {
            let mem = Mem::at(base, (rows.start * ELEMENT) as i32);
            Inst::vector(what, width, register, 0, Rm::Mem(mem)).masked(mask)
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
