//! Instructions in the syntax of assemblers. Instructions of a bundle stand on one line.

use super::instruction::{Form, Inst, Operation};
use super::types::{Register, RegisterClass};
use std::fmt;

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.number;
        match self.class {
            RegisterClass::X => write!(f, "x{n}"),
            RegisterClass::W => write!(f, "w{n}"),
            RegisterClass::S => write!(f, "s{n}"),
            RegisterClass::D => write!(f, "d{n}"),
            RegisterClass::V4S => write!(f, "v{n}.4s"),
            RegisterClass::V2D => write!(f, "v{n}.2d"),
        }
    }
}

/// A shift, unless it is 0.
struct Shift(u8);

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, ", lsl #{}", self.0) }
    }
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let register = |number| Register { class: self.class, number };
        let (d, n, m) = (register(self.d), register(self.n), register(self.m));
        let (name, shift, imm) = (self.what.mnemonic(), Shift(self.shift), self.imm);
        let address = |f: &mut fmt::Formatter<'_>| match self.offset {
            0 => write!(f, "[x{}]", self.n),
            offset => write!(f, "[x{}, #{offset}]", self.n),
        };
        match self.what.form {
            Form::Memory => {
                if self.class.is_vector() {
                    write!(f, "{name} q{}, ", self.d)?;
                } else {
                    write!(f, "{name} {d}, ")?;
                }
                address(f)
            }
            Form::Wide if self.shift == 0 && self.what.operation == Operation::Move => write!(f, "mov {d}, #{imm}"),
            Form::Wide | Form::Modified => write!(f, "{name} {d}, #{imm}{shift}"),
            Form::Duplicate => write!(f, "{name} {d}, w{}", self.n),
            Form::Three => write!(f, "{name} {d}, {n}, {m}"),
            Form::Shifted => write!(f, "{name} {d}, {n}, {m}{shift}"),
            Form::Source if self.shift == 0 && self.what.operation == Operation::Shift => write!(f, "mov {d}, {m}"),
            Form::Source if self.what.operation == Operation::Shift => write!(f, "{name} {d}, wzr, {m}{shift}"),
            Form::Source => write!(f, "{name} {d}, {m}{shift}"),
            Form::Four => write!(f, "{name} {d}, {n}, {m}, {}", register(self.a)),
            Form::AddImm => write!(f, "add {d}, {n}, #{imm}{shift}"),
            Form::Element => {
                let size = if self.class.lane_bytes() == 8 { "d" } else { "s" };
                write!(f, "{name} {d}, {n}, v{}.{size}[{}]", self.m, self.lane)
            }
            Form::MulImm => write!(f, "madd {d}, {n}, #{imm}, {d}"),
            Form::LoadMul => {
                write!(f, "{name} {d}, #{imm}, ")?;
                address(f)
            }
            Form::Fixed => f.write_str(name),
        }
    }
}

/// Lists instructions, a line for each bundle.
pub fn listing(all: &[Inst]) -> String {
    let mut text = String::new();
    for (i, inst) in all.iter().enumerate() {
        let separator = if i == 0 { "" } else { ["\n", "; "][usize::from(inst.bundled)] };
        text += &format!("{separator}{inst}");
    }
    text + "\n"
}
