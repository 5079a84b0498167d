//! Instructions as ops, and ops as instructions.

use super::decode::decode;
use super::encode::encode;
use super::instruction::{Encoding, Inst, Instruction, Mem, Operation, Registers, Rm, VectorEncoding};
use super::types::{NUM_REGISTERS, Register, RegisterClass, Width};
use gradus_ir::{Attr, Block, Builder, Loc, Module, Op, OpState, Region, Type, Value, Violation};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Decodes a whole function: instructions with the positions of their first bytes.
///
/// # Errors
/// The position of the first byte that is not an instruction of the dialect.
pub fn decode_all(bytes: &[u8]) -> Result<Vec<(usize, Inst)>, usize> {
    let (mut all, mut at) = (Vec::with_capacity(bytes.len() / 6), 0);
    while at < bytes.len() {
        let (inst, len) = decode(&bytes[at..]).ok_or(at)?;
        all.push((at, inst));
        at += len;
    }
    Ok(all)
}

/// Checks that bytes are instructions of the dialect.
///
/// # Errors
/// The position of the first byte that is not the start of one.
pub(super) fn check_code(bytes: &[u8]) -> Result<(), usize> {
    let mut at = 0;
    while at < bytes.len() {
        at += decode(&bytes[at..]).ok_or(at)?.1;
    }
    Ok(())
}

/// The declaration of an instruction op.
fn instruction(m: &Module, op: Op) -> Option<&'static Instruction> {
    m.info(op)?.extension::<Instruction>()
}

/// Verifies that an op is an instruction that can be encoded.
pub(super) fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    inst_of(m, op).map(drop)
}

/// Returns the instruction of an op other than a jump.
///
/// # Errors
/// The operands are not those of its form.
pub fn inst_of(m: &Module, op: Op) -> Result<Inst, Violation> {
    let what = instruction(m, op).ok_or_else(|| format!("'{}' is not an instruction", m.name_text(op)))?;
    let args = m.args(op).ok_or("is not declared")?;
    let register = |value: Value| Register::of(&m.ctx, m.value_type(value));
    let group =
        |name: &str| args.operand(name).iter().filter_map(|&v| register(v)).collect::<SmallVec<[Register; 3]>>();
    let int = |name: &str| args.int(name).and_then(|n| i32::try_from(n).ok()).unwrap_or(0);
    let one = |name: &str| group(name).first().map(|r| r.number);
    let given = Registers {
        sources: group("sources"),
        base: group("base").first().copied(),
        index: group("index").first().copied(),
        mask: group("mask").first().copied(),
        result: m.results(op).next().and_then(register),
    };
    let width = given.sources.iter().chain(&given.result).find_map(|r| match r.class {
        RegisterClass::Vector(width) => Some(width),
        _ => None,
    });
    let mem = given.base.map(|base| Mem {
        base: base.number,
        index: one("index"),
        displacement: int("displacement"),
        broadcast: args.flag("broadcast"),
    });
    let mut sources = given.sources.iter().map(|r| r.number);
    let is_first_reg =
        what.is_tied() || matches!(what.operation, Operation::Store | Operation::CmpReg | Operation::CmpImm);
    let first = if is_first_reg { sources.next() } else { None };
    let is_three = what.vector().is_some_and(VectorEncoding::has_source);
    let src = if is_three { sources.next().unwrap_or(0) } else { 0 };
    let last = sources.next();
    let inst = Inst {
        what,
        width: width.unwrap_or(Width::Xmm),
        reg: first.or(given.result.map(|r| r.number)).unwrap_or(0),
        src,
        rm: mem.map_or(Rm::Reg(last.unwrap_or(0)), Rm::Mem),
        imm: int("immediate"),
        mask: one("mask").unwrap_or(0),
    };
    check(&inst, &given)?;
    Ok(inst)
}

/// Checks that an instruction has the given registers, and that it has an encoding: its bytes decode to it.
fn check(inst: &Inst, given: &Registers) -> Result<(), Violation> {
    let want = inst.registers();
    let is_same = want.sources == given.sources
        && (want.base, want.index, want.mask, want.result) == (given.base, given.index, given.mask, given.result);
    if !is_same {
        return Err(
            "requires the registers of its form, with the first source as result where it is overwritten".into()
        );
    }
    let mut bytes = Vec::with_capacity(16);
    encode(inst, &mut bytes);
    match decode(&bytes) {
        Some((decoded, len)) if decoded == *inst && len == bytes.len() => Ok(()),
        _ => Err("has no encoding with these operands".into()),
    }
}

/// Assembles the blocks of a region.
///
/// # Errors
/// The op at fault, with the reason.
pub fn assemble(m: &Module, region: Region) -> Result<Vec<u8>, (Op, Violation)> {
    let blocks: Vec<Block> = m.region_blocks(region).collect();
    let order: FxHashMap<Block, usize> = blocks.iter().copied().zip(0..).collect();
    let (mut out, mut starts, mut jumps) = (Vec::new(), Vec::new(), Vec::new());
    for (i, &block) in blocks.iter().enumerate() {
        starts.push(out.len());
        let mut held = Held::at(m, m.block_args(block));
        for op in m.block_ops(block) {
            held.check(m, op).map_err(|why| (op, why))?;
            let what = instruction(m, op).ok_or_else(|| (op, "is not an instruction".into()))?;
            if !matches!(what.operation, Operation::Jump | Operation::JumpIf(_)) {
                let inst = inst_of(m, op).map_err(|why| (op, why))?;
                encode(&inst, &mut out);
                held.define(m, op, &inst);
                continue;
            }
            let targets: SmallVec<[usize; 2]> = m.successors(op).iter().map(|b| order[b]).collect();
            if what.operation != Operation::Jump && targets.get(1) != Some(&(i + 1)) {
                return Err((op, "requires that its second successor is the next block".into()));
            }
            if what.operation != Operation::Jump || targets[0] != i + 1 {
                encode(&Inst::scalar(what, 0, Rm::Reg(0), 0), &mut out);
                jumps.push((out.len(), targets[0]));
            }
        }
    }
    for (end, target) in jumps {
        let offset = starts[target] as i64 - end as i64;
        out[end - 4..end].copy_from_slice(&(offset as i32).to_le_bytes());
    }
    Ok(out)
}

/// The values that registers hold.
struct Held([Option<Value>; NUM_REGISTERS]);

impl Held {
    /// The registers at the start of a block.
    fn at(m: &Module, args: &[Value]) -> Held {
        let mut held = Held([None; NUM_REGISTERS]);
        for &arg in args {
            held.set(m, arg);
        }
        held
    }

    fn set(&mut self, m: &Module, value: Value) {
        if let Some(register) = Register::of(&m.ctx, m.value_type(value)) {
            self.0[register.index()] = Some(value);
        }
    }

    /// Checks that the operands of an op are still in their registers.
    fn check(&self, m: &Module, op: Op) -> Result<(), Violation> {
        for &value in m.operands(op) {
            let Some(register) = Register::of(&m.ctx, m.value_type(value)) else {
                return Err("operand is no register".into());
            };
            if self.0[register.index()] != Some(value) {
                return Err(format!(
                    "operand of type {} is not in its register here",
                    m.ctx.display_type(m.value_type(value))
                )
                .into());
            }
        }
        Ok(())
    }

    fn define(&mut self, m: &Module, op: Op, inst: &Inst) {
        if clobbers_flags(inst) {
            self.0[Register::FLAGS.index()] = None;
        }
        for value in m.results(op) {
            self.set(m, value);
        }
    }
}

/// Whether an instruction changes the flags.
fn clobbers_flags(inst: &Inst) -> bool {
    use Operation::{AddImm, AddReg, CmpImm, CmpReg, Shr, SubImm, SubReg};
    matches!(inst.what.operation, AddReg | AddImm | SubReg | SubImm | Shr | CmpReg | CmpImm)
}

/// A straight sequence of decoded instructions.
struct BasicBlock {
    /// Indices of its instructions.
    from: usize,
    to: usize,
    /// Pieces that may follow, the jump's target first.
    next: SmallVec<[usize; 2]>,
    /// Storage of the registers that are read before they are written, as bits.
    live: u64,
}

/// Divides instructions at jumps and their targets, and computes the live registers at each start.
fn pieces(all: &[(usize, Inst)], len: usize) -> Result<Vec<BasicBlock>, usize> {
    let ends = |i: usize| all.get(i + 1).map_or(len, |next| next.0);
    let index: FxHashMap<usize, usize> = all.iter().enumerate().map(|(i, (at, _))| (*at, i)).collect();
    let target = |i: usize| {
        let at = ends(i) as i64 + i64::from(all[i].1.imm);
        usize::try_from(at).ok().and_then(|at| index.get(&at)).copied().ok_or(all[i].0)
    };
    let mut starts = vec![0];
    for (i, (_, inst)) in all.iter().enumerate().filter(|(_, (_, inst))| inst.what.is_terminator()) {
        starts.push(i + 1);
        if inst.what.operation != Operation::Ret {
            starts.push(target(i)?);
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|&start| start < all.len());
    let number = |start: usize| starts.binary_search(&start).ok();
    let mut pieces = Vec::with_capacity(starts.len());
    for (n, &from) in starts.iter().enumerate() {
        let to = starts.get(n + 1).copied().unwrap_or(all.len());
        let (at, last) = all[to - 1];
        let jump = match last.what.operation {
            Operation::Jump | Operation::JumpIf(_) => Some(target(to - 1)?),
            _ => None,
        };
        let falls = (!matches!(last.what.operation, Operation::Jump | Operation::Ret)).then_some(to);
        let next: Option<SmallVec<[usize; 2]>> = jump.into_iter().chain(falls).map(number).collect();
        pieces.push(BasicBlock { from, to, next: next.ok_or(at)?, live: 0 });
    }
    live_registers(all, &mut pieces);
    Ok(pieces)
}

fn live_registers(all: &[(usize, Inst)], pieces: &mut [BasicBlock]) {
    let bit = |register: Register| 1u64 << register.index();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for p in (0..pieces.len()).rev() {
            let mut live = pieces[p].next.iter().fold(0, |live, &n| live | pieces[n].live);
            for (_, inst) in all[pieces[p].from..pieces[p].to].iter().rev() {
                let registers = inst.registers();
                live &= !registers.result.map_or(0, bit);
                live |= registers.read().map(bit).fold(0, |all, bit| all | bit);
            }
            has_changed |= live != pieces[p].live;
            pieces[p].live = live;
        }
    }
}

/// Builds the ops of decoded instructions in an empty region: a block for each piece, whose arguments are the registers
/// that are live there.
///
/// # Errors
/// The position of a jump out of the function, or of an instruction whose registers hold vectors of another width.
pub fn lift(m: &mut Module, region: Region, bytes: &[u8], loc: Loc) -> Result<(), usize> {
    let all = decode_all(bytes)?;
    let pieces = pieces(&all, bytes.len())?;
    let widths = widths(&all);
    let blocks: Vec<Block> = pieces.iter().map(|_| m.add_block(region)).collect();
    for (piece, &block) in pieces.iter().zip(&blocks) {
        for index in (0..NUM_REGISTERS).filter(|index| piece.live >> index & 1 == 1) {
            let ty = register_at(index, &widths).ty(&m.ctx);
            m.add_block_arg(block, ty, loc);
        }
    }
    for (piece, &block) in pieces.iter().zip(&blocks) {
        let mut held = Held::at(m, m.block_args(block));
        for (at, inst) in &all[piece.from..piece.to] {
            if matches!(inst.what.operation, Operation::Jump | Operation::JumpIf(_)) {
                break;
            }
            let op = build(m, block, inst, &held, loc).ok_or(*at)?;
            held.define(m, op, inst);
        }
        let (at, last) = &all[piece.to - 1];
        if last.what.operation != Operation::Ret {
            let targets: SmallVec<[Block; 2]> = piece.next.iter().map(|&n| blocks[n]).collect();
            jump(m, block, last, &targets, &held, loc).ok_or(*at)?;
        }
    }
    Ok(())
}

/// The width at which each vector register is first used.
fn widths(all: &[(usize, Inst)]) -> [Width; 32] {
    let mut widths = [None; 32];
    for (_, inst) in all {
        let registers = inst.registers();
        for register in registers.read().chain(registers.result) {
            if let RegisterClass::Vector(width) = register.class {
                widths[usize::from(register.number)].get_or_insert(width);
            }
        }
    }
    widths.map(|width| width.unwrap_or(Width::Zmm))
}

fn register_at(index: usize, widths: &[Width; 32]) -> Register {
    match index {
        0..16 => Register::gpr(index as u8),
        16..48 => Register { class: RegisterClass::Vector(widths[index - 16]), number: index as u8 - 16 },
        48..56 => Register { class: RegisterClass::Mask, number: index as u8 - 48 },
        _ => Register::FLAGS,
    }
}

/// Builds the op of an instruction at the end of a block.
fn build(m: &mut Module, block: Block, inst: &Inst, held: &Held, loc: Loc) -> Option<Op> {
    let registers = inst.registers();
    let value = |register: &Register| {
        let value = held.0[register.index()]?;
        (m.value_type(value) == register.ty(&m.ctx)).then_some(value)
    };
    let sources = registers.sources.iter().map(value).collect::<Option<SmallVec<[Value; 3]>>>()?;
    let groups = [registers.base, registers.index, registers.mask].map(|r| r.map(|r| value(&r)));
    let mut state = OpState::new(&m.ctx, inst.what.name, loc);
    let is_declared_straight =
        !matches!(inst.what.encoding, Encoding::Fixed(_)) || inst.what.operation == Operation::ZeroUpper;
    if is_declared_straight {
        state.operand_group(&sources);
        for group in groups {
            match group {
                Some(value) => state.operand_group(&[value?]),
                None => state.operand_group(&[]),
            }
        }
    }
    let number = |n: i32| (n != 0).then(|| m.ctx.int_attr(Type::I32, i64::from(n)));
    if let Rm::Mem(mem) = inst.rm {
        state.inherent(&m.ctx, "displacement", number(mem.displacement));
        state.inherent(&m.ctx, "broadcast", mem.broadcast.then_some(Attr::UNIT));
    }
    state.inherent(&m.ctx, "immediate", number(inst.imm));
    state.result_types.extend(registers.result.map(|r| r.ty(&m.ctx)));
    Some(Builder::at_end(m, block).create(state))
}

/// Builds the jump at the end of a block, or the fall into the next one.
fn jump(m: &mut Module, block: Block, last: &Inst, targets: &[Block], held: &Held, loc: Loc) -> Option<Op> {
    let arguments = |target: &Block| {
        let registers = m.block_args(*target).iter().map(|&arg| Register::of(&m.ctx, m.value_type(arg)));
        registers.map(|r| held.0[r?.index()]).collect::<Option<Vec<Value>>>()
    };
    let arguments = targets.iter().map(arguments).collect::<Option<Vec<_>>>()?;
    let is_conditional = matches!(last.what.operation, Operation::JumpIf(_));
    let name = if is_conditional { last.what.name } else { super::ops::JMP.name };
    let mut state = OpState::new(&m.ctx, name, loc);
    if is_conditional {
        state.operand_group(&[held.0[Register::FLAGS.index()]?]);
        arguments.iter().for_each(|group| state.operand_group(group));
    } else {
        state.operands.extend(arguments.into_iter().flatten());
    }
    state.successors.extend(targets.iter().copied());
    Some(Builder::at_end(m, block).create(state))
}
