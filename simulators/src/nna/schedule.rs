//! List scheduling of straight-line code for two slots.

use super::instruction::{CONFIG, ENGINE, Form, NnaInst, OperandKind, Slot};
use super::machine::{NUM_REGISTERS, NnaMachine};

/// Things that instructions read and write, a bit each: registers, then these.
const FRAM: usize = 2 * NUM_REGISTERS;
const WRAM: usize = FRAM + 2;
const BLOCK: usize = WRAM + 2;
const ARRAY: usize = BLOCK + 2;
const SETTINGS: usize = ARRAY + 1;

/// The accesses of an instruction.
#[derive(Clone, Copy, Default)]
struct RegisterAccess {
    reads: u128,
    writes: u128,
    /// Parts of registers that are written, in any order.
    parts: u128,
}

/// Registers with addresses of memory that a block only reads, a bit each.
pub type ReadOnly = u32;

/// Returns the instructions of straight-line code in an order that fills both slots. Results and hazards are the same.
pub fn schedule(code: &[NnaInst], read_only: ReadOnly, machine: &NnaMachine) -> Vec<NnaInst> {
    let accesses = accesses(code);
    let edges = edges(code, &accesses, read_only, machine);
    let mut height = vec![0_u64; code.len()];
    for i in (0..code.len()).rev() {
        height[i] = edges[i].iter().map(|&(to, cycles)| cycles + height[to]).max().unwrap_or(0);
    }
    let mut missing = vec![0_u32; code.len()];
    edges.iter().flatten().for_each(|&(to, _)| missing[to] += 1);
    let mut earliest = vec![0_u64; code.len()];
    let mut open: Vec<usize> = (0..code.len()).filter(|&i| missing[i] == 0).collect();
    let mut placed: Vec<(u64, usize)> = Vec::with_capacity(code.len());
    let mut cycle = 0;
    while !open.is_empty() {
        for slot in [Slot::Engine, Slot::Vector] {
            let ready = |&&i: &&usize| earliest[i] <= cycle && code[i].form.info().slot == slot;
            let Some(&best) = open.iter().filter(ready).max_by_key(|&&i| (height[i], std::cmp::Reverse(i))) else {
                continue;
            };
            open.retain(|&i| i != best);
            placed.push((cycle, best));
            for &(to, cycles) in &edges[best] {
                earliest[to] = earliest[to].max(cycle + cycles);
                missing[to] -= 1;
                if missing[to] == 0 {
                    open.push(to);
                }
            }
        }
        cycle += 1;
    }
    placed.sort_unstable();
    placed.into_iter().map(|(_, i)| code[i]).collect()
}

/// Returns for each instruction those that follow it, with the least number of cycles between.
fn edges(
    code: &[NnaInst],
    accesses: &[RegisterAccess],
    read_only: ReadOnly,
    machine: &NnaMachine,
) -> Vec<Vec<(usize, u64)>> {
    let mut edges = vec![Vec::new(); code.len()];
    for (to, b) in accesses.iter().enumerate() {
        for (from, a) in accesses[..to].iter().enumerate() {
            let raw = (a.writes | a.parts) & b.reads;
            let other = a.reads & (b.writes | b.parts) | (a.writes | a.parts) & b.writes | a.writes & b.parts;
            if raw != 0 {
                edges[from].push((to, result_latency(&code[from], &code[to], machine)));
            } else if other != 0 || is_ordered(&code[from], &code[to], read_only) {
                edges[from].push((to, 0));
            }
        }
    }
    edges
}

/// Returns the cycles from an instruction to one that uses its result.
fn result_latency(from: &NnaInst, to: &NnaInst, l: &NnaMachine) -> u64 {
    let is_sync = to.form == Form::Nnsync;
    u64::from(match from.form {
        Form::La | Form::Ls | Form::Lb | Form::Lw => l.load,
        Form::Add => l.add,
        Form::Rq => l.requantize,
        Form::Madd => l.multiply,
        Form::Nndrdocb => l.read,
        Form::Nndwf | Form::Nndww if is_sync => l.write,
        Form::Nncfg if is_sync => l.config,
        Form::Nnmacg if is_sync => return l.step(),
        _ => 1,
    })
}

/// Whether two accesses to memory may overlap, and one is a store.
fn is_ordered(a: &NnaInst, b: &NnaInst, read_only: ReadOnly) -> bool {
    let (Some(a), Some(b)) = (address(a), address(b)) else { return false };
    let is_constant = |base: i32| read_only >> base & 1 != 0;
    let overlaps = a.base != b.base || a.start < b.start + b.len && b.start < a.start + a.len;
    (a.is_store || b.is_store) && !is_constant(a.base) && !is_constant(b.base) && overlaps
}

/// An access to memory.
struct Address {
    base: i32,
    start: i64,
    len: i64,
    is_store: bool,
}

fn address(inst: &NnaInst) -> Option<Address> {
    let [_, a, b, c] = inst.args;
    let of = |base, offset, len, is_store| Some(Address { base, start: i64::from(offset), len, is_store });
    match inst.form {
        Form::La => of(b, c, if a == 2 { 64 } else { 32 }, false),
        Form::Sa => of(b, c, if a == 2 { 64 } else { 32 }, true),
        Form::Ls | Form::Lb => of(a, b, 1, false),
        Form::Lw => of(a, b, 4, false),
        Form::Sw => of(a, b, 4, true),
        _ => None,
    }
}

/// Returns the accesses of all instructions. A wait for the engine orders what the convolutions since the last wait use.
fn accesses(code: &[NnaInst]) -> Vec<RegisterAccess> {
    let everything = 0x3f << FRAM;
    let mut in_use: u128 = everything;
    let mut all = Vec::with_capacity(code.len());
    for inst in code {
        let mut access = register_accesses(inst);
        let bit = |base: usize, i: i32| 1_u128 << (base + i as usize);
        let [a, b, c, _] = inst.args;
        match inst.form {
            Form::Nndwf => {
                access.writes |= bit(FRAM, a);
                access.reads |= bit(SETTINGS, 0);
            }
            Form::Nndww => access.writes |= bit(WRAM, a),
            Form::Nnptr => access.writes |= bit(FRAM, a),
            Form::Nncfg => access.writes |= bit(SETTINGS, 0),
            Form::Rq => access.reads |= bit(SETTINGS, 0),
            Form::Nnmacg => {
                let used = bit(FRAM, a) | bit(WRAM, b) | bit(BLOCK, c);
                access.reads |= used | bit(SETTINGS, 0) | bit(ARRAY, 0);
                access.writes |= used | bit(ARRAY, 0);
                in_use |= used;
            }
            Form::Nndrdocb => access.reads |= bit(BLOCK, b),
            Form::Nnsync => {
                let mut used = (a as u128 & 0xf) << FRAM;
                if a & ENGINE != 0 {
                    used |= in_use | bit(ARRAY, 0);
                    in_use = 0;
                }
                used |= if a & CONFIG != 0 { bit(SETTINGS, 0) } else { 0 };
                access.reads |= used;
                access.writes |= used;
            }
            _ => {}
        }
        all.push(access);
    }
    all
}

fn register_accesses(inst: &NnaInst) -> RegisterAccess {
    let mut access = RegisterAccess::default();
    for (field, value) in inst.operands() {
        let (vector, scalar) = (1_u128 << (value as usize % 64), 1_u128 << (NUM_REGISTERS + value as usize % 64));
        match field.kind {
            OperandKind::Vector => access.reads |= vector,
            OperandKind::VectorDef => access.writes |= vector,
            OperandKind::VectorPart => access.parts |= vector,
            OperandKind::Scalar => access.reads |= scalar,
            OperandKind::ScalarDef => access.writes |= scalar,
            OperandKind::ScalarUpdate => {
                access.reads |= scalar;
                access.writes |= scalar;
            }
            _ => {}
        }
    }
    access
}
