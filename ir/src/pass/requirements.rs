//! Properties that passes require and establish, checked over a pipeline before it runs.

use super::pipeline::{Pipeline, PipelineStep};
use super::{PassInfo, RunOptions};
use crate::module::Module;
use crate::text::diag::Diagnostic;

/// A property of a program, such as "no loops remain".
pub struct Property {
    /// Name in messages and listings.
    pub name: &'static str,
    /// Description that completes a sentence after "so that".
    pub doc: &'static str,
    /// The test of the property on an input program.
    pub test: Test,
}

/// A test of a property.
pub enum Test {
    /// The program has no ops of this dialect.
    NoOpsOf(&'static str),
    /// A predicate.
    Holds(fn(&Module) -> bool),
    /// Only a pass establishes the property.
    OnlyByPass,
}

impl Property {
    /// Whether the program has the property.
    pub fn holds(&self, m: &Module) -> bool {
        match self.test {
            Test::NoOpsOf(dialect) => m.ops_under(m.root()).iter().all(|&op| m.ctx.op_dialect(m.name(op)) != dialect),
            Test::Holds(test) => test(m),
            Test::OnlyByPass => false,
        }
    }
}

impl Pipeline {
    /// Checks that the requirements of every pass are established by an earlier pass or hold for the input. The error
    /// names a pass of `how.passes` that establishes the property.
    pub(super) fn check_requirements(&self, m: &Module, how: &RunOptions) -> Result<(), Diagnostic> {
        let mut passes = Vec::new();
        self.in_order(&mut passes);
        let mut established: Vec<&str> = Vec::new();
        for info in passes {
            for &property in info.requires {
                if !established.contains(&property.name) {
                    if !property.holds(m) {
                        return Err(Diagnostic::error(m.loc(m.root()), missing(info, property, &how.passes)));
                    }
                    established.push(property.name);
                }
            }
            established.extend(info.establishes.iter().map(|p| p.name));
        }
        Ok(())
    }

    fn in_order(&self, passes: &mut Vec<&'static PassInfo>) {
        for step in &self.steps {
            match step {
                PipelineStep::Pass(pass) => passes.push(pass.info),
                PipelineStep::Nested(pipelines) => pipelines.iter().for_each(|p| p.in_order(passes)),
            }
        }
    }
}

fn missing(info: &PassInfo, property: &Property, passes: &[&PassInfo]) -> String {
    let helps = |p: &&&PassInfo| p.establishes.iter().any(|e| e.name == property.name);
    let names: Vec<String> = passes.iter().filter(helps).map(|p| format!("'{}'", p.name)).collect();
    let advice = match &names[..] {
        [] => "no pass establishes that".to_owned(),
        names => format!("run {} before it", names.join(" or ")),
    };
    format!("pass '{}' requires '{}' ({}); {advice}", info.name, property.name, property.doc)
}

#[cfg(test)]
mod tests {
    use super::super::{Pass, PassContext, Watch};
    use super::*;
    use crate::{Context, Op, ParseOptions, parse_module};

    const FLAT: Property = Property { name: "flat", doc: "no ops of dialect 't' are left", test: Test::NoOpsOf("t") };
    const SEEN: Property = Property { name: "seen", doc: "'see' has run", test: Test::OnlyByPass };

    struct Nothing;
    impl Pass for Nothing {
        fn run(&mut self, _: &mut Module, _: Op, _: &mut PassContext<'_>) -> Result<(), Diagnostic> {
            Ok(())
        }
    }
    const NOTHING: PassInfo = PassInfo { make: |_| Ok(Box::new(Nothing)), ..PassInfo::DEFAULT };
    const FLATTEN: PassInfo = PassInfo { name: "flatten", establishes: &[&FLAT], ..NOTHING };
    const SEE: PassInfo = PassInfo { name: "see", requires: &[&FLAT], establishes: &[&SEEN], ..NOTHING };
    const USE: PassInfo = PassInfo { name: "use", requires: &[&SEEN], ..NOTHING };
    const PASSES: &[&PassInfo] = &[&FLATTEN, &SEE, &USE];

    fn run(pipeline: &str, text: &str) -> Vec<String> {
        let ctx = Context::new(&[]);
        let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
        let mut m = parse_module(&ctx, "t", text.to_owned(), options).expect("IR");
        let mut pipeline = Pipeline::parse(pipeline, PASSES).expect("a pipeline");
        let mut messages = Vec::new();
        let mut watch = Watch::new(|event| messages.push(format!("{event:?}")));
        let how = RunOptions { passes: PASSES.to_vec(), ..RunOptions::default() };
        let _ = pipeline.run(&mut m, &how, &mut watch);
        drop(watch);
        messages
    }

    #[test]
    fn a_pipeline_is_checked_as_a_whole() {
        let message = |pipeline: &str, text: &str| run(pipeline, text).pop().unwrap_or_default();
        let flat = "pass 'see' requires 'flat' (no ops of dialect 't' are left); run 'flatten' before it";
        assert!(message("any(see,use)", "\"t.x\"() : () -> ()").contains(flat));
        assert_eq!(message("any(see,use)", "\"u.x\"() : () -> ()"), "");
        assert_eq!(message("any(u.f(flatten),see,use)", "\"t.x\"() : () -> ()"), "");
        assert!(message("any(use)", "").contains("pass 'use' requires 'seen' ('see' has run); run 'see' before it"));
    }
}
