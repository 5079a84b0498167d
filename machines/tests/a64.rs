//! The emitter of AArch64 against another assembler, GNU as, on random instructions. Without it, the comparison is skipped.

use gradus_ir::random::Random;
use gradus_machines::a64::{Form, Inst, Instruction, Operation, RegisterClass, decode, encode, instructions};
use std::process::Command;

/// Number of instructions; `A64_INSTRUCTIONS` in the environment sets another.
fn count() -> usize {
    std::env::var("A64_INSTRUCTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

/// Draws an instruction of a class.
fn draw(random: &mut Random, what: &'static Instruction, class: RegisterClass) -> Inst {
    let vector = |random: &mut Random| random.below(32) as u8;
    let general = |random: &mut Random| random.below(31) as u8;
    let register = |random: &mut Random| if class.is_general() { general(random) } else { vector(random) };
    let inst = Inst::new(what, class, register(random));
    let number = |random: &mut Random, bits: u32| random.below(1 << bits) as i32;
    match what.form {
        Form::Memory => inst.at(general(random), random.below(1 << 12) as usize * class.bytes()),
        Form::Wide => inst.imm(number(random, 16)).shifted(random.pick(&[0, 16])),
        Form::Modified => inst.imm(number(random, 8)).shifted(random.pick(&[0, 8, 16, 24])),
        Form::Duplicate => inst.of(general(random), 0),
        Form::Three => inst.of(register(random), register(random)),
        Form::Shifted if class.is_vector() => inst.of(vector(random), vector(random)),
        Form::Shifted => inst.of(general(random), general(random)).shifted(random.below(32) as u8),
        Form::Source => inst.of(0, general(random)).shifted(random.below(32) as u8),
        Form::Four => Inst { a: general(random), ..inst.of(general(random), general(random)) },
        Form::AddImm => inst.of(general(random), 0).imm(number(random, 12)).shifted(random.pick(&[0, 12])),
        Form::Element => {
            let lane = random.below(16 / class.lane_bytes() as u64) as u8;
            Inst { lane, ..inst.of(vector(random), vector(random)) }
        }
        Form::MulImm | Form::LoadMul => unreachable!("extensions have no encodings"),
        Form::Fixed => Inst { d: 0, ..inst },
    }
}

fn drawn(count: usize) -> Vec<Inst> {
    let forms: Vec<(&'static Instruction, RegisterClass)> =
        instructions().flat_map(|what| what.encodings.iter().map(move |&(class, _)| (what, class))).collect();
    assert!(forms.len() >= 40, "{} forms", forms.len());
    let mut random = Random::of(3);
    let next = |_| {
        let (what, class) = random.pick(&forms);
        draw(&mut random, what, class)
    };
    (0..count).map(next).collect()
}

/// Words of assembly text by GNU as; `None` without it.
fn assembled(text: &str) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("in.s"), text).expect("a file can be written");
    let run = |tool: &str, args: &[&std::path::Path]| {
        let output = Command::new(format!("aarch64-linux-gnu-{tool}")).args(args).output().ok()?;
        assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
        Some(())
    };
    let [input, object, binary] = ["in.s", "out.o", "out.bin"].map(path);
    run("as", &["-o".as_ref(), &object, &input])?;
    run("objcopy", &["-O".as_ref(), "binary".as_ref(), &object, &binary])?;
    Some(std::fs::read(binary).expect("it was written"))
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped comparison says so")]
fn words_are_those_of_another_assembler() {
    let all = drawn(count());
    let text: String = all.iter().map(|inst| format!("{inst}\n")).collect();
    let Some(bytes) = assembled(&text) else {
        eprintln!("skipped: there is no aarch64-linux-gnu-as (apt-get install binutils-aarch64-linux-gnu)");
        return;
    };
    assert_eq!(bytes.len(), 4 * all.len());
    for (inst, word) in all.iter().zip(bytes.as_chunks::<4>().0) {
        assert_eq!(encode(inst), Some(u32::from_le_bytes(*word)), "{inst}");
    }
}

#[test]
fn words_decode_to_their_instructions() {
    for mut inst in drawn(count()) {
        let word = encode(&inst).expect("it has an encoding");
        // Loads and stores of vectors do not tell their lanes.
        if matches!(inst.what.operation, Operation::Load | Operation::Store) && inst.class == RegisterClass::V2D {
            inst.class = RegisterClass::V4S;
        }
        assert_eq!(decode(word), Some(inst), "{inst}: {word:08x}");
    }
}

/// No two forms have an encoding in common, and what is decoded is encoded to the same word.
#[test]
fn damaged_words_are_refused_or_mean_the_same() {
    let (mut random, mut accepted) = (Random::of(5), 0);
    for inst in drawn(count()) {
        let word = encode(&inst).expect("it has an encoding") ^ 1 << random.below(32);
        if let Some(other) = decode(word) {
            assert_eq!(encode(&other), Some(word), "{other}");
            accepted += 1;
        }
    }
    assert!(accepted > count() / 10, "{accepted} accepted");
}
