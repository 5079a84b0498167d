//! Verification of an op's region constraints, after the ops in its regions.

use crate::control::{Edge, Point};
use crate::module::{Module, Op, Value, ValueList};
use crate::op_info::OpInfo;
use crate::text::diag::Diagnostic;

type Check = Result<(), Box<Diagnostic>>;

/// Verifies the constraints on regions of `op` that depend on the ops inside.
pub(super) fn check(m: &Module, op: Op) -> Check {
    let Some(info) = m.info(op) else { return Ok(()) };
    implicit_terminators(m, op, info)?;
    if let Some(verify) = info.verify_regions {
        verify(m, op).map_err(|violation| error(m, op, violation.message()))?;
    }
    edges(m, op, info)
}

fn error(m: &Module, op: Op, message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(m.loc(op), format!("'{}' op {message}", m.name_text(op))))
}

/// Verifies that regions whose terminator the text may omit end with that terminator.
fn implicit_terminators(m: &Module, op: Op, info: &OpInfo) -> Check {
    let want = info.implicit_terminator;
    if want.is_empty() {
        return Ok(());
    }
    for &region in m.regions(op) {
        let Some(last) = m.entry(region).and_then(|b| m.last_op(b)) else { continue };
        let found = m.name_text(last);
        if found != want {
            let hint = format!("in custom textual format, the absence of terminator implies '{want}'");
            let d = error(m, op, &format!("expects regions to end with '{want}', found '{found}'"));
            return Err(Box::new(d.note(m.loc(op), hint)));
        }
    }
    Ok(())
}

/// Verifies that forwarded operands match the results or arguments that receive them.
pub(super) fn edges(m: &Module, op: Op, info: &OpInfo) -> Check {
    let Some(edges) = info.edges else { return Ok(()) };
    for edge in edges(m, op) {
        for from in edge.sources(m, op) {
            edge_fits(m, op, edge, from)?;
        }
    }
    Ok(())
}

fn edge_fits(m: &Module, op: Op, edge: Edge, from: Op) -> Check {
    let (have, want): (&[Value], ValueList) = (edge.carried(m, from), edge.receivers(m, op));
    let complain = |what: String| {
        let source = if from == op { "parent".to_owned() } else { format!("Operation {}", m.name_text(from)) };
        let target = match edge.to {
            Point::Op => "parent".to_owned(),
            Point::Region(i) => format!("Region #{i}"),
        };
        let d = error(m, op, &format!("along control flow edge from {source} to {target}: {what}"));
        Err(Box::new(d.note(m.loc(from), "region branch point")))
    };
    if have.len() != want.len() {
        let (have, want) = (have.len(), want.len());
        return complain(format!("region branch point has {have} operands, but region successor needs {want} inputs"));
    }
    for (i, (&have, &want)) in have.iter().zip(&want).enumerate() {
        let (have, want) = (m.value_type(have), m.value_type(want));
        if have != want {
            let (have, want) = (m.ctx.display_type(have), m.ctx.display_type(want));
            return complain(format!(
                "successor operand type #{i} '{have}' should match successor input type #{i} '{want}'"
            ));
        }
    }
    Ok(())
}
