//! `convert-matmul-to-nna`: integer products and convolutions as programs of the 3x3 convolution engine.
//!
//! | file | contents |
//! |---|---|
//! | `product.rs` | products, from matrix products and convolutions |
//! | `im2col.rs` | images as matrices |

mod im2col;
mod product;

use crate::emit::Emitter;
use crate::layers::{is_of_network, machine_of};
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::symbols::free_symbol;
use gradus_ir::{Attr, Builder, Diagnostic, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, Refusal, Value};
use gradus_machines::nna::{CallOp, MatMulOp, define};
use gradus_networks::graph::{ConvIntegerOp, MatMulIntegerOp, QLinearConvOp, QLinearMatMulOp};
use gradus_simulators::nna::{Layout, LoopOrder, Mapping, NnaMachine, ProductPlan, ProductProgram, Shape};
use product::Lowered;

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "convert-matmul-to-nna",
    doc: "Turn integer products and convolutions into programs of the nna

# Before / After

```mlir
func.func @main(%a: tensor<4x18xi8>, %b: tensor<18x64xi8>) -> tensor<4x64xi32> {
  %0 = nna.matmul diagonal %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  return %0 : tensor<4x64xi32>
}   // becomes:

func.func @main(%a: tensor<4x18xi8>, %b: tensor<18x64xi8>) -> tensor<4x64xi32> {
  %0 = nna.call @nna0 %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  return %0 : tensor<4x64xi32>
}
nna.program @nna0 product [4, 18, 64] diagonal kernel_outer resident 2 machine [8, 2, 2, ...] {
  nna.nncfg stride, 2
  ...
}
```

# Does

Each `nna.matmul`, and each `graph.matmul_integer`, `graph.qlinear_matmul`, `graph.conv_integer` and `graph.qlinear_conv` of known extents
becomes an `nna.call` of a program. Products of the same extents share one. Mapping (that of `nna.matmul` is given), loop order and the number
of resident kernels are those of the fewest cycles, which the cycle model of the machine counts; so is the operand that takes the
place of the weights, where scales do not decide it. Requantization runs on the machine.

A convolution becomes a product of its filters and the image as a matrix of patches, which the host makes by padding, slices and a
concatenation. Groups, and so depthwise convolutions, become products of some groups each, by cycles: the filters of a product are rows
with zeros for the channels of its other groups. Zero points and bias are terms that the host adds to the sums to begin with.

# Refuses

Products of tensors of other ranks, unknown extents, extents of zero, sums that may exceed 32 bits or, if they are requantized, 29 bits; scales
and zero points of results that are not constant; operands that do not fit in memory; other ops of networks. These ops stay on the host. A remark on each says why.

# Cost

A program for each plan of each product, of some thousand instructions; scheduling is quadratic in the length of loop bodies.",
    options: &[
        PassOption { name: "target", doc: "Target whose machine is meant", kind: OptionKind::Text("nna") },
        PassOption {
            name: "without",
            doc: "Technique of the mapping that is left out, to see its gain",
            kind: OptionKind::Word(
                "nothing",
                &[
                    ("nothing", "the plan of the fewest cycles"),
                    ("convolutions", "scalar code only"),
                    ("sharing", "weights are written for each patch, one after the other"),
                    ("ping-pong", "features are written between convolutions"),
                ],
            ),
        },
    ],
    statistics: &[
        ("num-products", "Number of products"),
        ("num-programs", "Number of programs"),
        ("num-instructions", "Number of instructions"),
        ("num-cycles", "Estimated cycles of all products"),
        ("num-host", "Number of ops that stay on the host"),
    ],
    rewrites: Rewrites::Tags(&["lower"]),
    stays: "on the host",
    make: |options| {
        let (target, without) = (options.text("target").to_owned(), Without::of(options.text("without")));
        Ok(Box::new(MatMulToNna { target, without }))
    },
    ..PassInfo::DEFAULT
};

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    [MatMulOp::INFO, MatMulIntegerOp::INFO, QLinearMatMulOp::INFO, ConvIntegerOp::INFO, QLinearConvOp::INFO].into_iter()
}

struct MatMulToNna {
    target: String,
    without: Without,
}

/// A technique that is left out, for comparison.
#[derive(Clone, Copy)]
enum Without {
    Nothing,
    /// All but scalar code.
    Convolutions,
    /// Weights that the patches of a step share.
    Sharing,
    /// Writes of features beside convolutions.
    PingPong,
}

impl Without {
    fn of(word: &str) -> Without {
        match word {
            "convolutions" => Without::Convolutions,
            "sharing" => Without::Sharing,
            "ping-pong" => Without::PingPong,
            _ => Without::Nothing,
        }
    }

    fn adjust(self, plan: ProductPlan) -> Option<ProductPlan> {
        let is_conv = plan.mapping != Mapping::Scalar;
        match self {
            Without::Nothing => Some(plan),
            Without::Convolutions => (!is_conv).then_some(plan),
            Without::Sharing => {
                (plan.order == LoopOrder::KernelOuter).then_some(ProductPlan { sharing: false, ..plan })
            }
            Without::PingPong => (!plan.ping_pong || !is_conv).then_some(plan),
        }
    }
}

impl Pass for MatMulToNna {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let machine = machine_of(m, root, &self.target, NnaMachine::of)?;
        let mut programs: Vec<(Layout, Attr)> = Vec::new();
        for op in m.ops_under(root) {
            if !is_of_network(m, op) && MatMulOp::cast(m, op).is_none() {
                continue;
            }
            let (lowered, product) = match Lowered::of(m, op).and_then(|lowered| self.cheapest(lowered, &machine)) {
                Ok(cheapest) => cheapest,
                Err(refusal) => {
                    cx.refuse(m, op, &refusal);
                    cx.count("num-host", 1);
                    continue;
                }
            };
            if !cx.allows("lower", m, op) {
                continue;
            }
            let known = programs.iter().find(|(layout, _)| *layout == product.layout).map(|(_, name)| *name);
            let name = match known {
                Some(name) => name,
                None => {
                    let Some(name) = define_program(m, op, &product, &machine) else { continue };
                    programs.push((product.layout, name));
                    cx.count("num-programs", 1);
                    cx.count("num-instructions", product.code.len() as u64);
                    name
                }
            };
            if replace(m, op, &lowered, name).is_some() {
                cx.count("num-products", lowered.parts as u64);
                cx.count("num-cycles", lowered.parts as u64 * product.cycles);
            }
        }
        Ok(())
    }
}

impl MatMulToNna {
    /// Returns the alternative and program of the fewest cycles.
    fn cheapest(&self, alternatives: Vec<Lowered>, machine: &NnaMachine) -> Result<(Lowered, ProductProgram), Refusal> {
        let Shape { rows, depth, columns } = alternatives[0].shape;
        let programs = alternatives.into_iter().filter_map(|lowered| {
            let (initial, requantize) = (lowered.initial, lowered.requantize.as_ref().map(|r| r.zero));
            let adjust = |plan: ProductPlan| {
                let plan = self.without.adjust(plan)?;
                let fits = lowered.mapping.is_none_or(|mapping| mapping == plan.mapping);
                fits.then_some(ProductPlan { initial, requantize, ..plan })
            };
            let product = ProductProgram::cheapest(lowered.shape, machine, adjust).ok()?;
            Some((lowered, product))
        });
        let cheapest = programs.min_by_key(|(lowered, product)| product.cycles.saturating_mul(lowered.parts as u64));
        cheapest.ok_or(
            Refusal::from("a product of {}x{}x{} for which the machine has no plan").with([rows, depth, columns]),
        )
    }
}

/// Defines a program in the symbol table around an op. Returns its symbol.
fn define_program(m: &mut Module, op: Op, product: &ProductProgram, machine: &NnaMachine) -> Option<Attr> {
    let (block, name) = free_symbol(m, op, "nna")?;
    let loc = m.loc(op);
    define(m, block, &name, product, machine, loc);
    Some(m.ctx.symbol_attr(&name))
}

/// Replaces an op by the call of a program.
fn replace(m: &mut Module, op: Op, lowered: &Lowered, program: Attr) -> Option<()> {
    let mut b = Builder::before(m, op);
    let mut e = Emitter::on_graph(&mut b, op);
    let value = call(&mut e, lowered, program)?;
    let old = m.result(op, 0);
    m.replace_all_uses(old, value);
    m.erase_op(op);
    Some(())
}

fn call(e: &mut Emitter<'_, '_>, lowered: &Lowered, program: Attr) -> Option<Value> {
    let extents = [lowered.shape.rows as i64, lowered.shape.columns as i64];
    let ty = e.m().ctx.tensor_type(&extents, lowered.element);
    let mut results = Vec::with_capacity(lowered.parts);
    for (part, [left, right]) in lowered.operands(e)?.into_iter().enumerate() {
        let scale = match &lowered.requantize {
            Some(requantize) => Some(requantize.scale(e, part, lowered.shape.rows)?),
            None => None,
        };
        let mut of_rows = |value: Option<Value>| match value {
            Some(value) => lowered.of_rows(e, value, part).map(Some),
            None => Some(None),
        };
        let (a_zero, bias) = (of_rows(lowered.left_zero)?, of_rows(lowered.bias)?);
        let b_zero = lowered.right_zero;
        let groups = [&[left], &[right], a_zero.as_slice(), b_zero.as_slice(), bias.as_slice(), scale.as_slice()];
        let call = e.op(CallOp::INFO.name, &groups, &[("callee", program)], &[ty])?;
        results.push(e.m().result(call, 0));
    }
    lowered.result(e, &results)
}
