//! Options of the passes under test, drawn for each program.

use gradus_ir::pass::{OptionKind, PassInfo, PassOption, Pipeline, RunOptions, Watch};
use gradus_ir::random::Random;
use gradus_ir::{Context, Module};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Percentage of pipelines with drawn options, and of options that are drawn in one.
const VARIED: u64 = 50;
const DRAWN: u64 = 30;

/// Values of integer options, besides half and twice the default.
const INTEGERS: [i64; 8] = [-1, 0, 1, 2, 3, 4, 5, 8];

/// A value of an option that a pass accepts.
struct Choice {
    /// As `name={value}`.
    text: String,
    /// The option without whose value, which is in the text too, the pass rejects it: some groups of rules need `floats=approx`.
    with: Option<&'static str>,
}

/// The values that passes accept for their options, by pass and option, found on demand.
#[derive(Default)]
pub(crate) struct OptionValues(FxHashMap<(&'static str, &'static str), Vec<Choice>>);

impl OptionValues {
    /// Draws some of the options that a pipeline leaves to their defaults.
    pub(crate) fn vary(&mut self, ctx: &Arc<Context>, pipeline: &mut Pipeline, random: &mut Random) {
        if !random.percent(VARIED) {
            return;
        }
        // Values that are accepted alone may be rejected together.
        let _ = pipeline.set_options(&mut |info, options| {
            let mut drawn = String::new();
            for option in info.options.iter().filter(|option| !options.is_given(option.name)) {
                let choices = self.choices(ctx, info, option);
                if !choices.is_empty() && random.percent(DRAWN) {
                    let choice = &choices[random.below(choices.len() as u64) as usize];
                    if choice.with.is_none_or(|with| !options.is_given(with)) {
                        drawn = drawn + &choice.text + " ";
                    }
                }
            }
            drawn
        });
    }

    fn choices(&mut self, ctx: &Arc<Context>, info: &'static PassInfo, option: &'static PassOption) -> &[Choice] {
        self.0.entry((info.name, option.name)).or_insert_with(|| {
            let all = candidates(ctx, info, option);
            all.into_iter().filter_map(|text| choice(ctx, info, option, text)).collect()
        })
    }
}

/// Returns the choice of a value, alone or with that of another option; `None` if the pass rejects it.
fn choice(ctx: &Arc<Context>, info: &'static PassInfo, option: &PassOption, text: String) -> Option<Choice> {
    if accepts(ctx, info, &text) {
        return Some(Choice { text, with: None });
    }
    let others = info.options.iter().filter(|other| other.name != option.name);
    let mut pairs = others.flat_map(|other| {
        let texts = candidates(ctx, info, other).into_iter();
        let text = &text;
        texts.map(move |with| Choice { text: format!("{text} {with}"), with: Some(other.name) })
    });
    pairs.find(|pair| accepts(ctx, info, &pair.text))
}

/// Returns values of an option, as `name={value}`: its declared samples, or values of its kind.
fn candidates(ctx: &Context, info: &PassInfo, option: &PassOption) -> Vec<String> {
    let samples = info.samples.iter().find(|(name, _)| *name == option.name);
    let values = samples.map_or_else(|| values_of_kind(option.kind), |(_, samples)| samples(ctx));
    values.into_iter().map(|value| format!("{}={{{value}}}", option.name)).collect()
}

fn values_of_kind(kind: OptionKind) -> Vec<String> {
    match kind {
        OptionKind::Bool(_) => vec!["false".to_owned(), "true".to_owned()],
        OptionKind::Word(_, words) => words.iter().map(|(word, _)| (*word).to_owned()).collect(),
        OptionKind::Int(default) => {
            let integers = INTEGERS.into_iter().chain([default / 2, default.saturating_mul(2)]);
            integers.map(|n| n.to_string()).collect()
        }
        OptionKind::Float(default) => [0.0, default / 2.0, default * 2.0].map(|x| x.to_string()).into(),
        OptionKind::Text(_) | OptionKind::List => Vec::new(),
    }
}

/// Whether a pass runs on an empty program with options.
fn accepts(ctx: &Arc<Context>, info: &'static PassInfo, options: &str) -> bool {
    let mut pipeline = Pipeline::on("builtin.module");
    let how = RunOptions { threads: 1, ..RunOptions::default() };
    pipeline.add(info, options).is_ok()
        && pipeline.run(&mut Module::new(ctx.clone()), &how, &mut Watch::default()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gradus_ir::{Diagnostic, Op, Pass, PassContext};

    struct Nothing;

    impl Pass for Nothing {
        fn run(&mut self, _: &mut Module, _: Op, _: &mut PassContext<'_>) -> Result<(), Diagnostic> {
            Ok(())
        }
    }

    const PASS: PassInfo = PassInfo {
        name: "nothing",
        options: &[
            PassOption { name: "factor", doc: "", kind: OptionKind::Int(4) },
            PassOption { name: "given", doc: "", kind: OptionKind::Int(7) },
            PassOption { name: "mode", doc: "", kind: OptionKind::Word("a", &[("a", ""), ("b", "")]) },
            PassOption { name: "sizes", doc: "", kind: OptionKind::List },
            PassOption { name: "fast", doc: "", kind: OptionKind::Bool(false) },
        ],
        samples: &[("sizes", |_| vec!["2,3".to_owned()])],
        make: |options| match options.int("factor") {
            1.. if options.text("mode") == "a" || options.bool("fast") => Ok(Box::new(Nothing)),
            _ => Err("factor: a positive number; mode: b is fast".to_owned()),
        },
        ..PassInfo::DEFAULT
    };

    #[test]
    fn drawn_options_are_accepted_and_given_ones_stay() {
        let (ctx, mut values) = (Context::new(&[]), OptionValues::default());
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..300_u64 {
            let mut pipeline = Pipeline::on("builtin.module");
            pipeline.add(&PASS, "given=7").unwrap();
            values.vary(&ctx, &mut pipeline, &mut Random::of(seed));
            let text = pipeline.to_string();
            assert!(text.contains("given=7") && !text.contains("factor=0") && !text.contains("factor=-"), "{text}");
            assert!(!text.contains("mode=b") || text.contains("fast=true"), "{text}");
            seen.insert(text);
        }
        let has = |part: &str| seen.iter().any(|text| text.contains(part));
        assert!(
            has("factor=2 ") && has("factor=8 ") && has("fast=true given=7 mode=b") && has("sizes={2,3}"),
            "{seen:?}"
        );
    }
}
