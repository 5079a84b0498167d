//! Matches are those of LLVM's `Regex`.

use super::*;

/// Returns the text that an expression matches, and its group 1 if there is one.
fn find(pattern: &str, text: &str) -> String {
    find_with(pattern, text, Flags { newline: true, ignore_case: false })
}

fn find_with(pattern: &str, text: &str, flags: Flags) -> String {
    let (node, groups) = match parse(pattern.as_bytes(), 1, flags) {
        Ok(parsed) => parsed,
        Err(e) => return format!("error: {e}"),
    };
    let wanted: &[u32] = if groups > 0 { &[1] } else { &[] };
    let regex = match Regex::new(std::slice::from_ref(&node), wanted, flags.newline)
        .or_else(|_| Regex::new(&[node], &[], true))
    {
        Ok(regex) => regex,
        Err(e) => return format!("error: {e}"),
    };
    match regex.find(text.as_bytes()) {
        Ok(None) => "none".into(),
        Err(TooComplex) => "too complex".into(),
        Ok(Some(c)) => {
            let part = |p: Option<(usize, usize)>| p.map(|(a, b)| format!("{a}:{}", &text[a..b]));
            let group = part(c.get(1)).map_or(String::new(), |g| format!(" {g}"));
            part(Some(c.whole())).unwrap() + &group
        }
    }
}

#[test]
fn the_longest_of_the_leftmost_is_found() {
    assert_eq!(find("a|ab", "xabc"), "1:ab");
    assert_eq!(find("ab*", "abbb abbbbb"), "0:abbb");
    assert_eq!(find("(a|ab)(c|bcd)", "abcd"), "0:abcd 0:a");
    assert_eq!(find("(a|ab)(c|bcd)?", "abc"), "0:abc 0:ab");
    assert_eq!(find("x*", "aaxx"), "0:");
    assert_eq!(find("(%.*) = ", "  %0 = %1 = x"), "2:%0 = %1 =  2:%0 = %1");
}

#[test]
fn lines_and_words() {
    assert_eq!(find("^b.*$", "a\nbc\nd"), "2:bc");
    assert_eq!(find("a[^b]c", "a\nc axc"), "4:axc");
    assert_eq!(find("[[:<:]]is[[:>:]]", "this is"), "5:is");
    assert_eq!(find_with("a.c$", "a\nc\n", Flags::default()), "none");
    assert_eq!(find_with("a.c", "a\nc\n", Flags::default()), "0:a\nc");
}

#[test]
fn counts() {
    assert_eq!(find("a{2}", "aaa"), "0:aa");
    assert_eq!(find("a{2,}b", "ab aaab"), "3:aaab");
    assert_eq!(find("(ab){1,2}c", "abababc"), "2:ababc");
    assert_eq!(find("a{,2}", "a{,2}"), "0:a{,2}");
    assert_eq!(find("xa{0}y", "xy"), "0:xy");
}

#[test]
fn brackets() {
    assert_eq!(find("[]a-]+", "xa-]"), "1:a-]");
    assert_eq!(find("[[:digit:]a-f]+", "xyz12abz"), "3:12ab");
    assert_eq!(find("[[.-.]x]+", "a-x"), "1:-x");
    assert_eq!(find_with("[a-c]+D", "xABCd", Flags { ignore_case: true, newline: true }), "1:ABCd");
}

#[test]
fn back_references() {
    assert_eq!(find("(a+)b\\1c", "aabac aabaac"), "1:abac 1:a");
    assert_eq!(find("([a-z]+) \\1", "ab abc abc"), "0:ab ab 0:ab");
    assert_eq!(find("(.*)x\\1$", "abcxbc"), "1:bcxbc 1:bc");
    assert_eq!(
        find("((a)|b)\\2", "aa"),
        "error: a back-reference inside of alternatives or a repetition is not supported"
    );
}

#[test]
fn what_is_wrong_is_said_as_llvm_says_it() {
    for (pattern, message) in [
        ("", "empty (sub)expression"),
        ("a||b", "empty (sub)expression"),
        ("(a", "parentheses not balanced"),
        ("a)", "parentheses not balanced"),
        ("[a", "brackets ([ ]) not balanced"),
        ("a{2", "braces not balanced"),
        ("a{2,1}", "invalid repetition count(s)"),
        ("a{256}", "invalid repetition count(s)"),
        ("a**", "repetition-operator operand invalid"),
        ("+", "repetition-operator operand invalid"),
        ("^*", "repetition-operator operand invalid"),
        ("a\\", "trailing backslash (\\)"),
        ("\\1", "invalid backreference number"),
        ("[b-a]", "invalid character range"),
        ("[[:what:]]", "invalid character class"),
    ] {
        assert_eq!(find(pattern, "a"), format!("error: {message}"), "{pattern}");
    }
}

#[test]
fn hostile_expressions_end() {
    assert_eq!(find(&"(".repeat(100_000), ""), "error: parentheses nested too deeply");
    assert_eq!(find("((((a{200}){200}){200}){200})", "a"), "error: regular expression too big");
    let text = "a".repeat(20_000);
    assert_eq!(find("(a*)*b", &text), "none");
    assert_eq!(find("(a|aa)+$", &text), format!("0:{text}"));
    assert_eq!(find("(a*)(a*)(a*)(a*)b\\1", &format!("{text}b")), "too complex");
}
