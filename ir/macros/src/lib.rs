//! The attributes `#[op]`, `#[ty]` and `#[attr]`: they parse a declaration and re-emit it, in a regular form, to
//! `op::define_op!`, `ty::define_type!` and `attr::define_attr!`.
//!
//! The expansion refers to `gradus_ir` through the module of the attribute's name, which is imported together with the
//! attribute. So a crate that depends on the facade `gradus` only, or that renames it, declares ops like any other.
//!
//! The macros generate no code themselves: all generated code is written out in `ir/src/define.rs` and
//! `ir/src/define_params.rs`.

mod mistakes;

use proc_macro::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Error, Expr, Field, GenericArgument, ItemStruct, Lit, LitStr, Meta, Path, PathArguments, Result, Token, Type,
};

/// Declares an op. The first argument is its name; then `key = value` pairs:
///
/// | key | value |
/// |---|---|
/// | `traits` | `Traits::A.and(Traits::B)` |
/// | `format` | the custom form, in MLIR's declarative assembly format |
/// | `verify`, `infer`, `relations`, `fold`, `eval`, `moves`, `exec`, `control`, `counted`, `patterns`, `effects`, ... | the field of `OpInfo` of that name |
/// | `scalar`, `access` | the field of `OpInfo` of that name, from which `eval` or `exec` follows |
/// | `extensions` | `&[&A(...), &B]`, values of types that implement `Extension`, each of another type |
///
/// Each field of the struct declares an operand, result, attribute, region or successor:
///
/// | field type | meaning |
/// |---|---|
/// | `Operand<C>`, `OptOperand<C>`, `Operands<C>` | one, at most one, any number of operands whose types satisfy `C` |
/// | `OpResult<C>`, `OptResult<C>`, `OpResults<C>` | likewise for results |
/// | `Attribute<K>`, `OptAttribute<K>` | an inherent attribute of kind `K`; `#[default = "text"]` gives its default |
/// | `Region`, `Regions`, `Successor`, `Successors` | regions and successors |
///
/// `#[name = "overflowFlags"]` gives a field another name in the text.
///
/// Import the attribute before using it (`use gradus::prelude::*`, `use gradus_ir::op` or `use gradus::ir::op`): the expansion
/// names a module of the same name, which such an import brings along. Where the attribute is written with its path instead,
/// or `op` is another module, the key `crate` names the IR: `#[gradus::ir::op("d.x", crate = gradus::ir)]`.
#[proc_macro_attribute]
pub fn op(args: TokenStream, item: TokenStream) -> TokenStream {
    expand(&OP, args, item)
}

/// Declares a type. The first argument is its name; then `key = value` pairs:
///
/// | key | value |
/// |---|---|
/// | `format` | the text after the name, from `` `<` `` to `` `>` ``; without it, the parameters in a list |
/// | `verify`, `examples` | the field of `Parametric` of that name |
/// | `repr`, `contains`, `draw`, `constant` | the field of `TypeInfo` of that name |
///
/// Each field of the struct declares a parameter, an attribute: `Param<K>` of kind `K`, `OptParam<K>` one that may be
/// absent. `#[default = "text"]` gives the default of a `Param`, which the text omits.
///
/// The struct becomes a handle of the type, with an accessor for each parameter and the function `get`, which returns the
/// type with given parameters. `Ring::TYPE` is the constraint of operands and results: `Operand<Ring::TYPE>`.
///
/// Import the attribute before using it, as [`macro@op`].
#[proc_macro_attribute]
pub fn ty(args: TokenStream, item: TokenStream) -> TokenStream {
    expand(&TYPE, args, item)
}

/// Declares an attribute. The first argument is its name; then `key = value` pairs:
///
/// | key | value |
/// |---|---|
/// | `format`, `verify`, `examples` | as for [`macro@ty`] |
/// | `value` | the value of a constant with this attribute |
///
/// Each field of the struct declares a parameter, as for [`macro@ty`]. `Tiled::KIND` is the constraint of inherent
/// attributes and parameters: `Attribute<Tiled::KIND>`.
///
/// Import the attribute before using it, as [`macro@op`].
#[proc_macro_attribute]
pub fn attr(args: TokenStream, item: TokenStream) -> TokenStream {
    expand(&ATTR, args, item)
}

fn expand(kind: &'static DeclarationKind, args: TokenStream, item: TokenStream) -> TokenStream {
    let args = syn::parse_macro_input!(args as Args);
    let item = syn::parse_macro_input!(item as ItemStruct);
    emit(kind, &args, &item).unwrap_or_else(Error::into_compile_error).into()
}

/// A kind of declaration: what its attribute takes.
struct DeclarationKind {
    /// The attribute, and the module of the items that its expansion uses.
    attribute: &'static str,
    /// The declared thing, with its article, for messages.
    declares: &'static str,
    /// Keys whose value is wrapped in `Some`.
    optional_keys: &'static [&'static str],
    /// The other keys.
    keys: &'static [&'static str],
    /// The kinds of fields.
    fields: &'static [FieldKind],
}

/// A kind of field: the word, its group in the expansion, its arity, and whether it has a constraint.
type FieldKind = (&'static str, usize, &'static str, bool);

/// `"dialect.name", key = value, ...`
struct Args {
    name: LitStr,
    /// The path of `gradus_ir`, or of a module that re-exports the items that the expansion uses, if it is given.
    root: Option<Path>,
    pairs: Vec<(syn::Ident, Expr)>,
}

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let mut root = None;
        let mut pairs = Vec::new();
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let is_root = input.parse::<Option<Token![crate]>>()?.is_some();
            let key = if is_root { None } else { Some(input.parse()?) };
            input.parse::<Token![=]>()?;
            match key {
                None => root = Some(input.parse()?),
                Some(key) => pairs.push((key, input.parse()?)),
            }
        }
        Ok(Args { name, root, pairs })
    }
}

fn emit(kind: &DeclarationKind, args: &Args, item: &ItemStruct) -> Result<proc_macro2::TokenStream> {
    let doc = doc_text(&item.attrs);
    if doc.trim().is_empty() {
        let message = format!("{} needs a doc comment: its first line is the summary", kind.declares);
        return Err(Error::new(item.ident.span(), message));
    }
    mistakes::check(kind, args, item)?;
    let root = args.root.clone().unwrap_or_else(|| format_ident!("{}", kind.attribute).into());
    let mut groups: [Vec<proc_macro2::TokenStream>; 5] = Default::default();
    for field in &item.fields {
        let (group, tokens) = field_spec(kind, field)?;
        groups[group].push(tokens);
    }
    if kind.attribute == "op" {
        emit_op(args, item, &root, &doc, groups)
    } else {
        emit_params(kind, args, item, &root, &doc, &groups)
    }
}

/// Keys that types and attributes share: the fields of `Parametric`.
const SHARED_KEYS: [&str; 3] = ["format", "verify", "examples"];

fn emit_params(
    kind: &DeclarationKind,
    args: &Args,
    item: &ItemStruct,
    root: &Path,
    doc: &str,
    groups: &[Vec<proc_macro2::TokenStream>; 5],
) -> Result<proc_macro2::TokenStream> {
    let (vis, ident, name, params) = (&item.vis, &item.ident, &args.name, &groups[0]);
    let (shared, own): (Vec<_>, Vec<_>) =
        args.pairs.iter().partition(|(key, _)| SHARED_KEYS.iter().any(|shared| key == shared));
    let field = |(key, value): &&(syn::Ident, Expr)| match kind.optional_keys.iter().any(|optional| key == optional) {
        true => quote!(#key: Some(#value)),
        false => quote!(#key: #value),
    };
    let (shared, own) = (shared.iter().map(field), own.iter().map(field));
    let define = format_ident!("define_{}", if kind.attribute == "ty" { "type" } else { kind.attribute });
    let summary = summary(doc);
    Ok(quote! {
        #root::#define! {
            { #[doc = #doc] #vis #ident #name #summary #doc }
            params { #((#params))* }
            shared { #(#shared,)* }
            own { #(#own,)* }
        }
    })
}

/// Returns the first line of a doc comment as a part of a sentence: "a ring of polynomials".
fn summary(doc: &str) -> String {
    let line = doc.trim().lines().next().unwrap_or("").trim_end_matches('.');
    let mut rest = line.chars();
    let first = rest.next().map(|c| c.to_lowercase().collect::<String>()).unwrap_or_default();
    let is_name = rest.clone().next().is_some_and(char::is_uppercase);
    if is_name { line.to_owned() } else { first + rest.as_str() }
}

fn emit_op(
    args: &Args,
    item: &ItemStruct,
    root: &Path,
    doc: &str,
    groups: [Vec<proc_macro2::TokenStream>; 5],
) -> Result<proc_macro2::TokenStream> {
    let (vis, ident, name) = (&item.vis, &item.ident, &args.name);
    let [operands, results, attrs, regions, successors] = groups;
    let index = |v: Vec<proc_macro2::TokenStream>| -> Vec<_> {
        v.into_iter().enumerate().map(|(i, t)| quote!((#i #t))).collect()
    };
    let (operands, results, attrs) = (index(operands), index(results), index(attrs));
    let (regions, successors) = (index(regions), index(successors));
    let fields = args.pairs.iter().map(|(key, value)| match key.to_string().as_str() {
        "scalar" => quote!(scalar: Some(#value), eval: Some(#root::eval::evaluate_scalar)),
        "access" => quote!(access: Some(#value), exec: Some(#root::eval::execute_access)),
        key if OP.optional_keys.contains(&key) => {
            let key = format_ident!("{key}");
            quote!(#key: Some(#value))
        }
        _ => quote!(#key: #value),
    });
    Ok(quote! {
        #root::define_op! {
            { #[doc = #doc] #vis #ident #name #doc }
            operands { #(#operands)* } results { #(#results)* } attrs { #(#attrs)* }
            regions { #(#regions)* } successors { #(#successors)* }
            fields { #(#fields,)* }
        }
    })
}

/// Ops: the groups of fields are operands, results, attributes, regions and successors.
const OP: DeclarationKind = DeclarationKind {
    attribute: "op",
    declares: "an op",
    optional_keys: &[
        "speculatable",
        "global",
        "verify",
        "verify_regions",
        "verify_symbols",
        "infer",
        "fold",
        "eval",
        "poison_is_ub",
        "exec",
        "control",
        "control_memory",
        "counted",
        "jump",
        "successor_operands",
        "successor_sizes",
        "edges",
        "slot",
        "format",
        "result_names",
    ],
    keys: &[
        "scalar",
        "access",
        "moves",
        "traits",
        "effects",
        "parents",
        "directives",
        "implicit_terminator",
        "default_dialect",
        "relations",
        "patterns",
        "extensions",
    ],
    fields: &[
        ("Operand", 0, "One", true),
        ("OptOperand", 0, "Optional", true),
        ("Operands", 0, "Variadic", true),
        ("OpResult", 1, "One", true),
        ("OptResult", 1, "Optional", true),
        ("OpResults", 1, "Variadic", true),
        ("Attribute", 2, "One", true),
        ("OptAttribute", 2, "Optional", true),
        ("Region", 3, "One", false),
        ("Regions", 3, "Variadic", false),
        ("Successor", 4, "One", false),
        ("Successors", 4, "Variadic", false),
    ],
};

/// The kinds of fields of types and attributes: parameters.
const PARAMS: &[FieldKind] = &[("Param", 0, "One", true), ("OptParam", 0, "Optional", true)];

const TYPE: DeclarationKind = DeclarationKind {
    attribute: "ty",
    declares: "a type",
    optional_keys: &["format", "verify", "repr", "contains", "draw", "constant"],
    keys: &["examples"],
    fields: PARAMS,
};

const ATTR: DeclarationKind = DeclarationKind {
    attribute: "attr",
    declares: "an attribute",
    optional_keys: &["format", "verify", "value"],
    keys: &["examples"],
    fields: PARAMS,
};

/// The group of attributes among the fields of an op.
const ATTRIBUTES: usize = 2;

/// Returns the group of a field and its tokens for the expansion.
fn field_spec(kind: &DeclarationKind, field: &Field) -> Result<(usize, proc_macro2::TokenStream)> {
    let ident = field.ident.as_ref().ok_or_else(|| Error::new(field.span(), "name the field"))?;
    let doc = doc_text(&field.attrs);
    let text = field_name(field)?;
    let Type::Path(path) = &field.ty else { return Err(Error::new(field.ty.span(), "not a kind of field")) };
    let segment = path.path.segments.last().ok_or_else(|| Error::new(field.ty.span(), "not a kind of field"))?;
    let constraint = match &segment.arguments {
        PathArguments::AngleBracketed(a) => match a.args.first() {
            Some(GenericArgument::Type(t)) => Some(t.to_token_stream()),
            Some(GenericArgument::Const(c)) => Some(c.to_token_stream()),
            _ => return Err(Error::new(a.span(), "name a constraint")),
        },
        _ => None,
    };
    let word = segment.ident.to_string();
    let Some(&(_, group, arity, constrained)) = kind.fields.iter().find(|field| field.0 == word) else {
        let hint = mistakes::hint(&word, kind.fields.iter().map(|field| field.0));
        return Err(Error::new(segment.span(), format!("`{word}` is not a kind of field{hint}")));
    };
    if constrained != constraint.is_some() {
        let message = if constrained {
            format!("`{word}` needs a constraint: `{word}<ANY>`")
        } else {
            format!("`{word}` takes no constraint")
        };
        return Err(Error::new(segment.span(), message));
    }
    let default = string_attr(field, "default")?;
    let is_attr = kind.attribute != "op" || group == ATTRIBUTES;
    if default.is_some() && !is_attr {
        return Err(Error::new(field.span(), format!("`{text}` is no attribute, so it has no default")));
    }
    let arity = format_ident!("{arity}");
    let head = quote!(#ident #text #arity #doc);
    let tokens = if is_attr {
        let default = default.map_or(quote!(None), |text| quote!(Some(#text)));
        quote!(#head (#constraint) (#default))
    } else if constrained {
        quote!(#head (#constraint))
    } else {
        head
    };
    Ok((group, tokens))
}

/// Returns the name of a field in the text.
fn field_name(field: &Field) -> Result<String> {
    let ident = field.ident.as_ref().map(|ident| ident.to_string().trim_start_matches("r#").to_owned());
    Ok(string_attr(field, "name")?.or(ident).unwrap_or_default())
}

/// Returns the value of `#[key = "text"]` on a field.
fn string_attr(field: &Field, key: &str) -> Result<Option<String>> {
    let Some(attr) = field.attrs.iter().find(|a| a.path().is_ident(key)) else { return Ok(None) };
    match literal(&attr.meta) {
        Some(text) => Ok(Some(text)),
        None => Err(Error::new(attr.span(), "expected `= \"text\"`")),
    }
}

/// Returns the doc comment as one text, each line without its leading blank.
fn doc_text(attrs: &[syn::Attribute]) -> String {
    let docs = attrs.iter().filter(|a| a.path().is_ident("doc")).filter_map(|a| literal(&a.meta));
    let lines: Vec<String> = docs.map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned()).collect();
    lines.join("\n")
}

/// Returns the string in `key = "text"`; a literal from another macro is wrapped in an invisible group.
fn literal(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else { return None };
    let mut value = &pair.value;
    while let Expr::Group(group) = value {
        value = &group.expr;
    }
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(s) => Some(s.value()),
            _ => None,
        },
        _ => None,
    }
}
