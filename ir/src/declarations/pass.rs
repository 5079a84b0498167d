//! Validation of pass declarations.

use super::{DeclarationError, Declared, repeated};
use crate::context::Context;
use crate::pass::{OptionKind, Options, PassInfo, PassOption};
use crate::text::diag::hint;

/// Checks passes.
pub(super) fn check(ctx: &Context, passes: &[&'static PassInfo], errors: &mut Vec<DeclarationError>) {
    for (i, info) in passes.iter().enumerate() {
        let mut mistakes = mistakes(ctx, info);
        if passes[..i].iter().any(|other| other.name == info.name) {
            mistakes.push("is declared twice".to_owned());
        }
        errors.extend(mistakes.into_iter().map(|m| DeclarationError::new(Declared::Pass, "", info.name, m)));
    }
}

fn mistakes(ctx: &Context, info: &'static PassInfo) -> Vec<String> {
    let mut found = Vec::new();
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !info.name.starts_with(|c: char| c.is_ascii_lowercase()) || !info.name.chars().all(is_letter) {
        found.push("its name is not of lower-case letters, digits and '-'".to_owned());
    }
    if info.summary().trim().is_empty() {
        found.push("it has no documentation".to_owned());
    }
    if let Some(anchor) = info.anchor
        && ctx.op_info(ctx.op_name(anchor)).is_none()
    {
        let ops = ctx.dialects().iter().flat_map(|d| d.ops).map(|info| info.name);
        found.push(format!("its anchor '{anchor}' is not a registered op{}", hint(anchor, ops)));
    }
    let twice = repeated(info.options.iter().map(|option| option.name));
    found.extend(twice.into_iter().map(|name| format!("two options are called '{name}'")));
    found.extend(info.options.iter().filter_map(option_mistake));
    let twice = repeated(info.statistics.iter().map(|(name, _)| *name));
    found.extend(twice.into_iter().map(|name| format!("two statistics are called '{name}'")));
    for (name, _) in info.samples.iter().filter(|(name, _)| info.options.iter().all(|option| option.name != *name)) {
        let near = hint(name, info.options.iter().map(|option| option.name));
        found.push(format!("it has values of an option '{name}', which is not declared{near}"));
    }
    if found.is_empty() {
        found.extend(making_mistake(info));
    }
    found
}

/// Returns the panic message of a pass created with its default options. Errors are allowed: an option may be required.
fn making_mistake(info: &'static PassInfo) -> Option<String> {
    let make = || Options::parse(info.options, "").map(|options| (info.make)(&options).is_ok());
    let panic = std::panic::catch_unwind(make).err()?;
    let why = panic.downcast_ref::<String>().map_or("it panics", String::as_str);
    Some(format!("it cannot be made with its default options: {why}"))
}

fn option_mistake(option: &PassOption) -> Option<String> {
    let name = option.name;
    if option.doc.trim().is_empty() {
        return Some(format!("option '{name}' has no documentation"));
    }
    match option.kind {
        OptionKind::Word(default, words) if !words.iter().any(|(word, _)| *word == default) => {
            let near = hint(default, words.iter().map(|(word, _)| *word));
            Some(format!("the default '{default}' of option '{name}' is not one of its words{near}"))
        }
        _ => None,
    }
}
