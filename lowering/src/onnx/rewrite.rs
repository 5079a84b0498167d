//! A node that is converted to others: its inputs and attributes, and the nodes before it.

use super::attribute_type;
use super::proto::{AttributeProto, AttributeType, NodeProto, TensorProto};
use gradus_ir::Violation;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::tensor::{DType, Tensor};
use gradus_networks::graph::onnx_number;

/// The outcome of a conversion; the error is the reason why a node has none.
pub(super) type Adapted<T = ()> = Result<T, Violation>;

/// Facts about the values that a node uses, for adapters that depend on them.
pub trait ValueFacts {
    /// Returns the extents (negative where unknown) and the element type of a tensor of known rank.
    fn shape(&self, name: &str) -> Option<(Vec<i64>, DType)>;
}

/// No facts.
impl ValueFacts for () {
    fn shape(&self, _: &str) -> Option<(Vec<i64>, DType)> {
        None
    }
}

/// A node under conversion.
pub(super) struct NodeRewrite<'a> {
    pub(super) node: NodeProto,
    pub(super) before: Vec<NodeProto>,
    pub(super) values: &'a dyn ValueFacts,
}

impl NodeRewrite<'_> {
    pub(super) fn take(&mut self, name: &str, kind: AttributeType) -> Adapted<Option<AttributeProto>> {
        let Some(i) = self.node.attribute.iter().position(|a| a.name == name) else { return Ok(None) };
        let attr = self.node.attribute.remove(i);
        // An unset field cannot be told from an empty list, a zero or an empty string.
        let unsaid = attr.r#type == AttributeType::Undefined as i32 && attribute_type(&attr) == AttributeType::Int;
        if attribute_type(&attr) == kind || unsaid {
            Ok(Some(attr))
        } else {
            Err(format!("attribute '{name}' must be of kind {kind:?}").into())
        }
    }

    pub(super) fn take_int(&mut self, name: &str) -> Adapted<Option<i64>> {
        Ok(self.take(name, AttributeType::Int)?.map(|a| a.i))
    }

    pub(super) fn drop(&mut self, name: &str) -> Adapted {
        self.node.attribute.retain(|a| a.name != name);
        Ok(())
    }

    pub(super) fn rename(&mut self, op_type: &str) -> Adapted {
        op_type.clone_into(&mut self.node.op_type);
        Ok(())
    }

    pub(super) fn rename_attr(&mut self, from: &str, to: &str) -> Adapted {
        for a in self.node.attribute.iter_mut().filter(|a| a.name == from) {
            to.clone_into(&mut a.name);
        }
        Ok(())
    }

    pub(super) fn set_int(&mut self, name: &str, i: i64) {
        self.node.attribute.push(int_attr(name, i));
    }

    pub(super) fn set_string(&mut self, name: &str, s: &'static str) {
        self.node.attribute.push(string_attr(name, s));
    }

    pub(super) fn default_int(&mut self, name: &str, i: i64) -> Adapted {
        if !self.node.attribute.iter().any(|a| a.name == name) {
            self.set_int(name, i);
        }
        Ok(())
    }

    pub(super) fn default_string(&mut self, name: &str, s: &'static str) -> Adapted {
        if !self.node.attribute.iter().any(|a| a.name == name) {
            self.set_string(name, s);
        }
        Ok(())
    }

    pub(super) fn rename_words(&mut self, name: &str, words: &[(&str, &'static str)]) -> Adapted {
        for a in self.node.attribute.iter_mut().filter(|a| a.name == name) {
            if let Some((_, new)) = words.iter().find(|(old, _)| a.s == old) {
                a.s = (*new).into();
            }
        }
        Ok(())
    }

    pub(super) fn only_outputs(&self, n: usize, otherwise: &str) -> Adapted {
        if self.node.output.iter().skip(n).all(String::is_empty) { Ok(()) } else { Err(otherwise.to_owned().into()) }
    }

    pub(super) fn input(&self, i: usize) -> &str {
        self.node.input.get(i).map_or("", String::as_str)
    }

    pub(super) fn set_input(&mut self, i: usize, name: String) {
        if self.node.input.len() <= i {
            self.node.input.resize(i + 1, String::new());
        }
        self.node.input[i] = name;
    }

    /// Inserts a node and returns its result.
    pub(super) fn emit(&mut self, op_type: &str, inputs: &[&str], attributes: Vec<AttributeProto>) -> String {
        let [result] = self.emit_many(op_type, inputs, attributes);
        result
    }

    /// Inserts a node and returns its results.
    pub(super) fn emit_many<const N: usize>(
        &mut self,
        op_type: &str,
        inputs: &[&str],
        attributes: Vec<AttributeProto>,
    ) -> [String; N] {
        let of = self.node.output.iter().find(|o| !o.is_empty()).map_or("", String::as_str);
        let first = self.before.len();
        let results: [String; N] = std::array::from_fn(|i| match i {
            0 => format!("{of}//{first}"),
            _ => format!("{of}//{first}.{i}"),
        });
        self.push(&results, op_type, inputs, attributes);
        results
    }

    /// Inserts a node with a result of this name.
    pub(super) fn emit_as(&mut self, name: &str, op_type: &str, inputs: &[&str], attributes: Vec<AttributeProto>) {
        self.push(&[name.to_owned()], op_type, inputs, attributes);
    }

    pub(super) fn push(&mut self, results: &[String], op_type: &str, inputs: &[&str], attribute: Vec<AttributeProto>) {
        self.before.push(NodeProto {
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: results.to_vec(),
            name: super::node_place(&self.node).to_owned(),
            op_type: op_type.to_owned(),
            attribute,
            ..NodeProto::default()
        });
    }

    /// Inserts a constant and returns it.
    pub(super) fn constant(&mut self, tensor: &Tensor) -> String {
        self.emit("Constant", &[], vec![value_attr(tensor_proto(tensor))])
    }

    pub(super) fn insert_constant(&mut self, i: usize, tensor: &Tensor) {
        let name = self.constant(tensor);
        self.set_input(i, name);
    }

    pub(super) fn ints_to_input(&mut self, attr: &str, i: usize) -> Adapted {
        if let Some(a) = self.take(attr, AttributeType::Ints)? {
            self.insert_constant(i, &Tensor::from_vec(&[a.ints.len()], a.ints));
        }
        Ok(())
    }

    pub(super) fn floats_to_input(&mut self, attr: &str, i: usize) -> Adapted {
        if let Some(a) = self.take(attr, AttributeType::Floats)? {
            self.insert_constant(i, &Tensor::from_vec(&[a.floats.len()], a.floats));
        }
        Ok(())
    }

    pub(super) fn int_to_input(&mut self, attr: &str, i: usize) -> Adapted {
        if let Some(value) = self.take_int(attr)? {
            self.insert_constant(i, &Tensor::from_vec(&[1], vec![value]));
        }
        Ok(())
    }

    /// Turns a float attribute into a scalar operand `i` of the first operand's element type.
    pub(super) fn float_to_input(&mut self, attr: &str, i: usize) -> Adapted {
        if let Some(a) = self.take(attr, AttributeType::Float)? {
            let known = self.values.shape(self.input(0)).map(|(_, dtype)| dtype);
            let dtype = known.filter(|d| d.is_float() && !d.is_narrow()).unwrap_or(DType::F32);
            self.insert_constant(i, &floats_to_tensor(dtype, &[], vec![f64::from(a.f)]));
        }
        Ok(())
    }

    /// Inserts a node of operand `i` and a constant list, whose result becomes operand `i`.
    pub(super) fn insert_with(&mut self, i: usize, op_type: &str, list: Vec<i64>) {
        let old = self.input(i).to_owned();
        self.insert_constant(i, &Tensor::from_vec(&[list.len()], list));
        let list = self.input(i).to_owned();
        let result = self.emit(op_type, &[&old, &list], vec![]);
        self.set_input(i, result);
    }

    /// Appends dimensions of extent 1 to operand `i`, of the given rank.
    pub(super) fn append_dims(&mut self, i: usize, rank: usize, n: usize) {
        self.insert_with(i, "Unsqueeze", (rank..rank + n).map(|d| d as i64).collect());
    }

    pub(super) fn rank(&self, i: usize) -> Adapted<usize> {
        let shape = self.values.shape(self.input(i)).map(|(dims, _)| dims.len());
        Ok(shape.ok_or_else(|| format!("the rank of '{}' is needed, but not known", self.input(i)))?)
    }
}

/// Wraps a tensor in a message that shares its bytes.
pub(super) fn tensor_proto(tensor: &Tensor) -> TensorProto {
    let data_type = onnx_number(tensor.dtype()).unwrap_or(0) as i32;
    let dims = tensor.shape().iter().map(|&d| d as i64).collect();
    TensorProto { data_type, dims, raw_data: tensor.bytes().clone(), ..TensorProto::default() }
}

/// Returns an attribute that is an integer.
pub(super) fn int_attr(name: &str, i: i64) -> AttributeProto {
    let (name, r#type) = (name.to_owned(), AttributeType::Int as i32);
    AttributeProto { name, r#type, i, ..AttributeProto::default() }
}

/// Returns an attribute that is a list of integers.
pub(super) fn ints_attr(name: &str, ints: Vec<i64>) -> AttributeProto {
    let (name, r#type) = (name.to_owned(), AttributeType::Ints as i32);
    AttributeProto { name, r#type, ints, ..AttributeProto::default() }
}

/// Returns an attribute that is a number.
pub(super) fn float_attr(name: &str, f: f32) -> AttributeProto {
    let (name, r#type) = (name.to_owned(), AttributeType::Float as i32);
    AttributeProto { name, r#type, f, ..AttributeProto::default() }
}

/// Returns an attribute that is a string.
pub(super) fn string_attr(name: &str, s: &'static str) -> AttributeProto {
    let (name, r#type, s) = (name.to_owned(), AttributeType::String as i32, s.as_bytes().into());
    AttributeProto { name, r#type, s, ..AttributeProto::default() }
}

/// Returns the attribute of a constant.
pub(super) fn value_attr(tensor: TensorProto) -> AttributeProto {
    let (name, r#type, t) = ("value".to_owned(), AttributeType::Tensor as i32, Some(Box::new(tensor)));
    AttributeProto { name, r#type, t, ..AttributeProto::default() }
}
