//! Mistakes in declarations that the compiler cannot see: misspelt names, formats that lose something, contradictory
//! traits, rules that cannot be read.
//!
//! ```
//! use gradus_ir::declarations::check;
//! use gradus_ir::{Dialect, rules::rule};
//!
//! static TOY: Dialect =
//!     Dialect { name: "toy", doc: "Toys.", rules: &[rule("add-zero", "add(x, 0) => x")], ..Dialect::DEFAULT };
//!
//! let errors = check(&[&TOY], &[]);
//! assert_eq!(errors[0].to_string(), "rule 'add-zero' of dialect 'toy': 'toy.add' is not a registered op");
//! ```

mod dialect;
mod op;
mod parametric;
mod pass;

use crate::context::Context;
use crate::op_info::{Dialect, OpInfo};
use crate::parametric::Parametric;
use crate::pass::PassInfo;

pub use crate::declaration_error::{DeclarationError, Declared, SourceLine};

/// Returns the mistakes in declarations that are detectable without running anything, in the order of the lists.
pub fn check(dialects: &[&'static Dialect], passes: &[&'static PassInfo]) -> Vec<DeclarationError> {
    let ctx = Context::new(dialects);
    let mut errors = Vec::new();
    for (i, dialect) in dialects.iter().enumerate() {
        dialect::check(&ctx, dialect, &mut errors);
        if dialects[..i].iter().any(|other| other.name == dialect.name) {
            errors.push(DeclarationError::new(Declared::Dialect, dialect.name, dialect.name, "is declared twice"));
        }
        for info in dialect.ops {
            let mistakes = op::mistakes(&ctx, dialect, info);
            errors.extend(mistakes.into_iter().map(|mistake| op_error(dialect.name, info, mistake)));
        }
        for info in dialect.types {
            let mistakes = parametric::of_type(&ctx, dialect, info);
            errors.extend(mistakes.into_iter().map(|m| param_error(Declared::Type, dialect.name, &info.decl, m)));
        }
        for info in dialect.attrs {
            let mistakes = parametric::mistakes(&ctx, dialect, &info.decl, '#');
            errors.extend(mistakes.into_iter().map(|m| param_error(Declared::Attribute, dialect.name, &info.decl, m)));
        }
    }
    dialect::check_names_across(dialects, &mut errors);
    errors.extend_from_slice(ctx.rule_errors());
    pass::check(&ctx, passes, &mut errors);
    errors
}

/// Returns the error of a mistake in the declaration of an op.
pub fn op_error(dialect: &'static str, info: &OpInfo, mistake: impl Into<String>) -> DeclarationError {
    let error = DeclarationError::new(Declared::Op, dialect, info.name, mistake);
    DeclarationError { place: info.declared_at, ..error }
}

/// Returns the error of a mistake in the declaration of a type or attribute.
pub fn param_error(
    declared: Declared,
    dialect: &'static str,
    decl: &Parametric,
    mistake: impl Into<String>,
) -> DeclarationError {
    let error = DeclarationError::new(declared, dialect, decl.name, mistake);
    DeclarationError { place: decl.declared_at, ..error }
}

/// Returns the names that occur again after their first occurrence.
fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    names.filter(|name| !seen.insert(*name)).collect()
}
