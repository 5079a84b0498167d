//! Rules from the user, and selection of rules by name.

use gradus_dialects::rewrite::rules_of;
use gradus_ir::diag::hint;
use gradus_ir::rules::CompiledRule;
use gradus_ir::{Diagnostic, Module, Op};

/// Returns the rules of `--rules` files and of the program.
pub fn given(m: &Module) -> Result<Vec<CompiledRule>, Diagnostic> {
    let mut all = m.ctx.loaded_rules().map_or(Vec::new(), |set| set.rules().to_vec());
    all.extend(rules_of(m)?.into_iter().map(|(_, rule)| rule));
    Ok(all)
}

/// Keeps the rules with the given names; all if `names` is empty. Unknown names are errors at `op`.
pub fn keep_named(m: &Module, op: Op, all: &mut Vec<CompiledRule>, names: &[String]) -> Result<(), Diagnostic> {
    for name in names {
        let mut known = all.iter().map(|rule| m.ctx.text(rule.name));
        if known.clone().any(|known| known == name) {
            continue;
        }
        let hint = hint(name, &mut known);
        return Err(Diagnostic::error(m.loc(op), format!("unknown rule '{name}'{hint}")));
    }
    all.retain(|rule| names.is_empty() || names.iter().any(|n| n == m.ctx.text(rule.name)));
    Ok(())
}
