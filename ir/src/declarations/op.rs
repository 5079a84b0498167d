//! Validation of op declarations.

use super::repeated;
use crate::context::Context;
use crate::effects::Effects;
use crate::op_info::{Arity, Dialect, OpInfo, SlotRole, TypeRelation, ValueSpec};
use crate::text::diag::hint;
use crate::text::format_mistakes;
use crate::traits::Traits;
use std::any::Any;

/// Returns the mistakes in an op's declaration.
pub(super) fn mistakes(ctx: &Context, dialect: &Dialect, info: &'static OpInfo) -> Vec<String> {
    let mut check = Check { ctx, info, found: Vec::new() };
    check.names(dialect);
    check.extensions();
    check.groups();
    check.attributes();
    check.symbols();
    check.shapes();
    check.regions();
    check.references();
    check.relations();
    check.found.extend(format_mistakes(ctx, info));
    check.found
}

struct Check<'a> {
    ctx: &'a Context,
    info: &'static OpInfo,
    found: Vec<String>,
}

impl Check<'_> {
    fn add(&mut self, mistake: impl Into<String>) {
        self.found.push(mistake.into());
    }

    /// Adds the mistake that an op of trait `name` does not satisfy `what`.
    fn trait_needs(&mut self, on: Traits, holds: bool, name: &str, what: &str) {
        if self.info.traits.has(on) && !holds {
            self.add(format!("the trait {name} needs {what}"));
        }
    }

    fn names(&mut self, dialect: &Dialect) {
        let info = self.info;
        let own = info.name.strip_prefix(dialect.name).and_then(|rest| rest.strip_prefix('.'));
        if own.is_none_or(str::is_empty) {
            self.add(format!("its name does not begin with '{}.'", dialect.name));
        }
        if info.doc.trim().is_empty() {
            self.add("it has no documentation");
        }
        let values = || info.operands.iter().chain(info.results).map(|spec| spec.name);
        let groups = info.regions.iter().chain(info.successors).map(|spec| spec.name);
        let names: Vec<&str> = values().chain(info.attrs.iter().map(|a| a.name)).chain(groups).collect();
        for name in repeated(names.into_iter()) {
            self.add(format!("two of its fields are called '{name}'"));
        }
        for name in repeated(info.patterns.iter().map(|pattern| pattern.name)) {
            self.add(format!("the pattern '{name}' is listed twice"));
        }
        for name in repeated(info.directives.iter().map(|directive| directive.name)) {
            self.add(format!("two of its directives are called '{name}'"));
        }
    }

    /// Checks that an extension is the only one of its type.
    fn extensions(&mut self) {
        let mut seen = Vec::new();
        for &extension in self.info.extensions {
            let id = Any::type_id(extension);
            if seen.contains(&id) {
                self.add(format!("two of its extensions are of type '{}'", extension.type_name()));
            }
            seen.push(id);
        }
    }

    /// Checks that the sizes of value groups follow from the number of values.
    fn groups(&mut self) {
        let info = self.info;
        let loose = |specs: &[ValueSpec]| specs.iter().filter(|spec| spec.arity != Arity::One).count();
        let (operands, results) = (loose(info.operands), loose(info.results));
        if operands > 1 && !info.traits.has(Traits::OPERAND_SEGMENTS) {
            self.add(format!("it has {operands} operand groups of variable size without the trait OPERAND_SEGMENTS"));
        }
        let sized =
            [Traits::RESULT_SEGMENTS, Traits::SAME_VARIADIC_RESULT_SIZE].into_iter().any(|t| info.traits.has(t));
        if results > 1 && !sized {
            let traits = "RESULT_SEGMENTS or SAME_VARIADIC_RESULT_SIZE";
            self.add(format!("it has {results} result groups of variable size without the trait {traits}"));
        }
        self.trait_needs(Traits::OPERAND_SEGMENTS, !info.operands.is_empty(), "OPERAND_SEGMENTS", "operands");
        self.trait_needs(Traits::RESULT_SEGMENTS, !info.results.is_empty(), "RESULT_SEGMENTS", "results");
        for (what, groups) in [("region", info.regions), ("successor", info.successors)] {
            let mut from_variable = groups.iter().skip_while(|spec| spec.arity == Arity::One);
            if from_variable.any(|spec| spec.arity == Arity::One) {
                self.add(format!("a {what} group of variable size is not the last one"));
            }
        }
    }

    fn attributes(&mut self) {
        for spec in self.info.attrs {
            let Some(text) = spec.default else { continue };
            match self.ctx.parse_attr(text) {
                Err(why) => self.add(format!("the default '{text}' of '{}' is not an attribute: {why}", spec.name)),
                Ok(attr) if !(spec.kind.check)(self.ctx, attr) => {
                    self.add(format!(
                        "the default '{text}' of '{}' is not of its kind: {}",
                        spec.name, spec.kind.summary
                    ));
                }
                Ok(_) => {}
            }
        }
        if let Some(name) = self.info.successor_sizes
            && self.info.attr(name).is_none()
        {
            let near = hint(name, self.info.attrs.iter().map(|a| a.name));
            self.add(format!("'successor_sizes' names no attribute: '{name}'{near}"));
        }
    }

    /// Checks traits that require an attribute.
    fn symbols(&mut self) {
        let has = |name: &str| self.info.attr(name).is_some();
        let [symbol, function, callee, value] = ["sym_name", "function_type", "callee", "value"].map(has);
        self.trait_needs(Traits::SYMBOL, symbol, "SYMBOL", "an attribute 'sym_name'");
        self.trait_needs(Traits::FUNCTION, function, "FUNCTION", "an attribute 'function_type'");
        self.trait_needs(Traits::CALL, callee, "CALL", "an attribute 'callee'");
        self.trait_needs(Traits::CONSTANT_LIKE, value, "CONSTANT_LIKE", "an attribute 'value'");
    }

    /// Checks traits that require certain operands, results or successors.
    fn shapes(&mut self) {
        let info = self.info;
        let (operands, results) = (info.operands, info.results);
        let one_result = matches!(results, [spec] if spec.arity == Arity::One);
        let one_operand = matches!(operands, [spec] if spec.arity == Arity::One);
        let two = operands.len() > 1 || operands.iter().any(|spec| spec.arity == Arity::Variadic);
        let terminates = info.traits.has(Traits::TERMINATOR);
        self.trait_needs(Traits::COMMUTATIVE, two, "COMMUTATIVE", "two operands");
        self.trait_needs(Traits::ASSOCIATIVE, two && one_result, "ASSOCIATIVE", "two operands and one result");
        self.trait_needs(
            Traits::CONSTANT_LIKE,
            operands.is_empty() && one_result,
            "CONSTANT_LIKE",
            "one result and no operands",
        );
        self.trait_needs(Traits::INVOLUTION, one_operand && one_result, "INVOLUTION", "one operand and one result");
        self.trait_needs(
            Traits::IDEMPOTENT,
            !operands.is_empty() && one_result,
            "IDEMPOTENT",
            "operands and one result",
        );
        self.trait_needs(Traits::EXTENT, operands.len() == 2 && one_result, "EXTENT", "two operands and one result");
        self.trait_needs(Traits::RETURN_LIKE, terminates, "RETURN_LIKE", "the trait TERMINATOR");
        let dest = operands.iter().any(|spec| spec.name == "dest");
        self.trait_needs(
            Traits::COMBINING,
            dest && results.is_empty(),
            "COMBINING",
            "an operand 'dest' and no results",
        );
        if !info.successors.is_empty() && !terminates {
            self.add("it has successors without the trait TERMINATOR");
        }
        let slot = match info.slot {
            None => true,
            Some(SlotRole::Alloc) => one_result,
            Some(SlotRole::Load) => one_result && !operands.is_empty(),
            Some(SlotRole::Store) => operands.len() >= 2 && results.is_empty(),
        };
        if !slot {
            self.add("its operands and results are not those of its slot role");
        }
    }

    /// Checks traits and keys that require regions.
    fn regions(&mut self) {
        let info = self.info;
        let regions = !info.regions.is_empty();
        let traits = [
            (Traits::ISOLATED, "ISOLATED"),
            (Traits::SYMBOL_TABLE, "SYMBOL_TABLE"),
            (Traits::NO_TERMINATOR, "NO_TERMINATOR"),
            (Traits::SINGLE_BLOCK, "SINGLE_BLOCK"),
            (Traits::GRAPH_REGION, "GRAPH_REGION"),
            (Traits::FUNCTION, "FUNCTION"),
            (Traits::AFFINE_SCOPE, "AFFINE_SCOPE"),
            (Traits::MASKING, "MASKING"),
            (Traits::ALLOCATION_SCOPE, "ALLOCATION_SCOPE"),
            (Traits::PARALLEL, "PARALLEL"),
        ];
        for (on, name) in traits {
            self.trait_needs(on, regions, name, "a region");
        }
        if info.effects == Effects::Recursive && !regions {
            self.add("its effects are those of its regions, but it has none");
        }
        if !info.implicit_terminator.is_empty() && info.traits.has(Traits::NO_TERMINATOR) {
            self.add("it has an implicit terminator and the trait NO_TERMINATOR");
        }
        if info.runs_regions() && !regions {
            self.add("its meaning runs regions, but it has none");
        }
    }

    /// Checks references to ops, dialects and fields.
    fn references(&mut self) {
        let (ctx, info) = (self.ctx, self.info);
        let ops = || ctx.dialects().iter().flat_map(|d| d.ops).map(|info| info.name);
        let declared = |name: &str| ctx.op_info(ctx.op_name(name));
        for parent in info.parents.iter().filter(|name| declared(name).is_none()) {
            self.add(format!("its parent '{parent}' is not a registered op{}", hint(parent, ops())));
        }
        let end = info.implicit_terminator;
        match declared(end) {
            _ if end.is_empty() => {}
            None => self.add(format!("its implicit terminator '{end}' is not a registered op{}", hint(end, ops()))),
            Some(other) if !other.traits.has(Traits::TERMINATOR) => {
                self.add(format!("its implicit terminator '{end}' has no trait TERMINATOR"));
            }
            Some(_) => {}
        }
        let name = info.default_dialect;
        if !name.is_empty() && ctx.dialect(name).is_none() {
            let near = hint(name, ctx.dialects().iter().map(|d| d.name));
            self.add(format!("its default dialect '{name}' is not registered{near}"));
        }
        for moved in info.moves.iter().filter(|name| info.operands.iter().all(|spec| spec.name != **name)) {
            let near = hint(moved, info.operands.iter().map(|spec| spec.name));
            self.add(format!("it moves the elements of '{moved}', which is no operand{near}"));
        }
        if let Effects::Memory(list) | Effects::MemoryOf(list) = info.effects {
            for group in list.iter().map(|effect| effect.1).filter(|group| !group.is_empty()) {
                self.value_group(group, "its effects");
            }
        }
    }

    /// Adds a mistake if no operand or result group has this name.
    fn value_group(&mut self, name: &str, by: &str) {
        let known = || self.info.operands.iter().chain(self.info.results).map(|spec| spec.name);
        if !known().any(|known| known == name) {
            let near = hint(name, known());
            self.add(format!("{by} name '{name}', which is neither an operand nor a result{near}"));
        }
    }

    fn relations(&mut self) {
        for relation in self.info.relations {
            match relation {
                TypeRelation::Same(names) => {
                    if names.len() < 2 {
                        self.add("a type relation 'Same' names fewer than two groups");
                    }
                    names.iter().for_each(|name| self.value_group(name, "its type relations"));
                }
                TypeRelation::SameOperands if self.info.operands.is_empty() => {
                    self.add("its type relations are of operands, but it has none");
                }
                TypeRelation::SameOperands => {}
                TypeRelation::Derived { to, from, .. } => {
                    self.value_group(to, "its type relations");
                    self.value_group(from, "its type relations");
                }
            }
        }
    }
}
