//! Mistakes in a declaration that can be seen without types: keys, names, documentation.

use super::{Args, DeclarationKind, doc_text, field_name};
use std::collections::BTreeSet;
use strsim::levenshtein;
use syn::spanned::Spanned;
use syn::{Error, Expr, Field, ItemStruct, Result, Type};

/// Attributes that a field can have.
const FIELD_ATTRIBUTES: [&str; 3] = ["doc", "name", "default"];

/// Pairs of keys of which the first defines the second.
const DERIVED: [(&str, &str); 2] = [("scalar", "eval"), ("access", "exec")];

/// Checks the parts of a declaration that the types of `OpInfo` do not check.
pub(super) fn check(kind: &DeclarationKind, args: &Args, item: &ItemStruct) -> Result<()> {
    check_name(kind, args)?;
    check_keys(kind, args)?;
    let mut names = BTreeSet::new();
    for field in &item.fields {
        check_field(field)?;
        let name = field_name(field)?;
        if !names.insert(name.clone()) {
            return Err(Error::new(field.span(), format!("two fields are called `{name}` in the text")));
        }
    }
    let has_regions = item.fields.iter().any(|field| is_kind(field, &["Region", "Regions"]));
    if has_regions && !args.pairs.iter().any(|(key, _)| key == "effects") {
        let message =
            "an op with regions states its effects: `effects = Effects::Recursive` for those of the ops inside";
        return Err(Error::new(item.ident.span(), message));
    }
    Ok(())
}

fn check_name(kind: &DeclarationKind, args: &Args) -> Result<()> {
    let name = args.name.value();
    match name.split_once('.') {
        Some((dialect, rest)) if !dialect.is_empty() && !rest.is_empty() => Ok(()),
        _ => {
            let message = format!("`{name}` lacks its dialect: {} is called `dialect.name`", kind.declares);
            Err(Error::new(args.name.span(), message))
        }
    }
}

fn check_keys(kind: &DeclarationKind, args: &Args) -> Result<()> {
    let known = || kind.optional_keys.iter().chain(kind.keys).copied();
    let mut seen = BTreeSet::new();
    for (key, value) in &args.pairs {
        let text = key.to_string();
        if !known().any(|known| known == text) {
            let message = format!("`{text}` is not a key of `#[{}]`{}", kind.attribute, hint(&text, known()));
            return Err(Error::new(key.span(), message));
        }
        if let Some((by, _)) =
            DERIVED.iter().find(|(by, of)| *of == text && args.pairs.iter().any(|(key, _)| key == by))
        {
            return Err(Error::new(key.span(), format!("`{text}` follows from `{by}`: state one of them")));
        }
        if !seen.insert(text.clone()) {
            return Err(Error::new(key.span(), format!("`{text}` is stated twice")));
        }
        if text == "extensions" {
            check_extensions(value)?;
        }
    }
    Ok(())
}

/// Checks the form of a list of extensions: `&[&A(...), &B]`. Their types are checked by the trait `Extension`.
fn check_extensions(list: &Expr) -> Result<()> {
    let shape = "`extensions` is a list of references: `&[&A(...), &B]`";
    let Expr::Reference(list) = list else { return Err(Error::new(list.span(), shape)) };
    let Expr::Array(list) = &*list.expr else { return Err(Error::new(list.span(), shape)) };
    match list.elems.iter().find(|value| !matches!(value, Expr::Reference(_))) {
        Some(value) => Err(Error::new(value.span(), shape)),
        None => Ok(()),
    }
}

fn check_field(field: &Field) -> Result<()> {
    let Some(ident) = &field.ident else { return Err(Error::new(field.span(), "name the field")) };
    if doc_text(&field.attrs).trim().is_empty() {
        return Err(Error::new(ident.span(), format!("`{ident}` needs a doc comment")));
    }
    for attr in &field.attrs {
        let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if !FIELD_ATTRIBUTES.contains(&name.as_str()) {
            let hint = hint(&name, FIELD_ATTRIBUTES.into_iter());
            return Err(Error::new(attr.span(), format!("`{name}` is not an attribute of a field{hint}")));
        }
    }
    Ok(())
}

/// Whether a field is of one of these kinds.
fn is_kind(field: &Field, kinds: &[&str]) -> bool {
    let Type::Path(path) = &field.ty else { return false };
    path.path.segments.last().is_some_and(|segment| kinds.iter().any(|kind| segment.ident == kind))
}

/// Returns `; did you mean x?` for a misspelt word, or the empty string.
pub(super) fn hint<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let limit = (word.len() / 3).max(1);
    let near = candidates.map(|known| (levenshtein(word, known), known)).filter(|(d, _)| *d <= limit).min();
    near.map_or(String::new(), |(_, known)| format!("; did you mean `{known}`?"))
}

#[cfg(test)]
mod tests {
    use crate::{ATTR, Args, DeclarationKind, OP, TYPE, emit};
    use syn::ItemStruct;

    /// Returns the error of a declaration.
    fn error(args: &str, item: &str) -> String {
        error_of(&OP, args, item)
    }

    fn error_of(kind: &DeclarationKind, args: &str, item: &str) -> String {
        let args: Args = syn::parse_str(args).expect("arguments of the attribute");
        let item: ItemStruct = syn::parse_str(item).expect("a struct");
        emit(kind, &args, &item).expect_err("a mistake").to_string()
    }

    const PLAIN: &str = "/// Adds.\nstruct Add { /// Left.\nlhs: Operand<ANY>, }";

    #[test]
    fn a_declaration_without_mistakes_is_emitted() {
        let args: Args = syn::parse_str("\"toy.add\", eval = add, traits = Traits::NONE").expect("arguments");
        let text = emit(&OP, &args, &syn::parse_str(PLAIN).expect("a struct")).expect("no mistake").to_string();
        assert!(text.contains("eval : Some (add)") && text.contains("traits : Traits :: NONE"), "{text}");
    }

    #[test]
    fn mistakes_in_arguments_are_errors() {
        let cases = [
            ("\"add\"", "`add` lacks its dialect: an op is called `dialect.name`"),
            ("\"toy.\"", "`toy.` lacks its dialect: an op is called `dialect.name`"),
            ("\"toy.add\", evl = f", "`evl` is not a key of `#[op]`; did you mean `eval`?"),
            ("\"toy.add\", colour = f", "`colour` is not a key of `#[op]`"),
            ("\"toy.add\", fold = f, fold = g", "`fold` is stated twice"),
            ("\"toy.add\", scalar = f, eval = g", "`eval` follows from `scalar`: state one of them"),
            ("\"toy.add\", access = f, exec = g", "`exec` follows from `access`: state one of them"),
            ("\"toy.add\", extensions = &A(1)", "`extensions` is a list of references: `&[&A(...), &B]`"),
            ("\"toy.add\", extensions = [&A(1)]", "`extensions` is a list of references: `&[&A(...), &B]`"),
            ("\"toy.add\", extensions = &[A(1)]", "`extensions` is a list of references: `&[&A(...), &B]`"),
        ];
        for (args, message) in cases {
            assert_eq!(error(args, PLAIN), message);
        }
    }

    #[test]
    fn mistakes_in_fields_are_errors() {
        let cases = [
            ("struct A;", "an op needs a doc comment: its first line is the summary"),
            ("/// A.\nstruct A { x: Operand<ANY> }", "`x` needs a doc comment"),
            ("/// A.\nstruct A(/// X.\nOperand<ANY>);", "name the field"),
            ("/// A.\nstruct A { /// X.\nx: Oprand<ANY> }", "`Oprand` is not a kind of field; did you mean `Operand`?"),
            ("/// A.\nstruct A { /// X.\nx: u32 }", "`u32` is not a kind of field"),
            ("/// A.\nstruct A { /// X.\nx: Operand }", "`Operand` needs a constraint: `Operand<ANY>`"),
            ("/// A.\nstruct A { /// X.\nx: Successor<ANY> }", "`Successor` takes no constraint"),
            (
                "/// A.\nstruct A { /// X.\n#[default = \"1\"] x: Operand<ANY> }",
                "`x` is no attribute, so it has no default",
            ),
            (
                "/// A.\nstruct A { /// X.\n#[defalt = \"1\"] x: Attribute<ANY> }",
                "`defalt` is not an attribute of a field; did you mean `default`?",
            ),
            (
                "/// A.\nstruct A { /// X.\nx: Operand<ANY>, /// Y.\n#[name = \"x\"] y: Operand<ANY> }",
                "two fields are called `x` in the text",
            ),
            (
                "/// A.\nstruct A { /// X.\nx: Region }",
                "an op with regions states its effects: `effects = Effects::Recursive` for those of the ops inside",
            ),
        ];
        for (item, message) in cases {
            assert_eq!(error("\"toy.a\"", item), message, "{item}");
        }
    }

    #[test]
    fn mistakes_in_types_and_attributes_are_errors() {
        let ring = "/// A ring.\nstruct Ring { /// The modulus.\nmodulus: Param<I64> }";
        let cases = [
            (&TYPE, "\"ring\"", ring, "`ring` lacks its dialect: a type is called `dialect.name`"),
            (&TYPE, "\"toy.ring\", drow = f", ring, "`drow` is not a key of `#[ty]`; did you mean `draw`?"),
            (&TYPE, "\"toy.ring\", value = f", ring, "`value` is not a key of `#[ty]`"),
            (&ATTR, "\"toy.ring\", draw = f", ring, "`draw` is not a key of `#[attr]`"),
            (&TYPE, "\"toy.ring\"", "struct Ring;", "a type needs a doc comment: its first line is the summary"),
            (
                &ATTR,
                "\"toy.ring\"",
                "/// A.\nstruct A { /// X.\nx: Parm<I64> }",
                "`Parm` is not a kind of field; did you mean `Param`?",
            ),
            (
                &ATTR,
                "\"toy.ring\"",
                "/// A.\nstruct A { /// X.\nx: Param }",
                "`Param` needs a constraint: `Param<ANY>`",
            ),
            (&TYPE, "\"toy.ring\"", "/// A.\nstruct A { x: Param<I64> }", "`x` needs a doc comment"),
        ];
        for (kind, args, item, message) in cases {
            assert_eq!(error_of(kind, args, item), message, "{item}");
        }
    }
}
