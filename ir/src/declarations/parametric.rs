//! Validation of declared types and attributes.

use super::repeated;
use crate::constraint::{AttrSpec, AttrText};
use crate::context::Context;
use crate::op_info::Dialect;
use crate::parametric::{Parametric, TypeInfo};
use crate::text::diag::hint;
use crate::text::params_format_mistake;

/// Returns the mistakes in the declaration of a type.
pub(super) fn of_type(ctx: &Context, dialect: &Dialect, info: &'static TypeInfo) -> Vec<String> {
    let mut found = mistakes(ctx, dialect, &info.decl, '!');
    let has_values = info.repr.is_some() || info.contains.is_some() || info.draw.is_some();
    if info.contains.is_some() && info.repr.is_none() && info.draw.is_none() {
        found.push("its values cannot be drawn: it has 'contains', but neither 'draw' nor 'repr'".to_owned());
    }
    let types = info.decl.examples.iter().filter_map(|body| ctx.parse_type(&info.decl.example('!', body)).ok());
    let is_declared = |ty| info.repr.is_some() && ctx.type_info(ctx.repr(ty)).is_some();
    if types.into_iter().any(is_declared) {
        found.push("its 'repr' is a declared type: name the type of its values".to_owned());
    }
    if has_values && info.decl.examples.is_empty() {
        found.push("it has values, but no example for those who draw programs".to_owned());
    }
    found
}

/// Returns the mistakes in the declaration of a type or attribute with this sigil.
pub(super) fn mistakes(ctx: &Context, dialect: &Dialect, decl: &'static Parametric, sigil: char) -> Vec<String> {
    let mut found = Vec::new();
    let own = decl.name.strip_prefix(dialect.name).and_then(|rest| rest.strip_prefix('.'));
    if own.is_none_or(str::is_empty) {
        found.push(format!("its name does not begin with '{}.'", dialect.name));
    }
    if decl.doc.trim().is_empty() {
        found.push("it has no documentation".to_owned());
    }
    for name in repeated(decl.params.iter().map(|spec| spec.name)) {
        found.push(format!("two parameters are called '{name}'"));
    }
    found.extend(decl.params.iter().filter_map(|spec| param_mistake(ctx, spec)));
    found.extend(params_format_mistake(ctx, decl));
    if found.is_empty() {
        found.extend(decl.examples.iter().find_map(|body| example_mistake(ctx, decl, sigil, body)));
    }
    found
}

fn param_mistake(ctx: &Context, spec: &AttrSpec) -> Option<String> {
    let name = spec.name;
    if let AttrText::Declared(declared) = spec.kind.text
        && ctx.attr_info_of(declared).is_none()
    {
        let known = ctx.dialects().iter().flat_map(|dialect| dialect.attrs).map(|info| info.decl.name);
        let near = hint(declared, known);
        return Some(format!("parameter '{name}' is a '#{declared}', which no dialect declares{near}"));
    }
    let default = spec.default?;
    match ctx.parse_attr(default) {
        Err(why) => Some(format!("the default '{default}' of parameter '{name}' cannot be read: {why}")),
        Ok(value) if !(spec.kind.check)(ctx, value) => {
            Some(format!("the default '{default}' of parameter '{name}' is not a {}", spec.kind.summary))
        }
        Ok(_) => None,
    }
}

/// Returns an example that cannot be read, or is printed so that it cannot be read again.
fn example_mistake(ctx: &Context, decl: &Parametric, sigil: char, body: &str) -> Option<String> {
    let again = |text: &str| match sigil {
        '!' => ctx.parse_type(text).map(|ty| ctx.display_type(ty)),
        _ => ctx.parse_attr(text).map(|attr| ctx.display_attr(attr)),
    };
    let text = decl.example(sigil, body);
    match again(&text) {
        Err(why) => Some(format!("its example '{body}' cannot be read: {why}")),
        Ok(printed) if again(&printed).as_ref() != Ok(&printed) => {
            Some(format!("its example '{body}' is printed as '{printed}', which is not read as the same"))
        }
        Ok(_) => None,
    }
}
