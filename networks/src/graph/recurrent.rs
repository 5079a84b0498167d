//! Recurrent layers: RNN, GRU and LSTM.
//!
//! Sequences are `[T, B, I]`, or `[B, T, I]` with `layout = 1`. The first axis D of the weights is the direction: 1, or
//! 2 for bidirectional layers. Optional results are the hidden states of all steps, `[T, D, B, H]`, and the last ones,
//! `[D, B, H]`.

use super::args::{Inputs, choice, several};
use super::infer;
use super::unary::checked;
use gradus_dialects::constraint::{F32, FLOAT_TENSOR, I64, INT_TENSOR, STRING, kind};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{AttrData, AttrKind, DYNAMIC, Module, Op, OpArgs, OpDecl, OpInfo, Traits, Type, Violation, op};
use gradus_reference_kernels::{self as kernels, Activation, RecurrentAttrs, RecurrentCell};

/// A list of f32.
const FLOATS: AttrKind = kind(
    "f32 dense array attribute",
    |c, a| matches!(c.attr_data(a), AttrData::DenseArray { elem, .. } if *elem == Type::F32),
);

/// A list of strings.
const STRINGS: AttrKind =
    kind("array of string attributes", |c, a| c.as_array(a).is_some_and(|l| l.iter().all(|&s| c.as_str(s).is_some())));

/// The layers. A row: struct, name, number of results, specific operands and attributes, documentation, example.
macro_rules! layers {
    ($($Op:ident $name:literal $format:literal
        { $($(#[$od:meta])* $operand:ident,)* }
        { $($(#[$ad:meta])* $attr:ident,)* }
        $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op(
            $name,
            traits = Traits::OPERAND_SEGMENTS,
            format = $format,
            infer = infer_layer,
            eval = layer,
            verify = |m, op| checked(m, op, attributes)
        )]
        pub struct $Op {
            /// Input sequences.
            x: Operand<FLOAT_TENSOR>,
            /// Input weights, `[D, gates * H, I]`.
            w: Operand<FLOAT_TENSOR>,
            /// Recurrence weights, `[D, gates * H, H]`.
            r: Operand<FLOAT_TENSOR>,
            /// Biases, those of `w` then those of `r`, `[D, 2 * gates * H]`.
            b: OptOperand<FLOAT_TENSOR>,
            /// Length of each sequence, `[B]`.
            sequence_lens: OptOperand<INT_TENSOR>,
            /// Initial hidden state, `[D, B, H]`; zeros when absent.
            initial_h: OptOperand<FLOAT_TENSOR>,
            $($(#[$od])* $operand: OptOperand<FLOAT_TENSOR>,)*
            /// Alpha parameters of the activation functions that have one, in order.
            activation_alpha: OptAttribute<FLOATS>,
            /// Beta parameters of the activation functions that have one, in order.
            activation_beta: OptAttribute<FLOATS>,
            /// Activation functions of each direction.
            activations: OptAttribute<STRINGS>,
            /// Clipping threshold of the activation inputs.
            clip: OptAttribute<F32>,
            /// Direction: `forward`, `reverse` or `bidirectional`.
            #[default = "\"forward\""]
            direction: OptAttribute<STRING>,
            /// Size H of the hidden state, which must match the weights.
            hidden_size: OptAttribute<I64>,
            $($(#[$ad])* #[default = "0 : i64"] $attr: OptAttribute<I64>,)*
            /// Whether the batch axis comes first.
            #[default = "0 : i64"]
            layout: OptAttribute<I64>,
            /// Hidden states of all steps, the last one, and for LSTM the last cell state.
            outputs: OpResults<FLOAT_TENSOR>,
        }
    )*

        /// Ops of this file.
        pub(super) const OPS: &[&[&OpInfo]] = &[&[$($Op::INFO),*]];
    };
}

layers! {
    RnnOp "graph.rnn"
        "$x `,` $w `,` $r (`bias` $b^)? (`lengths` $sequence_lens^)? (`state` $initial_h^)? attr-dict `:` functional-type(operands, results)"
        {} {}
        "Elman recurrent layer: `H = f(X Wᵀ + H' Rᵀ + b)`."
        "%y = graph.rnn %x, %w, %r : (tensor<5x2x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>) -> tensor<5x1x2x3xf32>";
    GruOp "graph.gru"
        "$x `,` $w `,` $r (`bias` $b^)? (`lengths` $sequence_lens^)? (`state` $initial_h^)? attr-dict `:` functional-type(operands, results)"
        {}
        {
            /// Whether the linear transformation precedes the reset gate.
            linear_before_reset,
        }
        "Gated recurrent unit with update, reset and hidden gates."
        "%y:2 = graph.gru %x, %w, %r state %h {linear_before_reset = 1 : i64} : (tensor<5x2x4xf32>, tensor<1x9x4xf32>, tensor<1x9x3xf32>, tensor<1x2x3xf32>) -> (tensor<5x1x2x3xf32>, tensor<1x2x3xf32>)";
    LstmOp "graph.lstm"
        "$x `,` $w `,` $r (`bias` $b^)? (`lengths` $sequence_lens^)? (`state` $initial_h^)? (`cell` $initial_c^)? (`peepholes` $p^)? attr-dict `:` functional-type(operands, results)"
        {
            /// Initial cell state, `[D, B, H]`; zeros when absent.
            initial_c,
            /// Peephole weights of the input, output and forget gates, `[D, 3 * H]`.
            p,
        }
        {
            /// Whether input and forget gates are coupled: i = 1 - f.
            input_forget,
        }
        "Long short-term memory with input, output, forget and cell gates. The third result is the last cell state."
        "%y:3 = graph.lstm %x, %w, %r bias %b {direction = \"bidirectional\"} : (tensor<5x2x4xf32>, tensor<2x12x4xf32>, tensor<2x12x3xf32>, tensor<2x24xf32>) -> (tensor<5x2x2x3xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>)";
}

/// Returns the cell type of the op.
fn cell(args: &OpArgs<'_>) -> RecurrentCell {
    if args.info.attr("input_forget").is_some() {
        RecurrentCell::Lstm { input_forget: args.flag("input_forget") }
    } else if args.info.attr("linear_before_reset").is_some() {
        RecurrentCell::Gru { linear_before_reset: args.flag("linear_before_reset") }
    } else {
        RecurrentCell::Rnn
    }
}

/// Returns the float list `name`; empty when absent.
fn floats(args: &OpArgs<'_>, name: &str) -> Vec<f64> {
    match args.attr(name).map(|a| args.ctx().attr_data(a)) {
        Some(AttrData::DenseArray { data, .. }) => {
            data.as_chunks().0.iter().map(|&b| f64::from(f32::from_le_bytes(b))).collect()
        }
        _ => vec![],
    }
}

/// Returns the attributes of a recurrent layer; `None` for other ops.
pub fn recurrent_attributes(m: &Module, op: Op) -> Option<RecurrentAttrs> {
    let is_layer = OPS.iter().copied().flatten().any(|info| m.info(op).is_some_and(|known| std::ptr::eq(known, *info)));
    is_layer.then_some(())?;
    m.with_args(op, |args| attributes(args).ok())?
}

fn attributes(args: &OpArgs<'_>) -> Result<RecurrentAttrs, Violation> {
    let (ctx, cell) = (args.ctx(), cell(args));
    let directions: [(&str, &[bool]); 3] =
        [("forward", &[false]), ("reverse", &[true]), ("bidirectional", &[false, true])];
    let reversed = choice(args, "direction", &directions)?;
    let given = args.attr("activations").and_then(|a| ctx.as_array(a));
    let wanted = cell.activations().len() * reversed.len();
    // A single direction may come with the functions of two; it takes the first ones.
    let names: Vec<&str> = match given {
        Some(list) => list.iter().filter_map(|&s| ctx.as_str(s)).take(wanted).collect(),
        None => cell.activations().iter().copied().cycle().take(wanted).collect(),
    };
    if names.len() != wanted {
        return Err(format!("requires {wanted} activation functions, not {}", names.len()).into());
    }
    Ok(RecurrentAttrs {
        cell,
        reversed: reversed.to_vec(),
        activations: Activation::list(&names, &floats(args, "activation_alpha"), &floats(args, "activation_beta"))?,
        clip: args.float("clip").filter(|clip| *clip > 0.0),
        batch_first: args.flag("layout"),
    })
}

fn infer_layer(args: &OpArgs<'_>) -> infer::Types {
    let attrs = attributes(args)?;
    let elem = infer::common_elem(args, &["x", "w", "r", "b", "initial_h", "initial_c", "p"])?;
    let three = |name| match infer::dims(args, name) {
        None => Ok([DYNAMIC; 3]),
        Some(dims) => <[i64; 3]>::try_from(dims).map_err(|d| format!("requires rank 3, not {}", infer::display(&d))),
    };
    let ([a, b, _], [d, _, hidden]) = (three("x")?, three("r")?);
    let d = infer::unify(d, attrs.reversed.len() as i64)?;
    let hidden = args.int("hidden_size").map_or(Ok(hidden), |h| infer::unify(hidden, h))?;
    let (all, last) = match attrs.batch_first {
        true => (vec![a, b, d, hidden], vec![a, d, hidden]),
        false => (vec![a, d, b, hidden], vec![d, b, hidden]),
    };
    let most = if matches!(attrs.cell, RecurrentCell::Lstm { .. }) { 3 } else { 2 };
    let wanted = args.result_types.len().clamp(1, most);
    let dims = [all, last.clone(), last].into_iter().take(wanted);
    Ok(dims.map(|dims| infer::tensor(args, Some(dims), elem)).collect())
}

fn layer(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let lstm = matches!(cell(args), RecurrentCell::Lstm { .. });
    let extra = |name| if lstm { i.opt(name) } else { Ok(None) };
    let inputs = kernels::RecurrentInputs {
        x: i.get("x")?,
        w: i.get("w")?,
        r: i.get("r")?,
        b: i.opt("b")?,
        lengths: i.opt("sequence_lens")?,
        h: i.opt("initial_h")?,
        c: extra("initial_c")?,
        p: extra("p")?,
    };
    several(args, kernels::recurrent(&inputs, &attributes(args)?)?)
}
