//! Operators that become nodes of standard ones, and what their expansions share.

use super::proto::AttributeProto;
use super::rewrite::{Adapted, NodeRewrite, int_attr, ints_attr};
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::tensor::{DType, Tensor};

type Expand = fn(&mut NodeRewrite<'_>) -> Adapted;

/// An operator, and its expansion into nodes of the newest standard version.
pub struct Operator {
    /// Its name in its domain.
    pub name: &'static str,
    /// Number of inputs that the expansion knows.
    pub(super) inputs: usize,
    /// The attributes that the expansion knows; [`PASSED`] if the standard operator gets all, which knows its own.
    pub(super) attributes: &'static [&'static str],
    pub(super) expand: Expand,
}

/// Stands for the attributes of the standard operator.
pub(super) const PASSED: &[&str] = &["*"];

pub(super) const fn row(
    name: &'static str,
    inputs: usize,
    attributes: &'static [&'static str],
    expand: Expand,
) -> Operator {
    Operator { name, inputs, attributes, expand }
}

/// Numbers of element types.
pub(super) const F32: i64 = 1;
pub(super) const I32: i64 = 6;
pub(super) const I64: i64 = 7;
pub(super) const F64: i64 = 11;

impl NodeRewrite<'_> {
    /// Returns the name of operand `i`; empty if it is absent.
    pub(super) fn at(&self, i: usize) -> String {
        self.input(i).to_owned()
    }

    /// Returns the names of the first operands.
    pub(super) fn all<const N: usize>(&self) -> [String; N] {
        std::array::from_fn(|i| self.at(i))
    }

    pub(super) fn attr(&self, name: &str) -> Option<&AttributeProto> {
        self.node.attribute.iter().find(|a| a.name == name)
    }

    pub(super) fn float(&self, name: &str, default: f32) -> f32 {
        self.attr(name).map_or(default, |a| a.f)
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.attr(name).map_or(default, |a| a.i)
    }

    /// Returns a list of integers that is an attribute; empty if it is absent.
    pub(super) fn ints(&self, name: &str) -> Vec<i64> {
        self.attr(name).map_or(Vec::new(), |a| a.ints.clone())
    }

    /// Returns a list of numbers that is an attribute; empty if it is absent.
    pub(super) fn floats(&self, name: &str) -> Vec<f32> {
        self.attr(name).map_or(Vec::new(), |a| a.floats.clone())
    }

    /// Returns a word that is an attribute.
    pub(super) fn word(&self, name: &str, default: &str) -> String {
        let given = self.attr(name);
        given.map_or(default.to_owned(), |a| String::from_utf8_lossy(&a.s).into_owned())
    }

    /// Returns a tensor that is an attribute.
    pub(super) fn tensor(&self, name: &str) -> Adapted<Option<Tensor>> {
        let given = self.attr(name).and_then(|a| a.t.as_deref());
        Ok(given.map(|t| super::tensor::to_tensor(t, None)).transpose().map_err(|e| e.to_string())?)
    }

    /// Returns the attributes of these names.
    pub(super) fn attrs(&self, names: &[&str]) -> Vec<AttributeProto> {
        self.node.attribute.iter().filter(|a| names.contains(&a.name.as_str())).cloned().collect()
    }

    /// Turns the node into the standard operator of the same form.
    pub(super) fn same(&mut self, op_type: &str) -> Adapted {
        let (inputs, attributes) = (self.node.input.clone(), self.node.attribute.clone());
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        self.end(op_type, &inputs, attributes)
    }

    /// Turns the node into another one with the same results.
    pub(super) fn end(&mut self, op_type: &str, inputs: &[&str], attributes: Vec<AttributeProto>) -> Adapted {
        self.node.input = inputs.iter().map(|&name| name.to_owned()).collect();
        op_type.clone_into(&mut self.node.op_type);
        self.node.domain.clear();
        self.node.attribute = attributes;
        Ok(())
    }

    /// Returns the sum of two values, one of which may be absent.
    pub(super) fn plus(&mut self, a: &str, b: &str) -> String {
        match (a, b) {
            ("", one) | (one, "") => one.to_owned(),
            _ => self.emit("Add", &[a, b], vec![]),
        }
    }

    /// Returns a scalar of the element type of an operand.
    pub(super) fn number_like(&mut self, like: &str, value: f32) -> String {
        let known = self.values.shape(like).map(|(_, dtype)| dtype);
        let dtype = known.filter(|d| d.is_float() && !d.is_narrow()).unwrap_or(DType::F32);
        self.constant(&floats_to_tensor(dtype, &[], vec![f64::from(value)]))
    }

    /// Returns an operand times a number.
    pub(super) fn scaled(&mut self, x: &str, factor: f32) -> String {
        if factor == 1.0 {
            return x.to_owned();
        }
        let factor = self.number_like(x, factor);
        self.emit("Mul", &[x, &factor], vec![])
    }

    /// Returns a list of integers.
    pub(super) fn list(&mut self, ints: &[i64]) -> String {
        self.constant(&Tensor::from_vec(&[ints.len()], ints.to_vec()))
    }

    pub(super) fn reshaped(&mut self, x: &str, shape: &[i64]) -> String {
        let shape = self.list(shape);
        self.emit("Reshape", &[x, &shape], vec![])
    }

    /// Returns the part of `x` from `first` to `end` along an axis.
    pub(super) fn sliced(&mut self, x: &str, axis: i64, first: i64, end: i64) -> String {
        let [first, end, axis] = [first, end, axis].map(|n| self.list(&[n]));
        self.emit("Slice", &[x, &first, &end, &axis], vec![])
    }

    pub(super) fn cast(&mut self, x: &str, to: i64) -> String {
        self.emit("Cast", &[x], vec![int_attr("to", to)])
    }

    /// Returns an operand with its last two axes exchanged.
    pub(super) fn transposed(&mut self, i: usize) -> Adapted<String> {
        let rank = self.rank(i)? as i64;
        let mut perm: Vec<i64> = (0..rank).collect();
        if let [.., a, b] = &mut perm[..] {
            std::mem::swap(a, b);
        }
        let x = self.at(i);
        Ok(self.emit("Transpose", &[&x], vec![ints_attr("perm", perm)]))
    }
}
