//! Layers: the road of networks to the large machines, of three steps, a pass each.
//!
//! Each step makes one decision: which ops a machine computes, and which of them are one layer; tiles, divisions and places of each layer;
//! instructions. Between them the program is IR: the ops of layers with choices as attributes, which can be read, edited and executed.
//!
//! | file | contents |
//! |---|---|
//! | `levels.rs` | ops that are a program of a machine together |
//! | `fusion.rs` | ops as layers in the IR, and layers as ops again |
//! | `report.rs` | the choices for layers as remarks and as a table |
//!
//! A machine is an [`Accelerator`].

mod fusion;
mod levels;
mod report;

pub(crate) use fusion::{Fusion, LayerChoices, ProgramOps};
pub(crate) use levels::{OFFLOAD, is_of_network, machine_of};
pub(crate) use report::Comparison;
pub use report::{CHOICES, LayerTable};

use crate::emit::Emitter;
use fusion::{FormedProgram, LayerGroups};
use gradus_ir::pass::Concern;
use gradus_ir::symbols::free_symbol;
use gradus_ir::{
    Attr, Block, Builder, Diagnostic, Loc, Module, Op, OpDecl, OpState, PassContext, Refusal, Type, Value, Violation,
};
use gradus_networks::layer::ScheduleOp;
use levels::Level;
use report::ChoiceReport;
use rustc_hash::FxHashSet;

/// Options that all passes on layers obey: the attribute `with` of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LayerOptions {
    /// Whether results may be a step of a byte from the reference.
    pub(crate) allow_steps: bool,
    /// The number of clusters, 0 for all of the machine.
    pub(crate) clusters: i64,
    /// Techniques that are left out, separated by commas.
    pub(crate) without: String,
}

impl LayerOptions {
    /// Returns the techniques that are left out.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &str> {
        self.without.split(',').filter(|name| !name.is_empty())
    }

    /// Returns the options of a program.
    fn of(m: &Module, program: Op) -> LayerOptions {
        let Some(dict) = m.inherent_attr(program, "options") else { return LayerOptions::default() };
        let get = |name: &str| m.ctx.dict_get(dict, m.ctx.str(name));
        LayerOptions {
            allow_steps: get("allow_steps").is_some(),
            clusters: get("clusters").and_then(|a| m.ctx.as_int(a)).unwrap_or(0),
            without: get("without").and_then(|a| m.ctx.as_str(a)).unwrap_or("").to_owned(),
        }
    }

    /// Returns the attribute of a program, without the defaults.
    fn to_attr(&self, m: &Module) -> Option<Attr> {
        let allow_steps = self.allow_steps.then_some(("allow_steps", Attr::UNIT));
        let clusters = (self.clusters != 0).then(|| ("clusters", m.ctx.int_attr(Type::I64, self.clusters)));
        let without = (!self.without.is_empty()).then(|| ("without", m.ctx.string_attr(&self.without)));
        let all: Vec<_> = [allow_steps, clusters, without].into_iter().flatten().collect();
        (!all.is_empty())
            .then(|| m.ctx.dict_attr(all.into_iter().map(|(name, attr)| (m.ctx.str(name), attr)).collect()))
    }
}

/// Figures of a layer by itself, as estimated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerFigures {
    /// Cycles by the choice for it.
    pub(crate) cycles: u64,
    /// Cycles below which no choice is.
    pub(crate) bound: u64,
    /// The fastest of the other choices, with its cycles, those of the machine's [`Comparison`].
    pub(crate) rejected: Option<(Attr, u64)>,
}

/// The decisions of a schedule that a pass makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScheduleLevel {
    /// Steps, and their order.
    Steps,
    /// The places of what steps read and write, and when it is loaded.
    Places,
}

/// Options of `choose-layers`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ChoiceOptions {
    /// Whether each layer gets a remark.
    pub(crate) report: bool,
    /// The operand of products of two tensors that is the weights; empty for the cheaper one.
    pub(crate) weights: String,
    /// The mode of products of elements; empty for the cheapest one.
    pub(crate) mode: String,
}

/// A machine that computes parts of functions by programs of layers.
pub(crate) trait Accelerator: Sized {
    /// The ops of a program as the machine's layers.
    type Network;
    /// A compiled program.
    type Program;
    /// The ops of a schedule.
    type Steps;

    /// The target, and the start of the symbols of programs, before a number.
    const NAME: &'static str;
    /// The cycles of rejected choices.
    const COMPARISON: Comparison;

    /// Creates the machine. Errors are at `root`.
    fn new(m: &Module, root: Op, options: &LayerOptions, forced: &ChoiceOptions) -> Result<Self, Diagnostic>;

    /// Refuses an op that no program computes, whatever the others are.
    fn check(&self, m: &Module, op: Op) -> Result<(), Refusal>;

    /// Reads ops as layers, or returns an op that no program has, and why.
    fn read(&self, m: &Module, program: ProgramOps<'_>) -> Result<Self::Network, (Op, Refusal)>;

    /// Returns the ops of each layer, in order; all layers together compute `ops`.
    fn layers(network: &Self::Network, ops: &[Op]) -> Vec<Vec<Op>>;

    /// Explains what is read.
    fn explain(&self, _: &Module, _: &Self::Network, _: &mut PassContext<'_>) {}

    /// Compiles layers by the best choices, or returns an op that no program has, and why.
    fn choose(
        &self,
        ops: &[Op],
        network: Self::Network,
        cx: &mut PassContext<'_>,
    ) -> Result<Self::Program, (Op, Refusal)>;

    /// Compiles layers by given choices, and by steps if there are some. Otherwise returns the op of a layer for which its choices are not
    /// possible, or a step, and why.
    fn compile(
        &self,
        m: &Module,
        ops: &[Op],
        network: Self::Network,
        choices: &LayerChoices,
        steps: Option<Self::Steps>,
    ) -> Result<Self::Program, (Op, Refusal)>;

    /// Reads the steps of a schedule, or returns an op that is not a step, and why.
    fn read_steps(m: &Module, block: Block) -> Result<Self::Steps, (Op, Violation)>;

    /// Writes the steps of a program at the end of a schedule. `sources` has location and name of each layer.
    fn write_steps(
        &self,
        b: &mut Builder<'_>,
        sources: &[(Loc, Option<Attr>)],
        program: &Self::Program,
        with_places: bool,
    );

    /// Returns the choices of a program.
    fn choices(&self, m: &Module, program: &Self::Program) -> LayerChoices;

    /// Returns figures of each layer, in order.
    fn figures(&self, m: &Module, program: &Self::Program) -> Vec<LayerFigures>;

    /// Returns the cycles of a program, as estimated.
    fn cycles(&self, program: &Self::Program) -> u64;

    /// Explains the choices of a program, whose first op is `op`.
    fn report(&self, _: &Module, _: Op, _: &Self::Program, _: &mut PassContext<'_>) {}

    /// Counts what a program has.
    fn count(&self, program: &Self::Program, cx: &mut PassContext<'_>);

    /// Defines a program of ops under a name.
    fn define(&self, b: &mut Builder<'_>, name: &str, ops: &[Op], program: &Self::Program) -> Option<()>;

    /// Creates the call of a program. Returns the values that it replaces, each with the new one.
    fn call(&self, e: &mut Emitter<'_, '_>, callee: Attr, program: &Self::Program) -> Option<Vec<(Value, Value)>>;
}

/// The road of a machine, pass by pass.
pub(crate) struct Road {
    /// The target of the machine.
    pub(crate) target: &'static str,
    /// Forms programs and layers of the ops of functions.
    pub(crate) form: fn(&mut Module, Op, &LayerOptions, &mut PassContext<'_>) -> Result<(), Diagnostic>,
    /// Chooses for the layers of programs.
    pub(crate) choose: fn(&mut Module, Op, &ChoiceOptions, &mut PassContext<'_>) -> Result<(), Diagnostic>,
    /// Writes the schedules of programs; with places if there are schedules already.
    pub(crate) schedule: fn(&mut Module, Op, ScheduleLevel, &mut PassContext<'_>) -> Result<(), Diagnostic>,
    /// Compiles programs by the choices for their layers.
    pub(crate) convert: fn(&mut Module, Op, &mut PassContext<'_>) -> Result<(), Diagnostic>,
}

impl Road {
    /// Returns the road of a machine.
    pub(crate) const fn of<A: Accelerator>() -> Road {
        Road { target: A::NAME, form: form::<A>, choose: choose::<A>, schedule: schedule::<A>, convert: convert::<A> }
    }

    /// Checks that the target of a pass on this road is that of the machine.
    ///
    /// # Errors
    /// It is another one.
    pub(crate) fn check_target(&self, target: &str) -> Result<(), String> {
        let is_own = self.target == target;
        is_own
            .then_some(())
            .ok_or_else(|| format!("target: {}, the machine of these programs, not '{target}'", self.target))
    }

    /// Takes the road to its end.
    pub(crate) fn whole(
        &self,
        m: &mut Module,
        root: Op,
        (options, forced): (&LayerOptions, &ChoiceOptions),
        cx: &mut PassContext<'_>,
    ) -> Result<(), Diagnostic> {
        (self.form)(m, root, options, cx)?;
        (self.choose)(m, root, forced, cx)?;
        (self.convert)(m, root, cx)
    }
}

/// Whether a machine computes an op by a program of its own.
pub(crate) fn computes<A: Accelerator>(m: &Module, op: Op) -> bool {
    let machine = A::new(m, op, &LayerOptions::default(), &ChoiceOptions::default());
    let program = ProgramOps { ops: &[op], fusion: &Fusion::default() };
    machine.is_ok_and(|machine| machine.check(m, op).is_ok() && machine.read(m, program).is_ok())
}

/// Forms programs and layers of the ops of functions. Each op of a program is a numbered rewrite.
fn form<A: Accelerator>(
    m: &mut Module,
    root: Op,
    options: &LayerOptions,
    cx: &mut PassContext<'_>,
) -> Result<(), Diagnostic> {
    let machine = A::new(m, root, options, &ChoiceOptions::default())?;
    for block in levels::blocks(m, root, cx) {
        let fusion = Fusion::default();
        let mut host = FxHashSet::default();
        for op in levels::ops(m, block) {
            if let Err(refusal) = machine.check(m, op) {
                levels::refuse(m, &mut host, op, &refusal, cx);
            }
        }
        let mut read = |m: &Module, level: &Level, _: &mut PassContext<'_>| read_in_order(&machine, m, level, &fusion);
        let mut programs = levels::settle(m, block, &mut host, &mut read, cx);
        let offloaded = programs.iter().flat_map(|(level, _)| &level.machine).copied();
        let stopped: Vec<Op> = offloaded.filter(|&op| !cx.allows(OFFLOAD, m, op)).collect();
        if !stopped.is_empty() {
            host.extend(stopped);
            programs = levels::settle(m, block, &mut host, &mut read, cx);
        }
        let formed = programs.into_iter().map(|(level, program)| {
            let program = program.map(|(ops, network)| {
                machine.explain(m, &network, cx);
                FormedProgram { layers: A::layers(&network, &ops), ops, choices: None }
            });
            (level, program)
        });
        let formed: Vec<_> = formed.collect();
        fusion::form(m, block, (A::NAME, options.to_attr(m)), &fusion, formed);
    }
    Ok(())
}

/// Reads a level in the order of its layers, in which the next pass reads it again.
fn read_in_order<A: Accelerator>(
    machine: &A,
    m: &Module,
    level: &Level,
    fusion: &Fusion,
) -> Result<(Vec<Op>, A::Network), (Op, Refusal)> {
    let mut ops = level.machine.clone();
    for _ in 0..ROUNDS {
        let network = machine.read(m, ProgramOps { ops: &ops, fusion })?;
        let sorted = LayerGroups::of(&ops, &A::layers(&network, &ops)).sorted(m, &ops);
        if sorted == ops {
            return Ok((ops, network));
        }
        ops = sorted;
    }
    let network = machine.read(m, ProgramOps { ops: &ops, fusion })?;
    Ok((ops, network))
}

/// Rounds until the order of ops is that of their layers.
const ROUNDS: usize = 8;

/// Chooses for all layers of the programs of a machine, unless all have choices. A layer for which memory is too small leaves its program.
fn choose<A: Accelerator>(
    m: &mut Module,
    root: Op,
    forced: &ChoiceOptions,
    cx: &mut PassContext<'_>,
) -> Result<(), Diagnostic> {
    for (block, programs) in fusion::programs(m, root, A::NAME) {
        let Some(&first) = programs.iter().find(|&&program| !fusion::is_chosen(m, program)) else { continue };
        let options = LayerOptions::of(m, first);
        let machine = A::new(m, first, &options, forced)?;
        let mut fusion = Fusion::given();
        let mut offloaded = FxHashSet::default();
        for program in programs {
            offloaded.extend(fusion.dissolve(m, program));
        }
        let mut host = FxHashSet::default();
        for op in levels::ops(m, block) {
            if !offloaded.contains(&op) {
                host.insert(op);
            } else if let Err(refusal) = machine.check(m, op) {
                levels::refuse(m, &mut host, op, &refusal, cx);
            }
        }
        let mut compile = |m: &Module, level: &Level, cx: &mut PassContext<'_>| {
            let (ops, network) = read_in_order(&machine, m, level, &fusion)?;
            let layers = A::layers(&network, &ops);
            let program = machine.choose(&ops, network, cx)?;
            Ok((FormedProgram { ops, layers, choices: None }, program))
        };
        let compiled = levels::settle(m, block, &mut host, &mut compile, cx);
        let mut chosen = Vec::with_capacity(compiled.len());
        for (level, program) in compiled {
            let Some((new, program)) = program else {
                chosen.push((level, None));
                continue;
            };
            if forced.report {
                machine.report(m, new.ops[0], &program, cx);
            }
            let (choices, program) = keep_given(&machine, m, &new, &fusion, program)?;
            if forced.report || cx.wants(CHOICES) {
                let (figures, cycles) = (machine.figures(m, &program), machine.cycles(&program));
                let report = ChoiceReport { m, layers: &new.layers, choices: &choices.layers, figures, cycles };
                if forced.report {
                    report.explain::<A>(cx);
                }
                if cx.wants(CHOICES) {
                    cx.report(Box::new(report.table::<A>()));
                }
            }
            chosen.push((level, Some(FormedProgram { choices: Some(choices), ..new })));
        }
        fusion::form(m, block, (A::NAME, options.to_attr(m)), &fusion, chosen);
    }
    Ok(())
}

/// Gives layers the choices that some of them had, and returns all choices with the program by them.
fn keep_given<A: Accelerator>(
    machine: &A,
    m: &Module,
    new: &FormedProgram,
    fusion: &Fusion,
    program: A::Program,
) -> Result<(LayerChoices, A::Program), Diagnostic> {
    let mut choices = machine.choices(m, &program);
    let given = LayerGroups::of(&new.ops, &new.layers).choices(fusion).map_err(|why| refused(m, why))?;
    if given.iter().all(Option::is_none) {
        return Ok((choices, program));
    }
    choices.layers.iter_mut().zip(given).for_each(|(choice, given)| *choice = given.unwrap_or(*choice));
    let network = machine.read(m, ProgramOps { ops: &new.ops, fusion }).map_err(|why| refused(m, why))?;
    let program = machine.compile(m, &new.ops, network, &choices, None).map_err(|why| refused(m, why))?;
    Ok((choices, program))
}

/// Compiles the programs of a machine by their choices, and schedules if they have some.
fn convert<A: Accelerator>(m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
    for program in all_programs::<A>(m, root) {
        let Some(function) = m.parent_op(program) else { continue };
        let Some(OpenProgram { machine, ops, next, program: compiled, schedule, .. }) = open::<A>(m, program)? else {
            continue;
        };
        machine.count(&compiled, cx);
        cx.count("num-programs", 1);
        let created = replace(m, (function, next), &machine, &ops, &compiled);
        created.ok_or_else(|| Diagnostic::error(m.loc(ops[0]), "the program cannot be created"))?;
        schedule.into_iter().for_each(|schedule| m.erase_op(schedule));
    }
    Ok(())
}

/// Writes the schedules of the programs of a machine. Steps that are given stay.
fn schedule<A: Accelerator>(
    m: &mut Module,
    root: Op,
    level: ScheduleLevel,
    cx: &mut PassContext<'_>,
) -> Result<(), Diagnostic> {
    for program in all_programs::<A>(m, root) {
        let is_given = fusion::schedule_of(m, program).is_some();
        if is_given && level == ScheduleLevel::Steps {
            continue;
        }
        if !is_given && level == ScheduleLevel::Places {
            let missing = "a program without a schedule, which 'schedule-layers' makes";
            return Err(Diagnostic::error(m.loc(program), missing));
        }
        let options = m.inherent_attr(program, "options");
        let Some(open) = open::<A>(m, program)? else { continue };
        open.schedule.into_iter().for_each(|schedule| m.erase_op(schedule));
        let sources: Vec<_> = open.layers.iter().map(|of| (m.loc(of[0]), open.fusion.name_of(m, of))).collect();
        let formed = FormedProgram { ops: open.ops, layers: open.layers, choices: Some(open.choices) };
        let program = fusion::form_program(m, formed, (A::NAME, options), &open.fusion, open.next);
        let Some(end) = m.entry(m.regions(program)[0]).and_then(|block| m.last_op(block)) else { continue };
        let mut state = OpState::new(&m.ctx, ScheduleOp::INFO.name, m.loc(program));
        state.regions = 1;
        let schedule = Builder::before(m, end).create(state);
        let region = m.regions(schedule)[0];
        let block = m.entry(region).unwrap_or_else(|| m.add_block(region));
        let with_places = level == ScheduleLevel::Places;
        open.machine.write_steps(&mut Builder::at_end(m, block), &sources, &open.program, with_places);
        cx.count("num-schedules", 1);
    }
    Ok(())
}

/// Returns the programs of a machine.
fn all_programs<A: Accelerator>(m: &Module, root: Op) -> Vec<Op> {
    fusion::programs(m, root, A::NAME).into_iter().flat_map(|(_, programs)| programs).collect()
}

/// A program whose ops stand in its place, before `next`.
struct OpenProgram<A: Accelerator> {
    machine: A,
    ops: Vec<Op>,
    next: Op,
    fusion: Fusion,
    layers: Vec<Vec<Op>>,
    choices: LayerChoices,
    /// Its schedule, beside its ops.
    schedule: Option<Op>,
    /// Compiled by choices and schedule.
    program: A::Program,
}

/// Replaces a program by its ops, and compiles it. `None` if it has no ops.
fn open<A: Accelerator>(m: &mut Module, program: Op) -> Result<Option<OpenProgram<A>>, Diagnostic> {
    let machine = A::new(m, program, &LayerOptions::of(m, program), &ChoiceOptions::default())?;
    let given = m.inherent_attr(program, "choices").and_then(|a| m.ctx.as_array(a)).unwrap_or_default().to_vec();
    let Some(next) = m.next_op(program) else { return Ok(None) };
    let schedule = fusion::schedule_of(m, program);
    schedule.into_iter().for_each(|schedule| m.move_before(schedule, next));
    let steps = schedule.and_then(|schedule| m.entry(m.regions(schedule)[0])).map(|block| A::read_steps(m, block));
    let wrong = |(op, why): (Op, Violation)| {
        Diagnostic::error(m.loc(op), format!("'{}' {}", m.name_text(op), String::from(why)))
    };
    let steps = steps.transpose().map_err(wrong)?;
    let mut fusion = Fusion::given();
    let ops = fusion.dissolve(m, program);
    if ops.is_empty() {
        schedule.into_iter().for_each(|schedule| m.erase_op(schedule));
        return Ok(None);
    }
    let checked = ops.iter().try_for_each(|&op| machine.check(m, op).map_err(|refusal| (op, refusal)));
    let read = checked.and_then(|()| machine.read(m, ProgramOps { ops: &ops, fusion: &fusion }));
    let network = read.map_err(|why| refused(m, why))?;
    let layers = A::layers(&network, &ops);
    let given_layers = LayerGroups::of(&ops, &layers).choices(&fusion).map_err(|why| refused(m, why))?;
    let missing = "a layer without choices, which 'choose-layers' makes";
    let chosen = layers.iter().zip(given_layers).map(|(of, given)| given.ok_or((of[0], missing.into())));
    let chosen = chosen.collect::<Result<_, _>>().map_err(|why| refused(m, why))?;
    let choices = LayerChoices { program: given, layers: chosen };
    let compiled = machine.compile(m, &ops, network, &choices, steps).map_err(|why| refused(m, why))?;
    Ok(Some(OpenProgram { machine, ops, next, fusion, layers, choices, schedule, program: compiled }))
}

/// The error of choices that are given for the layer of an op, or of a step.
fn refused(m: &Module, (op, refusal): (Op, Refusal)) -> Diagnostic {
    if m.parent_op(op).is_some_and(|schedule| ScheduleOp::cast(m, schedule).is_some()) {
        let part = if let Concern::Attr(name) = refusal.concern { format!("{name}: ") } else { String::new() };
        return Diagnostic::error(m.loc(op), format!("'{}' is not possible: {part}{refusal}", m.name_text(op)));
    }
    Diagnostic::error(m.loc(op), format!("the choices for '{}' are not possible: {refusal}", m.name_text(op)))
}

/// Defines a program, and calls it instead of its ops, which are before `next`.
fn replace<A: Accelerator>(
    m: &mut Module,
    (function, next): (Op, Op),
    machine: &A,
    ops: &[Op],
    program: &A::Program,
) -> Option<()> {
    let (block, name) = free_symbol(m, function, A::NAME)?;
    machine.define(&mut Builder::at_end(m, block), &name, ops, program)?;
    let callee = m.ctx.symbol_attr(&name);
    let mut b = Builder::before(m, next);
    let results = machine.call(&mut Emitter::of(&mut b, *ops.first()?), callee, program)?;
    results.into_iter().for_each(|(old, new)| m.replace_all_uses(old, new));
    ops.iter().rev().for_each(|&op| m.erase_op(op));
    Some(())
}
