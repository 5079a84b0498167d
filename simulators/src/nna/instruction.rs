//! Instructions as data, and as words.

use super::machine::NnaMachine;
use super::words::{self, Words};

/// The slots of a cycle: each takes one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot {
    /// Vector, scalar, load, store, branch.
    Vector,
    /// The engine's instructions.
    Engine,
}

/// Kinds of operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandKind {
    /// A vector register that is read.
    Vector,
    /// A vector register that is overwritten.
    VectorDef,
    /// A vector register, a part of which is overwritten.
    VectorPart,
    /// A scalar register that is read.
    Scalar,
    /// A scalar register that is overwritten.
    ScalarDef,
    /// A scalar register that is read and overwritten.
    ScalarUpdate,
    /// A 32-bit number.
    Word,
    /// The lower half, the upper half, or all of a vector register.
    Part,
    /// A half of the output channels.
    Half,
    /// A quarter of a vector register.
    Quarter,
    /// A feature RAM.
    Fram,
    /// A kernel of the weight RAM.
    Wram,
    /// A result block.
    Block,
    /// An output of a step.
    Pixel,
    /// A memory with a write pointer.
    Port,
    /// A configuration register.
    Config,
    /// A bit.
    Flag,
    /// A set of events, as bits: the memories in the order of [`OperandKind::Port`], the engine, configuration.
    Events,
}

/// The event that the engine is idle, a bit of [`OperandKind::Events`].
pub const ENGINE: i32 = 1 << 4;
/// The event that configuration has taken effect.
pub const CONFIG: i32 = 1 << 5;

/// Returns the event that the writes to a feature RAM are visible.
pub const fn fram_event(fram: usize) -> i32 {
    1 << fram
}

/// Returns the event that the writes to a kernel are visible.
pub const fn wram_event(wram: usize) -> i32 {
    1 << (2 + wram)
}

impl OperandKind {
    /// Returns the words of an operand with their values; none for 32-bit numbers.
    pub const fn words(self) -> Words {
        match self {
            OperandKind::Word => &[],
            OperandKind::Vector | OperandKind::VectorDef | OperandKind::VectorPart => words::VECTORS,
            OperandKind::Scalar | OperandKind::ScalarDef | OperandKind::ScalarUpdate => words::SCALARS,
            OperandKind::Part => words::PARTS,
            OperandKind::Half => words::HALVES,
            OperandKind::Quarter => words::QUARTERS,
            OperandKind::Fram => words::FRAMS,
            OperandKind::Wram => words::WRAMS,
            OperandKind::Block => words::BLOCKS,
            OperandKind::Pixel => words::PIXELS,
            OperandKind::Port => words::PORTS,
            OperandKind::Config => words::CONFIGS,
            OperandKind::Flag => words::FLAGS,
            OperandKind::Events => words::EVENTS,
        }
    }

    /// Returns the number of values on a machine; `None` for 32-bit numbers.
    pub fn count(self, machine: &NnaMachine) -> Option<i32> {
        match self {
            OperandKind::Word => None,
            OperandKind::Fram => Some(machine.frams as i32),
            OperandKind::Wram => Some(machine.kernels as i32),
            OperandKind::Pixel => Some(machine.outputs as i32),
            _ => Some(self.words().len() as i32),
        }
    }
}

/// An operand of a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Name.
    pub name: &'static str,
    /// Kind.
    pub kind: OperandKind,
}

/// The declaration of a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormInfo {
    /// Name of the op, which is `nna.` and the mnemonic.
    pub op: &'static str,
    /// Slot.
    pub slot: Slot,
    /// Operands, at most four.
    pub fields: &'static [Field],
}

macro_rules! declare {
    ($($(#[doc = $doc:literal])* $Form:ident $Op:ident $name:literal $slot:ident {
        $($(#[$field_doc:meta])* $field:ident: $kind:ident,)*
    })*) => {
        /// The instruction forms.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Form {
            $($(#[doc = $doc])* $Form,)*
        }

        /// All forms with their declarations, in the order of their opcodes.
        pub const FORMS: &[(Form, FormInfo)] = &[$((
            Form::$Form,
            FormInfo {
                op: $name,
                slot: Slot::$slot,
                fields: &[$(Field { name: stringify!($field), kind: OperandKind::$kind }),*],
            },
        )),*];
    };
}

crate::nna_forms!(declare);

impl Form {
    /// Returns the declaration.
    pub fn info(self) -> &'static FormInfo {
        &FORMS[self as usize].1
    }

    /// Returns the mnemonic.
    pub fn name(self) -> &'static str {
        self.info().op.trim_start_matches("nna.")
    }

    /// Returns the form of a mnemonic.
    pub fn of(name: &str) -> Option<Form> {
        FORMS.iter().find(|(form, _)| form.name() == name).map(|(form, _)| *form)
    }
}

/// An instruction: a form with its operands in the order of the declaration; those that it lacks are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NnaInst {
    /// Form.
    pub form: Form,
    /// Operands.
    pub args: [i32; 4],
}

impl NnaInst {
    /// Returns an instruction.
    pub fn new(form: Form, args: &[i32]) -> NnaInst {
        let mut all = [0; 4];
        all[..args.len()].copy_from_slice(args);
        NnaInst { form, args: all }
    }

    /// Returns the operands with their declarations.
    pub fn operands(&self) -> impl Iterator<Item = (&'static Field, i32)> {
        self.form.info().fields.iter().zip(self.args)
    }

    /// Checks the operands for a machine.
    ///
    /// # Errors
    /// The first operand that the machine does not have.
    pub fn check(&self, machine: &NnaMachine) -> Result<(), String> {
        let fields = self.form.info().fields;
        for (field, value) in self.operands() {
            if field.kind.count(machine).is_some_and(|count| !(0..count).contains(&value)) {
                return Err(format!("'{}' of '{}' is {value}", field.name, self.form.name()));
            }
        }
        match self.args[fields.len()..].iter().all(|&arg| arg == 0) {
            true => Ok(()),
            false => Err(format!("'{}' has {} operands", self.form.name(), fields.len())),
        }
    }
}

/// Bytes of a word: opcode, three small operands, and 32 bits for a number or a fourth small operand.
pub const WORD: usize = 8;

/// Returns the word of an instruction.
pub fn encode(inst: &NnaInst) -> [u8; WORD] {
    let mut word = [0; WORD];
    word[0] = inst.form as u8;
    let mut at = 1;
    for (field, value) in inst.operands() {
        if field.kind == OperandKind::Word || at == 4 {
            word[4..].copy_from_slice(&value.to_le_bytes());
        } else {
            word[at] = value as u8;
            at += 1;
        }
    }
    word
}

/// Returns the instruction of a word, which may come from a file.
///
/// # Errors
/// The word encodes no instruction of this machine.
pub fn decode(word: [u8; WORD], machine: &NnaMachine) -> Result<NnaInst, String> {
    let (form, info) = FORMS.get(usize::from(word[0])).ok_or_else(|| format!("{} is no opcode", word[0]))?;
    let (mut args, mut at) = ([0; 4], 1);
    for (arg, field) in args.iter_mut().zip(info.fields) {
        if field.kind == OperandKind::Word || at == 4 {
            *arg = i32::from_le_bytes([word[4], word[5], word[6], word[7]]);
        } else {
            *arg = i32::from(word[at]);
            at += 1;
        }
    }
    let inst = NnaInst { form: *form, args };
    inst.check(machine)?;
    match encode(&inst) == word {
        true => Ok(inst),
        false => Err(format!("'{}' has bits beyond its operands", form.name())),
    }
}

/// Returns the words of a program.
pub fn encode_all(program: &[NnaInst]) -> Vec<u8> {
    program.iter().flat_map(encode).collect()
}

/// Returns the program of words.
///
/// # Errors
/// The first wrong word, with the reason.
pub fn decode_all(bytes: &[u8], machine: &NnaMachine) -> Result<Vec<NnaInst>, String> {
    let words = bytes.chunks_exact(WORD);
    if !words.remainder().is_empty() {
        return Err(format!("{} bytes are not whole words", bytes.len()));
    }
    let word = |(i, word): (usize, &[u8])| {
        let word: [u8; WORD] = word.try_into().map_err(|_| "not a word".to_owned())?;
        decode(word, machine).map_err(|why| format!("word {i}: {why}"))
    };
    words.enumerate().map(word).collect()
}
