//! Access to operands and attributes by declared name, for evaluation and shape inference.

use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, Tensor, Violation};
use gradus_reference_kernels::KernelResult;
use gradus_reference_kernels::shape::{AutoPad, ConvAttrs, WindowAttrs};

/// Result of an evaluation.
pub(super) type Results = Result<Vec<Datum>, Trap>;

/// Wraps the single result of a kernel.
pub(super) fn one(result: KernelResult) -> Results {
    Ok(vec![Datum::Tensor(result?)])
}

/// Wraps several kernel results; results that the op does not declare are dropped.
pub(super) fn several(args: &OpArgs<'_>, results: impl IntoIterator<Item = Tensor>) -> Results {
    let wanted = args.result_types.len().max(1);
    Ok(results.into_iter().take(wanted).map(Datum::Tensor).collect())
}

/// The evaluated operands of an op, by operand name.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    args: &'a OpArgs<'a>,
    data: &'a [Datum],
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(args: &'a OpArgs<'a>, data: &'a [Datum]) -> Self {
        Inputs { args, data }
    }

    /// Returns the values of an operand group.
    fn group(self, name: &str) -> Result<&'a [Datum], Trap> {
        let mut start = 0;
        for spec in self.args.info.operands {
            let end = start + self.args.operand(spec.name).len();
            if spec.name == name {
                return self.data.get(start..end).ok_or_else(|| Trap::unsupported(format!("'{name}' has no value")));
            }
            start = end;
        }
        Err(Trap::unsupported(format!("there is no operand '{name}'")))
    }

    /// Returns the tensor of an optional operand.
    pub(crate) fn opt(self, name: &str) -> Result<Option<&'a Tensor>, Trap> {
        self.group(name)?.first().map(Datum::tensor).transpose()
    }

    /// Returns the tensor of a required operand.
    pub(crate) fn get(self, name: &str) -> Result<&'a Tensor, Trap> {
        self.opt(name)?.ok_or_else(|| Trap::unsupported(format!("the operand '{name}' is missing")))
    }

    /// Returns the elements of an optional integer operand: axes, sizes, repeats.
    pub(super) fn ints(self, name: &str) -> Result<Option<Vec<i64>>, Trap> {
        let list = |t: &Tensor| t.to_i64().ok_or_else(|| Trap::unsupported(format!("'{name}' should hold integers")));
        self.opt(name)?.map(list).transpose()
    }

    /// Returns the element of an optional scalar integer operand.
    pub(super) fn int(self, name: &str) -> Result<Option<i64>, Trap> {
        match self.ints(name)?.as_deref() {
            None => Ok(None),
            Some(&[v]) => Ok(Some(v)),
            Some(_) => Err(Trap::unsupported(format!("'{name}' should hold one integer"))),
        }
    }
}

/// Evaluates an op with one operand.
pub(super) fn unary(data: &[Datum], kernel: impl Fn(&Tensor) -> KernelResult) -> Results {
    match data {
        [x] => one(kernel(x.tensor()?)),
        _ => Err(Trap::unsupported("one operand is needed")),
    }
}

/// Evaluates an op with two operands.
pub(super) fn binary(data: &[Datum], kernel: impl Fn(&Tensor, &Tensor) -> KernelResult) -> Results {
    match data {
        [a, b] => one(kernel(a.tensor()?, b.tensor()?)),
        _ => Err(Trap::unsupported("two operands are needed")),
    }
}

/// Evaluates an op with any number of operands.
pub(super) fn variadic(data: &[Datum], kernel: impl Fn(&[&Tensor]) -> KernelResult) -> Results {
    let tensors: Result<Vec<&Tensor>, Trap> = data.iter().map(Datum::tensor).collect();
    one(kernel(&tensors?))
}

/// Returns the integer attribute `name`.
pub(super) fn int(args: &OpArgs<'_>, name: &str) -> Result<i64, Violation> {
    args.int(name).ok_or_else(|| format!("requires the integer attribute '{name}'").into())
}

/// Returns the float attribute `name`.
pub(super) fn float(args: &OpArgs<'_>, name: &str) -> Result<f64, Violation> {
    args.float(name).ok_or_else(|| format!("requires the float attribute '{name}'").into())
}

/// Returns the integer list attribute `name`; empty when absent.
pub(super) fn list(args: &OpArgs<'_>, name: &str) -> Vec<i64> {
    args.ints(name).unwrap_or_default()
}

/// Returns the case that the string attribute `name` selects.
pub(super) fn choice<T: Copy>(args: &OpArgs<'_>, name: &str, cases: &[(&str, T)]) -> Result<T, Violation> {
    let word = args.attr(name).and_then(|a| args.ctx().as_str(a)).unwrap_or("");
    cases.iter().find(|c| c.0 == word).map(|c| c.1).ok_or_else(|| {
        let all: Vec<&str> = cases.iter().map(|c| c.0).collect();
        format!("attribute '{name}' should be one of {}, not '{word}'", all.join(", ")).into()
    })
}

/// Returns the attributes of a sliding window, with defaults for those that the op does not declare.
pub(super) fn window(args: &OpArgs<'_>) -> Result<WindowAttrs, Violation> {
    let auto_pad = [
        ("NOTSET", AutoPad::NotSet),
        ("SAME_UPPER", AutoPad::SameUpper),
        ("SAME_LOWER", AutoPad::SameLower),
        ("VALID", AutoPad::Valid),
    ];
    Ok(WindowAttrs {
        kernel_shape: list(args, "kernel_shape"),
        strides: list(args, "strides"),
        dilations: list(args, "dilations"),
        pads: list(args, "pads"),
        auto_pad: if args.info.attr("auto_pad").is_some() {
            choice(args, "auto_pad", &auto_pad)?
        } else {
            AutoPad::NotSet
        },
        ceil_mode: args.flag("ceil_mode"),
    })
}

/// Returns the attributes of a convolution.
pub(super) fn conv(args: &OpArgs<'_>) -> Result<ConvAttrs, Violation> {
    Ok(ConvAttrs { window: window(args)?, group: int(args, "group")? })
}
