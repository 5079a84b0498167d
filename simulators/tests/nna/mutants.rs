//! Mutants of programs: each is rejected, computes the same, or computes something else; and what is accepted depends neither
//! on latencies nor on the values of poison.

use super::{Operands, Random, count};
use gradus_simulators::Binary;
use gradus_simulators::nna::{
    Conditions, FaultKind, Form, Interlock, LoopOrder, Mapping, NUM_REGISTERS, NnaInst, NnaMachine, OperandKind,
    ProductPlan, ProductProgram, Shape, decode_all, simulate,
};
use std::collections::BTreeMap;

/// Programs of all structures, with operands.
fn subjects(random: &mut Random) -> Vec<(ProductProgram, NnaMachine, Operands)> {
    let (v1, v2) = (NnaMachine::V1, NnaMachine::DEFAULT);
    let dense = |machine: &NnaMachine| ProductPlan::new(Mapping::Dense, machine);
    let diagonal = |machine: &NnaMachine| ProductPlan::new(Mapping::Diagonal, machine);
    let step_outer = |plan: ProductPlan| ProductPlan { order: LoopOrder::StepOuter, resident: 1, ..plan };
    let cases = [
        (v2, dense(&v2), (40, 300, 21)),
        (v1, ProductPlan { resident: 1, initial: true, ..dense(&v1) }, (33, 320, 9)),
        (v2, step_outer(dense(&v2)), (40, 330, 7)),
        (v1, ProductPlan { ping_pong: false, requantize: Some(3), ..dense(&v1) }, (20, 100, 5)),
        (v2, diagonal(&v2), (3, 20, 300)),
        (v1, ProductPlan { requantize: Some(-5), initial: true, ..diagonal(&v1) }, (3, 13, 69)),
        (v1, step_outer(diagonal(&v1)), (4, 23, 100)),
        (v2, ProductPlan { sharing: false, resident: 1, ..diagonal(&v2) }, (2, 11, 70)),
    ];
    let subject = |(machine, plan, (rows, depth, columns)): (NnaMachine, ProductPlan, (usize, usize, usize))| {
        let shape = Shape { rows, depth, columns };
        let product = ProductProgram::new(shape, plan, &machine).expect("the product has a program");
        let operands = Operands::new(shape, &product, random);
        (product, machine, operands)
    };
    cases.into_iter().map(subject).collect()
}

/// The kinds of mutations.
const KINDS: [&str; 14] = [
    "drop",
    "duplicate",
    "swap",
    "move",
    "fram",
    "wram",
    "pixel",
    "half",
    "register",
    "address",
    "jump",
    "stride",
    "flags",
    "mask",
];

/// Applies a mutation at a random place; `None` if the program has no such place.
fn mutate(code: &[NnaInst], kind: &str, random: &mut Random) -> Option<Vec<NnaInst>> {
    let mut code = code.to_vec();
    let at = random.below(code.len() - 1);
    match kind {
        "drop" => drop(code.remove(at)),
        "duplicate" => code.insert(at, code[at]),
        "swap" => code.swap(at, at + 1),
        "move" => {
            let is_start = |i: &usize| code[*i].form == Form::Nnmacg;
            let starts: Vec<usize> = (0..code.len()).filter(is_start).collect();
            let start = *starts.get(random.below(starts.len()))?;
            let from = start.checked_sub(1 + random.below(8))?;
            let inst = code.remove(from);
            code.insert(start + random.below(4).min(code.len() - start), inst);
        }
        _ => {
            let places = |i: &usize| operand(&code[*i], kind).is_some();
            let places: Vec<usize> = (0..code.len()).filter(places).collect();
            let at = *places.get(random.below(places.len()))?;
            let operand = operand(&code[at], kind)?;
            let is_sync = code[at].form == Form::Nnsync;
            let value = &mut code[at].args[operand];
            *value = match kind {
                "register" => random.below(NUM_REGISTERS) as i32,
                "address" => *value + [1, -1, 4, 32, 64, -64, 1 << 20][random.below(7)],
                "jump" => [1, 2, 4, 6, 8, 16, 32][random.below(7)],
                "stride" => 3 - *value,
                "mask" => *value ^ 1 << random.below(9),
                "pixel" => random.below(4) as i32,
                "flags" if is_sync => *value ^ 1 << random.below(6),
                _ => 1 - *value,
            };
        }
    }
    Some(code)
}

/// Returns the operand of an instruction that a kind of mutation changes.
fn operand(inst: &NnaInst, kind: &str) -> Option<usize> {
    let is = |wanted: &[OperandKind]| inst.form.info().fields.iter().position(|field| wanted.contains(&field.kind));
    let configures = |register: i32| (inst.form == Form::Nncfg && inst.args[0] == register).then_some(1);
    let is_register = [
        OperandKind::Vector,
        OperandKind::VectorDef,
        OperandKind::VectorPart,
        OperandKind::Scalar,
        OperandKind::ScalarDef,
        OperandKind::ScalarUpdate,
    ];
    match kind {
        "fram" => is(&[OperandKind::Fram, OperandKind::Block]),
        "wram" => is(&[OperandKind::Wram]),
        "pixel" => is(&[OperandKind::Pixel]),
        "half" => is(&[OperandKind::Half]).or(is(&[OperandKind::Part]).filter(|&i| inst.args[i] < 2)),
        "register" => is(&is_register),
        "address" if inst.form != Form::Nncfg => is(&[OperandKind::Word]),
        "jump" => configures(1),
        "stride" => configures(0),
        "mask" => configures(2),
        "flags" => is(&[OperandKind::Flag, OperandKind::Events]),
        _ => None,
    }
}

/// The machines that differ from one in their latencies, from none to long ones.
fn with_other_latencies(machine: &NnaMachine, random: &mut Random) -> [NnaMachine; 3] {
    let is_latency = |name: &str| !["outputs", "kernels", "frams", "memory"].contains(&name);
    [0, 6, 300].map(|max| {
        let mut other = *machine;
        let latencies = other.parameters().into_iter().filter(|(name, _)| is_latency(name));
        latencies.for_each(|(_, cycles)| *cycles = random.below(max + 1) as u32);
        other
    })
}

#[test]
fn mutants_are_rejected_or_independent_of_time() {
    let mut random = Random(3);
    let subjects = subjects(&mut random);
    let mut outcomes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for i in 0..count("NNA_MUTANTS", 1000) {
        let (product, machine, operands) = &subjects[random.below(subjects.len())];
        let kind = KINDS[i % KINDS.len()];
        let Some(code) = mutate(&product.code, kind, &mut random) else { continue };
        if code.iter().any(|inst| inst.check(machine).is_err()) {
            *outcomes.entry((kind, "refused by the decoder")).or_default() += 1;
            continue;
        }
        let conditions = Conditions { max_cycles: 20 * product.cycles, ..Conditions::REJECT };
        let expected = operands.run(product, machine, &conditions).expect("the program has no hazard");
        let mutant = ProductProgram { code, ..product.clone() };
        let outcome = operands.run(&mutant, machine, &conditions).map(|(sums, bytes, _)| (sums, bytes));
        let is_unwritten = |at: usize| at == mutant.code.len();
        let word = match &outcome {
            Ok(result) if *result == (expected.0, expected.1) => "same",
            Ok(_) => "different",
            Err(fault) if is_unwritten(fault.at) => "different",
            Err(fault) => fault.class.name(),
        };
        *outcomes.entry((kind, word)).or_default() += 1;
        if matches!(&outcome, Err(fault) if !is_unwritten(fault.at)) {
            continue;
        }
        for machine in with_other_latencies(machine, &mut random) {
            for fill in [0, 0x5a, 0xff] {
                let conditions = Conditions { interlock: Interlock::Absent, fill, max_cycles: 1 << 40 };
                let timed = operands.run(&mutant, &machine, &conditions).map(|(sums, bytes, _)| (sums, bytes));
                assert!(timed == outcome, "missed hazard: {kind} in {:?}, {machine:?}", product.layout.plan);
            }
        }
    }
    for kind in KINDS {
        let total: usize = outcomes.iter().filter(|((of, _), _)| *of == kind).map(|(_, n)| n).sum();
        assert!(total > 0, "no mutant of kind '{kind}'");
    }
    eprintln!("{outcomes:#?}");
}

#[test]
fn changed_binaries_are_refused_or_safe() {
    let mut random = Random(4);
    let subjects = subjects(&mut random);
    let (mut refused, mut rejected, mut ended) = (0, 0, 0);
    for _ in 0..count("NNA_BINARIES", 4000) {
        let (product, machine, operands) = &subjects[random.below(subjects.len())];
        let mut binary = product.to_binary(machine);
        let read = ProductProgram::from_binary(&binary, machine).expect("a program");
        assert!(read.code == product.code && read.to_binary(machine) == binary);
        let bytes = &mut binary.sections[0];
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        if random.below(10) == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        let read = Binary::read(&binary.write()).expect("the form is right");
        let Ok(ProductProgram { code, .. }) = ProductProgram::from_binary(&read, machine) else {
            refused += 1;
            continue;
        };
        let conditions = Conditions { max_cycles: 2 * product.cycles, ..Conditions::REJECT };
        match operands.run(&ProductProgram { code, ..product.clone() }, machine, &conditions) {
            Ok(_) => ended += 1,
            Err(_) => rejected += 1,
        }
    }
    assert!(refused > 0 && rejected > 0 && ended > 0);
    eprintln!("{refused} refused, {rejected} rejected, {ended} safe");
}

/// Random instructions, which no program generator would write.
#[test]
fn random_programs_are_safe() {
    let mut random = Random(5);
    let machine = NnaMachine { memory: 1 << 12, ..NnaMachine::DEFAULT };
    for _ in 0..count("NNA_BINARIES", 4000) {
        let words = 1 + random.below(40);
        let bytes: Vec<u8> = (0..8 * words).map(|i| random.next() as u8 & if i % 8 < 5 { 0x1f } else { 0 }).collect();
        let code: Vec<NnaInst> = bytes.chunks(8).filter_map(|word| decode_all(word, &machine).ok()).flatten().collect();
        for interlock in [Interlock::Stall, Interlock::Reject, Interlock::Absent] {
            let mut memory = gradus_simulators::nna::ByteMemory::new(1 << 12, 7);
            memory.fill(0, &[1; 2048]).expect("in bounds");
            let conditions = Conditions { interlock, fill: 7, max_cycles: 1000 };
            let result = simulate(&code, &machine, &mut memory, &conditions);
            assert!(
                result.is_ok() || result.is_err_and(|fault| fault.class as usize <= FaultKind::CycleLimit as usize)
            );
        }
    }
}
