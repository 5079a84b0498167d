//! Ops as layers in the IR, and layers as ops again.

use super::levels::Level;
use crate::emit::name_of;
use gradus_ir::{Attr, Block, Builder, Module, Op, OpDecl, OpState, Refusal, Traits, Value};
use gradus_networks::layer::{self, FusedOp, LayerProgramOp, LayerYieldOp, ScheduleOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// The ops of a program in order, and their layers.
#[derive(Clone, Copy)]
pub(crate) struct ProgramOps<'a> {
    /// Ops.
    pub(crate) ops: &'a [Op],
    /// Which of them are one layer.
    pub(crate) fusion: &'a Fusion,
}

/// Which ops are one layer in the IR, and the choices for them.
#[derive(Default)]
pub(crate) struct Fusion {
    /// Whether layers are given; otherwise any ops may be fused.
    is_given: bool,
    /// The layer of each op that is in one.
    layers: FxHashMap<Op, usize>,
    /// The choices for each layer.
    choices: Vec<Vec<Attr>>,
    /// The name of each layer, if it has one.
    names: Vec<Option<Attr>>,
}

impl Fusion {
    /// Creates the fusion of no layers, to be given.
    pub(super) fn given() -> Fusion {
        Fusion { is_given: true, ..Fusion::default() }
    }

    /// Whether two ops may be in one layer.
    pub(crate) fn may_fuse(&self, a: Op, b: Op) -> bool {
        !self.is_given || self.layers.get(&a).is_some_and(|layer| self.layers.get(&b) == Some(layer))
    }

    /// Returns the choices for the layer of an op.
    pub(crate) fn choices(&self, op: Op) -> &[Attr] {
        self.layers.get(&op).map_or(&[], |&layer| &self.choices[layer])
    }

    /// Returns the name of the layer of some ops: a given one, or else those of their sources.
    pub(super) fn name_of(&self, m: &Module, ops: &[Op]) -> Option<Attr> {
        let given = ops.first().and_then(|op| self.layers.get(op)).and_then(|&layer| self.names[layer]);
        given.or_else(|| name_of(m, ops))
    }

    /// Replaces a program by its ops, whose layers become known; its schedule goes. Returns the ops without constants, in order.
    pub(super) fn dissolve(&mut self, m: &mut Module, program: Op) -> Vec<Op> {
        if let Some(schedule) = schedule_of(m, program) {
            m.erase_op(schedule);
        }
        for fused in body_ops(m, program) {
            if FusedOp::cast(m, fused).is_some() {
                let choices = m.inherent_attr(fused, "choices").and_then(|a| m.ctx.as_array(a));
                self.choices.push(choices.unwrap_or_default().to_vec());
                self.names.push(m.inherent_attr(fused, "name"));
                let layer = self.choices.len() - 1;
                self.layers.extend(unwrap(m, fused).into_iter().map(|op| (op, layer)));
            }
        }
        let mut ops = unwrap(m, program);
        ops.retain(|&op| !m.has_trait(op, Traits::CONSTANT_LIKE));
        ops
    }
}

/// The choices of a program, and of each layer of the machine, in order.
pub(crate) struct LayerChoices {
    /// For the program.
    pub(crate) program: Vec<Attr>,
    /// For layers.
    pub(crate) layers: Vec<Attr>,
}

/// A program to be formed.
pub(super) struct FormedProgram {
    /// Its ops, in the order of their layers.
    pub(super) ops: Vec<Op>,
    /// The ops of each layer of the machine.
    pub(super) layers: Vec<Vec<Op>>,
    /// The choices, if they are known.
    pub(super) choices: Option<LayerChoices>,
}

/// Layers of the machine that share ops, together: an op may need several layers, and a layer may compute several ops.
pub(super) struct LayerGroups {
    /// The group of each op that a layer computes.
    of: FxHashMap<Op, usize>,
    /// These ops in order, each with its group.
    ops: Vec<(Op, usize)>,
    /// The group of each layer.
    layers: Vec<usize>,
    /// The last layer of each group.
    last: Vec<usize>,
    /// The first op of each group.
    first: Vec<Op>,
}

impl LayerGroups {
    /// Groups the ops of a program by the ops of each layer.
    pub(super) fn of(ops: &[Op], layers: &[Vec<Op>]) -> LayerGroups {
        let mut parents: FxHashMap<Op, Op> = layers.iter().flatten().map(|&op| (op, op)).collect();
        let root = |parents: &FxHashMap<Op, Op>, mut op: Op| {
            while parents[&op] != op {
                op = parents[&op];
            }
            op
        };
        for layer in layers {
            for pair in layer.windows(2) {
                let [a, b] = [root(&parents, pair[0]), root(&parents, pair[1])];
                parents.insert(a, b);
            }
        }
        let (mut numbers, mut groups) = (
            FxHashMap::default(),
            LayerGroups {
                of: FxHashMap::default(),
                ops: Vec::new(),
                layers: Vec::new(),
                last: Vec::new(),
                first: Vec::new(),
            },
        );
        for &op in ops.iter().filter(|op| parents.contains_key(op)) {
            let group = *numbers.entry(root(&parents, op)).or_insert_with(|| {
                groups.first.push(op);
                groups.first.len() - 1
            });
            groups.of.insert(op, group);
            groups.ops.push((op, group));
        }
        groups.last = vec![0; groups.first.len()];
        for (index, layer) in layers.iter().enumerate() {
            let group = layer.first().and_then(|op| groups.of.get(op)).copied().unwrap_or(0);
            groups.layers.push(group);
            groups.last[group] = index;
        }
        groups
    }

    /// Returns the ops in the order of their layers, those of a layer together. Ops without a layer follow those that compute their operands.
    pub(super) fn sorted(&self, m: &Module, ops: &[Op]) -> Vec<Op> {
        let mut keys: FxHashMap<Op, (usize, bool)> = FxHashMap::default();
        for &op in ops {
            let made = m.operands(op).iter().filter_map(|&v| keys.get(&m.defining_op(v)?)).map(|key| key.0).max();
            let key = match self.of.get(&op) {
                Some(&group) => (self.last[group] + 1, false),
                None => (made.unwrap_or(0), true),
            };
            keys.insert(op, key);
        }
        let mut sorted = ops.to_vec();
        sorted.sort_by_key(|op| keys[op]);
        sorted
    }

    /// Returns the given choice for each layer, `None` if there are no choices for it.
    ///
    /// # Errors
    /// An op whose layer has another number of choices than it needs, or which is not computed together with the others of its layer.
    pub(super) fn choices(&self, fusion: &Fusion) -> Result<Vec<Option<Attr>>, (Op, Refusal)> {
        let mut given: FxHashMap<usize, usize> = FxHashMap::default();
        for &(op, group) in &self.ops {
            let is_alone = fusion.layers.get(&op).is_none_or(|&layer| *given.entry(layer).or_insert(group) == group);
            if !is_alone {
                let rule = "ops that the machine does not compute together in one layer";
                return Err((self.first[group], rule.into()));
            }
        }
        let mut next = vec![0; self.first.len()];
        let mut choice = |&group: &usize| {
            let (op, at) = (self.first[group], next[group]);
            next[group] += 1;
            let choices = fusion.choices(op);
            let count = self.layers.iter().filter(|&&other| other == group).count();
            let fits = choices.is_empty() || choices.len() == count;
            let refusal = || (op, Refusal::from("{} choices for {} layers").with([choices.len(), count]));
            fits.then(|| choices.get(at).copied()).ok_or_else(refusal)
        };
        self.layers.iter().map(&mut choice).collect()
    }
}

/// Returns the blocks with programs of a target, each with these programs, in order, without those inside of others, which no machine computes.
pub(super) fn programs(m: &Module, root: Op, target: &str) -> Vec<(Block, Vec<Op>)> {
    let mut found: Vec<(Block, Vec<Op>)> = Vec::new();
    for op in m.ops_under(root) {
        let is_of_target = LayerProgramOp::cast(m, op)
            .is_some_and(|program| program.machine(m).and_then(|name| m.ctx.as_str(name)) == Some(target));
        let mut around = std::iter::successors(m.parent_op(op), |&around| m.parent_op(around));
        let is_inner = is_of_target && around.any(|around| LayerProgramOp::cast(m, around).is_some());
        let Some(block) = m.parent_block(op).filter(|_| is_of_target && !is_inner) else { continue };
        match found.iter_mut().find(|(known, _)| *known == block) {
            Some((_, programs)) => programs.push(op),
            None => found.push((block, vec![op])),
        }
    }
    found
}

/// Returns the schedule of a program, if it has one.
pub(super) fn schedule_of(m: &Module, program: Op) -> Option<Op> {
    body_ops(m, program).into_iter().find(|&op| ScheduleOp::cast(m, op).is_some())
}

/// Whether all layers of a program have choices.
pub(super) fn is_chosen(m: &Module, program: Op) -> bool {
    body_ops(m, program).into_iter().all(|op| FusedOp::cast(m, op).is_none_or(|fused| fused.choices(m).is_some()))
}

/// Forms programs of levels, in order, at the end of a block; the ops of the host follow the program on which they depend.
pub(super) fn form(
    m: &mut Module,
    block: Block,
    (target, options): (&str, Option<Attr>),
    fusion: &Fusion,
    levels: Vec<(Level, Option<FormedProgram>)>,
) {
    let Some(end) = m.terminator(block) else { return };
    for (level, program) in levels {
        if let Some(program) = program {
            form_program(m, program, (target, options), fusion, end);
        }
        level.host.iter().for_each(|&op| m.move_before(op, end));
    }
}

/// Forms a program before an op. Returns it.
pub(super) fn form_program(
    m: &mut Module,
    FormedProgram { ops, layers, choices }: FormedProgram,
    (target, options): (&str, Option<Attr>),
    fusion: &Fusion,
    end: Op,
) -> Op {
    let groups = LayerGroups::of(&ops, &layers);
    let of_program = choices.as_ref().map(|choices| &choices.program).filter(|list| !list.is_empty());
    let of_program = of_program.map(|list| m.ctx.array_attr(list));
    let attrs = [("machine", Some(m.ctx.string_attr(target))), ("options", options), ("choices", of_program)];
    let program = wrap(m, &ops, LayerProgramOp::INFO.name, &attrs, end);
    for group in 0..groups.first.len() {
        let fused: Vec<Op> = ops.iter().copied().filter(|op| groups.of.get(op) == Some(&group)).collect();
        let of_group = |choices: &LayerChoices| {
            let layers = groups.layers.iter().zip(&choices.layers).filter(|(of, _)| **of == group);
            m.ctx.array_attr(&layers.map(|(_, &choice)| choice).collect::<Vec<_>>())
        };
        let name = fusion.name_of(m, &fused);
        let attrs = [("name", name), ("choices", choices.as_ref().map(of_group))];
        wrap(m, &fused, FusedOp::INFO.name, &attrs, fused[0]);
    }
    program
}

/// Moves ops into the region of a new op before `end`, which may be the first of them. Others read its results. Returns it.
fn wrap(m: &mut Module, ops: &[Op], name: &str, attrs: &[(&str, Option<Attr>)], end: Op) -> Op {
    let (first, last) = (ops[0], ops[ops.len() - 1]);
    let inside: FxHashSet<Op> = ops.iter().copied().collect();
    let is_read = |m: &Module, v: Value| m.uses(v).any(|(user, _)| !inside.contains(&user));
    let results: Vec<Value> =
        ops.iter().flat_map(|&op| m.results(op).collect::<Vec<_>>()).filter(|&v| is_read(m, v)).collect();
    let loc = m.loc(last);
    let mut state = OpState::new(&m.ctx, name, if end == first { m.loc(first) } else { loc });
    attrs.iter().for_each(|&(name, attr)| state.inherent(&m.ctx, name, attr));
    state.result_types.extend(results.iter().map(|&v| m.value_type(v)));
    state.regions = 1;
    let around = Builder::before(m, end).create(state);
    let body = m.add_block(m.regions(around)[0]);
    for (i, &value) in results.iter().enumerate() {
        let new = m.result(around, i);
        let users: Vec<(Op, usize)> = m.uses(value).filter(|(user, _)| !inside.contains(user)).collect();
        users.into_iter().for_each(|(user, operand)| m.set_operand(user, operand, new));
    }
    ops.iter().for_each(|&op| m.move_to_end(op, body));
    let mut state = OpState::new(&m.ctx, LayerYieldOp::INFO.name, loc);
    state.operands.extend(results);
    Builder::at_end(m, body).create(state);
    around
}

/// Replaces an op by those of its region. Returns them, in order.
fn unwrap(m: &mut Module, around: Op) -> Vec<Op> {
    let ops = body_ops(m, around);
    let yielded = layer::yielded(m, around).to_vec();
    ops.iter().for_each(|&op| m.move_before(op, around));
    for (i, value) in yielded.into_iter().enumerate() {
        m.replace_all_uses(m.result(around, i), value);
    }
    m.erase_op(around);
    ops
}

/// Returns the ops of the region of an op, without the terminator.
fn body_ops(m: &Module, op: Op) -> Vec<Op> {
    let block = m.regions(op).first().and_then(|&region| m.entry(region));
    let ops = block.into_iter().flat_map(|block| m.block_ops(block));
    ops.filter(|&op| !m.has_trait(op, Traits::TERMINATOR)).collect()
}
