//! `flatten-elementwise`: quantized sums and products of tensors of any shapes as those of matrices or of one image.

use super::expand_composed_ops::tensor_emitter::{TensorEmitter, replace_by};
use crate::graph::{ExpandOp, QLinearAddOp, QLinearMulOp};
use gradus_ir::pass::Rewrites;
use gradus_ir::{Diagnostic, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, Refusal, Value};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "flatten-elementwise",
    doc: "Give quantized sums and products of any shapes the shapes of matrices or of one image

# Before / After

```mlir
%c = graph.qlinear_mul %a, ..., %b, ... : (tensor<8x6x7xi8>, ..., tensor<6x7xi8>, ...) -> tensor<8x6x7xi8>
// becomes, with reshapes of %a, %b and the result:
%c = graph.qlinear_mul %a, ..., %b, ... : (tensor<8x42xi8>, ..., tensor<42xi8>, ...) -> tensor<8x42xi8>
```

# Does

A machine with an array of multipliers has sums and products of two equal tensors, of tokens and a vector of their channels, and of an image
and a number per channel. Every other pair of shapes becomes one of these:

| operands | become |
|---|---|
| equal shapes | two matrices |
| one has an extent other than 1 along the last axes only: a row, a mask, `HWC` and channels | a matrix and a row |
| one has an extent other than 1 along the first axes only: channels, also of several images | an image and a number per channel |
| one is a scalar | a matrix and a row of equal elements |
| others, such as outer products | one of the above, after `graph.expand` of one or both |

One image stays as it is: another operand of one element or of channels becomes a number per channel, others are expanded. Pairs that are of
these shapes already stay.

# Refuses

Extents that are not known, or larger than 32768 in each shape that an operand could have. Elements that no two extents of at most 32768
have as their product are two matrices: whole rows of 64 elements, and the rest.

# Cost

Linear in the number of ops.",
    statistics: &[("num-ops", "Number of ops with other shapes")],
    stays: "in its shape",
    rewrites: Rewrites::Tags(&["flatten"]),
    make: |_| Ok(Box::new(FlattenElementwise)),
    ..PassInfo::DEFAULT
};

/// Maximum extent of a matrix or an image.
const MAX_EXTENT: i64 = 1 << 15;
/// Number of elements of rows of equal elements that suffices.
const ROW: i64 = 64;

struct FlattenElementwise;

impl Pass for FlattenElementwise {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for op in m.ops_under(root) {
            let Some(info) = m.info(op).filter(|_| m.is_one_of(op, &[QLinearAddOp::INFO, QLinearMulOp::INFO])) else {
                continue;
            };
            let shapes = match FlatShapes::of(m, op) {
                Ok(Some(shapes)) => shapes,
                Ok(None) => continue,
                Err(refusal) => {
                    cx.refuse(m, op, &refusal);
                    continue;
                }
            };
            if !cx.allows("flatten", m, op) {
                continue;
            }
            let operands = m.operands(op).to_vec();
            match replace_by(m, op, |e| shapes.emit(e, info, &operands)) {
                Ok(()) => cx.count("num-ops", 1),
                Err(refusal) => cx.refuse(m, op, &refusal),
            }
        }
        Ok(())
    }
}

/// Indices of both tensors among the operands.
const TENSORS: [usize; 2] = [0, 3];

/// The shape of an operand: extents to which it is expanded first, and those that it gets.
#[derive(Clone, Debug, Default)]
struct OperandShape {
    expanded: Option<Vec<i64>>,
    flat: Vec<i64>,
}

impl From<Vec<i64>> for OperandShape {
    fn from(flat: Vec<i64>) -> OperandShape {
        OperandShape { expanded: None, flat }
    }
}

/// The shapes of an op.
struct FlatShapes {
    operands: [OperandShape; 2],
    /// Extents of the result before.
    whole: Vec<i64>,
    /// Number of elements after those of the matrices, which are a row of their own.
    rest: i64,
}

impl FlatShapes {
    /// Returns the shapes that an op gets; `None` if it stays as it is.
    fn of(m: &Module, op: Op) -> Result<Option<FlatShapes>, Refusal> {
        let extents = |value: Value| {
            let extents = m.ctx.static_shape(m.value_type(value)).map(<[i64]>::to_vec);
            extents.ok_or(Refusal::of(value, "a shape that is not known"))
        };
        let [a, b] = TENSORS.map(|i| m.operands(op)[i]);
        let (whole, shapes) = (extents(m.result(op, 0))?, [extents(a)?, extents(b)?]);
        if whole.contains(&0) || is_flat(&whole, &shapes) {
            return Ok(None);
        }
        // The axes with more than one element, and for each operand whether it varies along them.
        let axes: Vec<usize> = (0..whole.len()).filter(|&axis| whole[axis] > 1).collect();
        let varies = shapes.each_ref().map(|shape| {
            let before = whole.len() - shape.len();
            axes.iter().map(|&axis| axis >= before && shape[axis - before] > 1).collect::<Vec<bool>>()
        });
        let extents: Vec<i64> = axes.iter().map(|&axis| whole[axis]).collect();
        let full = varies.iter().position(|varies| !varies.contains(&false));
        let (first, second) = (full.unwrap_or(0), 1 - full.unwrap_or(0));
        let mut operands: [OperandShape; 2] = Default::default();
        operands[first].expanded = full.is_none().then(|| whole.clone());
        let [all, other] = match is_image(&whole) {
            true => [whole.clone().into(), beside_image(&shapes[second], &whole)],
            false => other_shape(&extents, &varies[second], &whole).ok_or("extents larger than 32768")?,
        };
        let count: i64 = whole.iter().product();
        let rest = count - all.flat.iter().product::<i64>();
        operands[first].flat = all.flat;
        operands[second] = other;
        Ok(Some(FlatShapes { operands, whole, rest }))
    }

    /// Emits the op with these shapes.
    fn emit(&self, e: &mut TensorEmitter<'_>, info: &OpInfo, operands: &[Value]) -> Result<Vec<Value>, Refusal> {
        let mut operands = operands.to_vec();
        for (at, OperandShape { expanded, flat }) in TENSORS.into_iter().zip(&self.operands) {
            if let Some(extents) = expanded {
                if e.shape(operands[at]).is_some_and(|shape| shape.len() > extents.len()) {
                    operands[at] = e.reshape(operands[at], 0, &[1])?;
                }
                let list = e.list(extents);
                operands[at] = e.op(ExpandOp::INFO, operands[at], &[Some(list)], &[]);
            }
            let is_divided = self.rest > 0 && flat.len() > 1;
            let line = [self.whole.iter().product()];
            operands[at] = e.reshape(operands[at], 0, if is_divided { &line } else { flat })?;
        }
        let result = if self.rest > 0 { self.emit_parts(e, info, &operands)? } else { emit_op(e, info, &operands) };
        Ok(vec![e.reshape(result, 0, &self.whole)?])
    }

    /// Emits the op on whole rows, and on the elements after them. Operands are lines, or rows of equal elements.
    fn emit_parts(&self, e: &mut TensorEmitter<'_>, info: &OpInfo, operands: &[Value]) -> Result<Value, Refusal> {
        let count: i64 = self.whole.iter().product();
        let mut parts = Vec::new();
        for (first, end) in [(0, count - self.rest), (count - self.rest, count)] {
            let row = if first == 0 { ROW } else { self.rest };
            let mut operands = operands.to_vec();
            for at in TENSORS {
                let is_line = e.shape(operands[at]) == Some(&[count][..]);
                let length = if is_line { [first, end] } else { [0, row] };
                operands[at] = e.slice(operands[at], 0, length[0], length[1]);
                if is_line {
                    operands[at] = e.reshape(operands[at], 0, &[(end - first) / row, row])?;
                }
            }
            let result = emit_op(e, info, &operands);
            parts.push(e.reshape(result, 0, &[end - first])?);
        }
        Ok(e.concat(&parts, 0))
    }
}

fn emit_op(e: &mut TensorEmitter<'_>, info: &OpInfo, operands: &[Value]) -> Value {
    let more: Vec<Option<Value>> = operands[1..].iter().copied().map(Some).collect();
    e.op(info, operands[0], &more, &[])
}

/// Divides a number of elements into rows: of 64 elements or a few more, or of 64, with a rest of fewer.
fn divided(count: i64) -> Option<[i64; 2]> {
    let rows = |row: i64| (count % row == 0 && count / row <= MAX_EXTENT).then_some([count / row, row]);
    (ROW..=MAX_EXTENT).find_map(rows).or_else(|| Some([count / ROW, ROW]).filter(|rows| rows[0] <= MAX_EXTENT))
}

/// Whether extents are those of one image.
fn is_image(whole: &[i64]) -> bool {
    matches!(whole, [1, _, _, _])
}

/// Returns the shape of an operand beside an image, which stays where it is: a number per channel, or an image.
fn beside_image(shape: &[i64], whole: &[i64]) -> OperandShape {
    let padded = [&vec![1; whole.len() - shape.len()][..], shape].concat();
    let channels = vec![1, whole[1], 1, 1];
    match padded[..] {
        [_, count, 1, 1] if count == whole[1] => channels.into(),
        [_, 1, 1, 1] => OperandShape { expanded: Some(channels.clone()), flat: channels },
        _ if padded == whole => padded.into(),
        _ => OperandShape { expanded: Some(whole.to_vec()), flat: whole.to_vec() },
    }
}

/// Whether operands are equal matrices or images, tokens and a vector, or an image and a number per channel.
fn is_flat(whole: &[i64], shapes: &[Vec<i64>; 2]) -> bool {
    let tokens = matches!(whole, [_, _] | [1, _, _]).then(|| &whole[whole.len() - 1..]);
    let is_known = |shape: &Vec<i64>| {
        let is_per_channel = matches!(shape[..], [1, channels, 1, 1] if channels == whole[1]);
        shape == whole || tokens == Some(shape) || is_per_channel
    };
    (is_image(whole) || tokens.is_some()) && shapes.iter().all(is_known) && shapes.iter().any(|shape| shape == whole)
}

/// Returns the shapes of an operand that varies along all axes, and of another.
fn other_shape(extents: &[i64], varies: &[bool], whole: &[i64]) -> Option<[OperandShape; 2]> {
    let count =
        |axes: &[i64]| axes.iter().try_fold(1_i64, |n, &extent| n.checked_mul(extent)).filter(|&n| n <= MAX_EXTENT);
    let changes = varies.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let place = varies.iter().position(|other| Some(other) != varies.first()).unwrap_or(0);
    match (varies.first(), changes) {
        // A row, or a mask.
        (Some(false), 1) => {
            let (rows, row) = (count(&extents[..place])?, count(&extents[place..])?);
            Some([vec![rows, row].into(), vec![row].into()])
        }
        // Channels, also of several images.
        (Some(true), 1) => {
            let (channels, rows) = (count(&extents[..place])?, extents[place]);
            let image = vec![1, channels, rows, count(&extents[place + 1..])?];
            Some([image.into(), vec![1, channels, 1, 1].into()])
        }
        _ => {
            let split = |at: usize| Some([count(&extents[..at])?, count(&extents[at..])?]);
            let splits = || (0..=extents.len()).rev().filter_map(split);
            let by_axes = splits().find(|split| split[1] >= ROW).or_else(|| splits().next_back());
            let by_number = || divided(extents.iter().product()).filter(|_| changes == 0);
            let [rows, row] = by_axes.or_else(by_number)?;
            let matrix = OperandShape::from(vec![rows, row]);
            let other = match varies.first() {
                Some(true) if changes == 0 => matrix.clone(),
                Some(false) | None if changes == 0 => OperandShape { expanded: Some(vec![row]), flat: vec![row] },
                _ => OperandShape { expanded: Some(whole.to_vec()), ..matrix.clone() },
            };
            Some([matrix, other])
        }
    }
}
