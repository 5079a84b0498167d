//! Import of a node: conversion to the newest version, then mapping by the op's declaration.

use super::{Importer, Initial, Named, Stop, attrs, control, named_loc};
use crate::onnx::domains;
use crate::onnx::inline::VersionedNode;
use crate::onnx::opset;
use crate::onnx::proto::NodeProto;
use crate::onnx::rewrite::ValueFacts;
use crate::onnx::tensor::dtype;
use crate::onnx::{is_standard, node_place, operator};
use gradus_ir::diag::hint;
use gradus_ir::tensor::DType;
use gradus_ir::{Arity, Builder, Context, Loc, OpArgs, OpInfo, OpState, Traits, Type, TypeData, Value, ValueSpec};
use gradus_networks::graph;

/// Returns the declaration of a standard operator in its newest version.
fn declaration(ctx: &Context, op_type: &str) -> Option<&'static OpInfo> {
    ctx.dialect("graph").and_then(|_| graph::operator(op_type))
}

/// Whether the operator of a node is supported.
pub(super) fn is_supported(ctx: &Context, node: &VersionedNode) -> bool {
    let VersionedNode { proto, version, bodies } = node;
    let is_op = || bodies.is_empty() && declaration(ctx, opset::newest_name(&proto.op_type, *version)).is_some();
    let is_known = || control::operator(&proto.op_type).is_some() || is_op();
    if is_standard(&proto.domain) { is_known() } else { domains::is_known(proto) }
}

/// The reason why an operator is not supported.
const UNSUPPORTED: &str = "the operator is not supported";

/// Returns the names up to the last nonempty one.
fn given(names: &[String]) -> &[String] {
    &names[..names.iter().rposition(|n| !n.is_empty()).map_or(0, |i| i + 1)]
}

/// Returns the number of names per declared group, including empty names.
fn group_sizes(groups: &[ValueSpec], names: &[String]) -> Vec<usize> {
    let mut left = given(names).len();
    let mut sizes = Vec::with_capacity(groups.len());
    for (i, group) in groups.iter().enumerate() {
        let after = groups.len() - i - 1;
        let size = if group.arity == Arity::Variadic { left.saturating_sub(after) } else { left.min(1) };
        left -= size;
        sizes.push(size);
    }
    sizes
}

/// Returns the number of operands per declared group.
fn operand_sizes(info: &OpInfo, node: &NodeProto) -> Vec<i32> {
    let mut names = given(&node.input).iter();
    let sizes = group_sizes(info.operands, &node.input).into_iter();
    sizes.map(|size| names.by_ref().take(size).filter(|n| !n.is_empty()).count() as i32).collect()
}

/// Returns the number of results per declared group; an optional result is created if the node names it.
fn result_sizes(info: &OpInfo, node: &NodeProto) -> Result<Vec<i32>, Stop> {
    let named = given(&node.output);
    let sizes = group_sizes(info.results, &node.output);
    if sizes.iter().sum::<usize>() < named.len() {
        return Err(format!("there are {} outputs, more than the operator has", named.len()).into());
    }
    let mut names = named.iter();
    let mut out = Vec::with_capacity(sizes.len());
    for (group, size) in info.results.iter().zip(sizes) {
        let mut wanted = names.by_ref().take(size);
        out.push(match group.arity {
            Arity::One => 1,
            Arity::Variadic => wanted.count() as i32,
            // Without result segments, an optional result requires the ones before it.
            Arity::Optional if info.traits.has(Traits::RESULT_SEGMENTS) => {
                i32::from(wanted.next().is_some_and(|n| !n.is_empty()))
            }
            Arity::Optional => wanted.count() as i32,
        });
    }
    Ok(out)
}

impl<'a> Importer<'a> {
    /// Imports a node. Errors are reported, and its results are marked as missing.
    pub(super) fn node(&mut self, node: &'a VersionedNode) {
        let loc = named_loc(&self.ctx, node_place(&node.proto));
        match self.try_node(node, loc) {
            Ok(()) => return,
            Err(Stop::Because(why)) => self.error(loc, format!("{}: {why}", operator(&node.proto))),
            Err(Stop::Reported) => {}
        }
        for name in node.proto.output.iter().filter(|o| !o.is_empty()) {
            self.scopes.last_mut().values.entry(name.clone()).or_insert(None);
        }
    }

    fn try_node(&mut self, node: &'a VersionedNode, loc: Loc) -> Result<(), Stop> {
        let proto = &node.proto;
        if !is_supported(&self.ctx, node) {
            return Err(UNSUPPORTED.into());
        }
        if proto.output.iter().all(String::is_empty) {
            return Err("the node has no results".into());
        }
        // Before the conversion, which may query operands and remove constants among them.
        for name in proto.input.iter().filter(|i| !i.is_empty()) {
            if !matches!(self.scopes.find(name), Some(Named::Initial(_))) {
                self.value(name)?;
            }
        }
        if let Some(import) = control::operator(&proto.op_type).filter(|_| is_standard(&proto.domain)) {
            return import(self, node, loc);
        }
        self.as_op(node, loc)
    }

    /// Imports a node as the op of its operator, in the newest version.
    pub(super) fn as_op(&mut self, node: &VersionedNode, loc: Loc) -> Result<(), Stop> {
        for proto in opset::modernize(node.proto.clone(), node.version, self)? {
            self.create(&proto, loc)?;
        }
        Ok(())
    }

    fn create(&mut self, node: &NodeProto, loc: Loc) -> Result<(), Stop> {
        let info = declaration(&self.ctx, &node.op_type).ok_or(UNSUPPORTED)?;
        let mut state = OpState::new(&self.ctx, info.name, loc);
        self.operands(info, node, &mut state)?;
        self.attributes(info, node, &mut state)?;
        let sizes = result_sizes(info, node)?;
        if info.traits.has(Traits::RESULT_SEGMENTS) {
            state.inherent(&self.ctx, "resultSegmentSizes", Some(self.ctx.i32_array_attr(&sizes)));
        }
        let n = sizes.iter().map(|&n| n as usize).sum();
        state.result_types = self.result_types(info, node, &state, n)?.into();
        let op = Builder::at_end(&mut self.module, self.scopes.last().block).try_create(state)?;
        let results: Vec<Value> = self.module.results(op).collect();
        self.bind(info, node, &sizes, &results)
    }

    /// Returns the types of `n` results: inferred, or as stated in the model if the op has no inference.
    fn result_types(
        &self,
        info: &'static OpInfo,
        node: &NodeProto,
        state: &OpState,
        n: usize,
    ) -> Result<Vec<Type>, Stop> {
        let ctx = &self.ctx;
        match info.infer {
            Some(infer) => {
                let mut props = state.props.clone();
                if info.traits.has(Traits::OPERAND_SEGMENTS) {
                    props.push((ctx.str("operandSegmentSizes"), ctx.i32_array_attr(&operand_sizes(info, node))));
                }
                // Placeholder types convey the number of results to the inference.
                let (props, open) = (ctx.dict_attr(props), vec![Type::NONE; n]);
                let (module, operands) = (&self.module, &state.operands);
                Ok(infer(&OpArgs { module, info, op: None, operands, props, result_types: &open })?)
            }
            None if info.traits.has(Traits::SAME_TYPE) && !state.operands.is_empty() => {
                Ok(vec![self.module.value_type(state.operands[0]); n])
            }
            None => {
                let name = |i: usize| node.output.get(i).map_or("", String::as_str);
                let unknown = |i| format!("the type of result '{}' is not known", name(i));
                (0..n).map(|i| Ok(self.stated(name(i)).ok_or_else(|| unknown(i))?)).collect()
            }
        }
    }

    /// Binds the results to their names in the model.
    fn bind(&mut self, info: &OpInfo, node: &NodeProto, sizes: &[i32], results: &[Value]) -> Result<(), Stop> {
        let mut results = results.iter();
        let mut names = node.output.iter();
        for (group, &size) in info.results.iter().zip(sizes) {
            // An absent optional result still has a position among the names.
            if size == 0 && group.arity == Arity::Optional {
                names.next();
            }
            for _ in 0..size {
                let (Some(&value), name) = (results.next(), names.next()) else {
                    return Err(format!("result '{}' is not supported", group.name).into());
                };
                self.define(name.map_or("", String::as_str), value)?;
            }
        }
        Ok(())
    }

    /// Binds a result to its name in the model, and to the type that the model states if its rank is not known.
    fn define(&mut self, name: &str, value: Value) -> Result<(), Stop> {
        let Some(better) = self.stated_rank(name, value) else { return self.name(name, value) };
        let maker = self.module.defining_op(value).filter(|&op| self.module.has_trait(op, Traits::SAME_TYPE));
        let Some(maker) = maker else {
            self.module.set_value_type(value, better);
            return self.name(name, value);
        };
        let (block, loc) = (self.scopes.last().block, self.module.loc(maker));
        let value = self.cast_in(block, value, better, loc);
        self.name(name, value)
    }

    /// Binds a value to its name in the model.
    pub(super) fn name(&mut self, name: &str, value: Value) -> Result<(), Stop> {
        let scope = self.scopes.last_mut();
        let is_constant = scope.constants.contains_key(name);
        if !name.is_empty() && (scope.values.insert(name.to_owned(), Some(value)).is_some() || is_constant) {
            return Err(format!("'{name}' is defined twice").into());
        }
        Ok(())
    }

    /// Returns the type that the model states for a tensor whose rank is not known.
    pub(super) fn stated_rank(&self, name: &str, value: Value) -> Option<Type> {
        let ty = self.module.value_type(value);
        matches!(self.ctx.type_data(ty), TypeData::UnrankedTensor(_)).then_some(())?;
        self.stated(name).filter(|&stated| stated != ty && attrs::compatible(&self.ctx, stated, ty))
    }

    /// Returns the type that the model states for a value.
    fn stated(&self, name: &str) -> Option<Type> {
        self.stated_type(self.scopes.declared(name))
    }

    /// Assigns operands to declared groups by position; an optional operand may be omitted at the end or by an empty
    /// name.
    fn operands(&mut self, info: &OpInfo, node: &NodeProto, state: &mut OpState) -> Result<(), Stop> {
        let mut names = given(&node.input).iter();
        for (group, size) in info.operands.iter().zip(group_sizes(info.operands, &node.input)) {
            let mut values = Vec::new();
            for name in names.by_ref().take(size) {
                if !name.is_empty() {
                    values.push(self.operand(group, name)?);
                } else if group.arity != Arity::Optional {
                    return Err(format!("input '{}' is left out, but needed", group.name).into());
                }
            }
            if group.arity == Arity::One && values.is_empty() {
                return Err(format!("input '{}' is missing", group.name).into());
            }
            state.operand_group(&values);
        }
        match names.next() {
            Some(_) => Err(format!("there are {} inputs, more than the operator takes", node.input.len()).into()),
            None => Ok(()),
        }
    }

    fn operand(&mut self, group: &ValueSpec, name: &str) -> Result<Value, Stop> {
        let value = self.value(name)?;
        let ty = self.module.value_type(value);
        if (group.ty.check)(&self.ctx, ty) {
            return Ok(value);
        }
        let ty = self.ctx.display_type(ty);
        Err(format!("input '{}' must be {}, but is {ty}", group.name, group.ty.summary).into())
    }

    fn attributes(&self, info: &OpInfo, node: &NodeProto, state: &mut OpState) -> Result<(), Stop> {
        for (i, a) in node.attribute.iter().enumerate() {
            let Some(spec) = info.attr(&a.name) else {
                let hint = hint(&a.name, info.attrs.iter().map(|s| s.name));
                return Err(format!("there is no attribute '{}'{hint}", a.name).into());
            };
            if node.attribute[..i].iter().any(|b| b.name == a.name) {
                return Err(format!("attribute '{}' is given twice", a.name).into());
            }
            let value = attrs::convert(&self.ctx, spec, a, self.options.dir.as_deref())?;
            state.inherent(&self.ctx, spec.name, value);
        }
        let given = |name| node.attribute.iter().any(|a| a.name == name);
        match info.attrs.iter().find(|s| !s.optional && s.default.is_none() && !given(s.name)) {
            Some(spec) => Err(format!("attribute '{}' is missing", spec.name).into()),
            None => Ok(()),
        }
    }
}

impl ValueFacts for Importer<'_> {
    fn shape(&self, name: &str) -> Option<(Vec<i64>, DType)> {
        match self.scopes.find(name)? {
            Named::Value(value) => {
                let ty = self.module.value_type(value?);
                Some((self.ctx.shape(ty)?.to_vec(), self.ctx.dtype(self.ctx.element_type(ty))?))
            }
            // The shape of an initializer is known before its constant is created.
            Named::Initial(Initial::Proto(t)) => Some((t.dims.clone(), dtype(t.data_type).ok()?)),
            Named::Initial(Initial::Given(t)) => Some((t.shape().iter().map(|&d| d as i64).collect(), t.dtype())),
            Named::Initial(Initial::Sparse(t)) => Some((t.dims.clone(), dtype(t.values.as_ref()?.data_type).ok()?)),
        }
    }
}
