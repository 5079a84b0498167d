//! The emitter and the decoder (Arm ARM, C4.1 and C6 to C7).

use super::instruction::{Form, Inst, Instruction};
use super::types::RegisterClass;

/// Encodes an instruction; `None` if it has no encoding with these operands.
pub fn encode(inst: &Inst) -> Option<u32> {
    (is_in_range(inst) && !inst.what.is_extension())
        .then(|| inst.what.bits(inst.class))?
        .map(|bits| bits | fields(inst))
}

/// Whether the operands of an instruction fit its fields.
pub fn is_in_range(inst: &Inst) -> bool {
    let size = inst.class.bytes() as u32;
    let fits_offset = inst.offset.is_multiple_of(size) && inst.offset / size < 1 << 12;
    let (is_unsigned, shift) = (|bits: u32| (0..1 << bits).contains(&inst.imm), inst.shift);
    let fits = match inst.what.form {
        Form::Memory => fits_offset && inst.imm == 0,
        Form::Wide => is_unsigned(16) && matches!(shift, 0 | 16),
        Form::Modified => is_unsigned(8) && matches!(shift, 0 | 8 | 16 | 24),
        Form::Shifted if inst.class.is_vector() => shift == 0,
        Form::Shifted | Form::Source => shift < 32,
        Form::AddImm => is_unsigned(12) && matches!(shift, 0 | 12),
        Form::Element => usize::from(inst.lane) < 16 / inst.class.lane_bytes(),
        Form::MulImm => (-2048..2048).contains(&inst.imm),
        Form::LoadMul => fits_offset && (-128..128).contains(&inst.imm),
        Form::Duplicate | Form::Three | Form::Four | Form::Fixed => true,
    };
    fits && inst.what.bits(inst.class).is_some()
}

fn fields(inst: &Inst) -> u32 {
    let [d, n, m, a, shift, lane] = [inst.d, inst.n, inst.m, inst.a, inst.shift, inst.lane].map(u32::from);
    let imm = inst.imm.cast_unsigned();
    let (n, m) = (n << 5, m << 16);
    match inst.what.form {
        Form::Memory => d | n | (inst.offset / inst.class.bytes() as u32) << 10,
        Form::Wide => d | imm << 5 | (shift / 16) << 21,
        Form::Modified => d | (imm & 31) << 5 | imm >> 5 << 16 | (shift / 8) << 13,
        Form::Duplicate => d | n,
        Form::Three => d | n | m,
        Form::Shifted => d | n | m | shift << 10,
        Form::Source => d | m | shift << 10,
        Form::Four => d | n | m | a << 10,
        Form::AddImm => d | n | imm << 10 | (shift / 12) << 22,
        Form::Element if inst.class.lane_bytes() == 8 => d | n | m | lane << 11,
        Form::Element => d | n | m | lane >> 1 << 11 | (lane & 1) << 21,
        Form::MulImm | Form::LoadMul | Form::Fixed => 0,
    }
}

/// The bits of the fields of a form.
fn field_mask(form: Form, class: RegisterClass) -> u32 {
    const D: u32 = 0x1f;
    const N: u32 = 0x1f << 5;
    const M: u32 = 0x1f << 16;
    match form {
        Form::Memory => D | N | 0xfff << 10,
        Form::Wide => D | 0xffff << 5 | 3 << 21,
        Form::Modified => D | N | 7 << 16 | 3 << 13,
        Form::Duplicate => D | N,
        Form::Three => D | N | M,
        Form::Shifted if class.is_vector() => D | N | M,
        Form::Shifted => D | N | M | 0x3f << 10,
        Form::Source => D | M | 0x3f << 10,
        Form::Four => D | N | M | 0x1f << 10,
        Form::AddImm => D | N | 0xfff << 10 | 1 << 22,
        Form::Element if class.lane_bytes() == 8 => D | N | M | 1 << 11,
        Form::Element => D | N | M | 1 << 11 | 1 << 21,
        Form::MulImm | Form::LoadMul | Form::Fixed => 0,
    }
}

/// Decodes an instruction among forms. Loads and stores of vectors have lanes of 32 bits.
pub(super) fn decode(word: u32, forms: impl Iterator<Item = &'static Instruction>) -> Option<Inst> {
    let all = forms.filter(|what| !what.is_extension());
    all.flat_map(|what| what.encodings.iter().map(move |&(class, bits)| (what, class, bits)))
        .filter(|&(what, class, bits)| word & !field_mask(what.form, class) == bits)
        .map(|(what, class, _)| extract(what, class, word))
        .find(|inst| encode(inst) == Some(word) && are_registers(inst))
}

/// Whether no register is one of number 31 that stands for zero or the stack pointer.
fn are_registers(inst: &Inst) -> bool {
    let all = inst.registers();
    let numbers = all.sources.iter().chain(&all.base).chain(&all.result);
    numbers.into_iter().all(|r| !r.class.is_general() || r.number < 31)
}

fn extract(what: &'static Instruction, class: RegisterClass, word: u32) -> Inst {
    let field = |at: u32, bits: u32| word >> at & ((1 << bits) - 1);
    let inst = Inst::new(what, class, field(0, 5) as u8);
    let (n, m) = (field(5, 5) as u8, field(16, 5) as u8);
    let shift = field(10, 6) as u8;
    match what.form {
        Form::Memory => inst.at(n, field(10, 12) as usize * class.bytes()),
        Form::Wide => inst.imm(field(5, 16) as i32).shifted(16 * field(21, 2) as u8),
        Form::Modified => inst.imm((field(16, 3) << 5 | field(5, 5)) as i32).shifted(8 * field(13, 2) as u8),
        Form::Duplicate => inst.of(n, 0),
        Form::Three => inst.of(n, m),
        Form::Shifted if class.is_vector() => inst.of(n, m),
        Form::Shifted => inst.of(n, m).shifted(shift),
        Form::Source => inst.of(0, m).shifted(shift),
        Form::Four => Inst { a: field(10, 5) as u8, ..inst.of(n, m) },
        Form::AddImm => inst.of(n, 0).imm(field(10, 12) as i32).shifted(12 * field(22, 1) as u8),
        Form::Element if class.lane_bytes() == 8 => Inst { lane: field(11, 1) as u8, ..inst.of(n, m) },
        Form::Element => Inst { lane: (field(11, 1) << 1 | field(21, 1)) as u8, ..inst.of(n, m) },
        Form::MulImm | Form::LoadMul => inst,
        Form::Fixed => Inst { d: 0, ..inst },
    }
}
