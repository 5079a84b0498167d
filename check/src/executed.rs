//! Comparing a compiled program with the original in all ways of execution. A wrong kernel is found by interpreting the steps from
//! some step on.

use crate::compare::{Reference, Verdict};
use crate::execution::Execution;
use crate::outcome::Difference;
use crate::subject::{Culprit, EXECUTION, Rewrite, Subject};
use gradus_ir::{Loc, Module, PrintOptions};

impl Subject<'_> {
    /// Compares a compiled program with the original in each way of execution. Returns the verdict on each function, or the
    /// first that differs.
    pub(crate) fn executed(
        &self,
        reference: &Reference<'_>,
        m: &Module,
    ) -> Result<Vec<(String, Verdict)>, Box<Culprit>> {
        let mut verdicts = Vec::new();
        for name in reference.names() {
            for execution in self.executions {
                let execution: &dyn Execution = &**execution;
                match reference.executed(name, m, execution) {
                    Some(Verdict::Different(difference)) => {
                        return Err(Box::new(self.blame_execution(reference, m, (name, execution), *difference)));
                    }
                    Some(verdict) => verdicts.push((format!("{name} on {}", execution.name()), verdict)),
                    None => {}
                }
            }
        }
        Ok(verdicts)
    }

    /// Finds the step whose kernel is wrong.
    fn blame_execution(
        &self,
        reference: &Reference<'_>,
        m: &Module,
        (name, execution): (&str, &dyn Execution),
        difference: Difference,
    ) -> Culprit {
        let mut error = reference.error(name, &difference, &format!("as it is executed on {}", execution.name()));
        let rewrite = first_wrong_step(reference, m, name, execution);
        if let Some(step) = &rewrite {
            let loc = if step.loc == Loc::UNKNOWN { error.loc } else { step.loc };
            let cause = format!("caused by the {} of step {}", step.what, step.number);
            error = error.note(loc, cause).note(loc, format!("on {}", step.op));
        }
        let (pipeline, conclusive) = ((self.pipeline)().to_string(), reference.is_conclusive(name));
        let (pass, function) = (EXECUTION, name.to_owned());
        Culprit { pass, pipeline, number: usize::MAX, function, difference, conclusive, rewrite, error }
    }
}

/// Returns the first step without whose kernel the function is right: interpreted, like all steps after it.
fn first_wrong_step(reference: &Reference<'_>, m: &Module, name: &str, execution: &dyn Execution) -> Option<Rewrite> {
    let function = reference.function_in(name, m)?;
    let steps = execution.steps(m, function);
    let is_wrong = |count: usize| {
        let mut m = m.clone();
        steps[count..].iter().for_each(|&step| execution.interpret(&mut m, step));
        matches!(reference.executed(name, &m, execution), Some(Verdict::Different(_)))
    };
    let (mut right, mut wrong) = (0, steps.len());
    if is_wrong(right) {
        return None;
    }
    while wrong - right > 1 {
        let middle = right + (wrong - right) / 2;
        if is_wrong(middle) { wrong = middle } else { right = middle }
    }
    let step = *steps.get(right)?;
    let names: Vec<&str> = m.ops_under(step).into_iter().skip(1).map(|op| m.name_text(op)).collect();
    let names = names.split_last().map_or(String::new(), |(_, ops)| ops.join(", "));
    Some(Rewrite {
        number: right as u64,
        what: format!("kernel: {names}"),
        op: m.op_text(step, PrintOptions { skip_regions: true, ..PrintOptions::default() }),
        op_name: names,
        loc: m.loc(step),
    })
}
