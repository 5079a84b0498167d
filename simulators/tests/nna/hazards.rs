//! A program for each hazard.

use gradus_simulators::nna::{ByteMemory, Conditions, FaultKind, HAZARDS, Interlock, NnaMachine, assemble, simulate};

/// What each program begins with: configuration, 64 loaded bytes, and a filled feature RAM and kernel.
const BEGIN: &str = "
    nncfg stride, 2
    nncfg jump, 16
    nncfg mask, 1
    nnsync config
    li r1, 0
    la v0, all, r1, 0
    nndwf fram0, v0
    li r2, 16
    nndww wram0, v0
    djnz r2, -1
    nnsync fram0_wram0_engine
";

/// What reads and stores a result.
const END: &str = "
    nnsync engine
    nndrdocb v1, block0, pixel0, lo
    sa v1, all, r1, 0
    halt
";

/// Class, program after [`BEGIN`], and whether the machine stalls instead of rejecting it.
const CASES: &[(FaultKind, &str, bool)] = &[
    (FaultKind::FramRaw, "nndwf fram0, v0\n nnmacg fram0, wram0, block0, keep", true),
    (FaultKind::FramWar, "nnmacg fram0, wram0, block0, keep\n nndwf fram0, v0", true),
    (FaultKind::WramRaw, "nndww wram0, v0\n nnmacg fram0, wram0, block0, keep", true),
    (FaultKind::WramWar, "nnmacg fram0, wram0, block0, keep\n nndww wram0, v0", true),
    (FaultKind::ResultRaw, "nnmacg fram0, wram0, block0, keep\n nndrdocb v1, block0, pixel0, lo", true),
    (
        FaultKind::ResultUnread,
        "nnmacg fram0, wram0, block0, keep\n nnsync engine\n nnmacg fram0, wram0, block0, keep",
        false,
    ),
    (FaultKind::EngineBusy, "nnmacg fram0, wram0, block0, keep\n nnmacg fram0, wram0, block1, keep", true),
    (FaultKind::FramOverrun, "nnptr fram0, 48\n nndwf fram0, v0", false),
    (FaultKind::FramOverrun, "nncfg jump, 18\n nnsync config\n nnptr fram0, 16\n nndwf fram0, v0", false),
    (FaultKind::WramOverrun, "nnptr wram0, 9216\n nndww wram0, v0", false),
    (FaultKind::WramOverrun, "nnptr wram0, 32", false),
    (FaultKind::Uninitialized, "sa v9, all, r1, 0", false),
    (FaultKind::Uninitialized, "add v1, v0, v9", false),
    (FaultKind::Uninitialized, "la v1, all, r1, 32\n and v1, v1, v0", false),
    (FaultKind::Uninitialized, "djnz r9, -1", false),
    (
        FaultKind::Uninitialized,
        "nnmacg fram0, wram1, block0, keep\n nnsync engine\n nndrdocb v1, block0, pixel0, lo\n sa v1, all, r1, 0",
        false,
    ),
    (FaultKind::MemoryBounds, "la v1, all, r1, 4033", false),
    (FaultKind::MemoryBounds, "la v1, lo, r1, -1", false),
    (FaultKind::StaleConfig, "nncfg mask, 2\n nnmacg fram0, wram0, block0, keep", true),
    (FaultKind::StaleConfig, "rq v1, v0, v0, q0", false),
    (FaultKind::BadValue, "nncfg stride, 3", false),
    (FaultKind::BadValue, "nncfg zero, 1\n nnsync config\n rq v1, v0, v0, q0", false),
    (FaultKind::BadBranch, "li r2, 3\n djnz r2, -1000", false),
    (FaultKind::BadBranch, "li r2, 3\n djnz r2, 5", false),
    (FaultKind::CycleLimit, "li r2, 0\n djnz r2, 0", false),
];

fn run(text: &str, interlock: Interlock) -> Result<gradus_simulators::nna::Statistics, gradus_simulators::nna::Fault> {
    let machine = NnaMachine::DEFAULT;
    let code = assemble(text, &machine).expect("the program is right");
    let mut memory = ByteMemory::new(4096, 0);
    memory.fill(0, &[0x7f; 64]).expect("in bounds");
    simulate(&code, &machine, &mut memory, &Conditions { interlock, fill: 0, max_cycles: 10_000 })
}

#[test]
fn each_hazard_is_rejected_or_stalls() {
    for &(class, program, stalls) in CASES {
        let text = format!("{BEGIN}{program}\n halt");
        assert_eq!(run(&text, Interlock::Reject).expect_err(program).class, class, "{program}");
        match run(&text, Interlock::Stall) {
            Ok(statistics) if stalls => assert!(statistics.stalls[class as usize] > 0, "{program}"),
            Ok(_) => assert_eq!(class, FaultKind::ResultUnread, "{program}"),
            Err(fault) => assert!(!stalls && fault.class == class, "{program}: {fault}"),
        }
    }
    for hazard in HAZARDS {
        assert!(CASES.iter().any(|case| case.0 == hazard.class), "no program for {}", hazard.name);
    }
}

/// Without detection, a program with a hazard computes with poison; so the comparison of accepted mutants can fail.
#[test]
fn data_in_flight_are_poison_without_interlocks() {
    for &(class, program, _) in CASES.iter().filter(|case| case.2 && case.0 != FaultKind::StaleConfig) {
        let begin = if class == FaultKind::FramRaw { "nnptr fram0, 0\n" } else { "nnptr wram0, 0\n" };
        let end = if class == FaultKind::ResultRaw { "sa v1, all, r1, 0\n halt" } else { END };
        let text = format!("{BEGIN}{begin}{program}\n{end}");
        run(&text, Interlock::Stall).unwrap_or_else(|fault| panic!("{program}: {fault}"));
        assert_eq!(
            run(&text, Interlock::Absent).map_err(|fault| fault.class),
            Err(FaultKind::Uninitialized),
            "{program}"
        );
    }
}

#[test]
fn operands_that_the_machine_lacks_are_rejected() {
    let code = assemble("nnptr wram1, 0\n nndww wram1, v0\n halt", &NnaMachine::DEFAULT).expect("the program is right");
    let machine = NnaMachine { kernels: 1, ..NnaMachine::DEFAULT };
    let fault =
        simulate(&code, &machine, &mut ByteMemory::new(64, 0), &Conditions::REJECT).expect_err("there is one kernel");
    assert_eq!((fault.at, fault.class), (1, FaultKind::BadValue));
}

#[test]
fn masked_taps_and_the_gap_may_be_poison() {
    let text = format!("{BEGIN} nnmacg fram0, wram0, block0, rewind\n nnsync engine\n halt");
    let statistics = run(&text, Interlock::Reject).expect("no hazard");
    assert_eq!((statistics.steps, statistics.busy), (1, 17));
}
