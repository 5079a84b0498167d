//! Translation between the types of a function and those of its lowered version, by the representations that dialects
//! declare.
//!
//! Arguments and results are related position by position; one value may become several, and a result may become a memref
//! argument. An input of the original becomes one of the lowered version ([`Translation::input`]), and results of the lowered
//! version are read as those of the original ([`Translation::results_of`]), so that both are compared in the original's types.

use crate::draw::layout;
use crate::input::Input;
use crate::representing::{RepresentedValue, is_memref, represent};
use crate::seen::Seen;
use gradus_ir::eval::Datum;
use gradus_ir::memory::MemRef;
use gradus_ir::random::Random;
use gradus_ir::{Context, Type};
use std::ops::Range;

/// The types of arguments and of results of a function or call.
pub(crate) type Types<'a> = (&'a [Type], &'a [Type]);

/// The relation of the arguments and results of a function or call to those of its lowered version.
#[derive(Debug)]
pub(crate) struct Translation {
    args: Vec<(RepresentedValue, Range<usize>)>,
    results: Vec<(RepresentedValue, ResultForm)>,
    /// The types of the arguments of the lowered version.
    new_args: Vec<Type>,
    /// The types of its results.
    new_results: Vec<Type>,
}

/// The values of the lowered version that represent a result.
#[derive(Clone, PartialEq, Eq, Debug)]
enum ResultForm {
    Values(Range<usize>),
    /// The memref argument to which the lowered version writes the result.
    Argument(usize),
}

/// Allocates memory with these contents, and returns the number of the buffer.
pub(crate) type Allocate<'a> = dyn FnMut(Vec<Datum>) -> Option<u32> + 'a;

/// The results of a lowered call, and what it writes to memref arguments: the index of the argument and the elements.
pub(crate) type CallResults = (Vec<Datum>, Vec<(usize, Vec<Datum>)>);

impl Translation {
    /// Relates the types of a function to those of its lowered version. The error names the first pair of types of which no
    /// representation is declared.
    pub(crate) fn new(ctx: &Context, old: Types<'_>, new: Types<'_>) -> Result<Translation, String> {
        let mut args = Vec::new();
        let mut next = 0;
        for (i, &ty) in old.0.iter().enumerate() {
            let part = represent(ctx, ty, &new.0[next..]);
            let (part, count) = part.ok_or_else(|| unrelated(ctx, "argument", i, ty, new.0.get(next)))?;
            args.push((part, next..next + count));
            next += count;
        }
        let (mut results, mut returned) = (Vec::new(), 0);
        for (i, &ty) in old.1.iter().enumerate() {
            if let Some((part, count)) = represent(ctx, ty, &new.1[returned..]) {
                results.push((part, ResultForm::Values(returned..returned + count)));
                returned += count;
                continue;
            }
            let out = new.0.get(next).filter(|&&ty| is_memref(ctx, ty) && ctx.static_shape(ty).is_some());
            let written = out.and_then(|&out| represent(ctx, ty, &[out]));
            let (part, _) = written.ok_or_else(|| unrelated(ctx, "result", i, ty, new.1.get(returned)))?;
            results.push((part, ResultForm::Argument(next)));
            next += 1;
        }
        let more = |what: &str, i: usize, ty: Option<&Type>| match ty {
            Some(&ty) => Err(format!("{what} {i}: '{}' represents nothing of the original", ctx.display_type(ty))),
            None => Ok(()),
        };
        more("argument", next, new.0.get(next))?;
        more("result", returned, new.1.get(returned))?;
        Ok(Translation { args, results, new_args: new.0.to_vec(), new_results: new.1.to_vec() })
    }

    /// Returns the input of the lowered version that represents an input; `None` if a value has no representation. Memory of new
    /// memrefs follows that of the input.
    pub(crate) fn input(&self, ctx: &Context, input: &Input) -> Option<Input> {
        let mut random = Random::of((input.outside, "translation"));
        let (mut args, mut buffers) = (Vec::new(), input.buffers.clone());
        let mut allocate = |contents| {
            buffers.push(contents);
            Some(buffers.len() as u32 - 1)
        };
        let given = self.args.iter().zip(&input.args).map(|((part, _), datum)| part.encode(ctx, datum));
        let written = self.results.iter().filter(|(_, place)| matches!(place, ResultForm::Argument(_)));
        for values in given.chain(written.map(|(part, _)| part.encode(ctx, &Datum::Poison))) {
            let values = values?;
            let types = &self.new_args[args.len()..args.len() + values.len()];
            args.extend(lower(ctx, types, values, &mut random, &mut allocate)?);
        }
        Some(Input { args, buffers, ..input.clone() })
    }

    /// Reads the results of a run of the lowered version, and the memory after it, as the results of the original. `input` is the
    /// translated one.
    pub(crate) fn results_of(
        &self,
        ctx: &Context,
        results: &[Seen],
        buffers: &[Option<Vec<Datum>>],
        input: &Input,
    ) -> Vec<Seen> {
        let result = |(part, place): &(RepresentedValue, ResultForm)| match place {
            ResultForm::Values(range) => self.seen(ctx, part, results.get(range.clone()).unwrap_or_default()),
            ResultForm::Argument(i) => self.seen(ctx, part, &[written(&input.args[*i], buffers)]),
        };
        self.results.iter().map(result).collect()
    }

    /// Whether the lowered version has values for these results of the original.
    pub(crate) fn has_values(&self, ctx: &Context, results: &[Seen]) -> bool {
        let mut all = self.results.iter().zip(results);
        all.all(|((part, _), seen)| match seen {
            Seen::Value(datum) => part.encode(ctx, datum).is_some(),
            _ => true,
        })
    }

    /// Reads the arguments of a lowered call as those of the original.
    pub(crate) fn args(&self, ctx: &Context, seen: &[Seen]) -> Vec<Seen> {
        self.args.iter().map(|(part, range)| self.seen(ctx, part, &seen[range.clone()])).collect()
    }

    /// Returns the types of the original's arguments, and the index of the first value that represents each.
    pub(crate) fn arg_types(&self) -> impl Iterator<Item = (Type, usize)> + '_ {
        self.args.iter().map(|(part, range)| (part.ty, range.start))
    }

    /// Returns the types of the original's results.
    pub(crate) fn result_types(&self) -> Vec<Type> {
        self.results.iter().map(|(part, _)| part.ty).collect()
    }

    /// Returns what a lowered call gives in place of these results; `None` if one has no representation.
    pub(crate) fn results(
        &self,
        ctx: &Context,
        values: &[Datum],
        random: &mut Random,
        allocate: &mut Allocate<'_>,
    ) -> Option<CallResults> {
        let (mut results, mut writes) = (Vec::new(), Vec::new());
        for ((part, place), datum) in self.results.iter().zip(values) {
            let encoded = part.encode(ctx, datum)?;
            match place {
                ResultForm::Values(range) => {
                    results.extend(lower(ctx, &self.new_results[range.clone()], encoded, random, allocate)?);
                }
                ResultForm::Argument(i) => writes.push((*i, encoded.first()?.elements()?)),
            }
        }
        Some((results, writes))
    }

    fn seen(&self, ctx: &Context, part: &RepresentedValue, seen: &[Seen]) -> Seen {
        if let ([one], true) = (seen, part.is_same() && is_memref(ctx, part.ty)) {
            return one.clone();
        }
        let value = |(seen, &ty): (&Seen, &Type)| match seen {
            Seen::Value(datum) => Some(datum.clone()),
            Seen::Memory { sizes, elements, .. } => {
                let sizes: Option<Vec<usize>> = sizes.iter().map(|&n| usize::try_from(n).ok()).collect();
                Datum::from_elements(ctx.dtype(ctx.element_type(ty))?, &sizes?, elements.as_ref()?).ok()
            }
            Seen::Nothing(_) => None,
        };
        let values: Option<Vec<Datum>> = seen.iter().zip(&part.new).map(value).collect();
        let value = values.and_then(|values| part.decode(ctx, &values));
        value.map_or_else(|| Seen::Nothing(seen.to_vec()), Seen::Value)
    }
}

/// Returns values of these types, with memory for the tensors that memrefs contain.
fn lower(
    ctx: &Context,
    types: &[Type],
    values: Vec<Datum>,
    random: &mut Random,
    allocate: &mut Allocate<'_>,
) -> Option<Vec<Datum>> {
    let mut one = |(&ty, value): (&Type, Datum)| match value.shape() {
        Some(_) if is_memref(ctx, ty) => store(ctx, ty, &value, random, allocate),
        _ => Some(value),
    };
    types.iter().zip(values).map(&mut one).collect()
}

/// Stores a tensor in memory of its own, in a layout that the memref type allows.
fn store(ctx: &Context, ty: Type, tensor: &Datum, random: &mut Random, allocate: &mut Allocate<'_>) -> Option<Datum> {
    let sizes: Vec<i64> = tensor.shape()?.iter().map(|&n| n as i64).collect();
    let mut view = MemRef::strided(0, &sizes, layout(ctx, ty, &sizes, random));
    let (mut contents, mut elements) = (vec![Datum::Poison], tensor.elements()?.into_iter());
    let stored = view.for_each_index(|index| {
        let at = usize::try_from(view.address(index)?).unwrap_or(0);
        contents.resize(contents.len().max(at + 1), Datum::Poison);
        contents[at] = elements.next().unwrap_or(Datum::Poison);
        Ok(())
    });
    stored.ok()?;
    view.buffer = allocate(contents)?;
    Some(Datum::MemRef(Box::new(view)))
}

/// Returns the memory behind a memref argument after a run.
fn written(arg: &Datum, buffers: &[Option<Vec<Datum>>]) -> Seen {
    let Datum::MemRef(view) = arg else { return Seen::Value(arg.clone()) };
    let contents = buffers.get(view.buffer as usize).and_then(Option::as_ref);
    let mut elements = contents.map(|_| Vec::new());
    let read = view.for_each_index(|index| {
        let at = usize::try_from(view.address(index)?).unwrap_or(usize::MAX);
        if let (Some(elements), Some(contents)) = (&mut elements, contents) {
            elements.push(contents.get(at).cloned().unwrap_or(Datum::Poison));
        }
        Ok(())
    });
    Seen::Memory { buffer: None, sizes: view.sizes.to_vec(), elements: elements.filter(|_| read.is_ok()) }
}

fn unrelated(ctx: &Context, what: &str, i: usize, old: Type, new: Option<&Type>) -> String {
    let old = ctx.display_type(old);
    match new {
        Some(&new) => {
            let new = ctx.display_type(new);
            format!("{what} {i}: '{old}' became '{new}', and no representation of the one by the other is declared")
        }
        None => format!("{what} {i}: '{old}' became nothing"),
    }
}
