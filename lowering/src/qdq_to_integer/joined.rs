//! Functions of one tensor of bytes that several ops compute, as one table: a table of a table, and a sum or product of
//! functions of the same tensor, such as GELU.

use super::quantization::is_byte;
use super::table::{Lookup, VALUES, bytes};
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, OpDecl, OpInfo, Tensor, Value};
use gradus_networks::graph::{QLinearAddOp, QLinearMulOp, TableOp};

/// The ops that are joined.
const OPS: [&OpInfo; 3] = [TableOp::INFO, QLinearAddOp::INFO, QLinearMulOp::INFO];

/// Returns the function that an op of bytes is, if its operands are functions of one tensor, and it is not a table already.
pub(super) fn of(m: &Module, op: Op) -> Option<Lookup> {
    let is_table = TableOp::cast(m, op).is_some();
    if !m.is_one_of(op, &OPS) || is_table && TableOp::defining(m, *m.operands(op).first()?).is_none() {
        return None;
    }
    let (y, numbers): (Value, &[usize]) = (m.result(op, 0), if is_table { &[0] } else { &[0, 3] });
    let (mut argument, mut data) = (None, Vec::new());
    for (i, &value) in m.operands(op).iter().enumerate() {
        let is_number = numbers.contains(&i);
        let tensor = match m.constant(value) {
            // A table of higher rank has a row for each channel.
            Some(attr) => m.ctx.dense_tensor(attr).filter(|tensor| match is_number {
                true => tensor.len() == 1,
                false => !is_table || tensor.rank() == 1,
            })?,
            None => {
                let (x, table) = function(m, value).filter(|_| is_number)?;
                let is_other = argument.replace(x).is_some_and(|other| other != x);
                let shapes = [value, y].map(|value| m.ctx.shape(m.value_type(value)));
                (!is_other && shapes[0] == shapes[1]).then_some(table)?
            }
        };
        data.push(Datum::Tensor(tensor));
    }
    let x = argument?;
    let eval = m.info(op)?.eval?;
    let results = m.with_args(op, |args| eval(args, &data))?.ok()?;
    let [Datum::Tensor(table)] = &results[..] else { return None };
    Some(Lookup::new(m, x, table.reshape(vec![VALUES]).ok()?, m.ctx.element_type(m.value_type(y))))
}

/// Returns a value as a function of the argument of the table that it is, or of itself: the results for all bytes.
fn function(m: &Module, value: Value) -> Option<(Value, Tensor)> {
    let elem = m.ctx.element_type(m.value_type(value));
    is_byte(m, elem).then_some(())?;
    let known = TableOp::defining(m, value).and_then(|table| {
        let results = m.ctx.dense_tensor(m.constant(table.table(m))?)?;
        (results.rank() == 1).then_some((table.x(m), results))
    });
    known.or_else(|| Some((value, bytes(m.ctx.dtype(elem)?, &[VALUES]))))
}
