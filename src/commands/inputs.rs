//! Files with the inputs and results of command lines.

use crate::Failure;
use clap::ArgMatches;
use gradus_ir::eval::Datum;
use gradus_ir::{Context, Tensor, Type};
use gradus_npy::{read_npy, write_npy};
use gradus_targets::Signature;
use std::path::Path;

/// Returns the `NAME=FILE` pairs of an option, with known names; the name is optional if there is only one.
pub(super) fn named(
    matches: &ArgMatches,
    option: &str,
    known: &[(String, Type)],
) -> Result<Vec<(String, String)>, Failure> {
    let mut out = Vec::new();
    for text in matches.get_many::<String>(option).into_iter().flatten() {
        let pair = match (text.split_once('='), known) {
            (Some((name, path)), _) => (name.to_owned(), path.to_owned()),
            (None, [only]) => (only.0.clone(), text.clone()),
            (None, _) => return Err(Failure::Usage(format!("--{option} needs NAME=FILE, with {}", list(known)))),
        };
        if !known.iter().any(|k| k.0 == pair.0) {
            return Err(Failure::Usage(format!("--{option}: no '{}'; there is {}", pair.0, list(known))));
        }
        out.push(pair);
    }
    Ok(out)
}

fn list(known: &[(String, Type)]) -> String {
    known.iter().map(|k| k.0.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(feature = "npz")]
fn read_archive(path: &str) -> Result<Vec<(String, Tensor)>, Failure> {
    Ok(gradus_npy::read_npz(Path::new(path))?)
}

#[cfg(not(feature = "npz"))]
fn read_archive(path: &str) -> Result<Vec<(String, Tensor)>, Failure> {
    Err(crate::without("npz", path))
}

#[cfg(feature = "npz")]
fn write_archive(path: &str, tensors: &[(String, Tensor)]) -> Result<(), Failure> {
    Ok(gradus_npy::write_npz(Path::new(path), tensors)?)
}

#[cfg(not(feature = "npz"))]
fn write_archive(path: &str, _: &[(String, Tensor)]) -> Result<(), Failure> {
    Err(crate::without("npz", path))
}

/// Reads the tensors of a file: one of an .npy file, all of an archive of them.
pub(super) fn read_all(path: &str) -> Result<Vec<Tensor>, Failure> {
    match path.ends_with(".npz") {
        true => Ok(read_archive(path)?.into_iter().map(|(_, tensor)| tensor).collect()),
        false => Ok(vec![read_npy(Path::new(path))?]),
    }
}

/// Returns the tensors of a value: of a tensor itself, of a sequence its elements.
pub(super) fn tensors(value: &Datum) -> Result<Vec<Tensor>, Failure> {
    let other = || Failure::Input(format!("a result of kind {} cannot be written to a file", value.kind()));
    value.tensor().map(|tensor| vec![tensor.clone()]).ok().or_else(|| sequences::elements(value)).ok_or_else(other)
}

/// Writes a value: a tensor as .npy, a sequence as an archive, with NumPy's names for arrays without one.
pub(super) fn write(path: &str, value: &Datum) -> Result<(), Failure> {
    let all = tensors(value)?;
    if let Ok(tensor) = value.tensor() {
        return Ok(write_npy(Path::new(path), tensor)?);
    }
    let named: Vec<_> = all.into_iter().enumerate().map(|(i, tensor)| (format!("arr_{i}"), tensor)).collect();
    write_archive(path, &named)
}

/// Sequences of tensors.
#[cfg(feature = "networks")]
mod sequences {
    use gradus_ir::eval::Datum;
    use gradus_ir::{Context, Tensor, Type};
    use gradus_networks::graph::{SequenceType, TensorSequence};

    pub(super) fn is_sequence(ctx: &Context, ty: Type) -> bool {
        SequenceType::element_of(ctx, ty).is_some()
    }

    pub(super) fn value(tensors: Vec<(String, Tensor)>) -> Datum {
        Datum::own(TensorSequence(tensors.into_iter().map(|(_, tensor)| tensor).collect()))
    }

    pub(super) fn elements(value: &Datum) -> Option<Vec<Tensor>> {
        value.as_own::<TensorSequence>().ok().map(|sequence| sequence.0.clone())
    }
}

/// There are no sequences.
#[cfg(not(feature = "networks"))]
mod sequences {
    use gradus_ir::eval::Datum;
    use gradus_ir::{Context, Tensor, Type};

    pub(super) fn is_sequence(_: &Context, _: Type) -> bool {
        false
    }

    pub(super) fn value(_: Vec<(String, Tensor)>) -> Datum {
        Datum::Poison
    }

    pub(super) fn elements(_: &Datum) -> Option<Vec<Tensor>> {
        None
    }
}

/// Reads the inputs in parameter order: tensors, and values of declared types from their attributes.
pub(super) fn read_inputs(matches: &ArgMatches, ctx: &Context, signature: &Signature) -> Result<Vec<Datum>, Failure> {
    let mut given: Vec<(String, Datum)> = Vec::new();
    let texts: Vec<&String> = matches.get_many::<String>("input").into_iter().flatten().collect();
    if let [path] = texts[..]
        && path.ends_with(".npz")
        && !path.contains('=')
        && !matches!(signature.inputs[..], [(_, ty)] if sequences::is_sequence(ctx, ty))
    {
        given.extend(read_archive(path)?.into_iter().map(|(name, tensor)| (name, Datum::Tensor(tensor))));
    } else {
        for (name, text) in named(matches, "input", &signature.inputs)? {
            let ty = signature.inputs.iter().find(|input| input.0 == name).map_or(Type::NONE, |input| input.1);
            let value = match is_own(ctx, ty) {
                true if sequences::is_sequence(ctx, ty) => sequences::value(read_archive(&text)?),
                true => value_of(ctx, &name, &text, ty)?,
                false => Datum::Tensor(read_npy(Path::new(&text))?),
            };
            given.push((name, value));
        }
    }
    let take = |(name, ty): &(String, Type)| {
        let found = given.iter().find(|g| g.0 == *name).map(|g| g.1.clone());
        let value = found.ok_or_else(|| {
            let what = match is_own(ctx, *ty) {
                true if sequences::is_sequence(ctx, *ty) => "FILE.npz",
                true => "ATTRIBUTE",
                false => "FILE.npy",
            };
            let ty = ctx.display_type(*ty);
            Failure::Usage(format!("input '{name}' ({ty}) is missing: give --input {name}={what}"))
        })?;
        let want = ctx.dtype(ctx.element_type(ctx.repr(*ty)));
        if let Datum::Tensor(tensor) = &value
            && want.is_some_and(|d| d != tensor.dtype())
        {
            let ty = ctx.display_type(*ty);
            return Err(Failure::Input(format!("input '{name}' is {ty}, but the file holds {}", tensor.dtype())));
        }
        Ok(value)
    };
    signature.inputs.iter().map(take).collect()
}

/// Whether values of a type are its own, so that no file holds them.
fn is_own(ctx: &Context, ty: Type) -> bool {
    ctx.type_info(ty).is_some_and(|info| info.repr.is_none())
}

/// Returns the value of a declared type whose attribute is `text`, with or without its type.
fn value_of(ctx: &Context, name: &str, text: &str, ty: Type) -> Result<Datum, Failure> {
    let typed = || ctx.parse_attr(&format!("{text} : {}", ctx.display_type(ty)));
    let attr = ctx.parse_attr(text).ok().filter(|&attr| ctx.attr_type(attr) == Some(ty)).map_or_else(typed, Ok);
    let attr = attr.map_err(|e| Failure::Input(format!("input '{name}': {e}")))?;
    let no_value = || Failure::Input(format!("input '{name}': {} has no value", ctx.display_attr(attr)));
    ctx.attr_datum(attr).ok_or_else(no_value)
}
