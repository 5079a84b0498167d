//! One node: brought into the newest form, then mapped as the dialect's declaration says.

use super::{Importer, Stop, attrs, named_loc};
use crate::onnx::inline::Node;
use crate::onnx::opset::{self, Values};
use crate::onnx::proto::{AttributeType, NodeProto};
use crate::onnx::{attribute_type, is_standard, node_place, operator};
use gradus_dialects::graph;
use gradus_ir::diag::suggest;
use gradus_ir::tensor::DType;
use gradus_ir::{Arity, Builder, Context, Loc, OpArgs, OpInfo, OpState, Traits, Type, Value};

/// The declaration of a standard operator, in its newest version.
pub(super) fn declaration(ctx: &Context, op_type: &str) -> Option<&'static OpInfo> {
    // Asking for a dialect's ops, rather than for a name, keeps names from files out of the context.
    let name = graph::op_name(op_type);
    ctx.dialect("graph")?.ops.iter().copied().find(|info| info.name == name)
}

/// Why an operator is not supported, in words.
pub(super) fn unsupported(node: &NodeProto) -> String {
    let has_graph = |n: &NodeProto| {
        n.attribute.iter().any(|a| matches!(attribute_type(a), AttributeType::Graph | AttributeType::Graphs))
    };
    if is_standard(&node.domain) && matches!(node.op_type.as_str(), "If" | "Loop" | "Scan") || has_graph(node) {
        format!("control flow is not supported: '{}' runs graphs of its own", operator(node))
    } else {
        format!("operator '{}' is not supported", operator(node))
    }
}

impl Importer<'_> {
    /// Imports a node; what is wrong with it is reported, and its results are marked as known to be missing.
    pub(super) fn node(&mut self, node: Node) {
        let loc = named_loc(&self.ctx, node_place(&node.proto));
        let (op, outputs) = (operator(&node.proto), node.proto.output.clone());
        match self.try_node(node, loc) {
            Ok(()) => return,
            Err(Stop::Because(why)) => self.error(loc, format!("{op}: {why}")),
            Err(Stop::Reported) => {}
        }
        for name in outputs.into_iter().filter(|o| !o.is_empty()) {
            self.values.entry(name).or_insert(None);
        }
    }

    fn try_node(&mut self, node: Node, loc: Loc) -> Result<(), Stop> {
        let Node { proto, version } = node;
        if !is_standard(&proto.domain) || declaration(&self.ctx, opset::newest_name(&proto.op_type, version)).is_none()
        {
            return Err(unsupported(&proto).into());
        }
        if proto.output.iter().all(String::is_empty) {
            return Err("the node has no results".into());
        }
        // Types of operands are looked at while rewriting, so constants among them have to exist.
        for name in proto.input.iter().filter(|i| !i.is_empty()) {
            self.value(name)?;
        }
        for proto in opset::modernize(proto, version, self)? {
            self.create(&proto, loc)?;
        }
        Ok(())
    }

    fn create(&mut self, node: &NodeProto, loc: Loc) -> Result<(), Stop> {
        let info = declaration(&self.ctx, &node.op_type).ok_or_else(|| unsupported(node))?;
        let mut state = OpState::new(&self.ctx, info.name, loc);
        self.operands(info, node, &mut state)?;
        self.attributes(info, node, &mut state)?;
        let wanted = wanted_results(info, node)?;
        let op = Builder::at_end(&mut self.module, self.block).try_create(state)?;
        let results: Vec<Value> = self.module.results(op).collect();
        self.bind(node, &wanted, &results)
    }

    /// Operands go to the declared groups by position; an optional one may be left out at the end, or by an empty name.
    fn operands(&mut self, info: &OpInfo, node: &NodeProto, state: &mut OpState) -> Result<(), Stop> {
        let given = node.input.iter().rposition(|i| !i.is_empty()).map_or(0, |i| i + 1);
        let mut names = node.input[..given].iter();
        for (i, group) in info.operands.iter().enumerate() {
            let take = if group.arity == Arity::Variadic { names.len().saturating_sub(info.operands.len() - i - 1) } else { 1 };
            let mut values = Vec::new();
            for name in names.by_ref().take(take).filter(|n| group.arity != Arity::Optional || !n.is_empty()) {
                if name.is_empty() {
                    return Err(format!("input '{}' is left out, but needed", group.name).into());
                }
                let value = self.value(name)?;
                let ty = self.module.value_type(value);
                if !(group.ty.check)(&self.ctx, ty) {
                    let ty = self.ctx.display_type(ty);
                    return Err(format!("input '{}' must be {}, but is {ty}", group.name, group.ty.summary).into());
                }
                values.push(value);
            }
            if group.arity == Arity::One && values.is_empty() {
                return Err(format!("input '{}' is missing", group.name).into());
            }
            state.operand_group(&values);
        }
        match names.next() {
            Some(_) => Err(format!("has {given} inputs, more than '{}' takes", info.name).into()),
            None => Ok(()),
        }
    }

    fn attributes(&self, info: &OpInfo, node: &NodeProto, state: &mut OpState) -> Result<(), Stop> {
        for (i, a) in node.attribute.iter().enumerate() {
            let Some(spec) = info.attr(&a.name) else {
                let near = suggest(&a.name, info.attrs.iter().map(|s| s.name));
                let hint = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
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

impl Values for Importer<'_> {
    fn rank(&self, name: &str) -> Option<usize> {
        self.ctx.shape(self.type_of(name)?).map(<[i64]>::len)
    }

    fn dtype(&self, name: &str) -> Option<DType> {
        self.ctx.dtype(self.ctx.element_type(self.type_of(name)?))
    }

    fn is_empty(&self, name: &str) -> bool {
        let shape = self.type_of(name).and_then(|ty| self.ctx.shape(ty));
        shape.is_some_and(|s| s.contains(&0))
    }
}
