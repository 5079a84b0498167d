//! Mistakes in declarations, each with the error that `Tool::check_declarations` gives for it. Those that `#[op]` finds
//! while it compiles are in `ir/macros/src/mistakes.rs`.

use gradus::Tool;
use gradus::dialects::constraint::{ANY, FLOAT_LIKE, I64, INDEX, STRING};
use gradus::ir::eval::{Datum, Trap, floats_to_tensor};
use gradus::ir::pass::{OptionKind, PassOption};
use gradus::ir::rules::{ArgKind, RuleFunction, RuleGroup, rule};
use gradus::ir::{
    Access, Arity, AttrInfo, AttrKind, AttrSpec, AttrText, Context, DType, Dialect, Directive, Effects, Extension,
    Folded, GroupSpec, OpArgs, OpInfo, Parametric, PassInfo, Pattern, Representation, Traits, Type, TypeConstraint,
    TypeInfo, TypeRelation, ValueSpec,
};

const TOY: Dialect = Dialect { name: "toy", doc: "Toys.", ..Dialect::DEFAULT };
const OP: OpInfo = OpInfo { name: "toy.op", doc: "An op.", ..OpInfo::DEFAULT };
const PASS: PassInfo = PassInfo { name: "toy-pass", doc: "A pass.", make: |_| Err("no".into()), ..PassInfo::DEFAULT };

const F32: TypeConstraint = TypeConstraint { summary: "f32", check: |_, ty| ty == Type::F32, only: Some(Type::F32) };
const I32: TypeConstraint = TypeConstraint { summary: "i32", check: |_, ty| ty == Type::I32, only: Some(Type::I32) };

const fn value(name: &'static str, ty: &'static TypeConstraint) -> ValueSpec {
    ValueSpec { name, doc: "A value.", arity: Arity::One, ty }
}

const fn variadic(name: &'static str) -> ValueSpec {
    ValueSpec { name, doc: "Values.", arity: Arity::Variadic, ty: &ANY }
}

const fn attr(name: &'static str, kind: &'static AttrKind, default: Option<&'static str>) -> AttrSpec {
    AttrSpec { name, doc: "An attribute.", optional: false, kind, default }
}

const REGION: GroupSpec = GroupSpec { name: "body", doc: "The body.", arity: Arity::One };

/// Returns the errors for one more dialect.
fn of_dialect(dialect: &'static Dialect) -> Vec<String> {
    let errors = Tool::new("toys").with_dialects(&[dialect]).check_declarations();
    errors.iter().map(ToString::to_string).collect()
}

/// Returns the errors for one more pass.
fn of_pass(pass: &'static PassInfo) -> Vec<String> {
    let mut tool = Tool::new("toys");
    tool.passes.push(pass);
    tool.check_declarations().iter().map(ToString::to_string).collect()
}

/// One test for each mistake: a name, a declaration, and the error.
macro_rules! ops {
    ($($case:ident { $($key:ident: $value:expr),* $(,)? } => $error:expr;)*) => { $(
        #[test]
        fn $case() {
            static INFO: OpInfo = OpInfo { $($key: $value,)* ..OP };
            static DIALECT: Dialect = Dialect { ops: &[&INFO], ..TOY };
            assert_eq!(of_dialect(&DIALECT), [format!("op '{}' of dialect 'toy': {}", INFO.name, $error)]);
        }
    )* };
}

macro_rules! dialects {
    ($($case:ident { $($key:ident: $value:expr),* $(,)? } => $error:expr;)*) => { $(
        #[test]
        fn $case() {
            static DIALECT: Dialect = Dialect { $($key: $value,)* ..TOY };
            assert_eq!(of_dialect(&DIALECT), [$error]);
        }
    )* };
}

macro_rules! passes {
    ($($case:ident { $($key:ident: $value:expr),* $(,)? } => $error:expr;)*) => { $(
        #[test]
        fn $case() {
            static INFO: PassInfo = PassInfo { $($key: $value,)* ..PASS };
            assert_eq!(of_pass(&INFO), [format!("pass '{}': {}", INFO.name, $error)]);
        }
    )* };
}

#[test]
fn our_own_declarations_have_no_mistakes() {
    let errors: Vec<String> = Tool::gradus().check_declarations().iter().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn an_error_points_at_the_declaration() {
    use gradus::dialects::arith::AddIOp;
    use gradus::ir::OpDecl;
    use gradus::ir::declarations::op_error;
    let error = op_error("arith", AddIOp::INFO, "is wrong").to_string();
    assert!(
        error.starts_with("dialects/src/arith/") && error.ends_with(": op 'arith.addi' of dialect 'arith': is wrong"),
        "{error}"
    );
}

// Names and documentation.
ops! {
    a_name_of_another_dialect { name: "arith.oops" } => "its name does not begin with 'toy.'";
    an_op_without_documentation { doc: " " } => "it has no documentation";
    two_fields_of_one_name { operands: &[value("x", &ANY)], attrs: &[attr("x", &I64, None)] } =>
        "two of its fields are called 'x'";
    two_extensions_of_one_type { extensions: &[&Latency(1), &Latency(2)] } =>
        format!("two of its extensions are of type '{}'", std::any::type_name::<Latency>());
    a_pattern_that_is_listed_twice { patterns: &[PATTERN, PATTERN] } => "the pattern 'drop' is listed twice";
}

struct Latency(#[allow(dead_code, reason = "only the type matters")] u64);
impl Extension for Latency {}

const PATTERN: Pattern = Pattern { name: "drop", run: |_, _| false };

// Groups, attributes and traits.
ops! {
    two_variadics_without_segments { operands: &[variadic("a"), variadic("b")] } =>
        "it has 2 operand groups of variable size without the trait OPERAND_SEGMENTS";
    two_variadic_results_without_segments { results: &[variadic("a"), variadic("b")] } =>
        "it has 2 result groups of variable size without the trait RESULT_SEGMENTS or SAME_VARIADIC_RESULT_SIZE";
    a_default_that_is_no_attribute { attrs: &[attr("n", &I64, Some("[1"))] } =>
        "the default '[1' of 'n' is not an attribute: expected attribute value, found '['";
    a_default_of_another_kind { attrs: &[attr("n", &I64, Some("\"one\""))] } =>
        format!("the default '\"one\"' of 'n' is not of its kind: {}", I64.summary);
    successor_sizes_of_no_attribute { attrs: &[attr("sizes", &STRING, None)], successor_sizes: Some("size") } =>
        "'successor_sizes' names no attribute: 'size'; did you mean 'sizes'?";
    a_symbol_without_a_name { traits: Traits::SYMBOL } => "the trait SYMBOL needs an attribute 'sym_name'";
    a_constant_without_a_value { traits: Traits::CONSTANT_LIKE, results: &[value("r", &ANY)] } =>
        "the trait CONSTANT_LIKE needs an attribute 'value'";
    commutative_with_one_operand { traits: Traits::COMMUTATIVE, operands: &[value("x", &ANY)] } =>
        "the trait COMMUTATIVE needs two operands";
    a_return_that_does_not_terminate { traits: Traits::RETURN_LIKE } =>
        "the trait RETURN_LIKE needs the trait TERMINATOR";
    a_trait_of_regions_without_one { traits: Traits::SINGLE_BLOCK } => "the trait SINGLE_BLOCK needs a region";
    one_type_that_no_value_has {
        traits: Traits::SAME_TYPE, operands: &[value("x", &F32), value("y", &I32)], results: &[]
    } => "the trait SAME_TYPE makes the types of 'x', 'y' equal, but no type fits all";
}

// Names of other declarations.
ops! {
    a_misspelt_parent { parents: &["func.fnc"] } =>
        "its parent 'func.fnc' is not a registered op; did you mean 'func.func'?";
    a_misspelt_terminator { implicit_terminator: "scf.yeild", regions: &[REGION], effects: Effects::Recursive } =>
        "its implicit terminator 'scf.yeild' is not a registered op; did you mean 'scf.yield'?";
    a_terminator_that_does_not_terminate {
        implicit_terminator: "arith.addi", regions: &[REGION], effects: Effects::Recursive
    } => "its implicit terminator 'arith.addi' has no trait TERMINATOR";
    a_misspelt_default_dialect { default_dialect: "airth", regions: &[REGION], effects: Effects::Recursive } =>
        "its default dialect 'airth' is not registered; did you mean 'arith'?";
    a_misspelt_group_in_effects {
        operands: &[value("memref", &ANY)], effects: Effects::Memory(&[(Access::Read, "memerf")])
    } => "its effects name 'memerf', which is neither an operand nor a result; did you mean 'memref'?";
    a_misspelt_group_in_relations {
        operands: &[value("lhs", &ANY), value("rhs", &ANY)], relations: &[TypeRelation::Same(&["lhs", "rsh"])]
    } => "its type relations name 'rsh', which is neither an operand nor a result; did you mean 'rhs'?";
    effects_of_regions_without_regions { effects: Effects::Recursive } =>
        "its effects are those of its regions, but it has none";
}

// Formats.
ops! {
    a_misspelt_name_in_a_format { operands: &[value("lhs", &INDEX)], format: Some("$lsh attr-dict") } =>
        "its format: the declaration has no 'lsh'; did you mean 'lhs'? at ' attr-dict'";
    a_misspelt_element_of_a_format { format: Some("atr-dict") } =>
        "its format: unknown element 'atr-dict'; did you mean 'attr-dict'? at ''";
    a_misspelt_directive { format: Some("custom<Bodi> attr-dict"), directives: &[BODY] } =>
        "its format: no directive 'custom<Bodi>'; did you mean 'Body'? at ' attr-dict'";
    a_format_that_loses_attributes { operands: &[value("x", &INDEX)], format: Some("$x") } =>
        "its format has no 'attr-dict', so attributes that it does not spell are lost";
    a_format_that_loses_an_operand { operands: &[value("x", &INDEX)], format: Some("attr-dict") } =>
        "its format does not print operand 'x'";
    a_format_without_a_type { results: &[value("r", &ANY)], format: Some("attr-dict") } =>
        "its format does not print the type of 'r', and none follows";
    a_directive_that_nobody_uses { directives: &[BODY], format: Some("attr-dict") } =>
        "its format does not use its directive 'Body'";
    a_directive_that_loses_attributes { directives: &[BODY], format: Some("custom<Body>") } =>
        "its custom form loses attributes that it does not spell";
}

const BODY: &Directive = &Directive { name: "Body", parse: |_, _| Ok(()), print: |_, _| Ok(()) };

// Meanings.
ops! {
    a_meaning_with_too_many_values { results: &[value("r", &F32)], eval: Some(|_, _| Ok(vec![Datum::Float(1.0); 2])) } =>
        "its semantics give 2 values for 1 results";
    moves_of_no_operand { moves: &["y"] } =>
        "it moves the elements of 'y', which is no operand";
    a_meaning_of_another_type { results: &[value("r", &F32)], eval: Some(|_, _| Ok(vec![Datum::Int(1)])) } =>
        "its semantics give an integer for a result of type 'f32'";
    a_type_too_many_is_inferred {
        operands: &[value("x", &INDEX)], results: &[value("r", &ANY)], infer: Some(|_| Ok(vec![Type::F32, Type::F32]))
    } => "its 'infer' gives 2 types for 1 results";
    a_fold_to_too_few_values {
        operands: &[value("x", &INDEX)], results: &[value("r", &INDEX)], fold: Some(|_, _| Some(Folded::Results(vec![])))
    } => "its 'fold' gives 0 values for 1 results";
}

#[test]
fn a_meaning_of_another_shape() {
    fn one(_: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
        Ok(vec![Datum::Tensor(floats_to_tensor(DType::F32, &[7, 7], vec![0.0; 49]))])
    }
    fn is_tensor(ctx: &Context, ty: Type) -> bool {
        ctx.static_shape(ty).is_some() && ctx.element_type(ty) == Type::F32
    }
    static TENSOR: TypeConstraint = TypeConstraint { summary: "tensor of f32", check: is_tensor, only: None };
    static INFO: OpInfo = OpInfo {
        traits: Traits::SAME_TYPE,
        operands: &[value("x", &TENSOR)],
        results: &[value("r", &TENSOR)],
        eval: Some(one),
        ..OP
    };
    static DIALECT: Dialect = Dialect { ops: &[&INFO], ..TOY };
    let [error] = &of_dialect(&DIALECT)[..] else { panic!("one error") };
    assert!(
        error.starts_with("op 'toy.op' of dialect 'toy': its semantics give extents [7, 7] for a result"),
        "{error}"
    );
}

// Rules, attributes and dialects.
dialects! {
    an_op_that_is_declared_twice { ops: &[&OP, &OP] } => "op 'toy.op' of dialect 'toy': is declared twice";
    a_misspelt_op_in_a_rule { rules: &[rule("r", "arith.adid(x, 0) => x")] } =>
        "rule 'r' of dialect 'toy': 'arith.adid' is not a registered op; did you mean 'arith.addi'?";
    a_misspelt_condition { rules: &[rule("r", "arith.addi(x, C) => x if is_zero(C)")], rule_functions: &[ZERO] } =>
        "rule 'r' of dialect 'toy': no condition or computation is called 'is_zero'; did you mean 'is_zerro'?";
    a_rule_of_too_few_operands { rules: &[rule("r", "arith.addi(x) => x")] } =>
        "rule 'r' of dialect 'toy': 'arith.addi' takes 2 operands, not 1";
    a_rule_of_too_many_operands { rules: &[rule("r", "arith.addi(x, y, z) => x")] } =>
        "rule 'r' of dialect 'toy': 'arith.addi' takes 2 operands, not 3";
    a_rule_with_an_unknown_value { rules: &[rule("r", "arith.addi(x, 0) => y")] } =>
        "rule 'r' of dialect 'toy': 'y' is not on the left side";
    a_misspelt_attribute_in_a_rule { rules: &[rule("r", "arith.cmpi{predicat = eq}(x, x) => x")] } =>
        "rule 'r' of dialect 'toy': 'arith.cmpi' has no attribute 'predicat'; did you mean 'predicate'?";
    a_rule_with_one_attribute_twice { rules: &[rule("r", "arith.cmpi{predicate = eq, predicate = ne}(x, x) => x")] } =>
        "rule 'r' of dialect 'toy': 'arith.cmpi' has two attributes 'predicate'";
    a_rule_with_an_attribute_of_another_kind { rules: &[rule("r", "graph.concat{axis = true}(x, y) => x")] } =>
        "rule 'r' of dialect 'toy': 'true' is not a value of 'axis': 64-bit signless integer attribute";
    a_rule_of_contradictory_types { rules: &[rule("r", "arith.addi(arith.addf(x, y), y) => x")] } =>
        never("no type fits operand 'lhs' of 'arith.addf' (floating-point-like) and operand 'lhs' of 'arith.addi' \
               (signless-integer-like or index-like)");
    a_rule_of_a_wrong_fixed_type { rules: &[rule("r", "arith.addi(x: f32, y) => y")] } =>
        never("'f32' is no type of operand 'lhs' of 'arith.addi' (signless-integer-like or index-like)");
    a_rule_with_two_fixed_types { rules: &[rule("r", "arith.addi(x: i32, y: i64) => x")] } =>
        never("the types 'i32' and 'i64' differ");
    a_rule_whose_right_side_has_another_type { rules: &[rule("r", "arith.cmpf{predicate = oeq}(x, x) => x")] } =>
        never("no type fits operand 'lhs' of 'arith.cmpf' (floating-point-like) and result 'result' of 'arith.cmpf' \
               (bool-like)");
    a_rule_whose_right_side_is_invalid { rules: &[rule("r", "arith.addi(x, 0) => arith.addf(x, x)")] } =>
        never("no type fits operand 'lhs' of 'arith.addi' (signless-integer-like or index-like) and operand 'lhs' of \
               'arith.addf' (floating-point-like)");
    a_rule_with_a_fraction_among_integers { rules: &[rule("r", "arith.addi(x, 0.5) => x")] } =>
        never("0.5 is no value of operand 'lhs' of 'arith.addi' (signless-integer-like or index-like)");
    a_rule_with_a_number_that_is_too_large { rules: &[rule("r", "arith.addi(x: i8, 300) => x")] } =>
        never("300 is no value of type 'i8'");
    a_rule_with_a_false_condition { rules: &[rule("r", "arith.addi(x: i1, 0) => x if not_i1(i1)")] } =>
        never("its condition 'not_i1' is false for 'i1'");
    two_rules_of_one_name { rules: &[RULE, RULE] } => "rule 'toy-rule' of dialect 'toy': is declared twice";
    a_rule_group_without_documentation { rule_groups: &[RuleGroup { name: "g", doc: "", rules: &[RULE] }] } =>
        "rule group 'g' of dialect 'toy': it has no documentation";
    an_enumeration_of_another_dialect { enums: &[&WORDS] } => "enumeration 'word' of dialect 'toy': its text says dialect 'toi'";
    an_example_that_is_no_attribute { attrs: &[&BODY_ATTR] } =>
        "attribute 'toy.body' of dialect 'toy': its example '1' cannot be read: it is odd";
    an_attribute_that_is_declared_twice { attrs: &[&ODD, &ODD] } =>
        "attribute 'toy.odd' of dialect 'toy': is declared twice";
    a_dialect_without_documentation { doc: "" } => "dialect 'toy': it has no documentation";
    a_misspelt_constant { ops: &[&OP], constant: Some("toy.pp") } =>
        "dialect 'toy': its constant 'toy.pp' is not a registered op; did you mean 'toy.op'?";
}

/// The error of the rule `r`, which no program matches.
fn never(why: &str) -> String {
    format!("rule 'r' of dialect 'toy': it never applies: {why}")
}

const RULE: gradus::ir::rules::Rule = rule("toy-rule", "arith.addi(x, arith.subi(y, x)) => y");
const ZERO: &RuleFunction = &RuleFunction::test("is_zerro", "Whether it is zero.", &[ArgKind::Attr], |_, _| false);
static WORDS: AttrKind = AttrKind {
    summary: "a word",
    check: |_, _| true,
    text: AttrText::Words { dialect: "toi", mnemonic: "word", words: &["a"], flags: None },
};

/// One test for each mistake in a type: a name, a declaration, and the error.
macro_rules! types {
    ($($case:ident { $($key:ident: $value:expr),* $(,)? } { $($own:ident: $field:expr),* } => $error:expr;)*) => { $(
        #[test]
        fn $case() {
            static INFO: TypeInfo = TypeInfo {
                decl: Parametric { $($key: $value,)* ..RING }, $($own: $field,)* ..TypeInfo::DEFAULT
            };
            static DIALECT: Dialect = Dialect { types: &[&INFO], ..TOY };
            assert_eq!(of_dialect(&DIALECT), [format!("type '{}' of dialect 'toy': {}", INFO.decl.name, $error)]);
        }
    )* };
}

const RING: Parametric = Parametric { name: "toy.ring", doc: "A ring.", ..Parametric::DEFAULT };
static TILE: AttrKind = AttrKind { summary: "a tile", check: |_, _| true, text: AttrText::Declared("layout.tield") };

types! {
    a_type_of_another_dialect { name: "toi.ring" } {} => "its name does not begin with 'toy.'";
    a_type_without_documentation { doc: "" } {} => "it has no documentation";
    two_parameters_of_one_name { params: &[attr("n", &I64, None), attr("n", &I64, None)] } {} =>
        "two parameters are called 'n'";
    a_default_of_a_parameter_that_is_no_attribute { params: &[attr("n", &I64, Some("<"))] } {} =>
        "the default '<' of parameter 'n' cannot be read: expected attribute value, found '<'";
    a_default_of_a_parameter_of_another_kind { params: &[attr("n", &I64, Some("\"x\""))] } {} =>
        "the default '\"x\"' of parameter 'n' is not a 64-bit signless integer attribute";
    a_parameter_that_no_dialect_declares { params: &[attr("t", &TILE, None)] } {} =>
        "parameter 't' is a '#layout.tield', which no dialect declares; did you mean 'layout.tiled'?";
    a_misspelt_parameter_in_a_format { params: &[attr("size", &I64, None)], format: Some("`<` $sise `>`") } {} =>
        "its format: the declaration has no 'sise'; did you mean 'size'? at ' `>`'";
    a_format_without_brackets { params: &[attr("size", &I64, None)], format: Some("$size") } {} =>
        "its format: it begins with `<` and ends with `>`";
    a_format_without_a_parameter { params: &[attr("size", &I64, None)], format: Some("`<` `>`") } {} =>
        "its format: it has no parameter 'size'";
    an_optional_group_without_an_anchor { params: &[attr("n", &I64, None)], format: Some("`<` ($n)? `>`") } {} =>
        "its format: an optional group needs an anchor (^) at ' `>`'";
    an_example_of_another_type { params: &[attr("n", &I64, None)], examples: &["x"] } {} =>
        "its example 'x' cannot be read: expected 64-bit signless integer attribute for parameter 'n'";
    an_example_that_is_rejected { verify: Some(|_| Err("it is odd".into())), examples: &[""] } {} =>
        "its example '' cannot be read: it is odd";
    values_that_nobody_draws { examples: &[""] } { contains: Some(|_, _| true) } =>
        "its values cannot be drawn: it has 'contains', but neither 'draw' nor 'repr'";
    values_without_an_example {} { repr: Some(|_| Type::I32) } =>
        "it has values, but no example for those who draw programs";
    a_repr_that_is_declared { examples: &[""] } {
        repr: Some(|params| params.ctx.parse_type("!rewrite.value").expect("is a type"))
    } => "its 'repr' is a declared type: name the type of its values";
    a_draw_of_another_kind { examples: &[""] } { repr: Some(|_| Type::I32), draw: Some(|_, _| Datum::Float(1.0)) } =>
        "its 'draw' gives a float, which is no value of '!toy.ring'";
    a_constant_of_another_value { examples: &[""] } {
        repr: Some(|_| Type::I32),
        draw: Some(|_, _| Datum::Int(1)),
        constant: Some(|params, _| Some(params.ctx.int_attr(Type::I32, 2)))
    } => "its 'constant' of an integer of type '!toy.ring' has another value";
}

/// One test for each mistake in a representation of a type: a name, a declaration, and the error.
macro_rules! representations {
    ($($case:ident { $($key:ident: $value:expr),* } => $error:expr;)*) => { $(
        #[test]
        fn $case() {
            static INFO: TypeInfo = TypeInfo {
                decl: Parametric { examples: &[""], ..RING },
                repr: Some(|_| Type::I32),
                draw: Some(|_, random| Datum::Int(random.below(9) as i64)),
                ..TypeInfo::DEFAULT
            };
            static PAIR: Representation = Representation { $($key: $value,)* ..TWICE };
            static DIALECT: Dialect = Dialect { types: &[&INFO], representations: &[&PAIR], ..TOY };
            assert_eq!(of_dialect(&DIALECT), [format!("type 'toy.ring' of dialect 'toy': {}", $error)]);
        }
    )* };
}

/// The value twice.
const TWICE: Representation = Representation {
    name: "twice",
    types: |ctx, ty| ctx.type_info(ty).is_some_and(|info| info.decl.name == "toy.ring").then(|| vec![Type::I32; 2]),
    encode: |_, _, value| Some(vec![value.clone(); 2]),
    decode: |_, _, values| Some(values[0].clone()),
};

representations! {
    a_representation_that_loses_values { decode: |_, _, values| Some(Datum::Int(-values[1].int().ok()?)) } =>
        "its representation 'twice' loses an integer";
    a_representation_by_too_few_values { encode: |_, _, value| Some(vec![value.clone()]) } =>
        "its representation 'twice' gives 1 values for 2 types";
}

static ODD: AttrInfo =
    AttrInfo { decl: Parametric { name: "toy.odd", doc: "Odd.", ..Parametric::DEFAULT }, ..AttrInfo::DEFAULT };
static BODY_ATTR: AttrInfo = AttrInfo {
    decl: Parametric {
        name: "toy.body",
        doc: "A body.",
        examples: &["1"],
        verify: Some(|_| Err("it is odd".into())),
        params: &[attr("n", &I64, None)],
        ..Parametric::DEFAULT
    },
    ..AttrInfo::DEFAULT
};

#[test]
fn two_passes_of_one_name() {
    let mut tool = Tool::new("toys");
    tool.passes.push(tool.passes[0]);
    let error = tool.check_declarations()[0].to_string();
    assert_eq!(error, format!("pass '{}': is declared twice", tool.passes[0].name));
}

passes! {
    a_pass_with_capitals { name: "ToyPass" } => "its name is not of lower-case letters, digits and '-'";
    a_pass_without_documentation { doc: "" } => "it has no documentation";
    a_misspelt_anchor { anchor: Some("func.fnc") } =>
        "its anchor 'func.fnc' is not a registered op; did you mean 'func.func'?";
    a_default_that_is_not_among_the_words {
        options: &[PassOption { name: "mode", doc: "How.", kind: OptionKind::Word("lazzy", &[("lazy", "Lazily")]) }]
    } => "the default 'lazzy' of option 'mode' is not one of its words; did you mean 'lazy'?";
    two_options_of_one_name { options: &[OPTION, OPTION] } => "two options are called 'max'";
    values_of_an_undeclared_option { options: &[OPTION], samples: &[("mx", |_| Vec::new())] } =>
        "it has values of an option 'mx', which is not declared; did you mean 'max'?";
    a_pass_that_reads_an_undeclared_option { options: &[OPTION], make: |options| {
        options.int("mx");
        Err(String::new())
    } } => "it cannot be made with its default options: option 'mx' is not declared";
}

const OPTION: PassOption = PassOption { name: "max", doc: "The most.", kind: OptionKind::Int(1) };

#[test]
fn a_meaning_is_blamed_on_its_op() {
    use gradus::interp::Interpreter;
    use gradus::ir::{ParseOptions, parse_module};
    static INFO: OpInfo = OpInfo {
        name: "toy.pair",
        results: &[value("r", &FLOAT_LIKE)],
        eval: Some(|_, _| Ok(vec![Datum::Int(1)])),
        ..OP
    };
    static DIALECT: Dialect = Dialect { ops: &[&INFO], ..TOY };
    let ctx = Tool::new("toys").with_dialects(&[&DIALECT]).context();
    let text = "func.func @f() -> f32 {\n  %0 = \"toy.pair\"() : () -> f32\n  %1 = arith.addf %0, %0 : f32\n  return %1 : f32\n}";
    let m = parse_module(&ctx, "t", text.to_owned(), ParseOptions::default()).expect("a program");
    let mut interpreter = Interpreter::new(&m);
    let function = interpreter.function("f").expect("a function");
    let stop = interpreter.call(function, vec![]).expect_err("a mistake");
    let message = stop.diagnostic(&m).message;
    assert_eq!(message, "'toy.pair' cannot be executed: its semantics give an integer for a result of type 'f32'");
}
