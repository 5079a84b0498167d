//! Type relations between an op's operands and results: declared once, used to infer types that custom forms and
//! builders omit, and verified.

use crate::Violation;
use crate::context::Context;
use crate::intern::Type;
use crate::module::{Module, Op, Value};
use crate::op_info::TypeRelation;
use crate::op_info::{Arity, OpArgs, OpInfo, ValueSpec};
use crate::traits::Traits;
use std::fmt;

/// The reason why the result types of a new op cannot be inferred.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InferError {
    /// The name of the op.
    pub op: &'static str,
    /// The message: that of the op's `infer` hook, if it has one.
    pub message: String,
}

impl fmt::Display for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

crate::declared_error!(InferError);

/// A declared group: its index, and whether it is an operand group.
pub(crate) type Group = (usize, bool);

fn group(info: &OpInfo, name: &str) -> Option<Group> {
    let find = |specs: &[ValueSpec]| specs.iter().position(|s| s.name == name);
    find(info.operands).map(|i| (i, true)).or_else(|| find(info.results).map(|i| (i, false)))
}

/// Propagates known types along the relations. `slot` returns the type of a group, after setting it to the given one if
/// it was unknown.
pub(crate) fn derive(ctx: &Context, info: &OpInfo, mut slot: impl FnMut(Group, Option<Type>) -> Option<Type>) {
    // Two passes: a relation may depend on a later one, and no declaration chains more than two.
    for relation in info.relations.iter().chain(info.relations) {
        match relation {
            TypeRelation::Same(names) => {
                let groups = || names.iter().filter_map(|n| group(info, n));
                let Some(known) = groups().find_map(|g| slot(g, None)) else { continue };
                groups().for_each(|g| {
                    slot(g, Some(known));
                });
            }
            TypeRelation::SameOperands => {
                let groups = || (0..info.operands.len()).map(|i| (i, true));
                let Some(known) = groups().find_map(|g| slot(g, None)) else { continue };
                groups().for_each(|g| {
                    slot(g, Some(known));
                });
            }
            TypeRelation::Derived { to, from, of, .. } => {
                let (Some(to), Some(from)) = (group(info, to), group(info, from)) else { continue };
                if let Some(ty) = slot(from, None).and_then(|ty| of(ctx, ty)) {
                    slot(to, Some(ty));
                }
            }
        }
    }
}

impl Module {
    /// Returns the result types that an op has with other operands; `None` if they cannot be inferred.
    pub fn inferred_types(&self, op: Op, operands: &[Value]) -> Option<Vec<Type>> {
        // Placeholders convey the number of results.
        let open = vec![Type::NONE; self.num_results(op)];
        infer_results(&OpArgs { op: None, operands, result_types: &open, ..self.args(op)? }).ok()
    }
}

/// Infers the result types: by the op's `infer` function, or because constraints, traits and relations determine them.
pub(crate) fn infer_results(args: &OpArgs<'_>) -> Result<Vec<Type>, InferError> {
    let info = args.info;
    let error = |message: String| InferError { op: info.name, message };
    if let Some(infer) = info.infer {
        return infer(args).map_err(|violation| error(violation.into()));
    }
    if info.traits.has(Traits::SAME_TYPE) && !args.operands.is_empty() {
        return Ok(info.results.iter().map(|_| args.operand_type(0)).collect());
    }
    let mut types: Vec<Option<Type>> = info.results.iter().map(|r| r.ty.only).collect();
    derive(args.ctx(), info, |(i, is_operand), given| {
        if is_operand {
            return args.operand(info.operands[i].name).first().map(|&v| args.module.value_type(v));
        }
        types[i] = types[i].or(given);
        types[i]
    });
    if info.results.iter().all(|r| r.arity != Arity::One) && types.iter().all(Option::is_none) {
        // Variadic result groups that nothing determines are empty.
        return Ok(Vec::new());
    }
    let one_each = info.results.iter().all(|r| r.arity == Arity::One);
    let types: Option<Vec<Type>> = types.into_iter().collect();
    let types = types.filter(|_| one_each);
    types.ok_or_else(|| error(format!("the result types of '{}' cannot be inferred", info.name)))
}

/// Verifies the declared type relations of an op.
pub(crate) fn check(m: &Module, op: Op, info: &OpInfo) -> Result<(), Violation> {
    for relation in info.relations {
        match relation {
            TypeRelation::Same(names) => {
                let mut types = names.iter().filter_map(|n| group(info, n)).flat_map(|g| types_of(m, op, info, g));
                let first = types.next();
                if types.any(|t| Some(t) != first) {
                    return Err(format!("failed to verify that all of {{{}}} have same type", names.join(", ")).into());
                }
            }
            TypeRelation::SameOperands => {
                let mut types = m.operands(op).iter().map(|&v| m.value_type(v));
                let first = types.next();
                if types.any(|t| Some(t) != first) {
                    return Err("requires all operands to have the same type".into());
                }
            }
            TypeRelation::Derived { to, from, of, summary } => {
                let (Some(to), Some(from)) = (group(info, to), group(info, from)) else { continue };
                let Some(source) = types_of(m, op, info, from).next() else { continue };
                let want = of(&m.ctx, source);
                if types_of(m, op, info, to).any(|t| Some(t) != want) {
                    return Err(format!("failed to verify that {summary}").into());
                }
            }
        }
    }
    Ok(())
}

fn types_of<'m>(m: &'m Module, op: Op, info: &OpInfo, (i, is_operand): Group) -> impl Iterator<Item = Type> + use<'m> {
    let values = if is_operand {
        m.operand_group(op, i)
    } else if info.results.len() == 1 {
        m.results(op).collect()
    } else {
        m.result_group(op, i)
    };
    values.into_iter().map(|v| m.value_type(v))
}
