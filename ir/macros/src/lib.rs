//! The `#[op]` attribute: parses an op's declaration and re-emits it, in a regular form, to `op::define_op!`.
//!
//! The expansion refers to `gradus_ir` through the module `op`, which is imported together with the attribute. So a
//! crate that depends on the facade `gradus` only, or that renames it, declares ops like any other.
//!
//! The macro generates no code itself: all generated code is written out in `ir/src/define.rs`.

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
/// | `verify`, `infer`, `relations`, `fold`, `eval`, `exec`, `control`, `counted`, `patterns`, `effects`, ... | the field of `OpInfo` of that name |
/// | `scalar`, `access` | the field of `OpInfo` of that name, from which `eval` or `exec` follows |
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
    let args = syn::parse_macro_input!(args as OpArgs);
    let item = syn::parse_macro_input!(item as ItemStruct);
    emit(&args, &item).unwrap_or_else(Error::into_compile_error).into()
}

/// `"dialect.name", key = value, ...`
struct OpArgs {
    name: LitStr,
    /// The path of `gradus_ir`, or of a module that re-exports the items that the expansion uses.
    root: Path,
    pairs: Vec<(syn::Ident, Expr)>,
}

impl Parse for OpArgs {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let mut root = format_ident!("op").into();
        let mut pairs = Vec::new();
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let is_root = input.parse::<Option<Token![crate]>>()?.is_some();
            let key = if is_root { None } else { Some(input.parse()?) };
            input.parse::<Token![=]>()?;
            match key {
                None => root = input.parse()?,
                Some(key) => pairs.push((key, input.parse()?)),
            }
        }
        Ok(OpArgs { name, root, pairs })
    }
}

fn emit(args: &OpArgs, item: &ItemStruct) -> Result<proc_macro2::TokenStream> {
    let (vis, ident, name, root) = (&item.vis, &item.ident, &args.name, &args.root);
    let doc = doc_text(&item.attrs);
    if doc.trim().is_empty() {
        return Err(Error::new(ident.span(), "an op needs a doc comment: its first line is the summary"));
    }
    mistakes::check(args, item)?;
    let mut groups: [Vec<proc_macro2::TokenStream>; 5] = Default::default();
    for field in &item.fields {
        let (group, tokens) = field_spec(field)?;
        groups[group].push(tokens);
    }
    let [operands, results, attrs, regions, successors] = groups;
    let index = |v: Vec<proc_macro2::TokenStream>| -> Vec<_> {
        v.into_iter().enumerate().map(|(i, t)| quote!((#i #t))).collect()
    };
    let (operands, results, attrs) = (index(operands), index(results), index(attrs));
    let (regions, successors) = (index(regions), index(successors));
    let fields = args.pairs.iter().map(|(key, value)| match key.to_string().as_str() {
        "scalar" => quote!(scalar: Some(#value), eval: Some(#root::eval::evaluate_scalar)),
        "access" => quote!(access: Some(#value), exec: Some(#root::eval::execute_access)),
        key if mistakes::OPTIONAL_KEYS.contains(&key) => {
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

/// The kinds of fields: the group of each (operand, result, attribute, region, successor), its arity, and whether it
/// has a constraint.
const KINDS: [(&str, usize, &str, bool); 12] = [
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
];

/// Returns the group of a field and its tokens for `define_op!`.
fn field_spec(field: &Field) -> Result<(usize, proc_macro2::TokenStream)> {
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
    let Some(&(_, group, kind, constrained)) = KINDS.iter().find(|kind| kind.0 == word) else {
        let hint = mistakes::hint(&word, KINDS.iter().map(|kind| kind.0));
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
    if default.is_some() && group != 2 {
        return Err(Error::new(field.span(), format!("`{text}` is no attribute, so it has no default")));
    }
    let kind = format_ident!("{kind}");
    let head = quote!(#ident #text #kind #doc);
    Ok(match group {
        0 | 1 => (group, quote!(#head (#constraint))),
        2 => {
            let default = default.map_or(quote!(None), |text| quote!(Some(#text)));
            (group, quote!(#head (#constraint) (#default)))
        }
        _ => (group, head),
    })
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
