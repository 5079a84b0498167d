//! `convert-matmul-to-nna`: integer products and convolutions as programs of the 3x3 convolution engine.
//!
//! | file | contents |
//! |---|---|
//! | `matrices.rs`, `convolution.rs` | products, from matrix products and convolutions |
//! | `product.rs` | products, and their calls |
//! | `inputs.rs`, `im2col.rs` | matrices of programs, from batches, filters and images |
//! | `terms.rs` | zero points, bias and requantization |
//! | `programs.rs` | the programs of the fewest cycles, or by given plans, which a context keeps |
//! | `choose.rs` | these plans as attributes |

mod choose;
mod convolution;
mod im2col;
mod inputs;
mod matrices;
mod product;
mod programs;
mod terms;

pub(crate) use choose::choose_plans;

use crate::emit::Emitter;
use crate::layers::{is_of_network, machine_of};
use crate::operands::IntegerContraction;
use convolution::convolve;
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::symbols::free_symbol;
use gradus_ir::{Attr, Builder, Diagnostic, Module, Op, OpDecl, OpInfo, Pass, PassContext, PassInfo, Refusal, Value};
use gradus_machines::nna::{MatMulOp, ProductChoice, define};
use gradus_networks::graph::{ConvIntegerOp, MatMulIntegerOp, QLinearConvOp, QLinearMatMulOp};
use gradus_simulators::nna::{Layout, Mapping, NnaMachine, PricedMachine, ProductProgram};
use matrices::matrices;
use product::Lowered;
use programs::{PricedProduct, ProductWish, Without, cheapest};
use terms::Requantize;

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
becomes an `nna.call` of a program. Products of the same extents share one. Mapping (that of `nna.matmul` is given), loop order, the number
of resident kernels and padding are those of the fewest cycles, which the cycle model of the machine counts; so is the operand that takes the
place of the weights, where scales do not decide it. Elements that the host moves for it have a price (`host_element`), those of constants
have none. Plans that are given (`nna.plans`, which `choose-plans` writes) are obeyed, unless a technique is left out. Requantization runs on the machine.

A batch of left matrices is one product with more rows if the right matrix is the same for all; otherwise each product of the batch is a call
of the same program. A vector is a matrix of one row or column. A reduction of more than 131,071 is divided among programs, whose sums the
host adds; the product of each row is a call then, where that takes fewer cycles.

A convolution becomes a product of its filters and the image as a matrix of patches, which the host makes by padding, slices and a
concatenation. Groups, and so depthwise convolutions, become products of some groups each, by cycles: the filters of a product are rows
with zeros for the channels of its other groups. Zero points and bias are terms that the host adds to the sums to begin with.

# Refuses

Batches of more than 256 calls, unknown extents, extents of zero; requantized sums that may exceed 29 bits; zero points that differ along the
reduction; scales and zero points of results that are not constant; operands that do not fit in memory; other ops of networks. These ops stay on the host. A remark on each says why.

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
                    ("padding", "columns beyond a multiple of 32 are scalar code in the diagonal mapping"),
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

/// Whether the machine computes an op, with its operands.
pub fn computes(m: &Module, op: Op) -> bool {
    machine_of(m, op, "nna", PricedMachine::of).is_ok_and(|machine| product_cost(m, op, &machine).is_some())
}

/// Returns the cycles of an op by the programs of the fewest cycles, with those in which the host moves elements around them; `None` if the
/// machine does not compute it.
pub fn product_cost(m: &Module, op: Op, machine: &PricedMachine) -> Option<u64> {
    if !m.is_one_of(op, OPS) {
        return None;
    }
    let choice = cheapest(m, alternatives(m, op).ok()?, &ProductWish::CHEAPEST, machine).ok()?;
    Some(choice.cycles_with_host(m, machine))
}

/// The ops that the pass lowers.
const OPS: &[&OpInfo] =
    &[MatMulOp::INFO, MatMulIntegerOp::INFO, QLinearMatMulOp::INFO, ConvIntegerOp::INFO, QLinearConvOp::INFO];

/// Returns the ops that the pass lowers.
pub fn ops() -> impl Iterator<Item = &'static OpInfo> {
    OPS.iter().copied()
}

/// Returns the ways in which an op can be lowered, at least one.
fn alternatives(m: &Module, op: Op) -> Result<Vec<Lowered>, Refusal> {
    if let Some(op) = MatMulOp::cast(m, op) {
        let is_diagonal = op.mapping(m).and_then(|attr| m.ctx.as_int(attr)) == Some(0);
        let mapping = if is_diagonal { Mapping::Diagonal } else { Mapping::Dense };
        let (factors, zeros) = ([op.a(m), op.b(m)], [op.a_zero_point(m), op.b_zero_point(m)]);
        let product = IntegerContraction { factors, zeros, bias: None, requantization: None, is_conv: false };
        return matrices(m, &product, None, Some(mapping), op.y(m));
    }
    let product = IntegerContraction::of(m, op).ok_or("not a product of integers")?;
    let requantize = |(scales, zero)| Requantize::of(m, scales, zero);
    match product.is_conv {
        true => convolve(m, op, &product, product.requantization.map(requantize).transpose()?.as_ref()),
        false => {
            let requantization = product.requantization.map(|(scales, zero)| (by_several(m, scales), zero));
            matrices(m, &product, requantization.map(requantize).transpose()?.as_ref(), None, m.result(op, 0))
        }
    }
}

/// Returns the scales of a product with those of the right matrix last, or of the left one if these are several.
fn by_several(m: &Module, [a, b, y]: [Value; 3]) -> [Value; 3] {
    let is_one =
        |value: Value| m.ctx.static_shape(m.value_type(value)).is_some_and(|dims| dims.iter().all(|&d| d == 1));
    if is_one(a) { [a, b, y] } else { [b, a, y] }
}

struct MatMulToNna {
    target: String,
    without: Without,
}

impl Pass for MatMulToNna {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let machine = machine_of(m, root, &self.target, PricedMachine::of)?;
        let mut programs = DefinedPrograms { machine: machine.machine, names: Vec::new() };
        for op in m.ops_under(root) {
            if !is_of_network(m, op) && MatMulOp::cast(m, op).is_none() {
                continue;
            }
            let plans = given_plans(m, op).map_err(|refusal| refused(m, op, &refusal))?;
            let plans = plans.filter(|_| self.without == Without::Nothing);
            let is_given = plans.is_some();
            let wish = ProductWish { without: self.without, plans };
            let choice = match alternatives(m, op).and_then(|lowered| cheapest(m, lowered, &wish, &machine)) {
                Ok(choice) => choice,
                Err(refusal) if is_given => return Err(refused(m, op, &refusal)),
                Err(refusal) => {
                    cx.refuse(m, op, &refusal);
                    cx.count("num-host", 1);
                    continue;
                }
            };
            if !cx.allows("lower", m, op) {
                continue;
            }
            let names: Option<Vec<Attr>> = choice.programs.iter().map(|p| programs.name(m, op, p, cx)).collect();
            if names.is_some_and(|names| replace(m, op, &choice, &names).is_some()) {
                cx.count("num-products", (choice.lowered.parts.len() * choice.programs.len()) as u64);
                cx.count("num-cycles", choice.cycles());
            }
        }
        Ok(())
    }
}

/// The attribute of an op with its plans.
const PLANS: &str = "nna.plans";

/// Returns the plans that an op is given, one for each part of its reduction.
fn given_plans(m: &Module, op: Op) -> Result<Option<Vec<ProductChoice>>, Refusal> {
    let Some(list) = m.ctx.dict_get(m.attrs(op), m.ctx.str(PLANS)) else { return Ok(None) };
    let plans =
        m.ctx.as_array(list).map(|list| list.iter().map(|&attr| ProductChoice::from_attr(&m.ctx, attr)).collect());
    plans.flatten().map(Some).ok_or("plans other than '#nna.plan'".into())
}

/// The error of plans that are given for an op.
fn refused(m: &Module, op: Op, refusal: &Refusal) -> Diagnostic {
    Diagnostic::error(m.loc(op), format!("the plans for '{}' are not possible: {refusal}", m.name_text(op)))
}

/// The programs that are defined, with their symbols.
struct DefinedPrograms {
    machine: NnaMachine,
    names: Vec<(Layout, Attr)>,
}

impl DefinedPrograms {
    /// Returns the symbol of a program, which is defined in the symbol table around an op if it is new.
    fn name(&mut self, m: &mut Module, op: Op, product: &ProductProgram, cx: &mut PassContext<'_>) -> Option<Attr> {
        if let Some((_, name)) = self.names.iter().find(|(layout, _)| *layout == product.layout) {
            return Some(*name);
        }
        let (block, name) = free_symbol(m, op, "nna")?;
        let loc = m.loc(op);
        define(m, block, &name, product, &self.machine, loc);
        let name = m.ctx.symbol_attr(&name);
        self.names.push((product.layout, name));
        cx.count("num-programs", 1);
        cx.count("num-instructions", product.code.len() as u64);
        Some(name)
    }
}

/// Replaces an op by the calls of programs.
fn replace(m: &mut Module, op: Op, choice: &PricedProduct, programs: &[Attr]) -> Option<()> {
    let mut b = Builder::before(m, op);
    let mut e = Emitter::on_graph(&mut b, op);
    let value = choice.lowered.emit(&mut e, programs)?;
    let old = m.result(op, 0);
    m.replace_all_uses(old, value);
    m.erase_op(op);
    Some(())
}
