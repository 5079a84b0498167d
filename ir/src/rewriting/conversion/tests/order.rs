//! Tests of the visit order, and of ops of unknown legality.

use super::*;
use std::sync::Mutex;

const NESTED: &str = r#"
    "i.a"() ({
      "i.b"() : () -> ()
      "i.c"() : () -> ()
    }) : () -> ()
    "i.d"() : () -> ()
"#;

/// Returns the names of the ops for which patterns are tried, in order.
fn visited(order: VisitOrder) -> String {
    let seen = Mutex::new(Vec::new());
    let note = ConversionPattern::any("note", |r, op, _| {
        seen.lock().expect("no thread panics").push(r.module().name_text(op).to_owned());
        Err("it only looks".into())
    });
    let mut m = parse(&context(), NESTED);
    let root = m.root();
    let config = ConversionConfig { order, ..ConversionConfig::PARTIAL };
    apply_conversion(&mut m, root, &ConversionTarget::new("t"), &[note], config).expect("nothing is illegal");
    seen.lock().expect("no thread panics").join(" ")
}

#[test]
fn ops_are_visited_in_either_order() {
    assert_eq!(visited(VisitOrder::Forward), "i.a i.b i.c i.d");
    assert_eq!(visited(VisitOrder::Backward), "i.d i.c i.b i.a");
}

#[test]
fn ops_of_unknown_legality_are_converted_where_a_pattern_applies() {
    let used = ConversionPattern::new("lower-used", "i.x", |r, op, _| {
        if r.module().results(op).all(|v| r.module().is_unused(v)) {
            return Err("nothing uses it".into());
        }
        let state = like(r.module(), op, "l.x", &[]);
        r.replace_with(op, state)?;
        Ok(())
    });
    let mut target = ConversionTarget::new("l");
    target.unknown_op("i.x");
    target.legal_unknown();
    let text = r#"
        %0 = "i.x"() : () -> i32
        %1 = "i.x"() : () -> i32
        "i.use"(%1) : (i32) -> ()
    "#;
    assert_snapshot!(partially(text, &target, &[used]), @r#"
    %0 = "i.x"() : () -> i32
    %1 = "l.x"() : () -> i32
    "i.use"(%1) : (i32) -> ()
    "#);
}

#[test]
fn tables_of_symbols_follow_the_program() {
    let rename = ConversionPattern::new("rename-symbol", "i.rename", |r, op, _| {
        let ctx = r.module().ctx.clone();
        let find = |r: &mut ConversionRewriter<'_>, name: &str| {
            let (m, symbols) = r.module_and_symbols();
            symbols.lookup(m, m.root(), ctx.str(name))
        };
        let symbol = find(r, "old").ok_or("there is no such symbol")?;
        r.modify(symbol, |m| m.set_attr(symbol, "sym_name", Some(ctx.string_attr("new"))));
        if find(r, "old").is_some() || find(r, "new") != Some(symbol) {
            return Err("the table is stale".into());
        }
        r.erase(op);
        Ok(())
    });
    let mut target = ConversionTarget::new("l");
    target.illegal_op("i.rename");
    target.legal_unknown();
    let text = r#"
        "t.func"() <{function_type = () -> (), sym_name = "old"}> ({
          "t.return"() : () -> ()
        }) : () -> ()
        "i.rename"() : () -> ()
    "#;
    let out = partially(text, &target, &[rename]);
    assert!(out.contains("@new") && !out.contains("@old") && !out.contains("i.rename"), "{out}");
}
