//! Cost models of targets, and the rule groups that they use.
//!
//! An op declares its cost descriptor ([`OpCost`]); a cost model, one file per machine, prices descriptors with the
//! constants of the machine's description. Constants without a source are marked as assumed.

mod cluster;
mod cpu;
mod given;
mod nna;
mod npu;

pub use given::{given, keep_named};

use gradus_ir::diag::hint;
use gradus_ir::op_cost::{ContractionKind, OpCost};
use gradus_ir::rules::{CompiledRule, CostFn};
use gradus_ir::{Diagnostic, Module, Op};

/// A cost model. Constants, values computed only from constants, and ops that stay in place are free.
pub struct CostModel {
    /// Name of the target or of the counted quantity.
    pub name: &'static str,
    /// Description with unit.
    pub doc: &'static str,
    /// The cost of an op, at least 1, so that fewer ops are cheaper.
    pub cost: CostFn,
    /// The rule groups to use, besides the canonicalization rules.
    pub groups: &'static [&'static str],
    /// Whether rules that change floats by rounding are used by default, as usual for networks.
    pub approx: bool,
}

impl CostModel {
    /// Returns the model of a name.
    pub fn named(name: &str) -> Result<&'static CostModel, String> {
        MODELS.iter().find(|model| model.name == name).ok_or_else(|| {
            let hint = hint(name, MODELS.iter().map(|m| m.name));
            let all: Vec<String> = MODELS.iter().map(|m| format!("{} ({})", m.name, m.doc)).collect();
            format!("there is no target '{name}'{hint}; there are {}", all.join(", "))
        })
    }

    /// Whether rules that round are used, given the option `floats`.
    pub fn rounds(&self, floats: &str) -> Result<bool, String> {
        match floats {
            "" => Ok(self.approx),
            "exact" => Ok(false),
            "approx" => Ok(true),
            other => Err(format!("'floats' is exact or approx, not '{other}'")),
        }
    }

    /// Returns the rules or rule groups with the given names; without names, the canonicalization rules, the rules from
    /// the user, and the groups of the target.
    ///
    /// # Errors
    /// When a name is not that of a rule or group, or when it asks for approximate rules only though `approx` is false.
    pub fn rules(&self, m: &Module, root: Op, names: &[String], approx: bool) -> Result<Vec<CompiledRule>, Diagnostic> {
        let declared = m.ctx.declared_rules().rules().iter().cloned();
        let mut all: Vec<CompiledRule> = declared.chain(given(m)?).collect();
        let mut kept = names.to_vec();
        for (group, rules) in m.ctx.rule_groups() {
            if !names.is_empty() || self.groups.contains(&group.name) {
                all.extend_from_slice(rules);
            }
            if names.iter().any(|name| name == group.name) {
                if !approx && rules.iter().all(|rule| rule.approx) {
                    let message =
                        format!("the rules of group '{}' are approximate: they need floats=approx", group.name);
                    return Err(Diagnostic::error(m.loc(root), message));
                }
                kept.retain(|name| name != group.name);
                kept.extend(rules.iter().map(|rule| m.ctx.text(rule.name).to_owned()));
            }
        }
        keep_named(m, root, &mut all, &kept)?;
        let named = |rule: &&CompiledRule| names.iter().any(|name| name == m.ctx.text(rule.name));
        match all.iter().filter(named).find(|rule| rule.approx && !approx) {
            Some(rule) => {
                let message = format!("rule '{}' is approximate: it needs floats=approx", m.ctx.text(rule.name));
                Err(Diagnostic::error(m.loc(root), message))
            }
            None => Ok(all),
        }
    }
}

/// All cost models; the first is the default.
pub const MODELS: &[CostModel] = &[
    CostModel { name: "ops", doc: "the number of ops", cost: |_, _| 1, groups: &[], approx: false },
    CostModel {
        name: "scalar",
        doc: "cycles of a scalar processor, roughly",
        cost: scalar,
        groups: &[],
        approx: false,
    },
    CostModel {
        name: "flops",
        doc: "the number of multiplications, and of other operations on elements",
        cost: flops,
        groups: &["graph-algebra", "graph-fuse", "graph-merge"],
        approx: true,
    },
    CostModel {
        name: "cpu",
        doc: cpu::DOC,
        cost: cpu::cost,
        groups: &["graph-algebra", "graph-fuse", "graph-merge", "sparse", "mul-as-conv", "matmul-as-conv"],
        approx: true,
    },
    CostModel {
        name: "nna",
        doc: nna::DOC,
        cost: nna::cost,
        groups: &[
            "graph-algebra",
            "graph-fuse",
            "graph-merge",
            "matmul-on-nna",
            "mul-as-conv",
            "matmul-as-conv",
            "conv-as-3x3",
        ],
        approx: true,
    },
    CostModel {
        name: "npu",
        doc: npu::DOC,
        cost: npu::cost,
        groups: &["graph-algebra", "graph-fuse", "graph-merge", "mul-as-conv", "matmul-as-conv"],
        approx: true,
    },
    CostModel {
        name: "cluster",
        doc: cluster::DOC,
        cost: cluster::cost,
        groups: &["graph-algebra", "graph-fuse", "graph-merge", "mul-as-conv", "matmul-as-conv"],
        approx: true,
    },
    CostModel {
        name: "arbitrary",
        doc: "costs that mean nothing: any side of a rule may be chosen, to test rules",
        cost: arbitrary,
        groups: &[],
        approx: false,
    },
];

/// The cost of an op without implementation on a target, above that of any program with one.
const NEVER: u64 = 1 << 40;

/// Latency in cycles, for ops that take more than one on common processors.
fn scalar(m: &Module, op: Op) -> u64 {
    match m.name_text(op) {
        "arith.muli" | "arith.mulsi_extended" | "arith.mului_extended" => 3,
        "arith.addf" | "arith.subf" | "arith.mulf" | "math.fma" => 4,
        "arith.divsi" | "arith.divui" | "arith.remsi" | "arith.remui" | "arith.ceildivsi" | "arith.floordivsi" => 20,
        "arith.divf" | "math.sqrt" => 14,
        "math.powf" | "math.exp" | "math.log" | "math.sin" | "math.cos" | "math.tanh" => 60,
        "math.fpowi" | "math.ipowi" => 40,
        _ => 1,
    }
}

/// Number of necessary multiplications and additions; data movement is free.
fn flops(m: &Module, op: Op) -> u64 {
    match OpCost::of(m, op) {
        OpCost::View | OpCost::Move(_) => 1,
        OpCost::Map(elements) => elements,
        OpCost::Contract(c) => match c.kind {
            ContractionKind::Dense => c.products(),
            ContractionKind::Sparse(_, factors) => {
                factors.saturating_mul(c.products() / (c.rows * c.depth).max(1)).min(NEVER)
            }
            ContractionKind::Conv3x3(_) => NEVER,
        },
    }
}

fn arbitrary(m: &Module, op: Op) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    1 + m.name_text(op).bytes().fold(0xcbf2_9ce4_8422_2325, mix) % 13
}
