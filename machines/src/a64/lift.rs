//! Instructions as ops and back. A function is one block: its caller computes the addresses of each panel of columns.

use super::encode::is_in_range;
use super::instruction::{Form, Inst, Instruction, Operation, Registers, Unit};
use super::types::{NUM_REGISTERS, Register, RegisterClass};
use gradus_ir::{Attr, Block, Builder, Loc, Module, Op, OpState, Region, Type, Value, Violation};
use smallvec::SmallVec;

/// Verifies that an op is an instruction whose operands fit its form.
pub(crate) fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    inst_of(m, op).map(drop)
}

/// Returns the instruction of an op.
///
/// # Errors
/// The operands are not those of its form.
pub fn inst_of(m: &Module, op: Op) -> Result<Inst, Violation> {
    let what = m.info(op).and_then(gradus_ir::OpInfo::extension::<Instruction>);
    let what = what.ok_or_else(|| format!("'{}' is not an instruction", m.name_text(op)))?;
    if what.operation == Operation::Ret {
        return Ok(Inst::new(what, RegisterClass::X, 0));
    }
    let args = m.args(op).ok_or("is not declared")?;
    let register = |value: Value| Register::of(&m.ctx, m.value_type(value));
    let sources: SmallVec<[Register; 3]> = args.operand("sources").iter().filter_map(|&v| register(v)).collect();
    let base = args.operand("base").first().and_then(|&v| register(v));
    let result = m.results(op).next().and_then(register);
    let class = result.or(sources.first().copied()).map(|r| r.class).ok_or("requires registers")?;
    let int = |name: &str| args.int(name).and_then(|n| i32::try_from(n).ok()).unwrap_or(0);
    let byte = |name: &str| u8::try_from(int(name)).map_err(|_| format!("has {name} {} out of range", int(name)));
    let is_first_d = what.is_tied() || what.operation == Operation::Store;
    let mut rest = sources.iter().skip(usize::from(is_first_d)).map(|r| r.number);
    let first = sources.first().filter(|_| is_first_d).or(result.as_ref());
    let n = if what.form == Form::Source { None } else { base.map(|r| r.number).or_else(|| rest.next()) };
    let inst = Inst {
        what,
        class,
        d: first.map_or(0, |r| r.number),
        n: n.unwrap_or(0),
        m: rest.next().unwrap_or(0),
        a: rest.next().unwrap_or(0),
        lane: byte("lane")?,
        shift: byte("shift")?,
        imm: int("immediate"),
        offset: u32::try_from(int("offset")).map_err(|_| "has a negative offset")?,
        bundled: args.flag("bundled"),
    };
    if inst.registers() != (Registers { sources, base, result }) {
        return Err(
            "requires the registers of its form, with the first source as result where it is overwritten".into()
        );
    }
    let has_only_fields = match what.form {
        Form::Memory => inst.lane == 0 && inst.shift == 0 && inst.imm == 0,
        Form::LoadMul => inst.lane == 0 && inst.shift == 0,
        Form::Element => inst.shift == 0 && inst.imm == 0 && inst.offset == 0,
        Form::Wide | Form::Modified | Form::AddImm => inst.lane == 0 && inst.offset == 0,
        Form::Shifted | Form::Source => inst.lane == 0 && inst.offset == 0 && inst.imm == 0,
        Form::MulImm => inst.lane == 0 && inst.offset == 0 && inst.shift == 0,
        _ => inst.lane == 0 && inst.shift == 0 && inst.imm == 0 && inst.offset == 0,
    };
    match has_only_fields && is_in_range(&inst) {
        true => Ok(inst),
        false => Err("has an offset, immediate, shift or lane that its form does not have".into()),
    }
}

/// The values that registers hold.
struct Held([Option<Value>; NUM_REGISTERS]);

impl Held {
    fn at(m: &Module, args: &[Value]) -> Held {
        let mut held = Held([None; NUM_REGISTERS]);
        args.iter().for_each(|&arg| held.set(m, arg));
        held
    }

    fn set(&mut self, m: &Module, value: Value) {
        if let Some(register) = Register::of(&m.ctx, m.value_type(value)) {
            self.0[register.index()] = Some(value);
        }
    }

    /// Returns the value of a register; `None` if it holds none of this class.
    fn get(&self, m: &Module, register: Register) -> Option<Value> {
        self.0[register.index()].filter(|&value| m.value_type(value) == register.ty(&m.ctx))
    }

    /// Checks that the operands of an op are still in their registers.
    fn check(&self, m: &Module, op: Op) -> Result<(), Violation> {
        for &value in m.operands(op) {
            let index = Register::of(&m.ctx, m.value_type(value)).ok_or("has an operand that is no register")?.index();
            if self.0[index] != Some(value) {
                let ty = m.ctx.display_type(m.value_type(value));
                return Err(format!("has an operand of type {ty} that is not in its register here").into());
            }
        }
        Ok(())
    }
}

/// Reads the instructions of a function.
///
/// # Errors
/// The op at fault, with the reason.
pub fn instructions_of(m: &Module, region: Region) -> Result<Vec<Inst>, (Op, Violation)> {
    let mut all: Vec<Inst> = Vec::new();
    for block in m.region_blocks(region) {
        let mut held = Held::at(m, m.block_args(block));
        let (mut bundle, mut units): (Vec<Op>, SmallVec<[Unit; 4]>) = (Vec::new(), SmallVec::new());
        for op in m.block_ops(block) {
            let inst = inst_of(m, op).map_err(|why| (op, why))?;
            if inst.bundled && bundle.is_empty() {
                return Err((op, "begins a function, so that it belongs to no bundle".into()));
            }
            if !inst.bundled {
                // Instructions of a bundle read registers before any of them writes one.
                bundle.drain(..).flat_map(|op| m.results(op).collect::<Vec<_>>()).for_each(|value| held.set(m, value));
                units.clear();
            }
            if inst.what.units().iter().any(|unit| units.contains(unit)) {
                return Err((op, "needs a unit that another instruction of its bundle uses".into()));
            }
            units.extend_from_slice(inst.what.units());
            held.check(m, op).map_err(|why| (op, why))?;
            bundle.push(op);
            all.push(inst);
        }
    }
    Ok(all)
}

/// Builds the ops of instructions in an empty region. The registers `arguments` are the arguments of its block. Returns
/// `None` if an instruction reads a register that holds no value of its class.
pub fn lift(m: &mut Module, region: Region, all: &[Inst], arguments: &[Register], loc: Loc) -> Option<()> {
    let block = m.add_block(region);
    for argument in arguments {
        let ty = argument.ty(&m.ctx);
        m.add_block_arg(block, ty, loc);
    }
    let mut held = Held::at(m, m.block_args(block));
    let mut bundle: Vec<Value> = Vec::new();
    for inst in all {
        if !inst.bundled {
            bundle.drain(..).for_each(|value| held.set(m, value));
        }
        let op = build(m, block, inst, &held, loc)?;
        bundle.extend(m.results(op));
    }
    Some(())
}

fn build(m: &mut Module, block: Block, inst: &Inst, held: &Held, loc: Loc) -> Option<Op> {
    let registers = inst.registers();
    let mut state = OpState::new(&m.ctx, inst.what.name, loc);
    if inst.what.operation != Operation::Ret {
        let sources = registers.sources.iter().map(|&r| held.get(m, r)).collect::<Option<SmallVec<[Value; 3]>>>()?;
        state.operand_group(&sources);
        match registers.base {
            Some(base) => state.operand_group(&[held.get(m, base)?]),
            None => state.operand_group(&[]),
        }
        let number = |n: i32| (n != 0).then(|| m.ctx.int_attr(Type::I32, i64::from(n)));
        let lane = (inst.what.form == Form::Element).then(|| m.ctx.int_attr(Type::I32, i64::from(inst.lane)));
        state.inherent(&m.ctx, "lane", lane);
        state.inherent(&m.ctx, "offset", number(inst.offset as i32));
        state.inherent(&m.ctx, "immediate", number(inst.imm));
        state.inherent(&m.ctx, "shift", number(i32::from(inst.shift)));
        state.inherent(&m.ctx, "bundled", inst.bundled.then_some(Attr::UNIT));
    }
    state.result_types.extend(registers.result.map(|r| r.ty(&m.ctx)));
    Some(Builder::at_end(m, block).create(state))
}
