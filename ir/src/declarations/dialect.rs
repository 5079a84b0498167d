//! Validation of dialect declarations: names, enumerations, rules and rule functions.

use super::{DeclarationError, Declared, op_error, param_error, repeated};
use crate::constraint::{AttrKind, AttrText};
use crate::context::Context;
use crate::op_info::Dialect;
use crate::text::diag::hint;
use crate::traits::Traits;
use std::collections::BTreeSet;

/// Checks a dialect, except for its ops and the text of its rules.
pub(super) fn check(ctx: &Context, dialect: &'static Dialect, errors: &mut Vec<DeclarationError>) {
    let name = dialect.name;
    let mut mistakes = Vec::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_word) {
        mistakes.push("its name is not a word of letters, digits and underscores".to_owned());
    }
    if dialect.doc.trim().is_empty() {
        mistakes.push("it has no documentation".to_owned());
    }
    mistakes.extend(dialect.constant.and_then(|op| constant_mistake(ctx, dialect, op)));
    let groups = repeated(dialect.rule_groups.iter().map(|group| group.name));
    mistakes.extend(groups.into_iter().map(|group| format!("two rule groups are called '{group}'")));
    errors.extend(mistakes.into_iter().map(|m| DeclarationError::new(Declared::Dialect, name, name, m)));
    for kind in dialect.enums {
        if let Some((mnemonic, mistake)) = enum_mistake(dialect, kind) {
            errors.push(DeclarationError::new(Declared::Enumeration, name, mnemonic, mistake));
        }
    }
    for group in dialect.rule_groups {
        let mistake = match (group.doc.trim().is_empty(), group.rules.is_empty()) {
            (true, _) => "it has no documentation",
            (_, true) => "it has no rules",
            _ => continue,
        };
        errors.push(DeclarationError::new(Declared::RuleGroup, name, group.name, mistake));
    }
    for function in dialect.rule_functions.iter().filter(|function| function.doc.trim().is_empty()) {
        errors.push(DeclarationError::new(Declared::RuleFunction, name, function.name, "it has no documentation"));
    }
}

fn constant_mistake(ctx: &Context, dialect: &Dialect, op: &str) -> Option<String> {
    let known = dialect.ops.iter().map(|info| info.name);
    match ctx.op_info(ctx.op_name(op)) {
        None => Some(format!("its constant '{op}' is not a registered op{}", hint(op, known))),
        Some(info) if !info.traits.has(Traits::CONSTANT_LIKE) => {
            Some(format!("its constant '{op}' has no trait CONSTANT_LIKE"))
        }
        Some(_) => None,
    }
}

/// Returns the mnemonic of an enumeration with a mistake, and the mistake.
fn enum_mistake(dialect: &Dialect, kind: &'static AttrKind) -> Option<(&'static str, String)> {
    match kind.text {
        AttrText::Words { dialect: other, mnemonic, .. } if other != dialect.name => {
            Some((mnemonic, format!("its text says dialect '{other}'")))
        }
        AttrText::Words { mnemonic, words: [], .. } => Some((mnemonic, "it has no words".to_owned())),
        AttrText::Words { mnemonic, words, .. } => {
            let word = *repeated(words.iter().copied()).first()?;
            Some((mnemonic, format!("the word '{word}' occurs twice")))
        }
        _ => None,
    }
}

/// Names that are shared by all dialects: ops, rules and rule functions.
pub(super) fn check_names_across(dialects: &[&'static Dialect], errors: &mut Vec<DeclarationError>) {
    let (mut ops, mut rules, mut functions) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut types, mut attrs) = (BTreeSet::new(), BTreeSet::new());
    for dialect in dialects {
        for info in dialect.types.iter().filter(|info| !types.insert(info.decl.name)) {
            errors.push(param_error(Declared::Type, dialect.name, &info.decl, "is declared twice"));
        }
        for info in dialect.attrs.iter().filter(|info| !attrs.insert(info.decl.name)) {
            errors.push(param_error(Declared::Attribute, dialect.name, &info.decl, "is declared twice"));
        }
        for info in dialect.ops.iter().filter(|info| !ops.insert(info.name)) {
            errors.push(op_error(dialect.name, info, "is declared twice"));
        }
        let grouped = dialect.rule_groups.iter().flat_map(|group| group.rules);
        for rule in dialect.rules.iter().chain(grouped).filter(|rule| !rules.insert(rule.name)) {
            errors.push(DeclarationError::new(Declared::Rule, dialect.name, rule.name, "is declared twice"));
        }
        for function in dialect.rule_functions.iter().filter(|function| !functions.insert(function.name)) {
            errors.push(DeclarationError::new(
                Declared::RuleFunction,
                dialect.name,
                function.name,
                "is declared twice",
            ));
        }
    }
}
