//! Assembly format of `mask`.

use super::{MaskOp, YieldOp};
use gradus_ir::{Directive, OpDecl, OpParser, OpPrinter, Param, ParseResult};

/// `%mask, %passthru { op } {...} : type -> types`
pub(super) const MASKED: Directive = Directive { name: "Masked", parse, print };

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let mask = p.value()?;
    let passthru = if p.eat(",") { Some(p.value()?) } else { None };
    let region = p.region(&[])?;
    p.yield_last(region, YieldOp::INFO.name);
    p.attr_dict()?;
    p.expect(":")?;
    let ty = p.ty()?;
    let results = if p.eat("->") { p.result_types()? } else { Vec::new() };
    if passthru.is_some() && results.is_empty() {
        return p.error_of_op("expects a result if passthru operand is provided");
    }
    p.set_operands(params[0], [mask]);
    p.set_types(params[0], vec![ty]);
    p.set_types(params[1], passthru.iter().map(|_| results[0]).collect());
    p.set_operands(params[1], passthru);
    p.set_types(params[3], results);
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), MaskOp(p.op));
    let operands = m.operands(p.op).to_vec();
    p.values(&operands);
    p.text(" { ");
    if let Some(masked) = m.entry(op.mask_region(m)).and_then(|b| m.first_op(b)) {
        p.nested(masked)?;
    }
    p.text(" }");
    p.attr_dict();
    p.text(" : ");
    let mask = p.group_types(params[0]);
    p.types(&mask);
    let results = p.group_types(params[3]);
    if !results.is_empty() {
        p.text(" -> ");
        p.result_types(&results);
    }
    Ok(())
}
