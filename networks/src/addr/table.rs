//! The address tables of ops: read from constants or values, and the elements gathered through them.

use super::{is_table_op, shape};
use crate::graph::Inputs;
use crate::layout::{AddressTable, Encoding, MAX_ENTRIES};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::times;
use gradus_ir::{DYNAMIC, Module, Op, OpArgs, Tensor, Violation};
use gradus_reference_kernels::shape::checked_elements;
use std::borrow::Cow;

/// The extents and elements of a table operand.
type Offsets<'a> = (Vec<usize>, Cow<'a, [i32]>);

/// The elements that an op reads through constant tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticAccess<'a> {
    /// Element addresses.
    pub table: AddressTable<'a>,
    /// Number of elements of the buffer; `i64::MAX` if dynamic.
    pub elements: i64,
}

impl<'a> StaticAccess<'a> {
    /// Returns the access of an op of this dialect; `None` for other ops and for tables that are not constant.
    pub fn of(m: &'a Module, op: Op) -> Option<StaticAccess<'a>> {
        let args = m.args(op).filter(|_| is_table_op(m, op))?;
        let size = shape(&args, "a").iter().fold(1, |n, &d| times(n, d));
        let elements = if size == DYNAMIC { i64::MAX } else { size };
        Some(StaticAccess { table: constant_table(&args)?, elements })
    }

    /// Checks that all addresses are inside the buffer.
    ///
    /// # Errors
    /// Names an address that is not.
    pub fn check(&self) -> Result<(), Violation> {
        self.table.check(self.elements)
    }
}

/// Returns the address table of an op of this dialect, if it is constant.
pub fn constant_table<'a>(args: &OpArgs<'a>) -> Option<AddressTable<'a>> {
    let weights = shape(args, "b").get(1).and_then(|&n| usize::try_from(n).ok());
    read(args, weights, |name| {
        let (table, ctx) = (args.opt_operand(name)?, args.ctx());
        let extents = ctx.static_shape(args.module.value_type(table))?.iter();
        let extents = extents.map(|&d| usize::try_from(d).ok()).collect::<Option<Vec<_>>>()?;
        checked_elements(&extents).ok().filter(|&n| n as u64 <= MAX_ENTRIES)?;
        Some((extents, Cow::Owned(ctx.dense_elements(args.module.constant(table)?)?)))
    })
}

/// Returns the address table of an op from the values of its operands.
pub(super) fn table<'a>(args: &'a OpArgs<'_>, data: &'a [Datum]) -> Result<AddressTable<'a>, Trap> {
    let inputs = Inputs::new(args, data);
    let tensor = |name: &str| inputs.opt(name).ok().flatten();
    let weights = tensor("b").and_then(|b| b.shape().get(1).copied());
    let offsets = |name: &str| tensor(name).map(|t| (t.shape().to_vec(), t.as_slice()));
    read(args, weights, offsets).ok_or_else(|| Trap::unsupported("address tables of other extents than declared"))
}

/// Reads an address table from operands and attributes; the rows of all groups follow each other. `weights` is the number of
/// columns of the right factor, which is the length of runs of ops without `run`; `offsets` returns an operand.
fn read<'a>(
    args: &OpArgs<'_>,
    weights: Option<usize>,
    offsets: impl Fn(&str) -> Option<Offsets<'a>>,
) -> Option<AddressTable<'a>> {
    if let Some((_, base)) = offsets("base") {
        let (_, relative) = offsets("relative")?;
        let encoding = if args.attr("running").is_some() { Encoding::Running } else { Encoding::Absolute };
        return Some(AddressTable::separable(base, encoding.decode(relative)).with_encoding(encoding));
    }
    let (extents, bases) = offsets("bases")?;
    let (&runs, rows) = extents.split_last()?;
    let run = if let Some(run) = args.int("run") { usize::try_from(run).ok() } else { weights };
    AddressTable::indirect(bases, [rows.iter().product(), runs], run?).ok()
}

/// Gathers the elements of `a` that a table addresses, `[rows, runs, run]`; padding becomes the scalar `padding`, or
/// zero.
pub(super) fn gathered(a: &Tensor, table: &AddressTable<'_>, padding: Option<&Tensor>) -> Result<Tensor, Trap> {
    table.check(a.len() as i64).map_err(|violation| Trap::Ub(violation.into()))?;
    let (shape, size) = (vec![table.rows(), table.runs(), table.run()], a.dtype().size());
    let count = checked_elements(&shape)?;
    let mut bytes = Vec::with_capacity(count * size);
    if count > 0 {
        let padding = padding.map_or(&[0; 8][..size], |padding| padding.bytes()).repeat(table.run());
        let run_of = |at: i64| &a.bytes()[at as usize * size..][..padding.len()];
        for (row, run) in (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |run| (row, run))) {
            bytes.extend_from_slice(table.run_start(row, run).map_or(&padding, run_of));
        }
    }
    Ok(Tensor::new(a.dtype(), shape, bytes.into())?)
}
