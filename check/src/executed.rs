//! Comparing a compiled program with the original in all ways of execution. A wrong kernel is found by interpreting the steps from
//! some step on.

use crate::compare::{Reference, Verdict};
use crate::execution::Execution;
use crate::outcome::Difference;
use crate::subject::{Culprit, EXECUTION, Rewrite, Subject, last_right};
use gradus_ir::{Module, PrintOptions};

impl Subject<'_> {
    /// Compares a compiled program with the original in each way of execution. Returns the verdict on each function, or the
    /// first that differs.
    pub(crate) fn executed(
        &self,
        reference: &Reference<'_>,
        m: &Module,
    ) -> Result<Vec<(String, Verdict)>, Box<Culprit>> {
        let executions: Vec<&dyn Execution> = self.executions.iter().map(|execution| &**execution as _).collect();
        let mut verdicts = Vec::new();
        for name in reference.names() {
            let of_function = reference.executed(name, m, &executions).unwrap_or_default();
            for (&execution, verdict) in executions.iter().zip(of_function) {
                match verdict {
                    Verdict::Different(difference) => {
                        return Err(Box::new(self.blame_execution(reference, m, (name, execution), *difference)));
                    }
                    verdict => verdicts.push((format!("{name} on {}", execution.name()), verdict)),
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
            error = step.explain_as(error, format!("caused by the {} of step {}", step.what, step.number));
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
    let is_wrong = |count: u64| {
        let mut m = m.clone();
        steps[count as usize..].iter().for_each(|&step| execution.interpret(&mut m, step));
        let verdicts = reference.executed(name, &m, &[execution]).unwrap_or_default();
        matches!(verdicts.last(), Some(Verdict::Different(_)))
    };
    let number = last_right((0, steps.len() as u64), is_wrong)?;
    let step = steps[number as usize];
    let names: Vec<&str> = m.ops_under(step).into_iter().map(|op| m.name_text(op)).collect();
    // A step yields the results of its ops.
    let names = if let [_, ops @ .., _] = &names[..] { ops.join(", ") } else { names.concat() };
    Some(Rewrite {
        number,
        what: format!("kernel: {names}"),
        op: m.op_text(step, PrintOptions { skip_regions: true, ..PrintOptions::default() }),
        op_name: names,
        loc: m.loc(step),
    })
}
