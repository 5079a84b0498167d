//! `cluster`: records as ops, as data and as bytes; text; large programs.

use gradus_ir::{Builder, DType, Loc, Module, ParseOptions, PrintOptions, Tensor, parse_module};
use gradus_machines::cluster::{NewProgram, OPS, Program, record};
use gradus_simulators::Binary;
use gradus_simulators::cluster::{
    self, ClusterMachine, Elem, Extent, FUNCTIONS, Map, Record, Stage, StridedBox, Tile, Transfer,
};
use gradus_simulators::fields::{GroupKind, Visitor};
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// Sets all fields to pseudo-random values of their range.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 33
    }
}

impl Visitor for Random {
    type Error = Infallible;

    fn number(&mut self, _: &'static str, _: usize, [low, high]: [i64; 2], _: i64) -> Result<i64, Infallible> {
        Ok(match self.next() % 4 {
            0 => low,
            1 => high,
            _ => low + (self.next() as i64 % (high - low + 1)),
        })
    }

    fn word(&mut self, _: &'static str, words: &[&'static str], _: usize) -> Result<usize, Infallible> {
        Ok((self.next() % words.len() as u64) as usize)
    }

    fn present(&mut self, _: &'static str, _: bool) -> Result<bool, Infallible> {
        Ok(self.next().is_multiple_of(2))
    }

    fn float(&mut self, _: &'static str, _: f32) -> Result<f32, Infallible> {
        const CASES: [f32; 8] = [0.0, -0.0, 1.0, 0.1, f32::INFINITY, f32::MIN_POSITIVE, 1e-45, 3.402_823_5e38];
        Ok(match self.next() % 2 {
            0 => CASES[self.next() as usize % CASES.len()],
            _ => f32::from_bits(self.next() as u32 & 0x7f7f_ffff),
        })
    }

    fn begin(&mut self, _: &'static str, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }
}

fn random_record(random: &mut Random) -> Record {
    let mut record = Record::blank(random.next() as usize % FUNCTIONS.len()).expect("a function");
    let Ok(()) = record.visit_fields(random);
    record
}

/// Builds a module with a program.
fn module(machine: &ClusterMachine, code: &cluster::ClusterProgram) -> Module {
    let mut m = Module::new(gradus_machines::context());
    let block = m.body();
    NewProgram { name: "p", machine, code }.build(&mut Builder::at_end(&mut m, block), Loc::UNKNOWN);
    m
}

/// The program of a module.
fn program(m: &Module) -> Program {
    let op = m.block_ops(m.body()).next().expect("an op");
    Program::of(m, op).expect("a program")
}

fn text(m: &Module, generic: bool) -> String {
    m.op_text(m.root(), PrintOptions { generic, ..PrintOptions::default() })
}

fn parse_text(m: &Module, text: &str) -> Module {
    let parsed = parse_module(&m.ctx, "again", text.to_owned(), ParseOptions::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{}", &text[..text.len().min(4000)]))
}

#[test]
fn ops_are_in_the_order_of_the_functions() {
    let names: Vec<String> = FUNCTIONS.iter().map(|name| format!("cluster.{name}")).collect();
    assert_eq!(OPS.iter().map(|info| info.name).collect::<Vec<_>>(), names);
}

#[test]
fn ops_data_text_and_bytes_are_the_same_program() {
    let mut random = Random(1);
    for case in 0..150u32 {
        let clusters = 1 + case % 3;
        let mut records = || (0..random.next() % 6).map(|_| random_record(&mut random)).collect::<Vec<_>>();
        let code = cluster::ClusterProgram {
            records: (0..clusters).map(|_| records()).collect(),
            constants: vec![1, 2, case as u8],
            ddr_bytes: 4096,
            operands: vec![Extent { offset: 3, bytes: 40 }],
            results: vec![Extent { offset: 100, bytes: 0 }, Extent { offset: 200, bytes: case }],
        };
        let machine = ClusterMachine { clusters, cores: 1 + case, ..ClusterMachine::default() };
        let m = module(&machine, &code);
        let built = program(&m);
        assert_eq!(built, Program { machine: machine.clone(), code }, "case {case}");
        for generic in [false, true] {
            let text = text(&m, generic);
            let again = parse_text(&m, &text);
            assert_eq!(program(&again), built, "case {case}");
            assert_eq!(self::text(&again, generic), text);
        }
        let binary = Binary::read(&built.to_binary().write()).expect("a binary");
        assert_eq!(Program::from_binary(&binary, &machine), Ok(built));
        assert!(Program::from_binary(&binary, &ClusterMachine { cores: 99_999, ..machine }).is_err());
        assert!(record(&m, m.root()).is_err());
    }
}

/// The golden file is a program whose clusters exchange their halos; its result is that of plain loops.
#[test]
fn clusters_that_exchange_halos_compute_maxima() {
    let m = Module::new(gradus_machines::context());
    let m = parse_text(&m, include_str!("../../tests/golden/dialects/cluster/halo.mlir"));
    gradus_ir::verify(&m).expect("a valid program");
    let image: Vec<i8> = (0..32).map(|i| (i * 37 % 101 - 50) as i8).collect();
    let operand = Tensor::from_vec(&[8, 4], image.clone());
    let (results, counts) = program(&m).run(&[operand], &[(DType::I8, vec![8, 4])], false).expect("a result");
    let window = |i: usize, n: usize| i.saturating_sub(1)..(i + 2).min(n);
    let maximum =
        |row, col| window(row, 8).flat_map(|r| window(col, 4).map(move |c| r * 4 + c)).map(|i| image[i]).max();
    let expected: Vec<i8> = (0..32).filter_map(|i| maximum(i / 4, i % 4)).collect();
    assert_eq!(results[0].as_slice::<i8>(), expected);
    assert_eq!((counts.exchange_bytes, counts.ddr_bytes_read), (8, 32));
}

const BYTES: u32 = 64;

fn tile(offset: u32) -> Tile {
    Tile { offset, row: BYTES, pixel: BYTES, channel: 1, rows: 1, cols: 1, channels: BYTES, elem: Elem::I8 }
}

/// A program in which cluster 0 applies functions to bytes and sends them to cluster 1, which sends them back, `rounds` times.
fn ping_pong(rounds: u32) -> cluster::ClusterProgram {
    let place = |offset| StridedBox { offset, row: 0, pixel: 0 };
    let transfer = |from, to| Transfer { from: place(from), to: place(to), rows: 1, cols: 1, bytes: BYTES };
    let mut records = [Vec::new(), Vec::new()];
    records[0].extend([
        Record::Fetch { transfer: transfer(0, 0), clusters: 1, event: 0 },
        Record::Wait { event: 0, count: 1 },
    ]);
    for round in 0..rounds {
        let (here, there) = (round as usize % 2, (round as usize + 1) % 2);
        let event = 1 + round;
        let clamp = Stage::Clamp { low: -100.5, high: 100.0 };
        let stages = [Some(clamp), None, None, None, None, None];
        records[here].extend([
            Record::Map(Map { task: round, input: tile(0), output: tile(BYTES), stages }),
            Record::Send { transfer: transfer(BYTES, 0), clusters: 1 << there, event },
        ]);
        records[there].push(Record::Wait { event, count: 1 });
    }
    let last = rounds as usize % 2;
    records[last].extend([
        Record::Store { transfer: transfer(0, BYTES), event: rounds + 1 },
        Record::Wait { event: rounds + 1, count: 1 },
    ]);
    cluster::ClusterProgram {
        records: records.to_vec(),
        constants: Vec::new(),
        ddr_bytes: 2 * BYTES,
        operands: vec![Extent { offset: 0, bytes: BYTES }],
        results: vec![Extent { offset: BYTES, bytes: BYTES }],
    }
}

/// Building, printing, parsing and verifying 20,000 records take well under a second each; the bounds are for slow machines and
/// builds.
#[test]
fn large_programs_are_fast() {
    let code = ping_pong(6_666);
    let records: usize = code.records.iter().map(Vec::len).sum();
    assert!(records >= 20_000, "{records} records");
    let machine = ClusterMachine { clusters: 2, ..ClusterMachine::default() };
    let mut seconds = Vec::new();
    let start = Instant::now();
    let m = module(&machine, &code);
    seconds.push(("build", start.elapsed()));
    let start = Instant::now();
    let text = text(&m, false);
    seconds.push(("print", start.elapsed()));
    let start = Instant::now();
    let again = parse_text(&m, &text);
    seconds.push(("parse", start.elapsed()));
    let start = Instant::now();
    gradus_ir::verify(&again).expect("a valid program");
    seconds.push(("verify", start.elapsed()));
    assert_eq!(program(&again).code, code);
    assert!(seconds.iter().all(|(_, time)| *time < Duration::from_secs(5)), "{seconds:?}");
}
