//! Parsing and printing of types and attributes, compared with mlir-opt 22.

use super::{AliasTable, TypeAttrParser, grammar};
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::module::Resource;
use crate::text::define_aliases::define_aliases;
use crate::text::print_alias::AliasBuilder;
use crate::text::print_attr::AttrPrinter;

/// Parses an attribute and prints it.
fn round_trip(text: &str) -> String {
    let ctx = Context::new(&[]);
    match TypeAttrParser::new(&ctx, &AliasTable::new()).attr(text) {
        Ok(attr) => ctx.display_attr(attr),
        Err(error) => format!("{}: {}", error.offset, error.message),
    }
}

#[test]
fn canonical_text_is_kept() {
    for text in [
        "1 : i64",
        "-1 : i8",
        "true",
        "unit",
        "i32",
        "si7",
        "none",
        "f8E4M3FN",
        "1.500000e+00 : f32",
        "0x7F800000 : f32",
        "340282366920938463463374607431768211455 : ui128",
        "\"a\\0A\\22\\\\\" : i32",
        "[1, 2 : i32, 1.500000e+00, 1.500000e+00 : f32, 0x7FF0000000000000 : f64, unit, true]",
        "{a, b = 1 : i64, \"c d\" = {}}",
        "@a::@\"b c\"",
        "#foo.bar<x> : i32",
        "#foo<[1]>",
        "!foo.bar<(i32) -> i32>",
        "!foo<\"un>bal\">",
        "tensor<4x?xf32, #foo.bar>",
        "tensor<*xf32>",
        "tensor<2xf32, 3 : i64>",
        "memref<*xf32, 1>",
        "vector<4x[8]xf32>",
        "memref<2x?xf32, strided<[?, 1], offset: ?>, 3>",
        "tuple<i32, complex<f32>>",
        "(i32) -> (() -> ())",
        "() -> ()",
        "array<i32>",
        "array<i0: 0, 0>",
        "array<i1: true, false>",
        "array<f16: 1.000000e+00>",
        "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
        "dense<1> : memref<2xi32>",
        "dense<> : tensor<2x0xi32>",
        "dense<[(1.000000e+00,2.000000e+00), (0.000000e+00,0.000000e+00)]> : tensor<2xcomplex<f32>>",
        "dense<[\"a\", \"b\"]> : tensor<2x!foo.bar>",
        "dense<[true, false]> : tensor<2xi1>",
        "dense_resource<\"k k\"> : tensor<2xi32>",
        "sparse<[[0], [1]], 1> : tensor<2xi32>",
        "sparse<> : tensor<2xi32>",
        "strided<[1, ?], offset: 3>",
        "distinct[0]<>",
        "affine_map<(d0, d1)[s0] -> (d0 * s0 + d1 mod 3 + 1, 2)>",
        "affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 0)>",
        "loc(unknown)",
        "loc(\"f\":1:2 to :4)",
        "loc(fused<\"m\">[\"a\", \"f\":1:2 to 3:4])",
        "loc(callsite(\"a\" at \"b\"(\"c\")))",
    ] {
        assert_eq!(round_trip(text), text);
    }
}

#[test]
fn other_text_becomes_canonical() {
    for (text, printed) in [
        ("1", "1 : i64"),
        ("255 : i8", "-1 : i8"),
        ("0xFF : i8", "-1 : i8"),
        ("- 1", "-1 : i64"),
        ("1.", "1.000000e+00 : f64"),
        ("\"\\n\" : none", "\"\\0A\""),
        ("{b = 1, a}", "{a, b = 1 : i64}"),
        ("#foo<bar<x>>", "#foo.bar<x>"),
        ("tensor<4 x 5 xf32>", "tensor<4x5xf32>"),
        ("memref<2xf32, affine_map<(i) -> (i)>, 0>", "memref<2xf32>"),
        ("(i32) -> (i32)", "(i32) -> i32"),
        ("dense<\"0xFF\"> : tensor<8xi1>", "dense<true> : tensor<8xi1>"),
        ("dense<\"0x05\"> : tensor<3xi1>", "dense<[true, false, true]> : tensor<3xi1>"),
        ("dense<[7, 7]> : tensor<2xi4>", "dense<7> : tensor<2xi4>"),
        ("dense<\"0x01020304\"> : tensor<2xi16>", "dense<[513, 1027]> : tensor<2xi16>"),
        ("affine_map<(mod) -> (mod mod 2 - -1)>", "affine_map<(d0) -> (d0 mod 2 + 1)>"),
        ("loc(\"f\":1)", "loc(\"f\":1:0)"),
        ("loc(fused[\"a\", unknown, \"a\"])", "loc(\"a\")"),
        ("loc(fused[fused[\"a\", \"b\"], \"c\"])", "loc(fused[\"a\", \"b\", \"c\"])"),
        ("[distinct[7]<>, distinct[3]<>, distinct[7]<>]", "[distinct[0]<>, distinct[1]<>, distinct[0]<>]"),
    ] {
        assert_eq!(round_trip(text), printed, "{text}");
    }
    let list = (0..101).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let hex = (0..101).map(|i| format!("{i:02X}")).collect::<String>();
    let of_hex = format!("dense<\"0x{hex}\"> : tensor<101xi8>");
    assert_eq!(round_trip(&format!("dense<[{list}]> : tensor<101xi8>")), of_hex);
    assert_eq!(round_trip(&of_hex), of_hex);
}

#[test]
fn errors_have_a_message_and_an_offset() {
    for (text, error) in [
        ("-0 : i32", "0: integer constant out of range for attribute"),
        ("[1, 256 : ui8]", "4: integer constant out of range for attribute"),
        (
            "42 : f32",
            "0: unexpected decimal integer literal for a floating point value; add a trailing dot to make the literal a float",
        ),
        ("i16777216", "0: integer bitwidth is limited to 16777215 bits"),
        ("{a, b, a}", "7: duplicate key 'a' in dictionary attribute"),
        ("[1,", "3: expected attribute value, but the text ends here"),
        ("\"abc", "0: expected '\"' in string literal"),
        ("#nope", "0: undefined symbol alias id 'nope'"),
        ("tensor<2xtensor<i8>>", "9: invalid tensor element type"),
        ("vector<1x0xi32>", "0: vector types must have positive constant sizes but got 1, 0"),
        ("dense<[4, [5]]> : tensor<2xi32>", "11: tensor literal is invalid; ranks are not consistent between elements"),
        ("dense<[1, 2]> : tensor<3xi8>", "0: inferred shape of elements literal ([2]) does not match type ([3])"),
        ("dense<\"0x00\"> : tensor<3xi8, 1>", "0: "),
        ("dense<\"0x0\"> : tensor<2xi8>", "6: expected string containing hex digits starting with `0x`"),
        (
            "sparse<1, 10> : tensor<1x1xi16>",
            "0: sparse index #0 is not contained within the value shape, with index=[1, 1], and type='tensor<1x1xi16>'",
        ),
        ("[distinct[5]<1>, distinct[5]<2>]", "17: referenced attribute does not match previous definition: 1 : i64"),
        (
            "affine_map<(i, j) -> (i * j)>",
            "24: non-affine expression: at least one of the multiply operands has to be either a constant or symbolic",
        ),
        ("affine_map<(i, i) -> (i)>", "15: redefinition of identifier 'i'"),
    ] {
        let printed = round_trip(text);
        assert!(printed == error || (error == "0: " && printed.starts_with("dense")), "{text}: {printed}");
    }
}

#[test]
fn hostile_input_is_refused() {
    let deep = "[".repeat(1_000_000);
    assert_eq!(round_trip(&deep), "256: nesting deeper than 256 levels");
    // Comments and comparisons do not hide the nesting depth of a text.
    for hidden in ["[// ]\n", "[affine_set<(d) : (d >= 0, d >= 0, d >= 0)>, "] {
        assert!(round_trip(&hidden.repeat(10_000)).contains("nesting deeper"), "{hidden}");
    }
    assert_eq!(round_trip(&format!("[1]{}", "// [[\n".repeat(10_000))), "[1]");
    let nested = format!("{}1{}", "[".repeat(250), "]".repeat(250));
    let on_small_stack = move || round_trip(&nested).len();
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(on_small_stack);
    assert_eq!(thread.ok().and_then(|thread| thread.join().ok()), Some(501));
    assert_eq!(round_trip(&"9".repeat(1 << 20)), "0: integer literal too long");
    let wide = format!("dense<[{}1]> : tensor<1000xi16777215>", "1, ".repeat(999));
    assert!(round_trip(&wide).ends_with("the elements take too much memory"));

    let names: Vec<String> = (0..60).map(|i| format!("#a{i}")).collect();
    let texts: Vec<String> = names.iter().map(|name| format!("[{name}, {name}]")).collect();
    let mut aliases = AliasTable::new();
    for (name, text) in names[1..].iter().zip(&texts) {
        aliases.define(name, text, 0).expect("a new name");
    }
    aliases.define("#a0", "1", 0).expect("a new name");
    aliases.define("#self", "[#other]", 0).expect("a new name");
    aliases.define("#other", "[#self]", 0).expect("a new name");
    assert!(aliases.define("#self", "1", 0).is_err());
    let ctx = Context::new(&[]);
    let mut parser = TypeAttrParser::new(&ctx, &aliases);
    assert!(parser.attr("#a10").is_ok());
    assert!(parser.attr("#a59").is_err_and(|error| error.message.contains("too large")));
    assert!(parser.attr("#self").is_err_and(|error| error.message.contains("defined by itself")));
}

#[test]
fn texts_are_read_in_many_ways() {
    let ctx = Context::new(&[]);
    let mut aliases = AliasTable::new();
    aliases.define("!t", "tensor<2xi32>\n", 0).expect("a new name");
    let mut p = TypeAttrParser::new(&ctx, &aliases);
    assert_eq!(p.signature("(i32, f32) -> i64"), Ok(ctx.function_type(&[Type::I32, Type::F32], &[Type::I64])));
    assert_eq!(p.attr_of_type("-3", Type::I8), Ok(ctx.int_attr(Type::I8, -3)));
    assert_eq!(p.ty_prefix("i32, i64"), Ok((Type::I32, 3)));
    assert_eq!(p.ty_prefix("(i32)\n -> i64 {"), Ok((ctx.function_type(&[Type::I32], &[Type::I64]), 13)));
    let line = format!("1 // {}\n : i8 loc(unknown)", "x".repeat(100));
    assert_eq!(p.attr_prefix(&line), Ok((ctx.int_attr(Type::I8, 1), line.len() - 13)));
    assert_eq!(p.attr_prefix("@f(%a)"), Ok((ctx.symbol_attr("f"), 2)));
    assert_eq!(p.alias("!t"), Ok(13));
    assert_eq!(p.loc("unknown"), Ok(Attr::LOC_UNKNOWN));
    assert_eq!(p.dict("{a}").map(|dict| ctx.dict_entries(dict).len()), Ok(1));
}

#[test]
fn aliases_of_one_text_are_attributes_of_their_own() {
    let names: Vec<String> = (0..10_000).map(|i| format!("#a{i}")).collect();
    let mut aliases = AliasTable::new();
    for name in &names {
        aliases.define(name, "#t.x<1>", 0).expect("a new name");
    }
    aliases.define("#other", "#a7", 0).expect("a new name");
    let ctx = Context::new(&[]);
    let mut p = TypeAttrParser::new(&ctx, &aliases);
    let attrs: Vec<Attr> = names.iter().chain([&"#other".to_owned()]).map(|name| p.attr(name).expect("IR")).collect();
    let mut different = attrs.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), attrs.len());
    let printed = |attr: Attr| ctx.display_attr(attr).to_string();
    assert!(attrs.iter().all(|&attr| printed(attr) == "#t.x<1>"));
}

#[test]
fn aliases_are_named_like_mlirs() {
    let ctx = Context::new(&[]);
    let mut aliases = AliasTable::new();
    aliases.define("#file12", "#di.file<\"a\">", 0).expect("a new name");
    aliases.define("#unit", "#di.unit<f = #file12, g = affine_map<(d0) -> (d0)>>", 0).expect("a new name");
    let mut p = TypeAttrParser::new(&ctx, &aliases);
    let text =
        "[#unit, affine_map<() -> (1)>, memref<2xi8, affine_map<(d0) -> (-d0)>>, distinct[4]<#file12>, loc(\"x\")]";
    let attr = p.attr(text).expect("it is well-formed");
    let hints = p.hints();
    let mut builder = AliasBuilder::new(&ctx, &hints);
    builder.visit_attr(attr);
    let Ok(loc) = p.loc("callsite(\"x\" at \"y\")") else { panic!("it is well-formed") };
    builder.visit_loc(loc, true);
    let found = define_aliases(builder, None);
    let mut printed = String::new();
    AttrPrinter::new(&ctx, Some(&found)).attr(attr, &mut printed);
    assert_eq!(printed, "[#unit, #map, memref<2xi8, #map1>, #distinct, #loc]");
    let head = [
        "#file = #di.file<\"a\">",
        "#loc = loc(\"x\")",
        "#map = affine_map<() -> (1)>",
        "#map1 = affine_map<(d0) -> (-d0)>",
        "#distinct = distinct[0]<#file>",
        "#unit = #di.unit<f = #file, g = affine_map<(d0) -> (d0)>>\n",
    ];
    assert_eq!(found.head(), head.join("\n"));
    assert_eq!(found.tail(), "#loc1 = loc(\"y\")\n#loc2 = loc(callsite(#loc at #loc1))\n");
}

#[test]
fn resources_round_trip() {
    let text = "\n{-#\n  dialect_resources: {\n    builtin: {\n      a: \"0x08000000AABB\",\n      \"b c\": \"0x0\"\n    }\n  },\n  \
                external_resources: {\n    x: {\n      y: true\n    }\n  }\n#-}\n";
    let ctx = Context::new(&[]);
    let aliases = AliasTable::new();
    let resources = TypeAttrParser::new(&ctx, &aliases).resources(text.trim()).expect("it is well-formed").0;
    let blob = Resource::Blob(8, bytes::Bytes::from_static(&[0xaa, 0xbb]));
    assert_eq!(resources["dialect_resources"]["builtin"]["a"], blob);
    let mut printed = String::new();
    super::print_resources(&resources, &[], None, &mut printed);
    assert_eq!(printed, text);
}

#[test]
fn the_grammar_describes_files() {
    let file = r#"
        #map = affine_map<(d0) -> (d0)>
        "builtin.module"() ({
          "func.func"() <{sym_name = "f", function_type = (i32) -> i32}> ({
          ^bb0(%arg0: i32 loc("a")):  // an argument
            %0:2 = "x.y"(%arg0)[^bb1] {m = #map, s = affine_set<(d0) : (d0 >= 0)>} : (i32) -> (i32, !foo.bar<a>)
          ^bb1:
            "func.return"(%0#1) : (i32) -> () loc(unknown)
          }) : () -> ()
        }) : () -> () loc("f":1:2)
        {-# external_resources: {} #-}
    "#;
    assert_eq!(grammar::check_file(file), Ok(()));
    assert!(grammar::check_file("\"x.y\"(").is_err());
}
