//! The instructions as ops, and their conversion from and to data.

use crate::code::{InstructionBytes, bytes_of};
use gradus_dialects::constraint::{BYTES_OR_RESOURCE, I64_LIST, UNIT, kind};
use gradus_ir::{
    Attr, AttrKind, AttrText, Block, Builder, Effects, Loc, Module, Op, OpDecl, OpState, Traits, Type, Violation, op,
};
use gradus_simulators::npu::{
    Conv, Feature, Move, NUM_TOKENS, NpuInst, Post, Queue, Residual, Transfer, Unit, Weights, decode, encode,
};

/// A number without its type in text.
const NUMBER: AttrKind = AttrKind {
    text: AttrText::Bare(Type::I64),
    ..kind("64-bit signless integer attribute", |c, a| c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some())
};

/// A keyword that sets a unit attribute.
const FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// A unit of the machine.
const UNIT_NAME: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[("load", 0), ("store", 1), ("array", 2), ("pipe", 3), ("mover", 4)]),
    ..kind("unit", |c, a| c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..5).contains(&v)))
};

/// A queue of instructions.
const QUEUE_NAME: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, &[("load", 0), ("store", 1), ("execute", 2)]),
    ..kind("queue", |c, a| c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..3).contains(&v)))
};

macro_rules! transfers {
    ($($(#[$doc:meta])* $Op:ident $name:literal)*) => { $(
        $(#[$doc])*
        #[op(
            $name,
            effects = Effects::Unknown,
            verify = verify,
            format = "`ddr` $ddr `sram` $sram `run` $run `counts` $counts `strides` $ddr_strides `,` $sram_strides attr-dict"
        )]
        pub struct $Op {
            /// First byte in DDR.
            ddr: Attribute<NUMBER>,
            /// First byte in SRAM.
            sram: Attribute<NUMBER>,
            /// Bytes of a run.
            run: Attribute<NUMBER>,
            /// Numbers of runs, three.
            counts: Attribute<I64_LIST>,
            /// Bytes between runs in DDR.
            ddr_strides: Attribute<I64_LIST>,
            /// Bytes between runs in SRAM.
            sram_strides: Attribute<I64_LIST>,
        }
    )* };
}

transfers! {
    /// Loads runs of contiguous bytes from DDR to SRAM.
    LoadOp "npu.load"
    /// Stores runs of contiguous bytes from SRAM to DDR.
    StoreOp "npu.store"
}

/// Moves slices of contiguous bytes within SRAM.
#[op(
    "npu.move",
    effects = Effects::Unknown,
    verify = verify,
    format = "`from` $from `to` $to `slice` $slice `counts` $counts `strides` $from_strides `,` $to_strides attr-dict"
)]
pub struct MoveOp {
    /// First byte of the source.
    from: Attribute<NUMBER>,
    /// First byte of the target.
    to: Attribute<NUMBER>,
    /// Bytes of a slice.
    slice: Attribute<NUMBER>,
    /// Numbers of slices, four.
    counts: Attribute<I64_LIST>,
    /// Bytes between slices of the source.
    from_strides: Attribute<I64_LIST>,
    /// Bytes between slices of the target.
    to_strides: Attribute<I64_LIST>,
}

macro_rules! convolutions {
    ($($(#[$doc:meta])* $Op:ident $name:literal)*) => { $(
        $(#[$doc])*
        #[op(
            $name,
            effects = Effects::Unknown,
            verify = verify,
            format = "`feature` $feature `weights` $weights `input` $input `output` $output `depth` $depth `kernel` $kernel \
                      `stride` $stride `dilation` $dilation `pad` $pad `zeros` $zeros `acc` $acc \
                      (`signed_feature` $signed_feature^)? (`signed_weights` $signed_weights^)? (`accumulate` $accumulate^)? attr-dict"
        )]
        pub struct $Op {
            /// Placement of the input: base, columns and channels of a block, bytes between rows, columns and channels.
            feature: Attribute<I64_LIST>,
            /// Placement of the weights: base, columns, kernels and depth values of a block, bytes between rows, columns, kernels and
            /// depth values.
            weights: Attribute<I64_LIST>,
            /// Rows and columns of the input.
            input: Attribute<I64_LIST>,
            /// Rows, columns and kernels of the output.
            output: Attribute<I64_LIST>,
            /// Depth of a kernel.
            depth: Attribute<NUMBER>,
            /// Rows and columns of a kernel.
            kernel: Attribute<I64_LIST>,
            /// Steps along rows and columns.
            stride: Attribute<I64_LIST>,
            /// Distances between taps along rows and columns.
            dilation: Attribute<I64_LIST>,
            /// Padding before the first row and column.
            pad: Attribute<I64_LIST>,
            /// Value of padding, zero points of the feature and of the weights.
            zeros: Attribute<I64_LIST>,
            /// First accumulator.
            acc: Attribute<NUMBER>,
            /// Whether bytes of the feature are signed.
            signed_feature: OptAttribute<FLAG>,
            /// Whether bytes of the weights are signed.
            signed_weights: OptAttribute<FLAG>,
            /// Whether the sums are added to the accumulators.
            accumulate: OptAttribute<FLAG>,
        }
    )* };
}

convolutions! {
    /// Convolves a feature into accumulators.
    ConvOp "npu.conv"
    /// Convolves each channel of a feature with a kernel of its own into accumulators.
    DwConvOp "npu.dwconv"
}

/// Requantizes accumulators and writes bytes, with an optional residual and table.
#[op(
    "npu.post",
    effects = Effects::Unknown,
    verify = verify,
    format = "`acc` $acc `output` $output `params` $params `zero` $zero `clamp` $clamp `to` $target \
              (`residual` $residual^ `at` $residual_feature)? (`signed_residual` $signed_residual^)? (`table` $table^)? attr-dict"
)]
pub struct PostOp {
    /// First accumulator.
    acc: Attribute<NUMBER>,
    /// Rows, columns and kernels.
    output: Attribute<I64_LIST>,
    /// First byte of the parameters and bytes between those of kernels.
    params: Attribute<I64_LIST>,
    /// Zero point of the result.
    zero: Attribute<NUMBER>,
    /// Bounds of the result.
    clamp: Attribute<I64_LIST>,
    /// Placement of the output.
    target: Attribute<I64_LIST>,
    /// Zero points, factors, binary places, zero point and bounds of a sum with another feature.
    residual: OptAttribute<I64_LIST>,
    /// Placement of the other feature.
    residual_feature: OptAttribute<I64_LIST>,
    /// Whether bytes of the other feature are signed.
    signed_residual: OptAttribute<FLAG>,
    /// First byte of a table and bytes between those of kernels.
    table: OptAttribute<I64_LIST>,
}

/// Adds one to a token when the last instruction of a unit completes.
#[op("npu.signal", effects = Effects::Unknown, verify = verify, format = "$unit `token` $token attr-dict")]
pub struct SignalOp {
    /// The unit.
    unit: Attribute<UNIT_NAME>,
    /// The token.
    token: Attribute<NUMBER>,
}

/// Blocks a queue until a token is positive, and subtracts one.
#[op("npu.wait", effects = Effects::Unknown, verify = verify, format = "$queue `token` $token attr-dict")]
pub struct WaitOp {
    /// The queue.
    queue: Attribute<QUEUE_NAME>,
    /// The token.
    token: Attribute<NUMBER>,
}

/// Ends the program when all units are idle.
#[op("npu.end", traits = Traits::TERMINATOR, effects = Effects::Unknown, format = "attr-dict")]
pub struct EndOp {}

/// Instructions as bytes, in place of ops: those of the binary.
#[op("npu.code", effects = Effects::Unknown, parents = &["npu.program"], format = "$value attr-dict")]
pub struct PackedInstructionsOp {
    /// Bytes.
    value: Attribute<BYTES_OR_RESOURCE>,
}

/// The bytes of instructions.
pub(super) const BYTES: InstructionBytes = InstructionBytes {
    code: PackedInstructionsOp::INFO,
    encode: |m, ops| {
        let code: Vec<Vec<NpuInst>> = ops.iter().map(|&op| instructions_of(m, op)).collect::<Result<_, _>>()?;
        Ok(encode(&code.concat()))
    },
    insert: |m, op| {
        let loc = m.loc(op);
        for inst in instructions_of(m, op)? {
            push(&mut Builder::before(m, op), loc, &inst);
        }
        Ok(())
    },
};

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    instruction(m, op).map(drop)
}

/// Attributes of an op as numbers of the types of fields.
struct OpFieldReader<'a>(&'a Module, Op);

impl OpFieldReader<'_> {
    fn attr(&self, name: &str) -> Option<Attr> {
        self.0.inherent_attr(self.1, name)
    }

    fn number<T: TryFrom<i64>>(&self, name: &str) -> Result<T, Violation> {
        let value = self.attr(name).and_then(|a| self.0.ctx.as_int(a)).unwrap_or(-1);
        T::try_from(value).map_err(|_| format!("requires a '{name}' in the range of its field, not {value}").into())
    }

    fn list<const N: usize>(&self, name: &str) -> Result<[i64; N], Violation> {
        let list = self.attr(name).and_then(|a| self.0.ctx.as_ints(a)).unwrap_or_default();
        <[i64; N]>::try_from(&list[..])
            .map_err(|_| format!("requires {N} numbers as '{name}', not {}", list.len()).into())
    }

    fn fields<T: TryFrom<i64>, const N: usize>(&self, name: &str) -> Result<[T; N], Violation> {
        let list = self.list::<N>(name)?;
        let mut values = Vec::with_capacity(N);
        for value in list {
            let field =
                T::try_from(value).map_err(|_| format!("'{name}' has {value}, out of the range of its field"))?;
            values.push(field);
        }
        values.try_into().map_err(|_| format!("requires {N} numbers as '{name}'").into())
    }

    fn flag(&self, name: &str) -> bool {
        self.attr(name).is_some()
    }

    fn feature(&self, name: &str) -> Result<Feature, Violation> {
        let [base, tile_w, tile_c, row, col, chan] = self.fields::<u32, 6>(name)?;
        let [tile_w, tile_c] = narrow(name, [tile_w, tile_c])?;
        Ok(Feature { base, tile_w, tile_c, row, col, chan })
    }

    fn transfer(&self) -> Result<Transfer, Violation> {
        Ok(Transfer {
            ddr: self.number("ddr")?,
            sram: self.number("sram")?,
            run: self.number("run")?,
            counts: self.fields("counts")?,
            ddr_strides: self.fields("ddr_strides")?,
            sram_strides: self.fields("sram_strides")?,
        })
    }

    fn moved(&self) -> Result<Move, Violation> {
        Ok(Move {
            from: self.number("from")?,
            to: self.number("to")?,
            slice: self.number("slice")?,
            counts: self.fields("counts")?,
            from_strides: self.fields("from_strides")?,
            to_strides: self.fields("to_strides")?,
        })
    }

    fn conv(&self) -> Result<Conv, Violation> {
        let [base, tile_w, tile_k, tile_d, ky, kx, kernel, depth] = self.fields::<u32, 8>("weights")?;
        let [tile_w, tile_k, tile_d] = narrow("weights", [tile_w, tile_k, tile_d])?;
        let ([height, width], [rows, cols, kernels]) = (self.fields("input")?, self.fields("output")?);
        let [pad_value, feature_zero, weight_zero] = self.fields("zeros")?;
        Ok(Conv {
            feature: self.feature("feature")?,
            weights: Weights { base, tile_w, tile_k, tile_d, ky, kx, kernel, depth },
            height,
            width,
            rows,
            cols,
            kernels,
            depth: self.number("depth")?,
            kernel: self.fields("kernel")?,
            stride: self.fields("stride")?,
            dilation: self.fields("dilation")?,
            pad: self.fields("pad")?,
            pad_value,
            feature_zero,
            weight_zero,
            signed_feature: self.flag("signed_feature"),
            signed_weights: self.flag("signed_weights"),
            accumulate: self.flag("accumulate"),
            acc: self.number("acc")?,
        })
    }

    fn residual(&self) -> Result<Option<Residual>, Violation> {
        if !self.flag("residual") {
            return Ok(None);
        }
        let [zero, other_zero, scale, other_scale, shift, sum_zero, low, high] = self.fields::<i32, 8>("residual")?;
        let [zero, other_zero, sum_zero, low, high] = narrow("residual", [zero, other_zero, sum_zero, low, high])?;
        let [shift] = narrow("residual", [shift])?;
        Ok(Some(Residual {
            feature: self.feature("residual_feature")?,
            zero,
            other_zero,
            scale,
            other_scale,
            shift,
            signed: self.flag("signed_residual"),
            sum_zero,
            sum_clamp: [low, high],
        }))
    }

    fn post(&self) -> Result<Post, Violation> {
        let ([rows, cols, kernels], [params, param_stride]) = (self.fields("output")?, self.fields("params")?);
        let table = if self.flag("table") { Some(self.fields::<u32, 2>("table")?) } else { None };
        Ok(Post {
            acc: self.number("acc")?,
            rows,
            cols,
            kernels,
            params,
            param_stride,
            zero: self.number("zero")?,
            clamp: self.fields("clamp")?,
            residual: self.residual()?,
            table: table.map(|[first, _]| first),
            table_stride: table.map_or(0, |[_, stride]| stride),
            output: self.feature("target")?,
        })
    }
}

/// Numbers of narrower fields.
fn narrow<T: Copy + std::fmt::Display, U: TryFrom<T>, const N: usize>(
    name: &str,
    values: [T; N],
) -> Result<[U; N], Violation> {
    let mut out = Vec::with_capacity(N);
    for value in values {
        out.push(U::try_from(value).map_err(|_| format!("'{name}' has {value}, out of the range of its field"))?);
    }
    out.try_into().map_err(|_| format!("requires {N} numbers as '{name}'").into())
}

/// Converts an op to an instruction.
///
/// # Errors
/// The op is not an instruction, or a number is out of the range of its field.
pub fn instruction(m: &Module, op: Op) -> Result<NpuInst, Violation> {
    let r = OpFieldReader(m, op);
    let is = |info| m.is_one_of(op, &[info]);
    let token = || match r.number::<u8>("token")? {
        token if usize::from(token) < NUM_TOKENS => Ok(token),
        token => Err(format!("requires a token from 0 to {}, not {token}", NUM_TOKENS - 1)),
    };
    Ok(match () {
        () if is(LoadOp::INFO) => NpuInst::Load(r.transfer()?),
        () if is(StoreOp::INFO) => NpuInst::Store(r.transfer()?),
        () if is(MoveOp::INFO) => NpuInst::Move(r.moved()?),
        () if is(ConvOp::INFO) => NpuInst::Conv(r.conv()?),
        () if is(DwConvOp::INFO) => NpuInst::DwConv(r.conv()?),
        () if is(PostOp::INFO) => NpuInst::Post(r.post()?),
        () if is(SignalOp::INFO) => NpuInst::Signal { unit: unit(r.number("unit")?)?, token: token()? },
        () if is(WaitOp::INFO) => NpuInst::Wait { queue: queue(r.number("queue")?)?, token: token()? },
        () if is(EndOp::INFO) => NpuInst::End,
        () => return Err(format!("'{}' is no instruction of the npu", m.name_text(op)).into()),
    })
}

fn unit(number: usize) -> Result<Unit, Violation> {
    Unit::ALL.get(number).copied().ok_or_else(|| format!("there is no unit {number}").into())
}

fn queue(number: usize) -> Result<Queue, Violation> {
    [Queue::Load, Queue::Store, Queue::Execute]
        .get(number)
        .copied()
        .ok_or_else(|| format!("there is no queue {number}").into())
}

/// An op under construction.
struct OpFieldWriter<'a>(&'a Module, OpState);

impl OpFieldWriter<'_> {
    fn number(&mut self, name: &str, value: impl Into<i64>) {
        let attr = self.0.ctx.int_attr(Type::I64, value.into());
        self.1.inherent(&self.0.ctx, name, Some(attr));
    }

    fn list<T: Copy + Into<i64>>(&mut self, name: &str, values: &[T]) {
        let values: Vec<i64> = values.iter().map(|&v| v.into()).collect();
        self.1.inherent(&self.0.ctx, name, Some(self.0.ctx.i64_array_attr(&values)));
    }

    fn flag(&mut self, name: &str, value: bool) {
        if value {
            self.1.inherent(&self.0.ctx, name, Some(Attr::UNIT));
        }
    }

    fn feature(&mut self, name: &str, f: &Feature) {
        self.list(name, &[f.base, f.tile_w.into(), f.tile_c.into(), f.row, f.col, f.chan]);
    }

    fn transfer(&mut self, t: &Transfer) {
        [("ddr", t.ddr), ("sram", t.sram), ("run", t.run)]
            .into_iter()
            .for_each(|(name, value)| self.number(name, value));
        self.list("counts", &t.counts);
        self.list("ddr_strides", &t.ddr_strides);
        self.list("sram_strides", &t.sram_strides);
    }

    fn moved(&mut self, t: &Move) {
        [("from", t.from), ("to", t.to), ("slice", t.slice)]
            .into_iter()
            .for_each(|(name, value)| self.number(name, value));
        self.list("counts", &t.counts);
        self.list("from_strides", &t.from_strides);
        self.list("to_strides", &t.to_strides);
    }

    fn conv(&mut self, c: &Conv) {
        let w = &c.weights;
        self.feature("feature", &c.feature);
        let tiles = [w.tile_w, w.tile_k, w.tile_d].map(u32::from);
        self.list("weights", &[&[w.base][..], &tiles, &[w.ky, w.kx, w.kernel, w.depth]].concat());
        self.list("input", &[c.height, c.width]);
        self.list("output", &[c.rows, c.cols, c.kernels]);
        self.number("depth", c.depth);
        let lists = [("kernel", c.kernel), ("stride", c.stride), ("dilation", c.dilation), ("pad", c.pad)];
        lists.into_iter().for_each(|(name, values)| self.list(name, &values));
        self.list("zeros", &[c.pad_value, c.feature_zero, c.weight_zero]);
        self.number("acc", c.acc);
        self.flag("signed_feature", c.signed_feature);
        self.flag("signed_weights", c.signed_weights);
        self.flag("accumulate", c.accumulate);
    }

    fn post(&mut self, p: &Post) {
        self.number("acc", p.acc);
        self.list("output", &[p.rows, p.cols, p.kernels]);
        self.list("params", &[p.params, p.param_stride]);
        self.number("zero", p.zero);
        self.list("clamp", &p.clamp);
        self.feature("target", &p.output);
        if let Some(r) = &p.residual {
            let [zero, other, sum, low, high] =
                [r.zero, r.other_zero, r.sum_zero, r.sum_clamp[0], r.sum_clamp[1]].map(i32::from);
            self.list("residual", &[zero, other, r.scale, r.other_scale, r.shift.into(), sum, low, high]);
            self.feature("residual_feature", &r.feature);
            self.flag("signed_residual", r.signed);
        }
        if let Some(table) = p.table {
            self.list("table", &[table, p.table_stride]);
        }
    }
}

/// Creates the op of an instruction.
pub fn push(b: &mut Builder<'_>, loc: Loc, inst: &NpuInst) -> Op {
    let name = match inst {
        NpuInst::Load(_) => LoadOp::INFO.name,
        NpuInst::Store(_) => StoreOp::INFO.name,
        NpuInst::Move(_) => MoveOp::INFO.name,
        NpuInst::Conv(_) => ConvOp::INFO.name,
        NpuInst::DwConv(_) => DwConvOp::INFO.name,
        NpuInst::Post(_) => PostOp::INFO.name,
        NpuInst::Signal { .. } => SignalOp::INFO.name,
        NpuInst::Wait { .. } => WaitOp::INFO.name,
        NpuInst::End => EndOp::INFO.name,
    };
    let state = OpState::new(&b.module.ctx, name, loc);
    let mut w = OpFieldWriter(b.module, state);
    match inst {
        NpuInst::Load(t) | NpuInst::Store(t) => w.transfer(t),
        NpuInst::Move(t) => w.moved(t),
        NpuInst::Conv(c) | NpuInst::DwConv(c) => w.conv(c),
        NpuInst::Post(p) => w.post(p),
        NpuInst::Signal { unit, token } => {
            w.number("unit", *unit as i64);
            w.number("token", *token);
        }
        NpuInst::Wait { queue, token } => {
            w.number("queue", *queue as i64);
            w.number("token", *token);
        }
        NpuInst::End => {}
    }
    let state = w.1;
    b.create(state)
}

/// Returns the instructions of an op: those of its bytes, or itself.
fn instructions_of(m: &Module, op: Op) -> Result<Vec<NpuInst>, Violation> {
    match PackedInstructionsOp::cast(m, op) {
        Some(_) => decode(bytes_of(m, op)?.bytes()).map_err(|error| error.to_string().into()),
        None => Ok(vec![instruction(m, op)?]),
    }
}

/// Returns the instructions of a block, each with its op.
///
/// # Errors
/// The first op that is not a valid instruction, with the reason.
pub(super) fn instructions(m: &Module, block: Block) -> Result<Vec<(Op, NpuInst)>, (Op, Violation)> {
    let mut all = Vec::new();
    for op in m.block_ops(block) {
        let code = instructions_of(m, op).map_err(|why| (op, why))?;
        all.extend(code.into_iter().map(|inst| (op, inst)));
    }
    Ok(all)
}
