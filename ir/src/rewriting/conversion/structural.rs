//! Patterns common to all type conversions: for functions, and for ops that forward values, such as branches and loops.

use super::matching::{Match, Operands};
use super::pattern::ConversionPattern;
use super::rewriter::ConversionRewriter;
use super::types::{SignatureConversion, TypeConverter, TypeList, arg_types, function_type};
use crate::edit::OpState;
use crate::intern::{Attr, Str};
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::op_info::{ValueSpec, group_range, segment_sizes};
use crate::rewriting::pattern_rewriter::PatternRewriter;
use crate::traits::Traits;
use smallvec::SmallVec;

/// Converts the types of functions: parameters, results, and the arguments of all blocks.
pub fn convert_function_types(types: &TypeConverter) -> ConversionPattern<'_> {
    ConversionPattern::with_traits("convert-function-types", Traits::FUNCTION, convert_function).with_types(types)
}

/// Converts the operand and result types of calls.
pub fn convert_call_types(types: &TypeConverter) -> ConversionPattern<'_> {
    ConversionPattern::with_traits("convert-call-types", Traits::CALL, retype).with_types(types)
}

/// Converts the operand types of returns.
pub fn convert_return_types(types: &TypeConverter) -> ConversionPattern<'_> {
    ConversionPattern::with_traits("convert-return-types", Traits::RETURN_LIKE, retype).with_types(types)
}

/// Converts the types of operands, results and block arguments of ops of one name, and nothing else: for branches,
/// loops and other ops that forward values of any type.
pub fn convert_op_types<'a>(root: &'static str, types: &'a TypeConverter) -> ConversionPattern<'a> {
    ConversionPattern::new("convert-op-types", root, retype).with_types(types)
}

fn convert_function(r: &mut ConversionRewriter<'_>, op: Op, _: &Operands) -> Match {
    let types = r.types()?;
    let m = r.module();
    let ctx = m.ctx.clone();
    let ty = function_type(m, op).ok_or("it has no function type")?;
    let (inputs, results) = ctx.function_parts(ty).ok_or("its type is not a function type")?;
    let signature = types.convert_signature(inputs.iter().copied())?;
    let new_type = ctx.function_type(signature.types(), &types.convert_all(results.iter().copied())?);
    let result_sizes = sizes(types, results)?;
    let blocks: Vec<Block> = m.regions(op).iter().flat_map(|&region| m.region_blocks(region)).collect();
    for (i, block) in blocks.into_iter().enumerate() {
        let old = arg_types(r.module(), block);
        match i == 0 && old[..] == *inputs {
            true => r.convert_block(block, &signature),
            false => r.convert_block(block, &types.convert_signature(old)?),
        }
    }
    let arg_sizes = sizes(types, inputs)?;
    r.modify(op, |m| {
        m.set_attr(op, "function_type", Some(ctx.type_attr(new_type)));
        for (name, sizes) in [("arg_attrs", &arg_sizes), ("res_attrs", &result_sizes)] {
            if let Some(attr) = spread(m, m.attr(op, ctx.str(name)), sizes) {
                m.set_attr(op, name, Some(attr));
            }
        }
    });
    Ok(())
}

/// Returns the number of converted types for each type.
fn sizes(converter: &TypeConverter, types: &[crate::Type]) -> Match<Vec<usize>> {
    let all: Match<SignatureConversion> = converter.convert_signature(types.iter().copied());
    let origins = all?.origins();
    let mut sizes = vec![0; types.len()];
    for origin in origins.into_iter().flatten() {
        sizes[origin] += 1;
    }
    Ok(sizes)
}

/// Returns the dictionaries of the converted arguments or results: those converted 1:1 keep theirs, the others get
/// empty ones.
fn spread(m: &Module, attr: Option<Attr>, sizes: &[usize]) -> Option<Attr> {
    let dicts = m.ctx.as_array(attr?)?;
    let spread = dicts.iter().zip(sizes).flat_map(|(&dict, &n)| {
        let dict = if n == 1 { dict } else { Attr::EMPTY_DICT };
        std::iter::repeat_n(dict, n)
    });
    Some(m.ctx.array_attr(&spread.collect::<Vec<_>>()))
}

/// Replaces the op by one with converted operands, results and regions.
fn retype(r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands) -> Match {
    let types = r.types()?;
    let m = r.module();
    let ctx = m.ctx.clone();
    let old_types: TypeList = m.results(op).map(|v| m.value_type(v)).collect();
    let result_types = types.convert_all(old_types.iter().copied())?;
    let result_sizes = sizes(types, &old_types)?;
    let operand_sizes: Vec<usize> = (0..operands.len()).map(|i| operands.get(i).len()).collect();
    let regions: SmallVec<[Region; 2]> = m.regions(op).into();
    let same_regions = regions.iter().all(|&region| types.check_region(m, region).is_ok());
    if operands.all() == m.operands(op) && result_types == old_types && same_regions {
        return Err("none of its types has to be converted".into());
    }
    let mut state = OpState::new(&ctx, m.name_text(op), m.loc(op));
    state.operands.extend_from_slice(operands.all());
    state.result_types.extend(result_types);
    state.successors.extend_from_slice(m.successors(op));
    state.regions = regions.len();
    state.attrs = ctx.dict_entries(m.attrs(op)).to_vec();
    state.props = inherent(m, op, &operand_sizes, &result_sizes);
    let new = r.create_before(op, state)?;
    for (i, old) in regions.into_iter().enumerate() {
        let to = r.module().regions(new)[i];
        r.inline_region(old, to, None);
        r.convert_region(to)?;
    }
    let mut rest: Vec<Value> = r.module().results(new).collect();
    let values: Vec<ValueList> = result_sizes.iter().map(|&n| rest.drain(..n).collect()).collect();
    r.replace_with_many(op, &values);
    Ok(())
}

/// Returns the inherent attributes of the converted op; `operands` and `results` are the number of values that replace
/// each one.
fn inherent(m: &Module, op: Op, operands: &[usize], results: &[usize]) -> Vec<(Str, Attr)> {
    let ctx = &m.ctx;
    let mut props = ctx.dict_entries(m.props(op)).to_vec();
    let Some(info) = m.info(op) else { return props };
    let mut set = |name: &str, value: Option<Attr>| {
        let (key, Some(value)) = (ctx.str(name), value) else { return };
        props.retain(|e| e.0 != key);
        props.push((key, value));
    };
    if info.traits.has(Traits::OPERAND_SEGMENTS) {
        set("operandSegmentSizes", segments(m, op, "operandSegmentSizes", info.operands, operands));
    }
    if info.traits.has(Traits::RESULT_SEGMENTS) {
        set("resultSegmentSizes", segments(m, op, "resultSegmentSizes", info.results, results));
    }
    if info.traits.has(Traits::CALL) {
        set("arg_attrs", spread(m, m.attr(op, ctx.str("arg_attrs")), operands));
        set("res_attrs", spread(m, m.attr(op, ctx.str("res_attrs")), results));
    }
    props
}

/// Returns the segment sizes of the declared groups; `sizes` is the number of values that replace each original value.
/// The verifier rejects a single or optional group that has grown.
fn segments(m: &Module, op: Op, name: &str, specs: &[ValueSpec], sizes: &[usize]) -> Option<Attr> {
    let old = segment_sizes(&m.ctx, m.props(op), name);
    let group = |i: usize| sizes.get(group_range(specs, old.as_deref(), sizes.len(), i)).unwrap_or(&[]);
    let new: Vec<i32> = (0..specs.len()).map(|i| group(i).iter().sum::<usize>() as i32).collect();
    Some(m.ctx.i32_array_attr(&new))
}
