//! Parsing of pipelines: `builtin.module(func.func(cse,canonicalize{max-iterations=3}),symbol-dce)`.

use super::pipeline::{ANY, Pipeline, PipelineStep};
use super::{PassInfo, PipelineError, find_pass};

/// Maximum nesting depth.
const MAX_NESTING: usize = 32;

impl Pipeline {
    /// Parses a pipeline with its anchor. Errors carry the byte offset in `text`.
    pub fn parse(text: &str, passes: &[&'static PassInfo]) -> Result<Pipeline, PipelineError> {
        let unanchored = "expected pass pipeline to be wrapped with the anchor operation type, e.g. \
                          'builtin.module(...)'";
        let trimmed = text.trim_end();
        let open = text.find('(').filter(|_| trimmed.ends_with(')'));
        let Some(open) = open.filter(|&at| is_name(text[..at].trim())) else {
            return Err(PipelineError::at(0, unanchored));
        };
        let mut pipeline = Pipeline::on(text[..open].trim());
        let mut reader = PipelineParser { text: &trimmed[..trimmed.len() - 1], pos: open + 1, passes };
        if !reader.rest().trim().is_empty() {
            reader.steps(&mut pipeline, 0)?;
        }
        match reader.rest() {
            "" => Ok(pipeline),
            rest if rest.starts_with(')') => Err(PipelineError::at(reader.pos, EXTRA)),
            _ => Err(PipelineError::at(reader.pos, "expected ',' after parsing pipeline")),
        }
    }
}

const EXTRA: &str = "encountered extra closing ')' creating unbalanced parentheses while parsing pipeline";

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-$".contains(&b))
}

struct PipelineParser<'a> {
    text: &'a str,
    pos: usize,
    passes: &'a [&'static PassInfo],
}

impl<'a> PipelineParser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    fn skip_space(&mut self) {
        self.pos += self.rest().len() - self.rest().trim_start().len();
    }

    /// Parses comma-separated passes and nested pipelines.
    fn steps(&mut self, pipeline: &mut Pipeline, depth: usize) -> Result<(), PipelineError> {
        loop {
            self.step(pipeline, depth)?;
            self.skip_space();
            if !self.rest().starts_with(',') {
                return Ok(());
            }
            self.pos += 1;
        }
    }

    fn step(&mut self, pipeline: &mut Pipeline, depth: usize) -> Result<(), PipelineError> {
        self.skip_space();
        let at = self.pos;
        let end = self.rest().find(['(', ')', '{', ',']).unwrap_or(self.rest().len());
        let name = self.rest()[..end].trim();
        self.pos += end;
        if self.rest().starts_with('(') {
            let nested = self.nested(if name.is_empty() { ANY } else { name }, at, depth)?;
            pipeline.steps.push(PipelineStep::Nested(vec![nested]));
            return Ok(());
        }
        let options = self.options()?;
        let info = find_pass(self.passes, name).map_err(|e| PipelineError { offset: at, ..e })?;
        let failed = |e| PipelineError::at(at, format!("{e}\nfailed to add `{name}` with options `{options}`"));
        pipeline.add_here(info, options).map_err(failed)
    }

    /// Parses `(steps)` after an op name.
    fn nested(&mut self, anchor: &str, at: usize, depth: usize) -> Result<Pipeline, PipelineError> {
        if !is_name(anchor) {
            return Err(PipelineError::at(at, format!("'{anchor}' is not the name of an operation")));
        }
        if depth >= MAX_NESTING {
            return Err(PipelineError::at(at, format!("pipelines nested deeper than {MAX_NESTING} levels")));
        }
        let open = self.pos;
        self.pos += 1;
        let mut nested = Pipeline::on(anchor);
        self.steps(&mut nested, depth + 1)?;
        if self.rest().starts_with(')') {
            self.pos += 1;
            return Ok(nested);
        }
        Err(match self.rest() {
            "" => PipelineError::at(open, "encountered unbalanced parentheses while parsing pipeline"),
            _ => PipelineError::at(self.pos, "expected ',' after parsing pipeline"),
        })
    }

    /// Parses the text in `{...}`, if present.
    fn options(&mut self) -> Result<&'a str, PipelineError> {
        let rest = self.rest();
        if !rest.starts_with('{') {
            return Ok("");
        }
        let mut open = 0usize;
        for (i, byte) in rest.bytes().enumerate() {
            match byte {
                b'{' => open += 1,
                b'}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                self.pos += i + 1;
                return Ok(&rest[1..i]);
            }
        }
        Err(PipelineError::at(self.pos, "missing closing '}' while processing pass options"))
    }
}
