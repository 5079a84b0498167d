//! Functions of one quantized tensor, as tables: a table of a table, and a sum or product of functions of the same tensor.

use super::scale::Bytes;
use crate::emit::Emitter;
use gradus_dialects::graph::{QLinearAddOp, QLinearMulOp, TableOp};
use gradus_ir::effects::is_dead;
use gradus_ir::{Block, Builder, DType, Module, Op, OpDecl, Tensor, Value};

/// Number of bytes.
const BYTES: usize = 256;

/// A function of the bytes of a value, in the order of their integers.
struct Function {
    of: Value,
    table: Vec<u8>,
}

/// Replaces sums, products and tables that are functions of one tensor by tables. Returns their number.
pub fn join(m: &mut Module, block: Block) -> usize {
    let mut count = 0;
    for op in m.block_ops(block).collect::<Vec<_>>() {
        let Some(function) = chain(m, op).or_else(|| binary(m, op)) else { continue };
        let y = m.result(op, 0);
        let ty = m.value_type(y);
        let elem = m.ctx.element_type(ty);
        let Some(dtype) = m.ctx.dtype(elem) else { continue };
        let Ok(tensor) = Tensor::new(dtype, vec![BYTES], function.table.into()) else { continue };
        let mut b = Builder::before(m, op);
        let mut e = Emitter::on_graph(&mut b, op);
        let made = e.constant(&tensor, elem).and_then(|t| e.typed(TableOp::INFO.name, &[function.of, t], &[], ty));
        if let Some(value) = made {
            m.replace_all_uses(y, value);
            count += 1;
        }
    }
    if count > 0 {
        for op in m.block_ops(block).collect::<Vec<_>>().into_iter().rev() {
            if m.is_one_of(op, OPS) && is_dead(m, op) {
                m.erase_op(op);
            }
        }
    }
    count
}

/// The ops that are replaced.
const OPS: &[&gradus_ir::OpInfo] = &[TableOp::INFO, QLinearAddOp::INFO, QLinearMulOp::INFO];

fn constant(m: &Module, value: Value) -> Option<Tensor> {
    m.ctx.dense_tensor(m.constant(value)?)
}

fn is_signed(m: &Module, value: Value) -> Option<bool> {
    match m.ctx.dtype(m.ctx.element_type(m.value_type(value)))? {
        DType::I8 => Some(true),
        DType::U8 => Some(false),
        _ => None,
    }
}

/// The place of a byte in a table.
fn place(byte: u8, signed: bool) -> usize {
    usize::from(if signed { byte ^ 0x80 } else { byte })
}

/// A value as a function of the value that is the argument of its tables.
fn function(m: &Module, value: Value) -> Option<Function> {
    let signed = is_signed(m, value)?;
    let identity = || (0..BYTES).map(|i| if signed { i as u8 ^ 0x80 } else { i as u8 }).collect();
    let Some(table) = TableOp::defining(m, value) else { return Some(Function { of: value, table: identity() }) };
    let Some(own) = constant(m, table.table(m)).filter(|t| t.len() == BYTES && t.rank() == 1) else {
        return Some(Function { of: value, table: identity() });
    };
    let inner = function(m, table.x(m))?;
    let signed = is_signed(m, table.x(m))?;
    Some(Function { table: inner.table.iter().map(|&byte| own.bytes()[place(byte, signed)]).collect(), ..inner })
}

/// A table of a table.
fn chain(m: &Module, op: Op) -> Option<Function> {
    let table = TableOp::cast(m, op)?;
    let of = TableOp::defining(m, table.x(m))?;
    constant(m, of.table(m)).filter(|t| t.len() == BYTES && t.rank() == 1)?;
    function(m, m.result(op, 0)).filter(|f| f.of != m.result(op, 0))
}

/// A sum or product of two functions of one value.
fn binary(m: &Module, op: Op) -> Option<Function> {
    let is_product = QLinearMulOp::cast(m, op).is_some();
    (is_product || QLinearAddOp::cast(m, op).is_some()).then_some(())?;
    let &[a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero] = m.operands(op) else { return None };
    let y = m.result(op, 0);
    if m.constant(a).is_some() || [a, b].iter().any(|&v| m.ctx.shape(m.value_type(v)) != m.ctx.shape(m.value_type(y))) {
        return None;
    }
    let bytes = |value: Value, scale: Value, zero: Value| {
        let (scale, zero) = (constant(m, scale)?, constant(m, zero)?);
        let is_single = scale.dtype() == DType::F32 && scale.len() == 1 && zero.len() == 1;
        let signed = is_signed(m, value)?;
        is_single.then_some(Bytes { scale: scale.as_slice::<f32>()[0], zero: zero.to_i64()?[0] as i16, signed })
    };
    let [qa, qb, to] = [bytes(a, a_scale, a_zero)?, bytes(b, b_scale, b_zero)?, bytes(y, c_scale, c_zero)?];
    let (f, g) = (function(m, a)?, function(m, b)?);
    (f.of == g.of).then_some(())?;
    let reals = f.table.iter().zip(&g.table).map(|(&p, &q)| [qa.real(qa.of_byte(p)), qb.real(qb.of_byte(q))]);
    let results = reals.map(|[p, q]| to.quantize(if is_product { p * q } else { p + q }) as u8);
    Some(Function { of: f.of, table: results.collect() })
}
