//! The choice for a product: `#nna.plan`.

use crate::parameters::{number, word};
use gradus_dialects::constraint::{I64, STRING};
use gradus_ir::{Attr, AttrDecl, Context, ParamArgs, ParamError, Type, attr};
use gradus_simulators::nna::{LoopOrder, Mapping, ProductPlan};

/// The plan of a product on the engine.
///
/// `mapping` is that of its matrices to convolutions. `order` is the outer loop: over kernels, so that features are written again for each, or
/// over steps of patches, so that weights are. `resident` kernels are in the weight RAM together. Columns beyond a multiple of 32 are scalar code, or
/// a patch that is padded. `weights` is the operand that takes the place of the weights.
#[attr(
    "nna.plan",
    verify = |params| ProductChoice::of(params).map(drop),
    examples = &["\"diagonal\"", "\"dense\", order = \"steps\", resident = 2, tail = \"padded\", weights = \"right\""]
)]
pub struct PlanAttr {
    /// `diagonal`, `dense` or `scalar`.
    mapping: Param<STRING>,
    /// The outer loop: `kernels` or `steps`.
    #[default = "\"kernels\""]
    order: Param<STRING>,
    /// Number of kernels.
    #[default = "1"]
    resident: Param<I64>,
    /// `scalar` or `padded`.
    #[default = "\"scalar\""]
    tail: Param<STRING>,
    /// `left` or `right`.
    #[default = "\"left\""]
    weights: Param<STRING>,
}

/// The data of `#nna.plan`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProductChoice {
    /// Mapping to convolutions.
    pub mapping: Mapping,
    /// Order of loops.
    pub order: LoopOrder,
    /// Kernels that are resident together.
    pub resident: usize,
    /// Whether columns beyond a multiple of 32 are padded.
    pub padded: bool,
    /// Whether the right operand takes the place of the weights, so that the result is transposed.
    pub is_turned: bool,
}

/// Names of mappings, orders, tails and operands.
const MAPPINGS: [&str; 3] = ["diagonal", "dense", "scalar"];
const ORDERS: [&str; 2] = ["kernels", "steps"];
const TAILS: [&str; 2] = ["scalar", "padded"];
const OPERANDS: [&str; 2] = ["left", "right"];

impl ProductChoice {
    fn of(params: &ParamArgs<'_>) -> Result<ProductChoice, ParamError> {
        Ok(ProductChoice {
            mapping: Mapping::ALL[word(params, "mapping", &MAPPINGS)?],
            order: LoopOrder::ALL[word(params, "order", &ORDERS)?],
            resident: number(params, "resident", 1)? as usize,
            padded: word(params, "tail", &TAILS)? == 1,
            is_turned: word(params, "weights", &OPERANDS)? == 1,
        })
    }

    /// Returns the plan of a program.
    pub fn of_program(plan: &ProductPlan, is_turned: bool) -> ProductChoice {
        let &ProductPlan { mapping, order, resident, padded, .. } = plan;
        ProductChoice { mapping, order, resident, padded, is_turned }
    }

    /// Returns the data of an attribute `#nna.plan`.
    pub fn from_attr(ctx: &Context, attr: Attr) -> Option<ProductChoice> {
        ProductChoice::of(&PlanAttr::cast(ctx, attr)?.params(ctx)).ok()
    }

    /// Returns the attribute. Panics if the context has no dialect `nna`.
    pub fn to_attr(&self, ctx: &Context) -> Attr {
        let mapping = Mapping::ALL.iter().position(|known| *known == self.mapping).unwrap_or(0);
        let order = LoopOrder::ALL.iter().position(|known| *known == self.order).unwrap_or(0);
        let words = [ORDERS[order], TAILS[usize::from(self.padded)], OPERANDS[usize::from(self.is_turned)]];
        let [order, tail, weights] = words.map(|word| ctx.string_attr(word));
        let resident = ctx.int_attr(Type::I64, self.resident as i64);
        PlanAttr::get(ctx, ctx.string_attr(MAPPINGS[mapping]), order, resident, tail, weights).expect("a plan is one").0
    }
}
