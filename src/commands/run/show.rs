//! Output and comparison of results.

use crate::{Failure, Streams};
use clap::ArgMatches;
use clap::parser::ValueSource;
use gradus_ir::eval::Datum;
use gradus_ir::{Context, DType, Tensor, Type};

/// Number of elements printed per output.
const SHOWN: usize = 10;

/// Prints one line per output: type and first elements.
pub fn summarize(
    ctx: &Context,
    outputs: &[(String, Type)],
    values: &[Datum],
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let mut text = String::new();
    for ((name, ty), value) in outputs.iter().zip(values) {
        let Some((tensor, mask)) = value.masked() else {
            if let Datum::Own(own) = value {
                text += &format!("{name}: {} = {own}\n", ctx.display_type(*ty));
            }
            continue;
        };
        let mut all = first_values(tensor);
        for (shown, _) in all.iter_mut().zip(mask.unwrap_or(&[])).filter(|(_, poison)| **poison) {
            *shown = "poison".into();
        }
        if !ctx.is_shaped(ctx.repr(*ty)) {
            text += &format!("{name}: {} = {}\n", ctx.display_type(*ty), all.join(", "));
            continue;
        }
        let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
        let ty = ctx.tensor_type(&shape, ctx.dtype_type(tensor.dtype()));
        let more = if tensor.len() > all.len() { ", ..." } else { "" };
        text += &format!("{name}: {} = [{}{more}]\n", ctx.display_type(ty), all.join(", "));
    }
    crate::io::write("-", streams, |out| out.write_all(text.as_bytes()))
}

fn first_values(tensor: &Tensor) -> Vec<String> {
    let n = tensor.len().min(SHOWN);
    let bytes = tensor.bytes().slice(..n * tensor.dtype().size());
    let Ok(first) = Tensor::new(tensor.dtype(), vec![n], bytes) else { return Vec::new() };
    match integers(&first) {
        Some(values) if first.dtype() == DType::Bool => values.iter().map(|&v| (v != 0).to_string()).collect(),
        Some(values) => values.iter().map(i128::to_string).collect(),
        None => first.to_f64().into_iter().map(show_float).collect(),
    }
}

/// Formats a float with at least seven significant digits.
fn show_float(value: f64) -> String {
    match value.abs() {
        size if size != 0.0 && !(1e-3..1e9).contains(&size) && value.is_finite() => format!("{value:.6e}"),
        _ => format!("{value:.6}"),
    }
}

/// Returns the elements as integers; `None` for floats.
fn integers(tensor: &Tensor) -> Option<Vec<i128>> {
    match tensor.dtype() {
        DType::U64 => Some(tensor.as_slice::<u64>().iter().map(|&v| v.into()).collect()),
        _ => Some(tensor.to_i64()?.into_iter().map(i128::from).collect()),
    }
}

/// The tolerance of a comparison: `atol + rtol * |want|`.
pub struct Tolerance {
    rtol: f64,
    atol: f64,
    /// Whether it was given explicitly and so applies to integers, which are otherwise compared exactly.
    given: bool,
}

impl Tolerance {
    /// Reads the tolerance from the command line.
    pub fn of(matches: &ArgMatches) -> Tolerance {
        let value = |name| *matches.get_one::<f64>(name).expect("has a default");
        let given = |name| matches.value_source(name) == Some(ValueSource::CommandLine);
        Tolerance { rtol: value("rtol"), atol: value("atol"), given: given("rtol") || given("atol") }
    }

    /// Prints the largest difference and returns whether all elements are within the tolerance.
    pub fn compare(
        &self,
        name: &str,
        have: &Tensor,
        want: &Tensor,
        streams: &mut Streams<'_>,
    ) -> Result<bool, Failure> {
        let (good, line) = if have.shape() != want.shape() {
            (false, format!("shape {:?}, but {:?} is expected", have.shape(), want.shape()))
        } else if let (Some(have), Some(want)) = (integers(have), integers(want)) {
            self.compare_integers(&have, &want)
        } else {
            self.compare_floats(&have.to_f64(), &want.to_f64())
        };
        let line = format!("{name}: {line}\n");
        crate::io::write("-", streams, |out| out.write_all(line.as_bytes()))?;
        Ok(good)
    }

    fn compare_integers(&self, have: &[i128], want: &[i128]) -> (bool, String) {
        let off = |(a, b): (&i128, &i128)| (a - b).unsigned_abs();
        let largest = have.iter().zip(want).map(off).max().unwrap_or(0);
        let bound = |b: i128| if self.given { self.atol + self.rtol * (b as f64).abs() } else { 0.0 };
        let wrong = have.iter().zip(want).filter(|&(a, b)| off((a, b)) as f64 > bound(*b)).count();
        let bounds = if self.given { self.bounds() } else { "exact".into() };
        (wrong == 0, format!("{} (largest difference {largest}, {bounds})", verdict(wrong, have.len())))
    }

    fn compare_floats(&self, have: &[f64], want: &[f64]) -> (bool, String) {
        let off = |(a, b): (&f64, &f64)| if a == b || (a.is_nan() && b.is_nan()) { 0.0 } else { (a - b).abs() };
        let larger = |m: f64, d: f64| if d > m || d.is_nan() { d } else { m };
        let largest = have.iter().zip(want).map(off).fold(0.0, larger);
        // An expected NaN makes the bound NaN.
        let close = |off: f64, b: f64| off == 0.0 || off <= self.atol + self.rtol * b.abs();
        let wrong = have.iter().zip(want).filter(|&(a, b)| !close(off((a, b)), *b)).count();
        (wrong == 0, format!("{} (largest difference {largest:.3e}, {})", verdict(wrong, have.len()), self.bounds()))
    }

    fn bounds(&self) -> String {
        format!("rtol {:e}, atol {:e}", self.rtol, self.atol)
    }
}

fn verdict(wrong: usize, all: usize) -> String {
    match wrong {
        0 => "agrees".to_owned(),
        _ => format!("differs in {wrong} of {all} elements"),
    }
}

/// Prints the fraction of rows of `logits` whose maximum is at the label.
pub fn accuracy(logits: &Tensor, labels: &Tensor, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let labels = labels.to_i64().ok_or_else(|| "labels must be integers".to_owned())?;
    let classes = logits.shape().last().copied().unwrap_or(0);
    if classes == 0 || logits.len() / classes != labels.len() {
        return Err(Failure::Input(format!(
            "{} labels do not fit an output of shape {:?}",
            labels.len(),
            logits.shape()
        )));
    }
    let values = logits.to_f64();
    let best = |row: &[f64]| (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
    let right = values.chunks(classes).zip(&labels).filter(|(row, label)| best(row) as i64 == **label).count();
    let percent = 100.0 * right as f64 / labels.len().max(1) as f64;
    let line = format!("accuracy: {percent:.1} % ({right} of {})\n", labels.len());
    crate::io::write("-", streams, |out| out.write_all(line.as_bytes()))
}
