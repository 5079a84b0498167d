//! Cost models, the rule groups that they use, and machine descriptions.
//!
//! An op declares its cost descriptor ([`OpCost`]); a cost model prices descriptors with the numbers of a [`Machine`].
//! The models of this crate count; those of machines are declared with their target and registered in a context
//! ([`register`]), where passes find them by name.

mod error;
mod given;
mod machine;
mod registered;

pub use error::CostError;
pub use given::{given, keep_named};
pub use machine::{Machine, MachineNumber, Price, ReadNumber, ReadParameters, price};
pub use registered::{load_machine, loaded_machine, measure_with, register};

use gradus_dialects::DIALECTS;
use gradus_dialects::op_cost::OpCost;
use gradus_ir::pass::{FloatChange, Options};
use gradus_ir::rules::{CompiledRule, CostFn};
use gradus_ir::{Context, Diagnostic, Module, Op, OpName};
use rustc_hash::FxHashSet;

/// The cost of an op that the target does not implement, above that of any program that it does.
pub const NEVER: u64 = 1 << 40;

/// A function that creates a price function from the numbers of a machine.
pub type MakePrice = fn(&Machine) -> Result<Price, CostError>;

/// How a cost model prices ops; a price is at least 1, so that fewer ops are cheaper.
#[derive(Clone, Copy)]
pub enum Pricing {
    /// The price of an op.
    Ops(fn(&Module, Op) -> u64),
    /// The price of an op's cost descriptor.
    Descriptors(MakePrice),
    /// The price of an op on a machine.
    Machine(fn(&Machine) -> Result<CostFn, CostError>),
}

/// A machine that a target embeds besides its first one, which differs from that in some numbers.
#[derive(Clone, Copy, Debug)]
pub struct MachineVariant {
    /// The name, such as that of an extension of the instruction set.
    pub name: &'static str,
    /// The description, with the numbers that differ.
    pub description: &'static str,
    /// Whether the machine of this process is one.
    pub is_host: fn() -> bool,
}

/// A cost model. Constants, values computed only from constants, and ops that stay in place are free.
pub struct CostModel {
    /// Name of the target or of the counted quantity.
    pub name: &'static str,
    /// Description with unit.
    pub doc: &'static str,
    /// The embedded machine description; empty if the model only counts.
    pub machine: &'static str,
    /// Further embedded machines; on a host that none of them describes, the machine is that of `machine`.
    pub variants: &'static [MachineVariant],
    /// The costs of ops.
    pub cost: Pricing,
    /// The ops that the target implements: names, or `dialect.*`. Empty for all ops.
    pub ops: fn() -> Vec<&'static str>,
    /// Whether the target implements one of these ops with its types, shapes and attributes.
    pub supports: fn(&Module, Op) -> bool,
    /// The cost of other ops, evaluated by reference or on the host of a device; without it they cost [`NEVER`].
    pub reference: Option<MakePrice>,
    /// The rule groups to use, besides the canonicalization rules.
    pub groups: &'static [&'static str],
    /// Whether rules that change floats by rounding are used by default, as usual for networks.
    pub approx: bool,
}

impl CostModel {
    /// The defaults of a declaration: a model that counts ops.
    pub const DEFAULT: CostModel = CostModel {
        name: "",
        doc: "",
        machine: "",
        variants: &[],
        cost: Pricing::Ops(|_, _| 1),
        ops: Vec::new,
        supports: |_, _| true,
        reference: None,
        groups: &[],
        approx: false,
    };

    /// Reads the embedded machine descriptions: that of `machine`, which has no numbers if the model only counts, and those of the variants.
    ///
    /// # Errors
    /// A diagnostic for each mistake.
    pub fn descriptions(&self, ctx: &Context) -> Result<Vec<Machine>, Vec<Diagnostic>> {
        let first = self.first(ctx)?;
        let variants = self.variants.iter().map(|variant| self.variant(ctx, &first, variant));
        let variants = variants.collect::<Result<Vec<_>, _>>()?;
        Ok(std::iter::once(first).chain(variants).collect())
    }

    fn first(&self, ctx: &Context) -> Result<Machine, Vec<Diagnostic>> {
        match self.machine {
            "" => Ok(Machine::without_numbers(self.name)),
            text => Machine::read(ctx, &format!("{}.toml", self.name), text),
        }
    }

    fn variant(&self, ctx: &Context, first: &Machine, variant: &MachineVariant) -> Result<Machine, Vec<Diagnostic>> {
        first.read_like(ctx, &format!("{}-{}.toml", self.name, variant.name), variant.description)
    }

    /// Reads the embedded machine description for the machine of this process.
    ///
    /// # Errors
    /// A diagnostic for each mistake.
    pub fn embedded(&self, ctx: &Context) -> Result<Machine, Vec<Diagnostic>> {
        let first = self.first(ctx)?;
        match self.variants.iter().find(|variant| (variant.is_host)()) {
            Some(variant) => self.variant(ctx, &first, variant),
            None => Ok(first),
        }
    }

    /// Returns the machine: the loaded one, if it describes this target, else the embedded one for the machine of this process.
    ///
    /// # Errors
    /// An embedded description is malformed.
    pub fn machine(&self, ctx: &Context) -> Result<Machine, CostError> {
        self.loaded_or(ctx, || registered::embedded_once(ctx, self.name, || self.embedded(ctx)))
    }

    /// Returns the machine: the loaded one, if it describes this target, else the first embedded one in which a number has a value, or the
    /// first of all.
    ///
    /// # Errors
    /// An embedded description is malformed.
    pub fn machine_with(&self, ctx: &Context, key: &str, value: u64) -> Result<Machine, CostError> {
        self.loaded_or(ctx, || {
            let mut all = self.descriptions(ctx)?;
            let at = all.iter().position(|machine| machine.value(key) == Ok(value)).unwrap_or(0);
            Ok(all.swap_remove(at))
        })
    }

    fn loaded_or(
        &self,
        ctx: &Context,
        embedded: impl FnOnce() -> Result<Machine, Vec<Diagnostic>>,
    ) -> Result<Machine, CostError> {
        match loaded_machine(ctx).filter(|machine| machine.name == self.name) {
            Some(machine) => Ok(machine.clone()),
            None => embedded().map_err(|errors| CostError::Malformed(errors.iter().map(|e| e.render(ctx)).collect())),
        }
    }

    /// Returns the cost function for the machine of a context.
    ///
    /// # Errors
    /// The description lacks a number.
    pub fn cost_fn(&self, ctx: &Context) -> Result<CostFn, CostError> {
        let machine = self.machine(ctx)?;
        let cost = match self.cost {
            Pricing::Ops(cost) => CostFn::new(cost),
            Pricing::Descriptors(make) => by_descriptor(make(&machine)?),
            Pricing::Machine(make) => make(&machine)?,
        };
        let Some(implemented) = self.implemented(ctx) else { return Ok(cost) };
        let other = by_descriptor(self.reference.unwrap_or(|_| Ok(Price::new(|_| NEVER)))(&machine)?);
        let (supports, name) = (self.supports, self.name);
        Ok(CostFn::new(move |m, op| match implemented.contains(&m.name(op)) && supports(m, op) {
            true => registered::measured(m, op, name).unwrap_or_else(|| cost.of(m, op)),
            false => other.of(m, op),
        }))
    }

    /// Whether the target computes an op; others are evaluated by reference, or by the host of a device.
    pub fn computes(&self, m: &Module, op: Op) -> bool {
        self.implemented(&m.ctx).is_none_or(|ops| ops.contains(&m.name(op))) && (self.supports)(m, op)
    }

    /// Returns the price of descriptors for the machine of a context.
    ///
    /// # Errors
    /// The description lacks a number, or the model does not price descriptors.
    pub fn price(&self, ctx: &Context) -> Result<Price, CostError> {
        self.price_on(&self.machine(ctx)?)
    }

    /// Returns the price of descriptors on a machine.
    ///
    /// # Errors
    /// The description lacks a number, or the model does not price descriptors.
    pub fn price_on(&self, machine: &Machine) -> Result<Price, CostError> {
        match self.cost {
            Pricing::Ops(_) | Pricing::Machine(_) => Err(CostError::NotOfMachine(self.name)),
            Pricing::Descriptors(make) => make(machine),
        }
    }

    /// Returns the declared ops that the target implements; `None` for all.
    fn implemented(&self, ctx: &Context) -> Option<FxHashSet<OpName>> {
        let listed = (self.ops)();
        let is_listed = |dialect: &str, name: &str| {
            listed.iter().any(|&entry| entry == name || entry.strip_suffix(".*") == Some(dialect))
        };
        let ops = ctx.dialects().iter().flat_map(|d| d.ops.iter().map(move |info| (d.name, info.name)));
        let implemented = ops.filter(|(dialect, name)| is_listed(dialect, name)).map(|(_, name)| ctx.op_name(name));
        (!listed.is_empty()).then(|| implemented.collect())
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

/// Values of the option `floats`.
pub const FLOATS: [&str; 2] = ["exact", "approx"];

/// Parses the option `floats`: whether rules that round are used, if it says so.
///
/// # Errors
/// The text is not empty, `exact` or `approx`.
pub fn rounds(floats: &str) -> Result<Option<bool>, CostError> {
    match floats {
        "" => Ok(None),
        "exact" => Ok(Some(false)),
        "approx" => Ok(Some(true)),
        other => Err(CostError::Floats(other.to_owned())),
    }
}

/// Returns the change of floats by a pass with the options `floats`, `target` and `rules`: whether it uses rules that round, or
/// coarse ones. A model that is not one that counts is that of a machine, which rounds unless asked not to.
pub fn float_change(options: &Options) -> FloatChange {
    let (floats, target) = (options.text("floats"), options.text("target"));
    let by_default = || COUNTS.iter().find(|model| model.name == target).map_or(!target.is_empty(), |m| m.approx);
    match rounds(floats).ok().flatten().unwrap_or_else(by_default) {
        true if options.list("rules").iter().any(|name| has_coarse_rule(name)) => FloatChange::Approximates,
        true => FloatChange::Reorders,
        false => FloatChange::None,
    }
}

/// Whether a rule of that name, or of the group of that name, is coarse.
fn has_coarse_rule(name: &str) -> bool {
    let groups = DIALECTS.iter().flat_map(|dialect| dialect.rule_groups);
    groups
        .into_iter()
        .any(|group| group.rules.iter().any(|rule| rule.coarse && [group.name, rule.name].contains(&name)))
}

/// The cost models that count; the first is the default of `saturate`.
pub const COUNTS: &[CostModel] = &[
    CostModel { name: "ops", doc: "the number of ops", ..CostModel::DEFAULT },
    CostModel {
        name: "scalar",
        doc: "cycles of a scalar processor, roughly",
        cost: Pricing::Ops(scalar),
        ..CostModel::DEFAULT
    },
    CostModel {
        name: "flops",
        doc: "the number of multiplications, and of other operations on elements",
        cost: Pricing::Descriptors(|_| Ok(Price::new(flops))),
        groups: &["graph-algebra", "graph-fuse", "graph-merge"],
        approx: true,
        ..CostModel::DEFAULT
    },
    CostModel {
        name: "arbitrary",
        doc: "costs that mean nothing: any side of a rule may be chosen, to test rules",
        cost: Pricing::Ops(arbitrary),
        ..CostModel::DEFAULT
    },
];

/// Prices ops by their descriptors.
fn by_descriptor(price: Price) -> CostFn {
    CostFn::new(move |m, op| price.of(OpCost::of(m, op)))
}

/// Returns the latency in cycles, for ops that take more than one on common processors.
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

/// Returns the number of necessary multiplications and additions; data movement is free.
fn flops(op: OpCost) -> u64 {
    match op {
        OpCost::View | OpCost::Move(_) | OpCost::Relayout(_) => 1,
        OpCost::Map(elements) => elements,
        OpCost::Contract(c) => match (c.strategy, c.nonzeros) {
            (None, _) => c.products(),
            (Some(_), Some(nonzeros)) => nonzeros.saturating_mul(c.products() / (c.rows * c.depth).max(1)).min(NEVER),
            (Some(_), None) => NEVER,
        },
    }
}

fn arbitrary(m: &Module, op: Op) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    1 + m.name_text(op).bytes().fold(0xcbf2_9ce4_8422_2325, mix) % 13
}
