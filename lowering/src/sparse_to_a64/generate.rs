//! Code generation: straight-line code for a panel of columns.
//!
//! For each group of rows of A, each row of B with a nonzero in the group is loaded once, followed by a multiply-add per nonzero:
//!
//! ```text
//!   ldr w1, [x0, #offset]            for each k with a nonzero in the group
//!   mov w2, #value                   for each nonzero A[r, k]
//!   mul w3, w1, w2                   the first of a row; madd w3, w1, w2, w3 the others
//!   str w3, [x4, #offset]            for each row
//! ```
//!
//! Values of floats are in a pool, of which a vector is loaded at a time, since immediates of floats have 8 bits.

use super::Isa;
use crate::sparse_product::{Matrix, RowNonzero};
use gradus_ir::DType;
use gradus_machines::a64::{INPUT, Inst, Instruction, OUTPUT, POOL, RegisterClass, is_in_range, ops};
use gradus_machines::a64_ext;

/// The register of a loaded element of B, or of a vector of them.
pub(super) const ELEMENT: u8 = 1;
/// The register of a value, or of a vector of the pool.
pub(super) const VALUE: u8 = 2;
/// The accumulators of rows in general-purpose and in vector registers. Calls preserve the others.
const GENERAL: [u8; 8] = [3, 9, 10, 11, 12, 13, 14, 15];
const VECTORS: [u8; 17] = [3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31];

/// Offsets that are in reach, in bytes: immediates of two additions.
pub(super) const MAX_OFFSET: usize = 1 << 24;

/// A base register, with the register that holds an address beyond its reach, and the distance between them.
pub(super) struct Base {
    register: u8,
    far: u8,
    distance: Option<usize>,
}

impl Base {
    pub(super) fn of(register: u8, far: u8) -> Base {
        Base { register, far, distance: None }
    }
}

/// The choices of the code.
#[derive(Clone, Copy)]
pub(super) struct Choices {
    pub isa: Isa,
    /// Columns per call.
    pub panel: usize,
    /// Rows per group.
    pub rows: usize,
    /// Whether products with powers of two are shifted sums.
    pub shifts: bool,
}

/// Code with its pool of constants.
pub(super) struct Generated {
    pub code: Vec<Inst>,
    pub pool: Vec<f64>,
}

/// Returns the class of registers for columns of a panel.
pub(super) fn class(dtype: DType, panel: usize) -> RegisterClass {
    match (dtype, panel) {
        (DType::F64, 1) => RegisterClass::D,
        (DType::F64, _) => RegisterClass::V2D,
        (DType::F32, 1) => RegisterClass::S,
        (DType::I32, 1) => RegisterClass::W,
        _ => RegisterClass::V4S,
    }
}

/// Maximum number of rows of a group.
pub(super) fn max_rows(class: RegisterClass) -> usize {
    if class == RegisterClass::W { GENERAL.len() } else { VECTORS.len() }
}

/// Generates the code of rows `first..end` of the product. Returns `None` if an offset is out of reach.
pub(super) fn generate(
    matrix: &Matrix,
    columns: usize,
    choices: Choices,
    [first, end]: [usize; 2],
) -> Option<Generated> {
    let mut g = Generator {
        choices,
        class: class(matrix.dtype, choices.panel),
        is_float: matrix.dtype != DType::I32,
        pitch: columns * matrix.element(),
        code: Vec::new(),
        pool: Vec::new(),
        input: Base::of(INPUT, 6),
        output: Base::of(OUTPUT, 7),
        constants: Base::of(POOL, 8),
        value: None,
    };
    for start in (first..end).step_by(choices.rows) {
        let rows = choices.rows.min(end - start);
        g.group(&matrix.group(start, rows), rows, start - first)?;
    }
    g.emit(Inst::new(&ops::RET, RegisterClass::X, 0));
    // Loads of the pool read whole vectors.
    g.pool.resize(g.pool.len().next_multiple_of(16 / g.class.lane_bytes()), 0.0);
    Some(Generated { code: g.code, pool: g.pool })
}

struct Generator {
    choices: Choices,
    class: RegisterClass,
    is_float: bool,
    /// Bytes of a row of B and of the result.
    pitch: usize,
    code: Vec<Inst>,
    pool: Vec<f64>,
    input: Base,
    output: Base,
    constants: Base,
    /// The integer that the register of values holds.
    value: Option<i32>,
}

impl Generator {
    fn emit(&mut self, inst: Inst) {
        self.code.push(inst);
    }

    fn inst(&self, what: &'static Instruction, d: u8) -> Inst {
        Inst::new(what, self.class, d)
    }

    /// A group of rows, of which the first is row `start` of the result.
    fn group(&mut self, entries: &[RowNonzero], rows: usize, start: usize) -> Option<()> {
        let accumulators = if self.class == RegisterClass::W { &GENERAL[..] } else { &VECTORS };
        let mut started = vec![false; rows];
        for of_column in entries.chunk_by(|a, b| a.column == b.column) {
            let offset = of_column[0].column as usize * self.pitch;
            let mut is_loaded = false;
            for entry in of_column {
                let row = usize::from(entry.row);
                let (acc, is_first) = (accumulators[row], !std::mem::replace(&mut started[row], true));
                if self.accumulate_load(acc, is_first, entry.value, offset)? {
                    continue;
                }
                if !std::mem::replace(&mut is_loaded, true) {
                    let load = self.inst(&ops::LDR, ELEMENT);
                    let load = access(&mut self.code, &mut self.input, load, offset)?;
                    self.emit(load);
                }
                match self.is_float {
                    true => self.float(acc, is_first, entry.value)?,
                    false => self.int(acc, is_first, entry.value as i32),
                }
            }
        }
        for (row, &acc) in accumulators[..rows].iter().enumerate() {
            if !started[row] {
                self.zero(acc)?;
            }
            let store = self.inst(&ops::STR, acc);
            let store = access(&mut self.code, &mut self.output, store, (start + row) * self.pitch)?;
            self.emit(store);
        }
        Some(())
    }

    /// Starts a sum with 0.
    fn zero(&mut self, acc: u8) -> Option<()> {
        if !self.is_float {
            let what = if self.class == RegisterClass::W { &ops::MOVZ } else { &ops::MOVI };
            self.emit(self.inst(what, acc));
            return Some(());
        }
        let at = self.constant(0.0, self.class.bytes() / self.class.lane_bytes());
        let load = self.inst(&ops::LDR, acc);
        let load = access(&mut self.code, &mut self.constants, load, at)?;
        self.emit(load);
        Some(())
    }

    /// Appends a constant `count` times to the pool, aligned to its size. Returns its offset in bytes.
    fn constant(&mut self, value: f64, count: usize) -> usize {
        // The vector that is in use ends here.
        let lanes = 16 / self.class.lane_bytes();
        self.pool.resize(self.pool.len().next_multiple_of(lanes), 0.0);
        let at = self.pool.len() * self.class.lane_bytes();
        self.pool.extend(std::iter::repeat_n(value, count));
        self.pool.resize(self.pool.len().next_multiple_of(lanes), 0.0);
        at
    }

    /// The multiply-add of a nonzero that loads its element, if the machine has one for it.
    fn accumulate_load(&mut self, acc: u8, is_first: bool, value: f64, offset: usize) -> Option<bool> {
        if self.choices.isa != Isa::LdrScAcc || self.is_float || !(-128.0..128.0).contains(&value) {
            return Some(false);
        }
        if is_first {
            self.zero(acc)?;
        }
        let inst = self.inst(&a64_ext::LDR_SC_ACC, acc).imm(value as i32);
        let inst = access(&mut self.code, &mut self.input, inst, offset)?;
        self.emit(inst);
        Some(true)
    }

    /// The multiply-add of an integer.
    fn int(&mut self, acc: u8, is_first: bool, value: i32) {
        let (is_power, shift) = (value.unsigned_abs().is_power_of_two(), value.trailing_zeros() as u8);
        let is_shift = self.choices.shifts && is_power && (self.class == RegisterClass::W || shift == 0 && !is_first);
        if is_shift {
            let what = match (is_first, value < 0) {
                (true, false) => &ops::ORR,
                (true, true) => &ops::NEG,
                (false, false) => &ops::ADD,
                (false, true) => &ops::SUB,
            };
            return self.emit(self.inst(what, acc).of(if is_first { 0 } else { acc }, ELEMENT).shifted(shift));
        }
        if self.choices.isa != Isa::Base && (-2048..2048).contains(&value) {
            if is_first {
                let what = if self.class == RegisterClass::W { &ops::MOVZ } else { &ops::MOVI };
                self.emit(self.inst(what, acc));
            }
            return self.emit(self.inst(&a64_ext::MADD_IMM, acc).of(ELEMENT, 0).imm(value));
        }
        if self.value.replace(value) != Some(value) {
            self.move_value(value);
        }
        let inst = match (is_first, self.class) {
            (true, _) => self.inst(&ops::MUL, acc),
            (false, RegisterClass::W) => Inst { a: acc, ..self.inst(&ops::MADD, acc) },
            (false, _) => self.inst(&ops::MLA, acc),
        };
        self.emit(inst.of(ELEMENT, VALUE));
    }

    /// Moves an integer to the register of values: one move, or two; of vectors that are no 8-bit immediates, by way of a
    /// general-purpose register.
    fn move_value(&mut self, value: i32) {
        if self.class != RegisterClass::W {
            let shifts = || [0u8, 8, 16, 24].into_iter();
            let fits = |value: i32| shifts().find(|&shift| value.cast_unsigned() & !(0xff << shift) == 0);
            for (what, value) in [(&ops::MOVI, value), (&ops::MVNI, !value)] {
                if let Some(shift) = fits(value) {
                    let imm = (value.cast_unsigned() >> shift & 0xff) as i32;
                    return self.emit(self.inst(what, VALUE).imm(imm).shifted(shift));
                }
            }
        }
        let wide = |what, imm: u32, shift| {
            Inst::new(what, RegisterClass::W, VALUE).imm((imm >> shift & 0xffff) as i32).shifted(shift)
        };
        let bits = value.cast_unsigned();
        match (bits & 0xffff, bits >> 16) {
            (_, 0) => self.emit(wide(&ops::MOVZ, bits, 0)),
            (0, _) => self.emit(wide(&ops::MOVZ, bits, 16)),
            (_, 0xffff) => self.emit(wide(&ops::MOVN, !bits, 0)),
            _ => {
                self.emit(wide(&ops::MOVZ, bits, 0));
                self.emit(wide(&ops::MOVK, bits, 16));
            }
        }
        if self.class != RegisterClass::W {
            self.emit(self.inst(&ops::DUP, VALUE).of(VALUE, 0));
        }
    }

    /// The multiply-add of a float.
    fn float(&mut self, acc: u8, is_first: bool, value: f64) -> Option<()> {
        if !is_first && value.abs() == 1.0 {
            let what = if value > 0.0 { &ops::FADD } else { &ops::FSUB };
            self.emit(self.inst(what, acc).of(acc, ELEMENT));
            return Some(());
        }
        let lanes = 16 / self.class.lane_bytes();
        let start = self.pool.len() / lanes * lanes;
        // The sign of a value that the vector has with the other one is that of the instruction.
        let has = |value: f64| self.pool[start..].iter().position(|have| have.to_bits() == value.to_bits());
        let (what, lane) = match (has(value), has(-value)) {
            (Some(lane), _) => (if is_first { &ops::FMUL } else { &ops::FMLA }, lane),
            (None, Some(lane)) if !is_first => (&ops::FMLS, lane),
            _ => {
                self.pool.push(value);
                let lane = (self.pool.len() - 1) % lanes;
                if lane == 0 {
                    let load = Inst::new(&ops::LDR, self.class.vector(), VALUE);
                    let at = start * self.class.lane_bytes();
                    let load = access(&mut self.code, &mut self.constants, load, at)?;
                    self.emit(load);
                }
                (if is_first { &ops::FMUL } else { &ops::FMLA }, lane)
            }
        };
        self.emit(Inst { lane: lane as u8, ..self.inst(what, acc).of(ELEMENT, VALUE) });
        Some(())
    }
}

/// A load or store at an offset from a base. An address beyond the reach of the instruction is computed first, in steps of 4 KiB
/// and, if it is not aligned to the access, to the byte. Returns `None` from 16 MiB on.
pub(super) fn access(code: &mut Vec<Inst>, base: &mut Base, inst: Inst, offset: usize) -> Option<Inst> {
    let near = inst.at(base.register, offset);
    if is_in_range(&near) {
        return Some(near);
    }
    if let Some(far) = base.distance.and_then(|distance| offset.checked_sub(distance)) {
        let far = inst.at(base.far, far);
        if is_in_range(&far) {
            return Some(far);
        }
    }
    if offset >= MAX_OFFSET {
        return None;
    }
    let add = |from: u8, imm: usize, shift| {
        Inst::new(&ops::ADD_IMM, RegisterClass::X, base.far).of(from, 0).imm(imm as i32).shifted(shift)
    };
    let (high, low) = (offset >> 12, offset & 0xfff);
    if high == 0 {
        code.push(add(base.register, low, 0));
        base.distance = Some(low);
        return Some(inst.at(base.far, 0));
    }
    code.push(add(base.register, high, 12));
    base.distance = Some(high << 12);
    let far = inst.at(base.far, low);
    if is_in_range(&far) {
        return Some(far);
    }
    code.push(add(base.far, low, 0));
    base.distance = Some(offset);
    Some(inst.at(base.far, 0))
}
