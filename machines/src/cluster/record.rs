//! The records as ops, and their conversion from and to data.

use super::fields::{read, to_attr};
use super::text::{parse_fields, print_fields};
use crate::code::{InstructionBytes, bytes_of};
use gradus_dialects::constraint::{BYTES_OR_RESOURCE, DICT};
use gradus_ir::{
    Attr, Builder, Directive, Effects, Extension, Loc, Module, Op, OpDecl, OpInfo, OpParser, OpPrinter, OpState, Param,
    ParseResult, Violation, op,
};
use gradus_simulators::BinaryError;
use gradus_simulators::cluster::{Record, check_fields, decode, encode};
use std::io;

/// The index of an op's function in `gradus_simulators::cluster::FUNCTIONS`.
struct FunctionIndex(usize);

impl Extension for FunctionIndex {}

/// The fields of a record, `{event = 0, count = 1}`.
const FIELDS: Directive = Directive { name: "Fields", parse, print };

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let Some(blank) = blank(p.info()) else { return p.error_of_op("is no record") };
    let attr = parse_fields(p, blank)?;
    p.set_attr(params[0], attr);
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> io::Result<()> {
    let record = p.module().info(p.op).and_then(blank);
    if let (Some(record), Some(attr)) = (record, p.inherent(params[0])) {
        print_fields(p, attr, record);
    }
    Ok(())
}

macro_rules! records {
    ($($(#[doc = $doc:literal])* $Op:ident $name:literal $function:literal)*) => {
        $(
            $(#[doc = $doc])*
            #[op(
                $name,
                effects = Effects::Unknown,
                parents = &["cluster.program"],
                extensions = &[&FunctionIndex($function)],
                directives = &[&FIELDS],
                verify = verify,
                format = "custom<Fields>($fields) attr-dict-with-keyword"
            )]
            pub struct $Op {
                /// The fields of the record.
                fields: Attribute<DICT>,
            }
        )*

        /// The records, in the order of the functions.
        pub const OPS: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

records! {
    /// Begins a read from DDR into the same place of each cluster of a mask.
    ///
    /// The copy is `transfer`, a box of `rows` x `cols` x `bytes`; `row` and `pixel` are the bytes from a row and from a column to the next.
    /// Bit `i` of `clusters` is cluster `i`. When the bytes are visible in a cluster, `event` is counted there.
    ///
    /// ```mlir
    /// cluster.program @p machine {
    ///   clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64,
    ///   int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300,
    ///   ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32,
    ///   slice = 350000
    /// } ddr 64 operands [[0, 64]] results [] constants dense<> : tensor<0xui8>
    /// cluster 0 {
    ///   cluster.fetch {transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {offset = 0, row = 0, pixel = 0}, rows = 1, cols = 1, bytes = 64}, clusters = 1, event = 0}
    ///   cluster.wait {event = 0, count = 1}
    /// }
    /// ```
    FetchOp "cluster.fetch" 0
    /// Begins a write from the memory of this cluster to DDR.
    ///
    /// `event` is counted here when the bytes are in DDR.
    StoreOp "cluster.store" 1
    /// Begins a copy from the memory of this cluster into the same place of each cluster of a mask.
    ///
    /// When the bytes are visible in a cluster, `event` is counted there.
    SendOp "cluster.send" 2
    /// Counts an event in each cluster of a mask.
    NotifyOp "cluster.notify" 3
    /// Waits until an event has been counted a number of times here.
    WaitOp "cluster.wait" 4
    /// Computes a convolution, with its epilogue.
    ///
    /// `input` and `output` are tiles, whose `row`, `pixel` and `channel` are the bytes from a row, a column and a channel to the next.
    /// `weights` and `bias` are bytes of this cluster's memory. `window.first` is the first tap of the first output in the input tile; taps
    /// outside of the tile are padding. `stages` are functions of each value before it is stored.
    ConvOp "cluster.conv" 5
    /// Computes a maximum or mean of windows, with its epilogue.
    PoolOp "cluster.pool" 6
    /// Computes an elementwise function: its stages.
    MapOp "cluster.map" 7
    /// Computes a softmax over the channels of each row and column.
    SoftmaxOp "cluster.softmax" 8
    /// Computes a local response normalization across channels.
    LrnOp "cluster.lrn" 9
}

/// Records as bytes, in place of ops: a part of the static data block of the cluster.
///
/// ```mlir
/// cluster.program @wait machine {
///   clusters = 1, cores = 16, spm = 4194304, reserved = 262144, port = 32, f32_products = 8, f16_products = 64,
///   int8_products = 128, wide = 128, wide_share = 75, medium = 32, medium_share = 65, narrow_share = 50, task = 300,
///   ddr_rate = 24, ddr_latency = 250, noc_rate = 32, noc_latency = 60, post = 20, wait = 40, alignment = 32,
///   slice = 350000
/// } ddr 0 operands [] results [] constants dense<> : tensor<0xui8>
/// cluster 0 {
///   cluster.notify {clusters = 1, event = 0}
///   cluster.code dense<[16, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]> : tensor<16xui8>
/// }
/// ```
#[op("cluster.code", effects = Effects::Unknown, parents = &["cluster.program"], format = "$value attr-dict")]
pub struct PackedRecordsOp {
    /// Bytes.
    value: Attribute<BYTES_OR_RESOURCE>,
}

/// The bytes of records.
pub(super) const BYTES: InstructionBytes = InstructionBytes {
    code: PackedRecordsOp::INFO,
    encode: |m, ops| {
        let records: Vec<Vec<Record>> = ops.iter().map(|&op| records_of(m, op)).collect::<Result<_, _>>()?;
        Ok(encode(&records.concat()))
    },
    insert: |m, op| {
        let loc = m.loc(op);
        for record in records_of(m, op)? {
            push(&mut Builder::before(m, op), loc, &record);
        }
        Ok(())
    },
};

/// Returns the records of an op: those of its bytes, or itself.
pub(super) fn records_of(m: &Module, op: Op) -> Result<Vec<Record>, Violation> {
    match PackedRecordsOp::cast(m, op) {
        Some(_) => {
            let fail = |error: BinaryError| format!("'{}': {error}", m.name_text(op)).into();
            decode(bytes_of(m, op)?.bytes()).map_err(fail)
        }
        None => Ok(vec![record(m, op)?]),
    }
}

/// Returns the record of an op whose fields are zero.
fn blank(info: &'static OpInfo) -> Option<Record> {
    Record::blank(info.extension::<FunctionIndex>()?.0)
}

/// Returns the record that an op is.
///
/// # Errors
/// The op is no record, or a field is missing, unknown or of another type.
pub fn record(m: &Module, op: Op) -> Result<Record, Violation> {
    let blank = m.info(op).and_then(blank);
    let mut record = blank.ok_or_else(|| format!("'{}' is no record", m.name_text(op)))?;
    read(&m.ctx, m.inherent_attr(op, "fields").unwrap_or(Attr::UNIT), &mut record)?;
    Ok(record)
}

/// Creates the op of a record.
pub fn push(b: &mut Builder<'_>, loc: Loc, record: &Record) -> Op {
    let ctx = b.module.ctx.clone();
    let mut state = OpState::new(&ctx, OPS[record.function()].name, loc);
    state.inherent(&ctx, "fields", Some(to_attr(&ctx, *record)));
    b.create(state)
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let clusters = m.parent_op(op).map_or(0, |program| m.regions(program).len());
    check_fields(&record(m, op)?, clusters).map_err(|rule| format!("violates a rule: {rule}").into())
}
