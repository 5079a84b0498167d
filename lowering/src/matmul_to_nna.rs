//! `convert-matmul-to-nna`: integer products and convolutions as programs of the 3x3 convolution engine.
//!
//! | file | contents |
//! |---|---|
//! | `product.rs` | products, from matrix products and convolutions |
//! | `im2col.rs` | images as matrices |
//! | `programs.rs` | the programs of the fewest cycles, which a context keeps |

mod im2col;
mod product;
mod programs;

use crate::emit::Emitter;
use crate::layers::{is_of_network, machine_of};
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::symbols::free_symbol;
use gradus_ir::{Attr, Builder, Diagnostic, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, Value};
use gradus_machines::nna::{CallOp, MatMulOp, define};
use gradus_networks::graph::{ConvIntegerOp, MatMulIntegerOp, QLinearConvOp, QLinearMatMulOp};
use gradus_simulators::nna::{Layout, NnaMachine, ProductProgram};
use product::Lowered;
use programs::{Without, cheapest};

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

/// What an op costs on the machine, by the program of the fewest cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProductCost {
    /// Cycles of the machine.
    pub cycles: u64,
    /// Elements that the host moves: those of an image as a matrix of patches.
    pub moved: u64,
}

/// Whether the machine computes an op, with its operands.
pub fn computes(m: &Module, op: Op) -> bool {
    machine_of(m, op, "nna", NnaMachine::of).is_ok_and(|machine| product_cost(m, op, &machine).is_some())
}

/// Returns what an op costs on a machine; `None` if that does not compute it.
pub fn product_cost(m: &Module, op: Op, machine: &NnaMachine) -> Option<ProductCost> {
    if !m.is_one_of(op, OPS) {
        return None;
    }
    let (lowered, program) = cheapest(m, Lowered::of(m, op).ok()?, Without::Nothing, machine).ok()?;
    let parts = lowered.parts as u64;
    Some(ProductCost { cycles: parts.saturating_mul(program.cycles), moved: lowered.moved() })
}

/// The ops that the pass lowers.
const OPS: &[&OpInfo] =
    &[MatMulOp::INFO, MatMulIntegerOp::INFO, QLinearMatMulOp::INFO, ConvIntegerOp::INFO, QLinearConvOp::INFO];

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    OPS.iter().copied()
}

struct MatMulToNna {
    target: String,
    without: Without,
}

impl Pass for MatMulToNna {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let machine = machine_of(m, root, &self.target, NnaMachine::of)?;
        let mut programs: Vec<(Layout, Attr)> = Vec::new();
        for op in m.ops_under(root) {
            if !is_of_network(m, op) && MatMulOp::cast(m, op).is_none() {
                continue;
            }
            let (lowered, product) =
                match Lowered::of(m, op).and_then(|lowered| cheapest(m, lowered, self.without, &machine)) {
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
