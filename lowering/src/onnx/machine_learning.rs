//! Operators of the domain `ai.onnx.ml` on numbers, which exporters of scikit-learn, XGBoost and LightGBM write, as standard ones.
//!
//! All are rows of [`OPERATORS`]. An operator becomes nodes of the newest standard version. Sources: the operators' specification, and
//! onnxruntime where that leaves a result open.

use super::expansion::{F32, I64, Operator, row};
use super::rewrite::{Adapted, NodeRewrite, int_attr};
use super::trees;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::tensor::{DType, Tensor};

/// The domain.
pub(super) const DOMAIN: &str = "ai.onnx.ml";

/// The operators.
#[rustfmt::skip]
pub(super) const OPERATORS: &[Operator] = &[
    row("ArrayFeatureExtractor", 2, &[], extract),
    row("Binarizer", 1, &["threshold"], |n| {
        let (x, threshold) = (n.as_float(0), n.float("threshold", 0.0));
        let threshold = n.number_like("", threshold);
        let is_above = n.emit("Greater", &[&x, &threshold], vec![]);
        n.end("Cast", &[&is_above], vec![int_attr("to", F32)])
    }),
    row("FeatureVectorizer", usize::MAX, &["inputdimensions"], join),
    row("Imputer", 1, &["imputed_value_floats", "imputed_value_int64s", "replaced_value_float", "replaced_value_int64"], impute),
    row("LabelEncoder", 1, &[
        "default_float", "default_int64", "default_tensor", "keys_floats", "keys_int64s", "keys_tensor", "values_floats",
        "values_int64s", "values_tensor",
    ], encode_labels),
    row("LinearClassifier", 1, &["classlabels_ints", "coefficients", "intercepts", "multi_class", "post_transform"], classify),
    row("LinearRegressor", 1, &["coefficients", "intercepts", "post_transform", "targets"], |n| {
        let targets = n.int("targets", 1);
        let (scores, transform) = (linear(n, targets)?, n.word("post_transform", "NONE"));
        let scores = n.transformed(&scores, targets as usize, &transform)?;
        n.end("Identity", &[&scores], vec![])
    }),
    row("Normalizer", 1, &["norm"], normalize),
    row("OneHotEncoder", 1, &["cats_int64s", "zeros"], |n| {
        let (x, categories) = (n.cast(&n.at(0), I64), n.ints("cats_int64s"));
        let (last, categories) = (n.list(&[-1]), n.list(&categories));
        let x = n.emit("Unsqueeze", &[&x, &last], vec![]);
        let is_category = n.emit("Equal", &[&x, &categories], vec![]);
        n.end("Cast", &[&is_category], vec![int_attr("to", F32)])
    }),
    row("Scaler", 1, &["offset", "scale"], |n| {
        let x = n.as_float(0);
        let [offset, scale] = ["offset", "scale"].map(|name| n.floats_of(name));
        let shifted = if offset.is_empty() { x } else { n.emit("Sub", &[&x, &offset], vec![]) };
        if scale.is_empty() { n.end("Identity", &[&shifted], vec![]) } else { n.end("Mul", &[&shifted, &scale], vec![]) }
    }),
    row("TreeEnsemble", 1, trees::ATTRIBUTES, trees::ensemble),
    row("TreeEnsembleClassifier", 1, trees::CLASSIFIER_ATTRIBUTES, trees::classifier),
    row("TreeEnsembleRegressor", 1, trees::REGRESSOR_ATTRIBUTES, trees::regressor),
];

impl NodeRewrite<'_> {
    /// Returns operand `i` as f32.
    fn as_float(&mut self, i: usize) -> String {
        let x = self.at(i);
        let is_float = self.values.shape(&x).is_some_and(|(_, dtype)| dtype == DType::F32);
        if is_float { x } else { self.cast(&x, F32) }
    }

    /// Returns a constant of the numbers of an attribute; empty if it is absent.
    fn floats_of(&mut self, name: &str) -> String {
        let numbers = self.floats(name);
        if numbers.is_empty() { String::new() } else { self.constant(&Tensor::from_vec(&[numbers.len()], numbers)) }
    }

    /// Applies the function after the scores of a model, row by row: to one score for a row only the last one.
    pub(super) fn transformed(&mut self, scores: &str, count: usize, transform: &str) -> Adapted<String> {
        Ok(match transform {
            "NONE" => scores.to_owned(),
            "LOGISTIC" | "SOFTMAX" | "SOFTMAX_ZERO" if count == 1 => scores.to_owned(),
            "LOGISTIC" => self.emit("Sigmoid", &[scores], vec![]),
            "SOFTMAX" => self.emit("Softmax", &[scores], vec![int_attr("axis", -1)]),
            "SOFTMAX_ZERO" => self.softmax_of_nonzeros(scores),
            "PROBIT" => self.probit(scores),
            other => return Err(format!("post_transform '{other}' is not known").into()),
        })
    }

    /// A softmax whose zeros stay zero.
    fn softmax_of_nonzeros(&mut self, scores: &str) -> String {
        let last = self.list(&[-1]);
        let most = self.emit("ReduceMax", &[scores, &last], vec![]);
        let shifted = self.emit("Sub", &[scores, &most], vec![]);
        let powers = self.emit("Exp", &[&shifted], vec![]);
        let (size, least) = (self.emit("Abs", &[scores], vec![]), self.number_like("", 1e-7));
        let is_nonzero = self.emit("Greater", &[&size, &least], vec![]);
        // Scores near zero are multiplied by the power of zero.
        let power_of_zero = self.emit("Neg", &[&most], vec![]);
        let power_of_zero = self.emit("Exp", &[&power_of_zero], vec![]);
        let zeros = self.emit("Mul", &[scores, &power_of_zero], vec![]);
        let all = self.emit("Where", &[&is_nonzero, &powers, &zeros], vec![]);
        let sum = self.emit("ReduceSum", &[&all, &last], vec![]);
        self.emit("Div", &[&all, &sum], vec![])
    }

    /// The quantile of the normal distribution, by an approximation of the inverse error function.
    ///
    /// Source: S. Winitzki, A handy approximation for the error function and its inverse, 2008.
    fn probit(&mut self, scores: &str) -> String {
        const A: f32 = 0.147;
        let [one, two, half, root, slope, first] =
            [1.0, 2.0, 0.5, std::f32::consts::SQRT_2, 1.0 / A, 2.0 / (std::f32::consts::PI * A)]
                .map(|number| self.number_like("", number));
        let doubled = self.emit("Mul", &[scores, &two], vec![]);
        let x = self.emit("Sub", &[&doubled, &one], vec![]);
        let square = self.emit("Mul", &[&x, &x], vec![]);
        let rest = self.emit("Sub", &[&one, &square], vec![]);
        let log = self.emit("Log", &[&rest], vec![]);
        let (halved, sloped) = (self.emit("Mul", &[&log, &half], vec![]), self.emit("Mul", &[&log, &slope], vec![]));
        let mean = self.emit("Add", &[&halved, &first], vec![]);
        let of_mean = self.emit("Mul", &[&mean, &mean], vec![]);
        let under_root = self.emit("Sub", &[&of_mean, &sloped], vec![]);
        let size = self.emit("Sqrt", &[&under_root], vec![]);
        let size = self.emit("Sub", &[&size, &mean], vec![]);
        let (size, sign) = (self.emit("Sqrt", &[&size], vec![]), self.emit("Sign", &[&x], vec![]));
        let inverse = self.emit("Mul", &[&sign, &size], vec![]);
        self.emit("Mul", &[&inverse, &root], vec![])
    }

    /// Ends with the labels `[N]` of a classifier and its scores `[N, classes]`, of which a node may name only one. `labels` picks from the
    /// labels by an index for each row.
    pub(super) fn end_with_labels(&mut self, labels: &[i64], index: &str, scores: &str) -> Adapted {
        if let Some(name) = self.node.output.get(1).filter(|name| !name.is_empty()).cloned() {
            self.emit_as(&name, "Identity", &[scores], vec![]);
        }
        self.node.output.truncate(1);
        let labels = self.list(labels);
        self.end("Gather", &[&labels, index], vec![])
    }

    /// Returns the first of the largest scores of each row.
    pub(super) fn index_of_largest(&mut self, scores: &str) -> String {
        self.emit("ArgMax", &[scores], vec![int_attr("axis", -1), int_attr("keepdims", 0)])
    }

    /// Returns, for scores `[N, 1]`, 1 in each row that is above a number, and 0 in the others.
    pub(super) fn index_above(&mut self, scores: &str, least: f32) -> String {
        let (rows, least) = (self.reshaped(scores, &[-1]), self.number_like("", least));
        let is_above = self.emit("Greater", &[&rows, &least], vec![]);
        self.cast(&is_above, I64)
    }

    /// Returns the scores `[N, 2]` of two classes, given those `[N, 1]` of the second: probabilities, or numbers of either sign.
    pub(super) fn of_two_classes(&mut self, second: &str, are_probabilities: bool, transform: &str) -> Adapted<String> {
        if transform == "PROBIT" {
            return Err("post_transform 'PROBIT' for one of two classes is not supported".into());
        }
        let is_logistic = transform == "LOGISTIC";
        let first = if are_probabilities && !is_logistic {
            let one = self.number_like("", 1.0);
            self.emit("Sub", &[&one, second], vec![])
        } else {
            self.emit("Neg", &[second], vec![])
        };
        let both = self.emit("Concat", &[&first, second], vec![int_attr("axis", 1)]);
        Ok(if is_logistic { self.emit("Sigmoid", &[&both], vec![]) } else { both })
    }

    /// Returns the labels of a classifier.
    pub(super) fn labels(&self, name: &str) -> Adapted<Vec<i64>> {
        let labels = self.ints(name);
        if labels.is_empty() { Err("labels other than integers are not supported".into()) } else { Ok(labels) }
    }
}

fn extract(n: &mut NodeRewrite<'_>) -> Adapted {
    let [x, indices] = n.all();
    let indices = n.reshaped(&indices, &[-1]);
    let x = if n.rank(0)? == 1 { n.reshaped(&x, &[1, -1]) } else { x };
    n.end("Gather", &[&x, &indices], vec![int_attr("axis", -1)])
}

fn join(n: &mut NodeRewrite<'_>) -> Adapted {
    let widths = n.ints("inputdimensions");
    let mut parts = Vec::new();
    for i in 0..n.node.input.len() {
        let shape = n.values.shape(n.input(i)).map(|(shape, _)| shape).unwrap_or_default();
        if !shape.last().is_none_or(|&have| have < 0 || widths.get(i).is_none_or(|&width| width == have)) {
            return Err(format!("input {i} of width {:?} is not of width {:?}", shape.last(), widths.get(i)).into());
        }
        let part = n.as_float(i);
        parts.push(if shape.len() == 1 { n.reshaped(&part, &[1, -1]) } else { part });
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    n.end("Concat", &parts, vec![int_attr("axis", -1)])
}

fn impute(n: &mut NodeRewrite<'_>) -> Adapted {
    let (x, ints) = (n.at(0), n.ints("imputed_value_int64s"));
    if !ints.is_empty() {
        let (imputed, replaced) = (n.list(&ints), n.constant(&Tensor::scalar(n.int("replaced_value_int64", 0))));
        let is_replaced = n.emit("Equal", &[&x, &replaced], vec![]);
        return n.end("Where", &[&is_replaced, &imputed, &x], vec![]);
    }
    let (imputed, replaced) = (n.floats_of("imputed_value_floats"), n.float("replaced_value_float", 0.0));
    if imputed.is_empty() {
        return Err("the imputed values are missing".into());
    }
    let is_replaced = if replaced.is_nan() {
        n.emit("IsNaN", &[&x], vec![])
    } else {
        let replaced = n.number_like("", replaced);
        n.emit("Equal", &[&x, &replaced], vec![])
    };
    n.end("Where", &[&is_replaced, &imputed, &x], vec![])
}

/// The keys or the values of a label encoder, from the attributes that may hold them.
fn numbers(n: &NodeRewrite<'_>, kind: &str) -> Adapted<Tensor> {
    let (ints, floats) = (n.ints(&format!("{kind}_int64s")), n.floats(&format!("{kind}_floats")));
    let tensor = match n.tensor(&format!("{kind}_tensor"))? {
        Some(tensor) => tensor,
        None if !ints.is_empty() => Tensor::from_vec(&[ints.len()], ints),
        None => Tensor::from_vec(&[floats.len()], floats),
    };
    let is_list = tensor.shape().len() == 1 && !tensor.is_empty();
    if is_list { Ok(tensor) } else { Err(format!("{kind} other than numbers are not supported").into()) }
}

fn encode_labels(n: &mut NodeRewrite<'_>) -> Adapted {
    let (x, keys, values) = (n.at(0), numbers(n, "keys")?, numbers(n, "values")?);
    if keys.len() != values.len() || keys.to_f64().iter().any(|key| key.is_nan()) {
        return Err("requires a value for each key, and keys that are numbers".into());
    }
    let other = match n.tensor("default_tensor")? {
        Some(tensor) => tensor,
        None if values.dtype().is_float() => {
            floats_to_tensor(values.dtype(), &[], vec![f64::from(n.float("default_float", -0.0))])
        }
        None => Tensor::scalar(n.int("default_int64", -1)),
    };
    let [keys, values, other] = [&keys, &values, &other].map(|tensor| n.constant(tensor));
    let last = n.list(&[-1]);
    let x = n.emit("Unsqueeze", &[&x, &last], vec![]);
    let is_key = n.emit("Equal", &[&x, &keys], vec![]);
    let is_key = n.cast(&is_key, F32);
    let index = n.index_of_largest(&is_key);
    let most = n.emit("ReduceMax", &[&is_key, &last], vec![int_attr("keepdims", 0)]);
    let (value, zero) = (n.emit("Gather", &[&values, &index], vec![]), n.number_like("", 0.0));
    let is_known = n.emit("Greater", &[&most, &zero], vec![]);
    n.end("Where", &[&is_known, &value, &other], vec![])
}

fn normalize(n: &mut NodeRewrite<'_>) -> Adapted {
    let (x, last) = (n.as_float(0), n.list(&[-1]));
    let operator = match n.word("norm", "MAX").as_str() {
        "MAX" => "ReduceMax",
        "L1" => "ReduceL1",
        "L2" => "ReduceL2",
        other => return Err(format!("norm '{other}' is not known").into()),
    };
    let size = n.emit(operator, &[&x, &last], vec![]);
    let [zero, one] = [0.0, 1.0].map(|number| n.number_like("", number));
    let is_zero = n.emit("Equal", &[&size, &zero], vec![]);
    let size = n.emit("Where", &[&is_zero, &one, &size], vec![]);
    n.end("Div", &[&x, &size], vec![])
}

/// Returns the scores `[N, targets]` of a linear model.
fn linear(n: &mut NodeRewrite<'_>, targets: i64) -> Adapted<String> {
    let (x, coefficients) = (n.as_float(0), n.floats("coefficients"));
    let targets = usize::try_from(targets).ok().filter(|&targets| targets > 0 && coefficients.len() % targets == 0);
    let targets = targets.ok_or("the coefficients are not those of the targets")?;
    let features = coefficients.len() / targets;
    let x = if n.rank(0).is_ok_and(|rank| rank == 1) { n.reshaped(&x, &[1, -1]) } else { x };
    let coefficients = n.constant(&Tensor::from_vec(&[targets, features], coefficients));
    let intercepts = n.floats_of("intercepts");
    Ok(n.emit("Gemm", &[&x, &coefficients, &intercepts], vec![int_attr("transB", 1)]))
}

fn classify(n: &mut NodeRewrite<'_>) -> Adapted {
    let labels = n.labels("classlabels_ints")?;
    let classes = match n.floats("intercepts").len() {
        0 => labels.len(),
        count => count,
    };
    if labels.len() != classes.max(2) {
        return Err(format!("has {} labels of {classes} classes", labels.len()).into());
    }
    let (scores, transform) = (linear(n, classes as i64)?, n.word("post_transform", "NONE"));
    if classes == 1 {
        let index = n.index_above(&scores, 0.0);
        let scores = n.of_two_classes(&scores, true, &transform)?;
        return n.end_with_labels(&labels, &index, &scores);
    }
    let (index, scores) = (n.index_of_largest(&scores), n.transformed(&scores, classes, &transform)?);
    n.end_with_labels(&labels, &index, &scores)
}
