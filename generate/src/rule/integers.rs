//! The integer constants of an instance, drawn jointly.

use crate::variation::border;
use gradus_ir::random::Random;
use gradus_ir::rules::{CompiledRule, OpTerm, Term};
use gradus_ir::{Attr, Context};

/// Percentages of instances whose constants are equal, and related to each other.
const EQUAL: u64 = 15;
const JOINT: u64 = 35;
/// Percentage of constants next to a number of the rule, if it has any.
const LITERAL: u64 = 40;
/// Width up to which all values of a constant are drawn sooner or later.
const NARROW: u32 = 3;

/// The integer constants of one instance: limits of their types, numbers that the rule itself contains and their
/// neighbours, and numbers equal or related to those drawn before.
pub(super) struct Integers {
    /// The numbers in the rule's patterns and in the parameters of its conditions.
    literals: Vec<i64>,
    drawn: Vec<i64>,
    joint: Joint,
    /// Whether a constant has more values than are all drawn sooner or later.
    pub(super) is_open: bool,
}

/// The relation among the constants of an instance.
enum Joint {
    Equal,
    Related,
    Independent,
}

impl Integers {
    pub(super) fn new(ctx: &Context, rule: &CompiledRule, random: &mut Random) -> Integers {
        let mut literals = Vec::new();
        rule.roots.iter().for_each(|root| of_op(root, &mut literals));
        rule.right.iter().for_each(|term| of_term(term, &mut literals));
        let calls = rule.conditions.iter().chain(rule.computed.iter().map(|(_, call)| call));
        literals.extend(calls.flat_map(|call| &call.params).filter_map(|&param| number(ctx, param)));
        literals.sort_unstable();
        literals.dedup();
        let joint = match random.below(100) {
            n if n < EQUAL => Joint::Equal,
            n if n < EQUAL + JOINT => Joint::Related,
            _ => Joint::Independent,
        };
        Integers { literals, drawn: Vec::new(), joint, is_open: false }
    }

    /// Draws an integer of a width, in the range of its type.
    pub(super) fn draw(&mut self, width: u32, unsigned: bool, random: &mut Random) -> i64 {
        let number = match (&self.joint, self.drawn.first()) {
            (Joint::Equal, Some(&first)) => first,
            (Joint::Related, Some(_)) => related(random.pick(&self.drawn), width, random),
            _ if !self.literals.is_empty() && random.percent(LITERAL) => {
                random.pick(&self.literals).wrapping_add(random.below(3) as i64 - 1)
            }
            _ => border(width, random),
        };
        self.is_open |= width > NARROW;
        self.drawn.push(number);
        let unused = 64 - width.clamp(1, 64);
        let wrapped = number.wrapping_shl(unused) >> unused;
        if unsigned && unused > 0 { wrapped & (u64::MAX >> unused).cast_signed() } else { wrapped }
    }
}

/// Draws a number equal to another one or at a border of it: a neighbour, the negation, the complement, the rest of the
/// width, the power of two.
fn related(other: i64, width: u32, random: &mut Random) -> i64 {
    match random.below(10) {
        0 => other.wrapping_add(1),
        1 => other.wrapping_sub(1),
        2 => other.wrapping_neg(),
        3 => !other,
        4 => i64::from(width).wrapping_sub(other),
        5 => 1i64.wrapping_shl(other as u32),
        _ => other,
    }
}

fn of_op(op: &OpTerm, literals: &mut Vec<i64>) {
    op.operands.iter().for_each(|term| of_term(term, literals));
}

fn of_term(term: &Term, literals: &mut Vec<i64>) {
    match term {
        // The casts saturate.
        Term::Number { value, .. } if value.fract() == 0.0 => literals.push(*value as i64),
        Term::Op { op, .. } => of_op(op, literals),
        Term::Number { .. } | Term::Value { .. } | Term::Constant { .. } => {}
    }
}

fn number(ctx: &Context, attr: Attr) -> Option<i64> {
    ctx.as_int(attr).or_else(|| ctx.as_float(attr).filter(|number| number.fract() == 0.0).map(|number| number as i64))
}
