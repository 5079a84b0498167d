//! Binaries of devices: the programs of generated networks as files and back, runs of files, and damaged files.

#![allow(clippy::print_stdout, reason = "counts, which the harness shows with --nocapture or a failure")]

use crate::support::parse;
use gradus::Tool;
use gradus::generate::programs::FAMILIES;
use gradus::ir::pass::{Pipeline, RunOptions, Watch};
use gradus::ir::random::Random;
use gradus::ir::{Context, DType, Module, Tensor, Type, verify};
use gradus::machines::{cluster, nna, npu};
use gradus_cost::Machine;
use gradus_interp::Interpreter;
use gradus_ir::eval::Datum;
use gradus_simulators::Binary;
use gradus_targets::{DeviceBinaries, Target};
use std::sync::Arc;

/// Number of networks of each family.
const NETWORKS: u64 = 12;

/// A target with a device.
struct Device {
    target: &'static Target,
    binaries: DeviceBinaries,
    machine: Machine,
}

impl Device {
    fn all(tool: &Tool) -> Vec<Device> {
        let of = |&target: &&'static Target| {
            let machine = target.cost.machine(&tool.context()).expect("a machine");
            target.device.map(|binaries| Device { target, binaries, machine })
        };
        tool.targets.iter().filter_map(of).collect()
    }

    fn name(&self) -> &'static str {
        self.target.cost.name
    }

    fn read(&self, ctx: &Arc<Context>, bytes: &[u8]) -> Result<Module, String> {
        let m = (self.binaries.read)(ctx, bytes, &self.machine).map_err(|error| error.to_string())?;
        let m = m.ok_or("a binary of another device")?;
        verify(&m).map(|()| m).map_err(|errors| errors[0].message.clone())
    }

    /// Returns the binaries of generated networks, of at most `max` bytes.
    fn generated(&self, tool: &Tool, max: usize) -> Vec<Vec<u8>> {
        let text = self.target.pipeline(&self.machine).expect("a pipeline");
        let draw = |n: u64| FAMILIES.iter().map(move |family| (family.draw)(&mut Random::of((family.name, n))));
        let lowered = |text_of_program: String| {
            let mut m = parse(&tool.context(), &text_of_program).filter(|m| verify(m).is_ok())?;
            let mut pipeline = Pipeline::parse(&text, &tool.passes).expect("the pipeline is right");
            pipeline.run(&mut m, &RunOptions::default(), &mut Watch::new(|_| {})).ok()?;
            Some((self.binaries.programs)(&m).expect("programs"))
        };
        let programs = (0..NETWORKS).flat_map(draw).filter_map(lowered).flatten();
        programs.map(|(_, bytes)| bytes).filter(|bytes| bytes.len() <= max).collect()
    }

    /// Runs the function of a binary. Returns whether it ends without a fault.
    fn run(&self, m: &Module) -> bool {
        let function = Interpreter::new(m).function("main").expect("a function");
        let mut program = self.target.load(m, function, &self.machine, 1).expect("a valid program");
        let inputs = program.signature().inputs.iter().map(|&(_, ty)| input(&m.ctx, ty));
        inputs.collect::<Option<Vec<Datum>>>().is_some_and(|inputs| program.call(inputs).is_ok())
    }
}

/// Returns a tensor of zeros, or of floats that are scales; `None` for a large one, and for one of a type without data.
fn input(ctx: &Context, ty: Type) -> Option<Datum> {
    let extents: Vec<usize> = ctx.static_shape(ty)?.iter().map(|&d| d as usize).collect();
    let dtype = ctx.dtype(ctx.element_type(ty))?;
    let count = extents.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
    let element = if dtype == DType::F32 { 0.01f32.to_le_bytes().to_vec() } else { vec![0; dtype.size()] };
    let bytes = element.repeat(count.filter(|&count| count < 1 << 24)?);
    Some(Datum::Tensor(Tensor::new(dtype, extents, bytes.into()).expect("a tensor")))
}

#[test]
fn binaries_of_generated_networks_are_read_again() {
    let tool = Tool::gradus();
    for device in Device::all(&tool) {
        let binaries = device.generated(&tool, usize::MAX);
        assert!(binaries.len() > 15, "{}: {} programs", device.name(), binaries.len());
        for bytes in &binaries {
            let m = device.read(&tool.context(), bytes).unwrap_or_else(|why| panic!("{}: {why}", device.name()));
            let again = (device.binaries.programs)(&m).expect("programs");
            assert!(again.len() == 1 && again[0].1 == *bytes, "{}: {}", device.name(), m.to_text(Default::default()));
            assert!(device.run(&m), "{}: {}", device.name(), m.to_text(Default::default()));
        }
    }
}

fn below(random: &mut Random, n: usize) -> usize {
    random.below(n as u64) as usize
}

/// Bytes of sections are changed, inserted or removed; also the lengths of sections and the rest of the header. Checksums are right.
fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    if random.below(4) == 0 {
        let mut bytes = bytes.to_vec();
        let header = 40 + 8 * bytes[12] as usize;
        let at = below(random, header);
        bytes[at] ^= 1 << random.below(8);
        bytes.truncate(if random.below(3) == 0 { below(random, bytes.len()) } else { bytes.len() });
        if bytes.len() > 36 {
            let checksum = crc32fast::hash(&bytes[36..]);
            bytes[32..36].copy_from_slice(&checksum.to_le_bytes());
        }
        return bytes;
    }
    let mut binary = Binary::read(bytes).expect("a binary");
    for _ in 0..1 + random.below(3) {
        let section = below(random, binary.sections.len() + 1);
        if section == binary.sections.len() {
            binary.types = damaged_text(&binary.types, random);
        } else {
            damage_section(&mut binary.sections[section], random);
        }
    }
    binary.write()
}

fn damaged_text(text: &str, random: &mut Random) -> String {
    let mut text: Vec<char> = text.chars().collect();
    let at = below(random, text.len());
    text[at] = random.pick(&['0', '9', 'x', '?', 'i', '>', '(', ',', ' ', 'é']);
    text.into_iter().collect()
}

fn damage_section(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = below(random, bytes.len());
    match random.below(8) {
        0..4 => bytes[at] ^= 1 << random.below(8),
        4 => bytes[at] = random.next() as u8,
        5 => bytes.truncate(at),
        6 => drop(bytes.remove(at)),
        _ => bytes.insert(at, random.next() as u8),
    }
}

/// Runs the program of a binary on any data, with little work. Returns whether it ends without a fault.
fn simulated(m: &Module) -> bool {
    let program = m.block_ops(m.body()).next().expect("a program");
    if let Ok(program) = npu::Program::of(m, program) {
        use gradus_simulators::npu::{Ddr, Simulator};
        let mut simulator = Simulator::new(program.machine);
        simulator.limit = 1 << 20;
        let mut ddr = Ddr::new(program.ddr_bytes.min(1 << 20));
        ddr.initialized.fill(true);
        return simulator.run(&program.instructions, &mut ddr).is_ok();
    }
    if let Ok(program) = cluster::Program::of(m, program) {
        use gradus_simulators::cluster::Simulator;
        let simulator = Simulator { limit: 1 << 24, ..Simulator::new(program.machine) };
        return simulator.run(&program.code, &mut program.code.ddr()).is_ok();
    }
    use gradus_simulators::nna::{ByteMemory, Conditions, simulate};
    let (code, layout, machine) = nna::code_of(m, program).expect("a program");
    let mut memory = ByteMemory::new(layout.size as usize, 0);
    memory.fill(0, &vec![1; layout.size as usize]).expect("in bounds");
    simulate(&code, &machine, &mut memory, &Conditions { max_cycles: 1 << 16, ..Conditions::REJECT }).is_ok()
}

/// `GRADUS_DEVICE_BINARIES` sets the number of files per device.
#[test]
fn damaged_binaries_are_refused_or_safe() {
    let count = std::env::var("GRADUS_DEVICE_BINARIES").ok().and_then(|n| n.parse().ok()).unwrap_or(700);
    let tool = Tool::gradus();
    for device in Device::all(&tool) {
        let (binaries, mut random) = (device.generated(&tool, 8000), Random::of(device.name()));
        let (mut ctx, mut read, mut ended) = (tool.context(), 0, 0);
        for i in 0..count {
            if i % 500 == 0 {
                ctx = tool.context();
            }
            let original = below(&mut random, binaries.len());
            let bytes = damage(&binaries[original], &mut random);
            let Ok(m) = device.read(&ctx, &bytes) else { continue };
            read += 1;
            if simulated(&m) {
                ended += u32::from(device.run(&m));
            }
            assert_eq!((device.binaries.programs)(&m).expect("programs").len(), 1);
        }
        println!("{}: of {count} damaged binaries {read} are read, and {ended} end", device.name());
        assert!(read > count / 50 && read < count && ended > 0, "{}: {read} of {count}, {ended}", device.name());
    }
}
