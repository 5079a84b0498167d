//! Writing of ops on tensors as text.

use gradus_ir::random::Random;

/// A value with its type.
#[derive(Clone)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) shape: Vec<i64>,
    pub(super) elem: &'static str,
}

impl Tensor {
    /// Returns the type.
    pub(super) fn ty(&self) -> String {
        format!("tensor<{}>", tensor(&self.shape, self.elem))
    }
}

/// Writes elements in row-major order as nested lists.
fn nested(shape: &[i64], elements: &[String]) -> String {
    let Some((&first, rest)) = shape.split_first() else { return elements.concat() };
    let size = elements.len() / first.max(1) as usize;
    let parts: Vec<String> = elements.chunks(size.max(1)).map(|part| nested(rest, part)).collect();
    format!("[{}]", parts.join(", "))
}

/// Whether elements are floats.
pub(super) fn is_float(elem: &str) -> bool {
    elem.contains('f')
}

/// Returns the divisors of a number.
pub(super) fn divisors(number: i64) -> Vec<i64> {
    (1..=number).filter(|d| number % d == 0).collect()
}

pub(super) fn tensor(shape: &[i64], elem: &str) -> String {
    shape.iter().map(|d| format!("{d}x")).collect::<String>() + elem
}

/// Parameters and ops of a function on tensors.
pub(super) struct Network<'r> {
    pub(super) random: &'r mut Random,
    parameters: Vec<String>,
    lines: String,
    next: u32,
    /// The results so far, and images that later ops reuse.
    pub(super) values: Vec<Tensor>,
}

/// Returns the names and the types of values, as lists.
fn names_and_types<'t>(values: impl IntoIterator<Item = &'t Tensor>) -> [String; 2] {
    let (names, types): (Vec<&str>, Vec<String>) = values.into_iter().map(|t| (t.name.as_str(), t.ty())).unzip();
    [names.join(", "), types.join(", ")]
}

impl Network<'_> {
    pub(super) fn new(random: &mut Random) -> Network<'_> {
        Network { random, parameters: Vec::new(), lines: String::new(), next: 0, values: Vec::new() }
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    pub(super) fn parameter(&mut self, shape: &[i64], elem: &'static str) -> Tensor {
        let value = Tensor { name: self.name(), shape: shape.to_vec(), elem };
        self.parameters.push(format!("{}: {}", value.name, value.ty()));
        value
    }

    /// Creates a constant of small numbers with a probability of `constant` percent, or a parameter.
    pub(super) fn weights(&mut self, shape: &[i64], elem: &'static str, constant: u64) -> Tensor {
        if !self.random.percent(constant) {
            return self.parameter(shape, elem);
        }
        let (low, span) = match elem {
            "ui8" => (0, 256),
            "i8" => (-128, 256),
            "i1" => (0, 2),
            _ => (-4, 9),
        };
        let float = is_float(elem);
        let uniform = self.random.percent(15);
        let one = |random: &mut Random| {
            let number = random.below(span) as i64 + low;
            if float { format!("{number}.0") } else { number.to_string() }
        };
        if uniform || shape.is_empty() {
            let text = one(self.random);
            return self.constant(shape, elem, &text);
        }
        let elements: Vec<String> = (0..shape.iter().product::<i64>()).map(|_| one(self.random)).collect();
        self.listed(shape, elem, &elements)
    }

    /// Creates a constant of elements in row-major order.
    pub(super) fn listed(&mut self, shape: &[i64], elem: &'static str, elements: &[String]) -> Tensor {
        self.constant(shape, elem, &nested(shape, elements))
    }

    /// Creates a constant of the elements in `text`.
    pub(super) fn constant(&mut self, shape: &[i64], elem: &'static str, text: &str) -> Tensor {
        self.op(shape, elem, &format!("graph.constant dense<{text}> : tensor<{}>", tensor(shape, elem)))
    }

    pub(super) fn op(&mut self, shape: &[i64], elem: &'static str, op: &str) -> Tensor {
        let value = Tensor { name: self.name(), shape: shape.to_vec(), elem };
        self.lines += &format!("{} = {op}\n", value.name);
        value
    }

    /// Creates an op in generic form.
    pub(super) fn generic(
        &mut self,
        name: &str,
        operands: &[&Tensor],
        attrs: &str,
        shape: &[i64],
        elem: &'static str,
    ) -> Tensor {
        let ([names, types], result) = (names_and_types(operands.iter().copied()), tensor(shape, elem));
        self.op(shape, elem, &format!("\"{name}\"({names}) <{{{attrs}}}> : ({types}) -> tensor<{result}>"))
    }

    /// Creates an op in the form `name operands {attrs} : types`.
    pub(super) fn custom(
        &mut self,
        name: &str,
        operands: &[&Tensor],
        attrs: &str,
        shape: &[i64],
        elem: &'static str,
    ) -> Tensor {
        let ([names, types], result) = (names_and_types(operands.iter().copied()), tensor(shape, elem));
        let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{attrs}}}") };
        self.op(shape, elem, &format!("{name} {names}{attrs} : ({types}) -> tensor<{result}>"))
    }

    /// Returns the program; its results are the last values.
    pub(super) fn finish(self) -> String {
        let from = self.values.len().saturating_sub(3);
        let [names, types] = names_and_types(&self.values[from..]);
        let parameters = self.parameters.join(", ");
        format!("func.func @made0({parameters}) -> ({types}) {{\n{}return {names} : {types}\n}}\n", self.lines)
    }

    /// Creates a constant vector of indices.
    pub(super) fn indices(&mut self, all: &[i64]) -> Tensor {
        let text: Vec<String> = all.iter().map(i64::to_string).collect();
        self.constant(&[all.len() as i64], "i64", &format!("[{}]", text.join(", ")))
    }

    /// Concatenates tensors along an axis.
    pub(super) fn concat(&mut self, parts: &[&Tensor], axis: usize) -> Tensor {
        let mut shape = parts[0].shape.clone();
        shape[axis] = parts.iter().map(|part| part.shape[axis]).sum();
        self.generic("graph.concat", parts, &format!("axis = {axis} : i64"), &shape, parts[0].elem)
    }

    /// Slices `extent` indices from `start` along an axis.
    pub(super) fn part(&mut self, x: &Tensor, axis: usize, start: i64, extent: i64) -> Tensor {
        let mut shape = x.shape.clone();
        shape[axis] = extent;
        let [starts, ends, axes] = [start, start + extent, axis as i64].map(|number| self.indices(&[number]));
        let sizes = "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>";
        self.generic("graph.slice", &[x, &starts, &ends, &axes], sizes, &shape, x.elem)
    }

    pub(super) fn relu(&mut self, x: &Tensor) -> Tensor {
        self.generic("graph.relu", &[x], "", &x.shape, x.elem)
    }

    /// Draws an order of numbers.
    pub(super) fn permutation(&mut self, mut left: Vec<usize>) -> Vec<usize> {
        (0..left.len()).map(|_| left.remove(self.random.below(left.len() as u64) as usize)).collect()
    }

    /// Permutes axes.
    pub(super) fn transposed(&mut self, x: &Tensor, order: &[usize]) -> Tensor {
        let shape: Vec<i64> = order.iter().map(|&axis| x.shape[axis]).collect();
        let order: Vec<String> = order.iter().map(usize::to_string).collect();
        self.generic("graph.transpose", &[x], &format!("perm = array<i64: {}>", order.join(", ")), &shape, x.elem)
    }

    pub(super) fn reshaped(&mut self, x: &Tensor, shape: &[i64]) -> Tensor {
        let to = self.indices(shape);
        self.generic("graph.reshape", &[x, &to], "", shape, x.elem)
    }

    /// Returns one of the values of the same type, or the tensor itself.
    pub(super) fn alike(&mut self, x: &Tensor) -> Tensor {
        let alike: Vec<Tensor> =
            self.values.iter().filter(|t| t.shape == x.shape && t.elem == x.elem).cloned().collect();
        alike.get(self.random.below(alike.len().max(1) as u64) as usize).unwrap_or(x).clone()
    }

    /// Draws an extent from 1 to `most`.
    pub(super) fn extent(&mut self, most: u64) -> i64 {
        1 + self.random.below(most) as i64
    }
}
