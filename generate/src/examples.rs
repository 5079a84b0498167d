//! Programs from the examples in op documentation.

use gradus_ir::{Context, Module, OpInfo, ParseOptions, parse_module, verify};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A function that examples may call.
const CALLEE: &str = "func.func private @double(i32) -> i32";

/// Returns the examples of an op.
pub fn of(info: &OpInfo) -> impl Iterator<Item = &str> {
    info.doc.split("```mlir\n").skip(1).filter_map(|e| e.split("```").next()).map(str::trim_end)
}

/// Returns all documentation examples of a context's ops that are valid IR.
pub(crate) fn all(ctx: &Arc<Context>) -> impl Iterator<Item = Module> {
    let infos = ctx.dialects().iter().flat_map(|dialect| dialect.ops);
    infos.flat_map(|info| of(info)).filter_map(|example| program(ctx, example).ok())
}

/// Returns an example as a program: as written, or wrapped in a function whose parameters are the values that it uses.
/// The error is that of the first attempt, rendered.
pub fn program(ctx: &Arc<Context>, example: &str) -> Result<Module, String> {
    // The custom form of some ops, such as `cmpi slt, %a, %b : i32`, does not spell all types, so a second guess
    // follows.
    read(ctx, example.to_owned())
        .or_else(|_| in_function(ctx, example, |_| "index".to_owned()))
        .or_else(|why| in_function(ctx, example, |types| types[0].to_owned()).map_err(|_| why))
        .or_else(|why| in_function(ctx, example, |types| types[types.len() - 1].to_owned()).map_err(|_| why))
}

/// Parses and verifies a program.
fn read(ctx: &Arc<Context>, text: String) -> Result<Module, String> {
    let parsed = parse_module(ctx, "example", text, ParseOptions::default());
    parsed.and_then(|m| verify(&m).map(|()| m)).map_err(|d| d[0].render(ctx))
}

/// Wraps an example in a function whose parameters are the values that it uses. `guess` chooses a type from those on
/// the line of use; a type error of the parser corrects it.
fn in_function(ctx: &Arc<Context>, example: &str, guess: fn(&[&str]) -> String) -> Result<Module, String> {
    let terminated = example.lines().last().is_some_and(|l| l.trim_start().starts_with("return"));
    let end = if terminated { "" } else { "\"func.return\"() : () -> ()" };
    let mut types: BTreeMap<String, String> =
        undefined(example).into_iter().map(|(n, line)| (n, guess(&line))).collect();
    for _ in 0..=types.len() {
        let parameters = types.iter().map(|(name, ty)| format!("%{name}: {ty}")).collect::<Vec<_>>().join(", ");
        let function = format!("func.func @f({parameters}) {{\n{example}\n{end}\n}}");
        let why = match read(ctx, format!("{CALLEE}\n{function}\n")) {
            Ok(program) => return Ok(program),
            Err(why) => why,
        };
        match expected_type(&why).and_then(|(name, ty)| Some((types.get_mut(&name)?, ty))) {
            Some((slot, ty)) => *slot = ty,
            None => return Err(why),
        }
    }
    Err("its values are used as of several types".into())
}

/// Returns the values that an example uses without defining them, with the types at the end of the line of first use.
fn undefined(example: &str) -> BTreeMap<String, Vec<&str>> {
    let (mut defined, mut used) = (BTreeSet::new(), BTreeMap::new());
    for line in example.lines() {
        let (results, rest) = line.split_once(" = ").unwrap_or(("", line));
        let is_header = line.trim_start().starts_with('^');
        defined.extend(names(if is_header { line } else { results }));
        // Region arguments: `for %i = ...`, `(%i, %j) = ...`, `(%i) in ...`, `(%acc = %init)`.
        for (at, _) in line.match_indices(" = ").chain(line.match_indices(" in (")) {
            let before = &line[..at];
            let from = if before.ends_with(')') { before.rfind('(') } else { before.rfind(['%', ' ']) };
            defined.extend(names(&before[from.unwrap_or(at)..]));
        }
        let types: Vec<&str> = rest.rsplit_once(" : ").map_or("", |r| r.1).split(", ").collect();
        for name in names(rest) {
            used.entry(name.to_owned()).or_insert_with(|| types.clone());
        }
    }
    used.retain(|name, _| !defined.contains(name.as_str()));
    used
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !c.is_alphanumeric() && c != '_';
    text.split('%').skip(1).map(move |t| t.split(ends).next().unwrap_or(""))
}

/// Extracts name and type from `use of value '%name' expects different type than prior uses: 'type' vs ...`.
fn expected_type(error: &str) -> Option<(String, String)> {
    let (name, rest) = error.split_once("use of value '%")?.1.split_once('\'')?;
    let ty = rest.strip_prefix(" expects different type than prior uses: '")?.split_once("' vs '")?.0;
    Some((name.to_owned(), ty.to_owned()))
}
