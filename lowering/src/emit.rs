//! Creation of the ops to which an op is lowered, and removal of those that are dead then.

use gradus_ir::effects::is_dead;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::{Arity, Attr, AttrData, Builder, Loc, Module, Op, OpDecl, OpState, Tensor, Type, Value, ValueSpec};
use gradus_networks::addr::{
    ConvPlanesOp, DepthwiseOp, GEOMETRY, GemmOp, Geometry, IndirectGemmOp, PoolOp, is_table_op,
};
use gradus_networks::layout::{AddressTable, Addressing, Encoding, TiledLayout};
use std::ops::Range;

/// The operands of a product other than its two factors, by name.
#[derive(Clone, Default)]
pub(crate) struct ProductOperands(Vec<(&'static str, Value)>);

impl ProductOperands {
    /// Collects the operands that are present.
    pub(crate) fn of<const N: usize>(operands: [(&'static str, Option<Value>); N]) -> ProductOperands {
        ProductOperands(operands.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
    }

    /// Returns the operand `name`.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        self.0.iter().find(|operand| operand.0 == name).map(|operand| operand.1)
    }
}

/// Erases the ops under `root` that are dead, those whose results only dead ops use among them.
pub(crate) fn erase_dead(m: &mut Module, root: Op) {
    for op in m.ops_under(root).into_iter().skip(1).rev() {
        if is_dead(m, op) {
            m.erase_op(op);
        }
    }
}

/// Returns the name that an op's location gives it.
pub(crate) fn source_name(m: &Module, op: Op) -> Option<&str> {
    match m.ctx.attr_data(m.loc(op).to_attr(&m.ctx)) {
        AttrData::LocName { name, .. } => Some(m.ctx.text(*name)),
        _ => None,
    }
}

/// Returns the names that locations give ops, joined.
pub(crate) fn name_of(m: &Module, ops: &[Op]) -> Option<Attr> {
    let mut names: Vec<&str> = ops.iter().filter_map(|&op| source_name(m, op)).collect();
    names.dedup();
    (!names.is_empty()).then(|| m.ctx.string_attr(&names.join("+")))
}

/// A builder of the ops to which an op is lowered.
pub(crate) struct Emitter<'b, 'm> {
    b: &'b mut Builder<'m>,
    loc: Loc,
    /// The dialect whose op constants are.
    constants: &'static str,
    /// The geometry that the next table-driven op gets as an attribute.
    geometry: Option<Attr>,
}

impl<'b, 'm> Emitter<'b, 'm> {
    /// Creates an emitter that gives ops the location of `op`.
    pub(crate) fn of(b: &'b mut Builder<'m>, op: Op) -> Self {
        let loc = b.module.loc(op);
        Emitter::at(b, loc)
    }

    /// Creates an emitter that gives ops a location.
    pub(crate) fn at(b: &'b mut Builder<'m>, loc: Loc) -> Self {
        Emitter { b, loc, constants: "arith", geometry: None }
    }

    /// Creates an emitter whose constants are `graph.constant`.
    pub(crate) fn on_graph(b: &'b mut Builder<'m>, op: Op) -> Self {
        Emitter { constants: "graph", ..Emitter::of(b, op) }
    }

    /// Gives the next table-driven op the geometry of its table as an attribute.
    pub(crate) fn describe(&mut self, geometry: &Geometry) {
        self.geometry = Some(geometry.to_attr(&self.m().ctx));
    }

    pub(crate) fn m(&self) -> &Module {
        self.b.module
    }

    fn create(&mut self, mut state: OpState, attrs: &[(&str, Attr)], types: &[Type]) -> Option<Op> {
        attrs.iter().for_each(|&(name, attr)| state.inherent(&self.m().ctx, name, Some(attr)));
        state.result_types.extend_from_slice(types);
        self.b.try_create(state).ok()
    }

    /// Creates an op from operand groups; result types are inferred if `types` is empty.
    pub(crate) fn op(&mut self, name: &str, groups: &[&[Value]], attrs: &[(&str, Attr)], types: &[Type]) -> Option<Op> {
        let mut state = OpState::new(&self.m().ctx, name, self.loc);
        groups.iter().for_each(|group| state.operand_group(group));
        self.create(state, attrs, types)
    }

    /// Creates an op of one result of type `ty` from operands without groups.
    pub(crate) fn typed(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)], ty: Type) -> Option<Value> {
        let mut state = OpState::new(&self.m().ctx, name, self.loc);
        state.operands.extend_from_slice(operands);
        let op = self.create(state, attrs, &[ty])?;
        Some(self.m().result(op, 0))
    }

    fn one(&mut self, name: &str, groups: &[&[Value]], attrs: &[(&str, Attr)]) -> Option<Value> {
        let op = self.op(name, groups, attrs, &[])?;
        if is_table_op(self.m(), op)
            && let Some(geometry) = self.geometry.take()
        {
            self.b.module.set_attr(op, GEOMETRY, Some(geometry));
        }
        Some(self.m().result(op, 0))
    }

    pub(crate) fn constant(&mut self, tensor: &Tensor, elem: Type) -> Option<Value> {
        let extents: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
        let ty = self.m().ctx.tensor_type(&extents, elem);
        let attr = self.m().ctx.dense_attr(ty, tensor);
        self.b.constant(attr, ty, self.constants, self.loc)
    }

    fn list(&mut self, values: &[i64]) -> Option<Value> {
        self.constant(&Tensor::from_vec(&[values.len()], values.to_vec()), Type::I64)
    }

    fn offsets(&mut self, shape: &[usize], values: &[i32]) -> Option<Value> {
        self.constant(&Tensor::from_vec(shape, values.to_vec()), Type::I32)
    }

    fn extents(&self, value: Value) -> Option<&[i64]> {
        self.m().ctx.shape(self.m().value_type(value))
    }

    /// Packs a tensor into a layout.
    pub(crate) fn pack(&mut self, x: Value, layout: &TiledLayout, axes: &str) -> Option<Value> {
        let attrs = [("layout", layout.to_attr(&self.m().ctx)), ("axes", self.m().ctx.string_attr(axes))];
        self.one("layout.pack", &[&[x]], &attrs)
    }

    /// Unpacks a tensor from a layout.
    pub(crate) fn unpack(&mut self, x: Value, layout: &TiledLayout, axes: &str, ty: Type) -> Option<Value> {
        let attrs = [("layout", layout.to_attr(&self.m().ctx)), ("axes", self.m().ctx.string_attr(axes))];
        let op = self.op("layout.unpack", &[&[x]], &attrs, &[ty])?;
        Some(self.m().result(op, 0))
    }

    /// Reshapes a tensor.
    pub(crate) fn reshape(&mut self, x: Value, extents: &[i64]) -> Option<Value> {
        if self.extents(x)? == extents {
            return Some(x);
        }
        let shape = self.list(extents)?;
        self.one("graph.reshape", &[&[x], &[shape]], &[])
    }

    /// Transposes a matrix.
    pub(crate) fn transpose(&mut self, x: Value) -> Option<Value> {
        self.permute(x, &[1, 0])
    }

    /// Permutes axes.
    pub(crate) fn permute(&mut self, x: Value, perm: &[i64]) -> Option<Value> {
        let perm = self.m().ctx.i64_array_attr(perm);
        self.one("graph.transpose", &[&[x]], &[("perm", perm)])
    }

    /// Slices the leading part of each axis, with steps.
    pub(crate) fn slice(&mut self, x: Value, ends: &[i64], steps: &[i64]) -> Option<Value> {
        self.slice_from(x, &vec![0; ends.len()], ends, steps)
    }

    /// Slices all axes, with steps.
    pub(crate) fn slice_from(&mut self, x: Value, starts: &[i64], ends: &[i64], steps: &[i64]) -> Option<Value> {
        let axes = Vec::from_iter(0..ends.len() as i64);
        let lists = [starts, ends, &axes, steps].map(|list| self.list(list));
        let [Some(starts), Some(ends), Some(axes), Some(steps)] = lists else { return None };
        self.one("graph.slice", &[&[x], &[starts], &[ends], &[axes], &[steps]], &[])
    }

    /// Slices a range of an axis, all of which is the value itself.
    pub(crate) fn part(&mut self, x: Value, axis: usize, range: Range<usize>) -> Option<Value> {
        if self.extents(x)?.get(axis) == Some(&(range.len() as i64)) {
            return Some(x);
        }
        let lists = [range.start, range.end, axis].map(|n| self.list(&[n as i64]));
        let [Some(start), Some(end), Some(axis)] = lists else { return None };
        self.one("graph.slice", &[&[x], &[start], &[end], &[axis], &[]], &[])
    }

    /// Divides a tensor into parts of `len` elements along an axis.
    pub(crate) fn parts(&mut self, x: Value, axis: usize, len: usize) -> Option<Vec<Value>> {
        let all = usize::try_from(*self.extents(x)?.get(axis)?).ok()?;
        (0..all / len.max(1)).map(|i| self.part(x, axis, i * len..(i + 1) * len)).collect()
    }

    /// Broadcasts a tensor to extents.
    pub(crate) fn expand(&mut self, x: Value, extents: &[i64]) -> Option<Value> {
        if self.extents(x)? == extents {
            return Some(x);
        }
        let shape = self.list(extents)?;
        self.one("graph.expand", &[&[x], &[shape]], &[])
    }

    /// Pads with zeros or a value: all begins, then all ends.
    pub(crate) fn pad(&mut self, x: Value, pads: &[i64], with: Option<Value>) -> Option<Value> {
        let pads = self.list(pads)?;
        self.one("graph.pad", &[&[x], &[pads], with.as_slice(), &[]], &[])
    }

    /// Concatenates along an axis.
    pub(crate) fn concat(&mut self, parts: &[Value], axis: i64) -> Option<Value> {
        if let [one] = parts {
            return Some(*one);
        }
        let axis = self.m().ctx.int_attr(Type::I64, axis);
        self.one("graph.concat", &[parts], &[("axis", axis)])
    }

    /// Creates the tables of an op as constants, those of rows divided among groups.
    fn tables(&mut self, table: &AddressTable<'_>, groups: usize) -> Option<Vec<Value>> {
        let rows = table.rows().checked_div(groups)?;
        let shape = if groups == 1 { vec![rows] } else { vec![groups, rows] };
        match table.addressing() {
            Addressing::Separable { base, relative } => {
                let relative = table.encoding().encode(relative);
                Some(vec![self.offsets(&shape, base)?, self.offsets(&[relative.len()], &relative)?])
            }
            Addressing::Indirect { bases, runs, .. } => {
                let shape = [&shape[..], &[*runs]].concat();
                Some(vec![self.offsets(&shape, bases)?])
            }
        }
    }

    /// Returns the attribute `run`.
    fn run(&self, table: &AddressTable<'_>) -> (&'static str, Attr) {
        ("run", self.m().ctx.int_attr(Type::I64, table.run() as i64))
    }

    /// Creates a product, whose op follows from the kind of its addresses: those of all rows of each of `groups` groups of
    /// columns.
    pub(crate) fn gemm(
        &mut self,
        a: Value,
        (table, groups): (&AddressTable<'_>, usize),
        b: Value,
        operands: &ProductOperands,
    ) -> Option<Value> {
        let tables = self.tables(table, groups)?;
        match table.addressing() {
            Addressing::Separable { .. } => {
                let running = [("running", Attr::UNIT)];
                let attrs = if table.encoding() == Encoding::Running { &running[..] } else { &[] };
                self.product::<GemmOp>([a, b], tables, operands, attrs)
            }
            Addressing::Indirect { .. } => self.product::<IndirectGemmOp>([a, b], tables, operands, &[self.run(table)]),
        }
    }

    /// Creates a pool: maximum or sum over windows.
    pub(crate) fn pool(&mut self, kind: i64, a: Value, table: &AddressTable<'_>) -> Option<Value> {
        let tables = self.tables(table, 1)?;
        let kind = self.m().ctx.int_attr(Type::I64, kind);
        self.one(PoolOp::INFO.name, &[&[a], &tables], &[("kind", kind), self.run(table)])
    }

    /// Creates a depthwise convolution.
    pub(crate) fn depthwise(
        &mut self,
        a: Value,
        table: &AddressTable<'_>,
        w: Value,
        operands: &ProductOperands,
    ) -> Option<Value> {
        let tables = self.tables(table, 1)?;
        self.product::<DepthwiseOp>([a, w], tables, operands, &[])
    }

    /// Creates a convolution of images with channels first, with a result in bands if their number is given.
    pub(crate) fn conv_planes(
        &mut self,
        a: Value,
        geometry: &Geometry,
        w: Value,
        (operands, bands): (&ProductOperands, Option<i64>),
    ) -> Option<Value> {
        let ctx = &self.m().ctx;
        let mut attrs = vec![("geometry", geometry.to_attr(ctx))];
        attrs.extend(bands.map(|bands| ("bands", ctx.int_attr(Type::I64, bands))));
        self.product::<ConvPlanesOp>([a, w], Vec::new(), operands, &attrs)
    }

    /// Multiplies by a scalar, or by one factor per row.
    pub(crate) fn scaled(&mut self, x: Value, by: Vec<f64>) -> Option<Value> {
        let elem = self.m().ctx.element_type(self.m().value_type(x));
        let shape = if by.len() == 1 { vec![] } else { vec![by.len(), 1] };
        let scale = floats_to_tensor(self.m().ctx.dtype(elem)?, &shape, by);
        let scale = self.constant(&scale, elem)?;
        self.mul(x, scale)
    }

    /// Converts the elements of a tensor to those of type `ty`.
    pub(crate) fn cast(&mut self, x: Value, ty: Type) -> Option<Value> {
        let to = self.m().ctx.type_attr(self.m().ctx.element_type(ty));
        self.typed("graph.cast", &[x], &[("to", to)], ty)
    }

    /// Returns a tensor with elements of type `elem`, converted if necessary.
    pub(crate) fn with_element(&mut self, x: Value, elem: Type) -> Option<Value> {
        let ty = self.m().value_type(x);
        if self.m().ctx.element_type(ty) == elem {
            return Some(x);
        }
        self.cast(x, self.m().ctx.with_element(ty, elem))
    }

    /// Multiplies tensors, which broadcast.
    pub(crate) fn mul(&mut self, a: Value, b: Value) -> Option<Value> {
        self.one("graph.mul", &[&[a], &[b]], &[])
    }

    /// Adds tensors, which broadcast.
    pub(crate) fn add(&mut self, a: Value, b: Value) -> Option<Value> {
        self.one("graph.add", &[&[a], &[b]], &[])
    }

    /// Creates a product from its factors, tables and other operands.
    fn product<P: OpDecl>(
        &mut self,
        [a, b]: [Value; 2],
        tables: Vec<Value>,
        operands: &ProductOperands,
        attrs: &[(&str, Attr)],
    ) -> Option<Value> {
        let mut required = [a].into_iter().chain(tables).chain([b]);
        let group = |group: &ValueSpec| match group.arity {
            Arity::One => required.next(),
            _ => operands.get(group.name),
        };
        let groups: Vec<Option<Value>> = P::INFO.operands.iter().map(group).collect();
        let groups: Vec<&[Value]> = groups.iter().map(Option::as_slice).collect();
        self.one(P::INFO.name, &groups, attrs)
    }
}
