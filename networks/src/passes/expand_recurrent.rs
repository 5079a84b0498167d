//! `expand-recurrent`: recurrent layers as products and elementwise ops.

use super::tensor_emitter::{TensorEmitter, replace_by};
use crate::graph::{
    ClipOp, ConcatFromSequenceOp, ReluOp, SequenceEmptyOp, SequenceInsertOp, SequenceType, SigmoidOp, TanhOp,
    recurrent_attributes,
};
use gradus_dialects::tensor::{DimOp, FromElementsOp};
use gradus_dialects::{arith, scf};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{
    Builder, DYNAMIC, Diagnostic, Module, Op, OpArgs, Pass, PassContext, PassInfo, Refusal, Tensor, Type, Value,
};
use gradus_reference_kernels::{Activation, RecurrentAttrs, RecurrentCell};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "expand-recurrent",
    doc: "Compute recurrent layers by products and elementwise ops

# Before / After

```mlir
%y = graph.rnn %x, %w, %r : (tensor<1x2x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>) -> tensor<1x1x2x3xf32>
// becomes, but for the shapes:
%0 = graph.matmul %x, %wt : (tensor<1x2x4xf32>, tensor<4x3xf32>) -> tensor<1x2x3xf32>       // all steps at once
%1 = graph.matmul %h, %rt : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>           // for each step
%2 = graph.add %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%y = graph.tanh %2 : tensor<2x3xf32>
```

# Does

Replaces `graph.lstm`, `graph.gru` and `graph.rnn`. The products of the inputs of all steps with the input weights are one; each step adds the
product of the last hidden state with the recurrence weights and applies the gates. At most `unroll` steps follow each other; more are the body of an
`scf.for`, which carries the states and collects the hidden ones in a sequence. Gates and states are rounded to the element type at each step, where
the layer is rounded once.

# Refuses

Layers with lengths of sequences, with activation functions other than sigmoid, tanh and relu, whose operands do not fit each other, of unknown
sizes of inputs or hidden states, or without an initial state for a batch of unknown extent. A remark names the layer.

# Cost

Linear in the number of layers and of steps that follow each other.",
    options: &[PassOption {
        name: "unroll",
        doc: "Largest number of steps that are no loop",
        kind: OptionKind::Int(4),
    }],
    stays: "a layer",
    statistics: &[("num-layers", "Number of layers"), ("num-loops", "Number of loops")],
    rewrites: Rewrites::Tags(&["expand-recurrent"]),
    floats: |_| FloatChange::Rounds,
    make: |options| {
        let unroll = usize::try_from(options.int("unroll")).map_err(|_| "unroll must not be negative")?;
        Ok(Box::new(ExpandRecurrent { unroll }))
    },
    ..PassInfo::DEFAULT
};

struct ExpandRecurrent {
    unroll: usize,
}

impl Pass for ExpandRecurrent {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        for op in m.ops_under(root) {
            let Some(attrs) = recurrent_attributes(m, op) else { continue };
            match LayerPlan::of(m, op, attrs, self.unroll) {
                Err(refusal) => cx.refuse(m, op, &refusal),
                Ok(_) if !cx.allows("expand-recurrent", m, op) => {}
                Ok(plan) => {
                    cx.count("num-layers", 1);
                    cx.count("num-loops", if plan.is_loop() { plan.attrs.reversed.len() as u64 } else { 0 });
                    if let Err(refusal) = plan.expand(m, op) {
                        cx.refuse(m, op, &refusal);
                    }
                }
            }
        }
        Ok(())
    }
}

/// A recurrent layer that can be expanded.
struct LayerPlan {
    attrs: RecurrentAttrs,
    x: Value,
    w: Value,
    r: Value,
    bias: Option<Value>,
    /// The initial hidden and cell states.
    initial: [Option<Value>; 2],
    peepholes: Option<Value>,
    /// Extents of the steps and the batch, which may be open, and of the hidden state.
    steps: i64,
    batch: i64,
    hidden: i64,
    unroll: usize,
}

impl LayerPlan {
    fn of(m: &Module, op: Op, attrs: RecurrentAttrs, unroll: usize) -> Result<LayerPlan, Refusal> {
        let args = m.args(op).ok_or("no declaration")?;
        let operand = |args: &OpArgs<'_>, name: &str| {
            if args.info.operands.iter().any(|spec| spec.name == name) { args.opt_operand(name) } else { None }
        };
        if operand(&args, "sequence_lens").is_some() {
            return Err("lengths of sequences".into());
        }
        let is_known = |a: &Activation| matches!(a.name, "sigmoid" | "tanh" | "relu");
        if !attrs.activations.iter().all(is_known) {
            return Err("an activation function other than sigmoid, tanh and relu".into());
        }
        let shape = |v: Value| m.ctx.shape(m.value_type(v));
        let [x, w, r] = ["x", "w", "r"].map(|name| args.operand(name)[0]);
        let (Some(&[first, second, _]), Some(&[_, _, width]), Some(&[_, _, hidden])) = (shape(x), shape(w), shape(r))
        else {
            return Err("operands whose rank is not known".into());
        };
        if [width, hidden].iter().any(|&n| i32::try_from(n).is_err()) {
            return Err("weights whose extents are not known".into());
        }
        let (steps, batch) = if attrs.batch_first { (second, first) } else { (first, second) };
        let initial = ["initial_h", "initial_c"].map(|name| operand(&args, name));
        let is_lstm = matches!(attrs.cell, RecurrentCell::Lstm { .. });
        if batch == DYNAMIC && (initial[0].is_none() || (is_lstm && initial[1].is_none())) {
            return Err("a batch of unknown extent without initial states".into());
        }
        let (bias, peepholes) = (operand(&args, "b"), operand(&args, "p"));
        let (d, rows) = (attrs.reversed.len() as i64, attrs.cell.gates() as i64 * hidden);
        let states = if attrs.batch_first { [batch, d, hidden] } else { [d, batch, hidden] };
        let shapes: [(Option<Value>, &[i64]); 7] = [
            (Some(x), &[first, second, width]),
            (Some(w), &[d, rows, width]),
            (Some(r), &[d, rows, hidden]),
            (bias, &[d, 2 * rows]),
            (initial[0], &states),
            (initial[1], &states),
            (peepholes, &[d, 3 * hidden]),
        ];
        let is_close = |(&a, &b): (&i64, &i64)| a == b || a == DYNAMIC || b == DYNAMIC;
        let fits = |v: Value, want: &[i64]| {
            shape(v).is_some_and(|have| have.len() == want.len() && have.iter().zip(want).all(is_close))
        };
        if !shapes.iter().all(|&(value, want)| value.is_none_or(|v| fits(v, want))) {
            return Err("operands whose extents do not fit each other".into());
        }
        Ok(LayerPlan { attrs, x, w, r, bias, initial, peepholes, steps, batch, hidden, unroll })
    }

    /// Whether the steps are the body of a loop. No steps are one too, of which nothing is collected.
    fn is_loop(&self) -> bool {
        usize::try_from(self.steps).ok().is_none_or(|steps| steps == 0 || steps > self.unroll)
    }

    /// Replaces the layer.
    fn expand(&self, m: &mut Module, op: Op) -> Result<(), Refusal> {
        let needs_all = m.results(op).next().is_some_and(|v| !m.is_unused(v));
        replace_by(m, op, |e| Ok(self.results(e, needs_all)))
    }

    /// Emits the results.
    fn results(&self, e: &mut TensorEmitter<'_>, needs_all: bool) -> Vec<Option<Value>> {
        e.elem = e.elem_of(self.x);
        let x = if self.attrs.batch_first { e.transpose(self.x, &[1, 0, 2]) } else { self.x };
        let parts: Vec<DirectionResults> =
            (0..self.attrs.reversed.len()).map(|d| self.direction(e, x, d, needs_all)).collect();
        let all: Option<Vec<Value>> = parts.iter().map(|part| part.all).collect();
        let all = all.map(|all| e.stack(&all, 1));
        let [hidden, cell] = [0, 1].map(|k| {
            let states: Option<Vec<Value>> = parts.iter().map(|part| part.last.get(k).copied()).collect();
            states.map(|states| e.stack(&states, 0))
        });
        let ordered = |e: &mut TensorEmitter<'_>, value: Option<Value>, perm: &[i64]| {
            value.map(|v| if self.attrs.batch_first { e.transpose(v, perm) } else { v })
        };
        let all = ordered(e, all, &[2, 0, 1, 3]);
        let states = [hidden, cell].map(|state| ordered(e, state, &[1, 0, 2]));
        std::iter::once(all).chain(states).collect()
    }

    /// Emits one direction.
    fn direction(&self, e: &mut TensorEmitter<'_>, x: Value, d: usize, needs_all: bool) -> DirectionResults {
        let (d, n) = (d as i64, self.hidden);
        let gates = self.attrs.cell.gates() as i64;
        let [w, r] = [self.w, self.r].map(|weights| {
            let own = e.part(weights, 0, d);
            e.transpose(own, &[1, 0])
        });
        let bias = self.bias.map(|b| {
            let own = e.part(b, 0, d);
            [e.slice(own, 0, 0, gates * n), e.slice(own, 0, gates * n, 2 * gates * n)]
        });
        let peepholes = self.peepholes.map(|p| {
            let own = e.part(p, 0, d);
            [0, 1, 2].map(|k| e.slice(own, 0, k * n, (k + 1) * n))
        });
        let is_late = matches!(self.attrs.cell, RecurrentCell::Gru { linear_before_reset: true });
        let (early, late) = match bias {
            Some([w, r]) if is_late => {
                let [both_w, both_r] = [w, r].map(|b| e.slice(b, 0, 0, 2 * n));
                let [last_w, last_r] = [w, r].map(|b| e.slice(b, 0, 2 * n, 3 * n));
                let both = e.add(both_w, both_r);
                (Some(e.concat(&[both, last_w], 0)), Some(last_r))
            }
            Some([w, r]) => (Some(e.add(w, r)), None),
            None => (None, None),
        };
        let product = e.matmul(x, w);
        let inputs = early.map_or(product, |bias| e.add(product, bias));
        let functions = self.attrs.cell.activations().len();
        let activations = &self.attrs.activations[d as usize * functions..][..functions];
        let cell = Cell {
            kind: self.attrs.cell,
            activations,
            clip: self.attrs.clip,
            recurrence: r,
            bias: late,
            peepholes,
            hidden: n,
        };
        let count = if matches!(self.attrs.cell, RecurrentCell::Lstm { .. }) { 2 } else { 1 };
        let states: Vec<Value> = (0..count)
            .map(|k| match self.initial[k] {
                Some(state) => e.part(state, i64::from(self.attrs.batch_first), d),
                None => e.filled(&[self.batch, n], 0.0),
            })
            .collect();
        let is_reversed = self.attrs.reversed[d as usize];
        match self.is_loop() {
            true => self.looped(e, &cell, inputs, &states, is_reversed, needs_all),
            false => self.unrolled(e, &cell, inputs, states, is_reversed),
        }
    }

    /// Emits the steps one after the other.
    fn unrolled(
        &self,
        e: &mut TensorEmitter<'_>,
        cell: &Cell<'_>,
        inputs: Value,
        mut states: Vec<Value>,
        is_reversed: bool,
    ) -> DirectionResults {
        let mut all = Vec::new();
        for k in 0..self.steps {
            let step = e.part(inputs, 0, if is_reversed { self.steps - 1 - k } else { k });
            states = cell.step(e, step, &states);
            all.push(states[0]);
        }
        if is_reversed {
            all.reverse();
        }
        DirectionResults { all: Some(e.stack(&all, 0)), last: states }
    }

    /// Emits the steps as a loop.
    fn looped(
        &self,
        e: &mut TensorEmitter<'_>,
        cell: &Cell<'_>,
        inputs: Value,
        states: &[Value],
        is_reversed: bool,
        needs_all: bool,
    ) -> DirectionResults {
        let loc = e.loc;
        let [zero, one] = [0, 1].map(|n| e.index(n));
        let count = match self.steps {
            DYNAMIC => DimOp::build(&mut e.b, loc, inputs, zero, &[]).result(e.b.module),
            steps => e.index(steps),
        };
        let state_type = e.b.module.value_type(states[0]);
        let sequence = SequenceType::of(&e.b.module.ctx, state_type);
        let mut carried = states.to_vec();
        if needs_all {
            let dtype = e.b.module.ctx.type_attr(e.elem);
            carried.push(SequenceEmptyOp::build(&mut e.b, loc, Some(dtype), &[sequence]).output(e.b.module));
        }
        let types: Vec<Type> = carried.iter().map(|&v| e.b.module.value_type(v)).collect();
        let made = scf::ForOp::build(&mut e.b, loc, zero, count, one, &carried, None, &types);
        let m = &mut *e.b.module;
        let block = m.add_block(made.region(m));
        let number = m.add_block_arg(block, Type::INDEX, loc);
        let args: Vec<Value> = types.iter().map(|&ty| m.add_block_arg(block, ty, loc)).collect();
        let mut inner = TensorEmitter::new(Builder::at_end(m, block), loc, e.elem);
        let number = if is_reversed { inner.counted_back(count, one, number) } else { number };
        let step = inner.row(inputs, number);
        let next = cell.step(&mut inner, step, &args[..states.len()]);
        let mut yielded: Vec<Value> = next.iter().zip(&types).map(|(&v, &ty)| inner.cast(v, ty)).collect();
        if let Some(&collected) = args.get(states.len()) {
            let start = is_reversed.then(|| inner.constant(&Tensor::from_vec(&[], vec![0_i64])));
            let made = SequenceInsertOp::build(&mut inner.b, loc, collected, yielded[0], start, &[sequence]);
            yielded.push(made.output_sequence(inner.b.module));
        }
        scf::YieldOp::build(&mut inner.b, loc, &yielded, &[]);
        let status = inner.status();
        e.join(status);
        let results: Vec<Value> = e.b.module.results(made.0).collect();
        let all = results.get(states.len()).map(|&sequence| {
            let [axis, is_new] = [0, 1].map(|n| e.b.module.ctx.int_attr(Type::I64, n));
            let made = ConcatFromSequenceOp::build(&mut e.b, loc, sequence, axis, Some(is_new), &[]);
            let value = made.concat_result(e.b.module);
            let shape = [&[self.steps], e.b.module.ctx.shape(state_type).unwrap_or(&[])].concat();
            let ty = e.b.module.ctx.tensor_type(&shape, e.elem);
            e.cast(value, ty)
        });
        DirectionResults { all, last: results[..states.len()].to_vec() }
    }
}

/// The results of a direction.
struct DirectionResults {
    /// The hidden states of all steps, `[T, B, H]`, if they are needed.
    all: Option<Value>,
    /// The last hidden state, and for LSTM the last cell state, `[B, H]`.
    last: Vec<Value>,
}

/// The computation of a step.
struct Cell<'a> {
    kind: RecurrentCell,
    activations: &'a [Activation],
    clip: Option<f64>,
    /// Recurrence weights, `[H, G * H]`.
    recurrence: Value,
    /// The bias of the hidden gate's recurrence, if it is added before the reset.
    bias: Option<Value>,
    /// Weights of the cell state for the input, output and forget gates.
    peepholes: Option<[Value; 3]>,
    hidden: i64,
}

impl Cell<'_> {
    /// Emits a step from its inputs, `[B, G * H]`, and the states before.
    fn step(&self, e: &mut TensorEmitter<'_>, inputs: Value, states: &[Value]) -> Vec<Value> {
        match self.kind {
            RecurrentCell::Rnn => {
                let product = e.matmul(states[0], self.recurrence);
                let sum = e.add(inputs, product);
                vec![self.activated(e, sum, 0)]
            }
            RecurrentCell::Gru { linear_before_reset } => vec![self.gru(e, inputs, states[0], linear_before_reset)],
            RecurrentCell::Lstm { input_forget } => self.lstm(e, inputs, [states[0], states[1]], input_forget),
        }
    }

    fn gru(&self, e: &mut TensorEmitter<'_>, inputs: Value, h: Value, is_late: bool) -> Value {
        let n = self.hidden;
        let [early, late] = [(0, 2 * n), (2 * n, 3 * n)].map(|(first, end)| e.slice(self.recurrence, 1, first, end));
        let product = e.matmul(h, early);
        let both = e.slice(inputs, 1, 0, 2 * n);
        let both = e.add(both, product);
        let gates = [0, 1].map(|k| e.slice(both, 1, k * n, (k + 1) * n));
        let [z, r] = gates.map(|gate| self.activated(e, gate, 0));
        let product = if is_late {
            let product = e.matmul(h, late);
            let product = self.bias.map_or(product, |bias| e.add(product, bias));
            e.mul(r, product)
        } else {
            let reset = e.mul(r, h);
            e.matmul(reset, late)
        };
        let input = e.slice(inputs, 1, 2 * n, 3 * n);
        let candidate = e.add(input, product);
        let candidate = self.activated(e, candidate, 1);
        let kept = self.complement(e, gates[0], z);
        let [new, old] = [e.mul(kept, candidate), e.mul(z, h)];
        e.add(new, old)
    }

    fn lstm(&self, e: &mut TensorEmitter<'_>, inputs: Value, [h, c]: [Value; 2], input_forget: bool) -> Vec<Value> {
        let n = self.hidden;
        let product = e.matmul(h, self.recurrence);
        let all = e.add(inputs, product);
        let [i, o, f, g] = [0, 1, 2, 3].map(|k| e.slice(all, 1, k * n, (k + 1) * n));
        let with_cell = |e: &mut TensorEmitter<'_>, gate: Value, k: usize, c: Value| match self.peepholes {
            Some(weights) => {
                let term = e.mul(weights[k], c);
                e.add(gate, term)
            }
            None => gate,
        };
        let enter = with_cell(e, i, 0, c);
        let i = self.activated(e, enter, 0);
        let f = if input_forget {
            self.complement(e, enter, i)
        } else {
            let f = with_cell(e, f, 2, c);
            self.activated(e, f, 0)
        };
        let g = self.activated(e, g, 1);
        let [kept, new] = [e.mul(f, c), e.mul(i, g)];
        let c = e.add(kept, new);
        let o = with_cell(e, o, 1, c);
        let o = self.activated(e, o, 0);
        let shown = self.activated(e, c, 2);
        vec![e.mul(o, shown), c]
    }

    /// Emits 1 - f(x), where `value` is f(x): of a sigmoid as that of -x, which is not rounded where f(x) is close to 1.
    fn complement(&self, e: &mut TensorEmitter<'_>, x: Value, value: Value) -> Value {
        if self.activations[0].name == "sigmoid" {
            let negative = e.neg(x);
            return self.activated(e, negative, 0);
        }
        let one = e.number(1.0);
        e.sub(one, value)
    }

    /// Emits activation function `k` of a clipped value.
    fn activated(&self, e: &mut TensorEmitter<'_>, x: Value, k: usize) -> Value {
        let x = match self.clip {
            Some(clip) => {
                let [low, high] = [-clip, clip].map(|bound| e.number(bound));
                let loc = e.loc;
                ClipOp::build(&mut e.b, loc, x, Some(low), Some(high), &[]).y(e.b.module)
            }
            None => x,
        };
        let (b, loc) = (&mut e.b, e.loc);
        match self.activations[k].name {
            "sigmoid" => SigmoidOp::build(b, loc, x, &[]).y(b.module),
            "relu" => ReluOp::build(b, loc, x, &[]).y(b.module),
            _ => TanhOp::build(b, loc, x, &[]).y(b.module),
        }
    }
}

impl TensorEmitter<'_> {
    /// Returns `count - 1 - number`.
    fn counted_back(&mut self, count: Value, one: Value, number: Value) -> Value {
        let wraps = self.b.module.ctx.default_attr("#arith.overflow<none>");
        let last = arith::SubIOp::build(&mut self.b, self.loc, count, one, wraps, &[]).result(self.b.module);
        arith::SubIOp::build(&mut self.b, self.loc, last, number, wraps, &[]).result(self.b.module)
    }

    /// Returns the part of a tensor at an index of its first axis.
    fn row(&mut self, x: Value, index: Value) -> Value {
        let (b, loc) = (&mut self.b, self.loc);
        let number = arith::IndexCastOp::build(b, loc, index, &[Type::I64]).out(b.module);
        let scalar = b.module.ctx.tensor_type(&[], Type::I64);
        let at = FromElementsOp::build(b, loc, &[number], &[scalar]).result(b.module);
        self.rows(x, at)
    }

    fn index(&mut self, n: i64) -> Value {
        let attr = self.b.module.ctx.int_attr(Type::INDEX, n);
        arith::ConstantOp::build(&mut self.b, self.loc, attr, &[Type::INDEX]).result(self.b.module)
    }
}
