//! Contradictions in the types of rules: rules that never apply, whatever the program.
//!
//! The terms of a rule fall into classes of equal types: the occurrences of a variable, the operands of an op with one type,
//! a root's result and its replacement. The constraints on a class come from the declarations of the ops; they contradict
//! each other if no type satisfies two of them. Types are those of drawn programs, and their shapes with each other's
//! element types. Hooks of ops, such as `verify` and `infer`, are not asked.

use crate::declared::Trial;
use gradus_ir::rules::{Arg, ArgKind, CompiledRule, OpTerm, RuleFn, Term, Var};
use gradus_ir::{Context, Module, OpInfo, Traits, Type, TypeRelation, ValueSpec};
use std::fmt;

/// Returns the reason why a rule never applies; `None` if none is found.
pub(crate) fn contradiction(trial: &mut Trial, rule: &CompiledRule) -> Option<String> {
    let ctx = trial.module.ctx.clone();
    let mut classes = Classes { ctx: &ctx, parents: (0..rule.variables).collect(), needs: vec![], numbers: vec![] };
    let results: Vec<usize> = rule.roots.iter().flat_map(|root| classes.op(root, None)).collect();
    for (term, result) in rule.right.iter().zip(results) {
        let class = classes.term(term, Some(result));
        classes.join(class, result);
    }
    let why = classes.contradiction(trial, &rule.fixed).or_else(|| classes.false_condition(&trial.module, rule))?;
    Some(format!("it never applies: {why}"))
}

/// The classes of equal types of a rule, as a union-find forest.
struct Classes<'c> {
    ctx: &'c Context,
    /// The parent of each node; a root is its own. The first nodes are the variables of the rule.
    parents: Vec<usize>,
    /// The constraints, with their nodes.
    needs: Vec<(usize, Need)>,
    /// The numbers.
    numbers: Vec<RuleNumber>,
}

/// A number among the terms of a rule.
#[derive(Clone, Copy)]
struct RuleNumber {
    node: usize,
    value: f64,
    /// Whether it is matched, so that the constant must be exactly this number.
    is_left: bool,
}

impl RuleNumber {
    fn is_of(self, ctx: &Context, ty: Type) -> bool {
        let attr = ctx.uniform_attr(ty, self.value);
        attr.is_some_and(|attr| !self.is_left || ctx.is_uniform(attr, self.value))
    }
}

/// A constraint on the type of an operand or result.
#[derive(Clone, Copy)]
struct Need {
    op: &'static OpInfo,
    spec: &'static ValueSpec,
    is_result: bool,
}

impl Need {
    fn takes(self, ctx: &Context, ty: Type) -> bool {
        (self.spec.ty.check)(ctx, ty)
    }
}

/// `operand 'lhs' of 'arith.addi' (signless-integer-like)`
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = if self.is_result { "result" } else { "operand" };
        write!(f, "{role} '{}' of '{}' ({})", self.spec.name, self.op.name, self.spec.ty.summary)
    }
}

// Collecting classes and constraints.
impl Classes<'_> {
    fn new_node(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    fn class(&self, mut node: usize) -> usize {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.class(a), self.class(b));
        self.parents[a] = b;
    }

    /// Returns the node of a term. `replaced` is that of the replaced result, whose type numbers of the right side have.
    fn term(&mut self, term: &Term, replaced: Option<usize>) -> usize {
        match term {
            Term::Value { var, ty } | Term::Constant { var, ty } => {
                ty.iter().for_each(|&ty| self.join(*var, ty));
                *var
            }
            Term::Number { value, ty } => {
                let node = ty.or(replaced).unwrap_or_else(|| self.new_node());
                self.numbers.push(RuleNumber { node, value: *value, is_left: replaced.is_none() });
                node
            }
            Term::Op { op, result } => self.op(op, replaced)[*result],
        }
    }

    /// Returns the nodes of the results of an op.
    fn op(&mut self, term: &OpTerm, replaced: Option<usize>) -> Vec<usize> {
        let operands: Vec<usize> = term.operands.iter().map(|operand| self.term(operand, replaced)).collect();
        let result = |(&ty, &var): (&Option<Var>, &Option<Var>)| {
            let node = ty.or(var).unwrap_or_else(|| self.new_node());
            ty.iter().chain(&var).for_each(|&var| self.join(node, var));
            node
        };
        let results: Vec<usize> = term.types.iter().zip(&term.results).map(result).collect();
        if let Some(info) = self.ctx.op_info(term.name) {
            self.declared(info, term, &operands, &results);
        }
        results
    }

    /// Adds the constraints and relations of an op's declaration.
    fn declared(&mut self, info: &'static OpInfo, term: &OpTerm, operands: &[usize], results: &[usize]) {
        let mut groups: Vec<(&str, usize)> = Vec::new();
        let specs = term.operand_specs(self.ctx).unwrap_or_default();
        // Either operand of a commutative op may come first.
        let is_plain = !term.commutative || specs.iter().all(|spec| spec.ty.summary == specs[0].ty.summary);
        let result_specs = if info.results.len() == results.len() { info.results } else { &[] };
        let mut need = |node: usize, spec: &'static ValueSpec, is_result: bool| {
            self.needs.push((node, Need { op: info, spec, is_result }));
            groups.push((spec.name, node));
        };
        operands.iter().zip(specs).filter(|_| is_plain).for_each(|(&node, spec)| need(node, spec, false));
        results.iter().zip(result_specs).for_each(|(&node, spec)| need(node, spec, true));
        if info.traits.has(Traits::SAME_TYPE) {
            self.join_all(operands.iter().chain(results).copied());
        }
        for relation in info.relations {
            match relation {
                TypeRelation::Same(names) => {
                    self.join_all(groups.iter().filter(|(name, _)| names.contains(name)).map(|(_, node)| *node));
                }
                TypeRelation::SameOperands => self.join_all(operands.iter().copied()),
                TypeRelation::Derived { .. } => {}
            }
        }
    }

    fn join_all(&mut self, nodes: impl Iterator<Item = usize>) {
        let nodes: Vec<usize> = nodes.collect();
        nodes.windows(2).for_each(|pair| self.join(pair[0], pair[1]));
    }
}

// Finding contradictions.
impl Classes<'_> {
    fn contradiction(&self, trial: &mut Trial, fixed: &[(Var, Type)]) -> Option<String> {
        fixed.iter().find_map(|&(var, ty)| self.of_fixed(self.class(var), ty, fixed)).or_else(|| {
            self.needs.iter().enumerate().find_map(|(i, &(node, need))| {
                let class = self.class(node);
                let before = self.needs[..i].iter().filter(|(other, _)| self.class(*other) == class);
                let pair = before.map(|(_, other)| *other).find_map(|other| self.of_pair(trial, other, need));
                pair.or_else(|| self.of_numbers(trial, class, need))
            })
        })
    }

    /// A class of type `ty` that has another type too, or violates a constraint.
    fn of_fixed(&self, class: usize, ty: Type, fixed: &[(Var, Type)]) -> Option<String> {
        let shown = self.ctx.display_type(ty);
        if let Some((_, other)) = fixed.iter().find(|(var, other)| self.class(*var) == class && *other != ty) {
            return Some(format!("the types '{shown}' and '{}' differ", self.ctx.display_type(*other)));
        }
        let mut needs = self.needs.iter().filter(|(node, _)| self.class(*node) == class).map(|(_, need)| need);
        if let Some(need) = needs.find(|need| !need.takes(self.ctx, ty)) {
            return Some(format!("'{shown}' is no type of {need}"));
        }
        let wrong = self.numbers_of(class).find(|number| !number.is_of(self.ctx, ty))?;
        Some(format!("{} is no value of type '{shown}'", wrong.value))
    }

    /// Two constraints of a class that no type satisfies.
    fn of_pair(&self, trial: &mut Trial, a: Need, b: Need) -> Option<String> {
        if a.spec.ty.summary == b.spec.ty.summary {
            return None;
        }
        let (of_a, of_b) = (trial.choices(a.spec.ty), trial.choices(b.spec.ty));
        // A constraint that accepts no sample may accept types of a dialect.
        if of_a.is_empty() || of_b.is_empty() {
            return None;
        }
        let both = |ty: Type| a.takes(self.ctx, ty) && b.takes(self.ctx, ty);
        let crossed = |x: Type, y: Type| self.ctx.with_element(x, self.ctx.element_type(y));
        let of_a: Vec<Type> = of_a.iter().map(|choice| choice.0).collect();
        let has_common = of_a
            .iter()
            .any(|&x| both(x) || of_b.iter().any(|&(y, _)| both(y) || both(crossed(x, y)) || both(crossed(y, x))));
        (!has_common).then(|| format!("no type fits {a} and {b}"))
    }

    /// A number of a class that is a value of no type of a constraint.
    fn of_numbers(&self, trial: &mut Trial, class: usize, need: Need) -> Option<String> {
        let choices = trial.choices(need.spec.ty);
        let is_of_one = |number: &RuleNumber| choices.iter().any(|(ty, _)| number.is_of(self.ctx, *ty));
        let wrong = self.numbers_of(class).find(|number| !choices.is_empty() && !is_of_one(number))?;
        Some(format!("{} is no value of {need}", wrong.value))
    }

    fn numbers_of(&self, class: usize) -> impl Iterator<Item = &RuleNumber> {
        self.numbers.iter().filter(move |number| self.class(number.node) == class)
    }

    /// A condition that is false for the only types that its arguments have.
    fn false_condition(&self, m: &Module, rule: &CompiledRule) -> Option<String> {
        let kinds = rule.kinds();
        let only = |&var: &Var| {
            let ty = self.only_type(self.class(var), &rule.fixed);
            ty.filter(|_| kinds[var] == Some(ArgKind::Type)).map(Arg::Type)
        };
        rule.conditions.iter().find_map(|call| {
            let RuleFn::Test(test) = call.function.run else { return None };
            let types: Vec<Arg> = call.args.iter().map(only).collect::<Option<_>>()?;
            let args: Vec<Arg> = types.iter().copied().chain(call.params.iter().copied().map(Arg::Attr)).collect();
            let shown = || types.iter().map(|ty| format!("'{}'", self.ctx.display_type(ty.ty()))).collect::<Vec<_>>();
            (!types.is_empty() && !test(m, &args))
                .then(|| format!("its condition '{}' is false for {}", call.function.name, shown().join(", ")))
        })
    }

    /// Returns the type of a class, if there is only one.
    fn only_type(&self, class: usize, fixed: &[(Var, Type)]) -> Option<Type> {
        let given = fixed.iter().find(|(var, _)| self.class(*var) == class).map(|(_, ty)| *ty);
        let mut needs = self.needs.iter().filter(|(node, _)| self.class(*node) == class);
        given.or_else(|| needs.find_map(|(_, need)| need.spec.ty.only))
    }
}
