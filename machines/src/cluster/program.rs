//! Programs: `cluster.program`.

use super::fields::{read, to_attr};
use super::record::{BYTES, push, records_of};
use super::text::{parse_fields, print_fields};
use crate::code::bytes_attr;
use gradus_dialects::constraint::{BYTES_OR_RESOURCE, DICT, I64, SYMBOL_NAME, kind};
use gradus_ir::{
    Attr, AttrKind, Builder, Context, Directive, Effects, Loc, Module, Op, OpDecl, OpParser, OpPrinter, OpState, Param,
    ParseResult, Region, Tensor, Traits, Type, Violation, op,
};
use gradus_simulators::cluster::{self, ClusterMachine, Extent, MAX_CLUSTERS, Record, check};
use gradus_simulators::{Binary, BinaryError};
use std::io;

/// Consecutive bytes of DDR: pairs of first byte and number of bytes.
const EXTENTS: AttrKind = kind("array of pairs of 64-bit integers", |c, a| extents(c, a).is_some());

/// A program of a processor of clusters.
///
/// `machine` has the parameters of the machine by name: rates per cycle, latencies in cycles, sizes in bytes. DDR has `ddr` bytes, of
/// which the first are the constants. An operand or result is a pair of its first byte and its number of bytes, a row-major tensor. DDR
/// without constants and operands, and the memories of the clusters, are undefined at first.
///
/// Each cluster executes its records in order. Clusters and transfers are ordered by events alone: a program whose accesses are not
/// ordered for all latencies, or that does not end, is rejected.
///
/// ```mlir
/// cluster.program @copy machine {
///   clusters = 2, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64,
///   int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300,
///   ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32,
///   slice = 350000
/// } ddr 128 operands [[0, 64]] results [[64, 64]] constants dense<> : tensor<0xui8>
/// cluster 0 {
///   cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 64}, clusters = 2, event = 0}
/// }
/// cluster 1 {
///   cluster.wait {event = 0, count = 1}
///   cluster.store {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 64, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 64}, event = 1}
///   cluster.wait {event = 1, count = 1}
/// }
/// ```
#[op(
    "cluster.program",
    traits = Traits::ISOLATED.and(Traits::SYMBOL).and(Traits::SINGLE_BLOCK).and(Traits::NO_TERMINATOR),
    effects = Effects::Unknown,
    directives = &[&MACHINE, &CLUSTERS],
    format = "$sym_name `machine` custom<Machine>($machine) `ddr` $ddr_bytes `operands` $operands `results` $results `constants` $value \
              attr-dict-with-keyword `` custom<Clusters>($clusters)",
    extensions = &[&BYTES],
    verify = verify_program,
    verify_regions = verify_records
)]
pub struct ProgramOp {
    /// Name.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Parameters of the machine.
    machine: Attribute<DICT>,
    /// Bytes of DDR.
    ddr_bytes: Attribute<I64>,
    /// Each operand in DDR.
    operands: Attribute<EXTENTS>,
    /// Each result in DDR.
    results: Attribute<EXTENTS>,
    /// Constants, from byte 0.
    value: Attribute<BYTES_OR_RESOURCE>,
    /// The records of each cluster.
    clusters: Regions,
}

const MACHINE: Directive = Directive {
    name: "Machine",
    parse: |p, params| {
        let attr = parse_fields(p, ClusterMachine::default())?;
        p.set_attr(params[0], attr);
        Ok(())
    },
    print: |p, params| {
        if let Some(attr) = p.inherent(params[0]) {
            print_fields(p, attr, ClusterMachine::default());
        }
        Ok(())
    },
};

/// The regions, a line `cluster 0 {` before each.
const CLUSTERS: Directive = Directive { name: "Clusters", parse: parse_clusters, print: print_clusters };

fn parse_clusters(p: &mut OpParser<'_, '_>, _: &[Param]) -> ParseResult<()> {
    let mut next = 0;
    while p.eat_word("cluster") {
        let at = p.offset();
        if p.integer()? != next {
            return p.error(at, format!("expected {next}, the number of the next cluster"));
        }
        p.terminated_region()?;
        next += 1;
    }
    Ok(())
}

fn print_clusters(p: &mut OpPrinter<'_, '_>, _: &[Param]) -> io::Result<()> {
    for (i, &region) in p.module().regions(p.op).iter().enumerate() {
        p.newline();
        p.text(&format!("cluster {i} "));
        p.region(region, false, true)?;
    }
    Ok(())
}

/// Largest number of bytes of DDR.
const MAX_DDR: i64 = 1 << 31;

/// A program with its machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The machine.
    pub machine: ClusterMachine,
    /// Records, constants, and the places of operands and results.
    pub code: cluster::ClusterProgram,
}

impl Program {
    /// Reads a `cluster.program`.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(m: &Module, op: Op) -> Result<Program, Violation> {
        let this = ProgramOp::cast(m, op).ok_or("is no program of clusters")?;
        let mut program = header(m, this)?;
        program.code.records = records(m, this)?;
        let constants = m.inherent_attr(op, "value").and_then(|a| m.ctx.dense_tensor(a));
        program.code.constants = constants.ok_or("has constants that are not available")?.bytes().to_vec();
        Ok(program)
    }

    /// Returns the binary: the records of each cluster, the constants, and the places of operands and results.
    pub fn to_binary(&self) -> Binary {
        self.code.to_binary(&self.machine)
    }

    /// Reads the binary of a program for a machine, which is not trusted.
    ///
    /// # Errors
    /// A binary for another machine, and sections that are not those of a program.
    pub fn from_binary(binary: &Binary, machine: &ClusterMachine) -> Result<Program, BinaryError> {
        Ok(Program { machine: machine.clone(), code: cluster::ClusterProgram::from_binary(binary, machine)? })
    }
}

/// A program to build.
pub struct NewProgram<'a> {
    /// Name.
    pub name: &'a str,
    /// The machine.
    pub machine: &'a ClusterMachine,
    /// The program.
    pub code: &'a cluster::ClusterProgram,
}

impl NewProgram<'_> {
    /// Builds the op. All records have its location.
    pub fn build(&self, b: &mut Builder<'_>, loc: Loc) -> Op {
        self.build_with(b, loc, |_, _| loc)
    }

    /// Builds the op. `record_loc` returns the location of a record, by cluster and index.
    pub fn build_with(&self, b: &mut Builder<'_>, loc: Loc, record_loc: impl Fn(usize, usize) -> Loc) -> Op {
        let ctx = b.module.ctx.clone();
        let constants = &self.code.constants;
        let mut state = OpState::new(&ctx, ProgramOp::INFO.name, loc);
        let attrs = [
            ("sym_name", ctx.string_attr(self.name)),
            ("machine", to_attr(&ctx, self.machine.clone())),
            ("ddr_bytes", ctx.int_attr(Type::I64, self.code.ddr_bytes.into())),
            ("operands", extents_attr(&ctx, &self.code.operands)),
            ("results", extents_attr(&ctx, &self.code.results)),
            ("value", bytes_attr(&ctx, &Tensor::from_vec(&[constants.len()], constants.clone()))),
        ];
        attrs.into_iter().for_each(|(name, attr)| state.inherent(&ctx, name, Some(attr)));
        state.regions = self.code.records.len();
        let program = b.create(state);
        let regions: Vec<Region> = b.module.regions(program).to_vec();
        for (cluster, (region, records)) in regions.into_iter().zip(&self.code.records).enumerate() {
            let block = match b.module.entry(region) {
                Some(block) => block,
                None if records.is_empty() => continue,
                None => b.module.add_block(region),
            };
            let mut body = Builder::at_end(b.module, block);
            for (index, record) in records.iter().enumerate() {
                push(&mut body, record_loc(cluster, index), record);
            }
        }
        program
    }
}

fn extents_attr(ctx: &Context, list: &[Extent]) -> Attr {
    let number = |value: u32| ctx.int_attr(Type::I64, value.into());
    let pair = |extent: &Extent| ctx.array_attr(&[number(extent.offset), number(extent.bytes)]);
    ctx.array_attr(&list.iter().map(pair).collect::<Vec<_>>())
}

fn extents(ctx: &Context, attr: Attr) -> Option<Vec<[i64; 2]>> {
    let number = |attr: Attr| ctx.as_int(attr).filter(|_| ctx.attr_type(attr) == Some(Type::I64));
    let pair = |&attr: &Attr| match ctx.as_array(attr)? {
        &[offset, bytes] => Some([number(offset)?, number(bytes)?]),
        _ => None,
    };
    ctx.as_array(attr)?.iter().map(pair).collect()
}

/// The extents of operands or results, which end within DDR.
pub(super) fn extents_of(m: &Module, op: ProgramOp, name: &str, ddr: u32) -> Result<Vec<Extent>, Violation> {
    let pairs = m.inherent_attr(op.0, name).and_then(|a| extents(&m.ctx, a)).unwrap_or_default();
    let extent = |[offset, bytes]: [i64; 2]| {
        let number = |value| u32::try_from(value).ok();
        let extent = number(offset).zip(number(bytes)).map(|(offset, bytes)| Extent { offset, bytes });
        let fits = |extent: &Extent| u64::from(extent.offset) + u64::from(extent.bytes) <= ddr.into();
        extent
            .filter(fits)
            .ok_or_else(|| format!("has {bytes} bytes of {name} at byte {offset}, beyond the {ddr} of DDR").into())
    };
    pairs.into_iter().map(extent).collect()
}

/// The bytes of DDR.
pub(super) fn ddr_bytes(m: &Module, op: ProgramOp) -> Result<u32, Violation> {
    let bytes = m.inherent_attr(op.0, "ddr_bytes").and_then(|a| m.ctx.as_int(a));
    let bytes = bytes.filter(|bytes| (0..=MAX_DDR).contains(bytes));
    Ok(bytes.ok_or_else(|| format!("requires 0 to {MAX_DDR} bytes of DDR"))? as u32)
}

/// The program without records and constants.
fn header(m: &Module, op: ProgramOp) -> Result<Program, Violation> {
    let mut machine = ClusterMachine::default();
    let attr = m.inherent_attr(op.0, "machine").unwrap_or(Attr::UNIT);
    read(&m.ctx, attr, &mut machine).map_err(|why| format!("{why} of the machine"))?;
    machine.check().map_err(|rule| format!("requires a machine with {rule}"))?;
    let ddr_bytes = ddr_bytes(m, op)?;
    let [operands, results] = ["operands", "results"].map(|name| extents_of(m, op, name, ddr_bytes));
    let code = cluster::ClusterProgram {
        ddr_bytes,
        operands: operands?,
        results: results?,
        ..cluster::ClusterProgram::default()
    };
    Ok(Program { machine, code })
}

/// The records of each cluster.
fn records(m: &Module, op: ProgramOp) -> Result<Vec<Vec<Record>>, Violation> {
    let of_region = |region: &Region| {
        let ops = m.entry(*region).into_iter().flat_map(|block| m.block_ops(block));
        let records: Vec<Vec<Record>> = ops.map(|op| records_of(m, op)).collect::<Result<_, _>>()?;
        Ok(records.concat())
    };
    op.clusters(m).iter().map(of_region).collect()
}

/// The number of bytes of the constants.
fn num_constants(m: &Module, op: Op) -> i64 {
    let ty = m.inherent_attr(op, "value").and_then(|a| m.ctx.attr_type(a));
    ty.and_then(|ty| m.ctx.static_shape(ty)).map_or(0, |dims| dims[0])
}

fn verify_program(m: &Module, op: Op) -> Result<(), Violation> {
    let Program { machine, code } = header(m, ProgramOp(op))?;
    if num_constants(m, op) > code.ddr_bytes.into() {
        return Err(format!("has more constants than the {} bytes of DDR", code.ddr_bytes).into());
    }
    let clusters = m.regions(op).len();
    if clusters > MAX_CLUSTERS.min(machine.clusters as usize) {
        return Err(format!("has records of {clusters} clusters, of a machine with {}", machine.clusters).into());
    }
    let mut blocks = m.regions(op).iter().filter_map(|&region| m.entry(region));
    if blocks.any(|block| !m.block_args(block).is_empty()) {
        return Err("requires clusters without arguments".into());
    }
    Ok(())
}

fn verify_records(m: &Module, op: Op) -> Result<(), Violation> {
    let Program { machine, mut code } = header(m, ProgramOp(op))?;
    code.records = records(m, ProgramOp(op))?;
    // The check needs the number of constants only. Zeros take no memory until they are written.
    code.constants = vec![0; usize::try_from(num_constants(m, op)).unwrap_or(0)];
    check(&code, &machine).map_err(|fault| format!("is rejected: {fault}").into())
}
