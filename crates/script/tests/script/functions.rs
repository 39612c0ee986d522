//! The functions added to pgbench's, and the random functions.
use crate::support::value_of;
use assay_script::expression::{Formula, Origin, compile};
use assay_values::{Random, Row, Value};
use std::collections::HashSet;

fn formula(text: &str) -> Formula {
    let origin = Origin {
        path: "t.toml",
        line: 3,
        column: 9,
    };
    let constants = [("scale".to_owned(), Value::Int(10))];
    compile(text, &["row", "name"], &constants, origin).unwrap_or_else(|error| panic!("{error}"))
}

/// The values of many rows, as texts.
fn drawn(text: &str, count: i64) -> Vec<String> {
    let formula = formula(text);
    let mut random = Random::stream(5, 0);
    let mut row = Row::new();
    let draw = |number| {
        row.clear();
        let values = [Value::Int(number), Value::Text("Ä".into())];
        formula.write(&values, &mut random, &mut row).unwrap();
        let mut text = Vec::new();
        row.cells().next().unwrap().write_text(&mut text);
        String::from_utf8(text).unwrap()
    };
    (0..count).map(draw).collect()
}

fn drawn_numbers(text: &str, count: i64) -> Vec<i64> {
    let texts = drawn(text, count).into_iter();
    texts.map(|text| text.parse().unwrap()).collect()
}

#[test]
fn text_functions_return_the_documented_values() {
    #[rustfmt::skip]
    let cases = [
        ("concat('a', 1, 2.5, TRUE)", "'a12.5TRUE'"),
        ("concat('a', NULL)", "NULL"),
        ("lower('ÄBC')", "'äbc'"),
        ("upper('äbc')", "'ÄBC'"),
        ("substr('Ärger', 2)", "'rger'"),
        ("substr('Ärger', 1, 2)", "'Är'"),
        ("substr('Ärger', -1, 3)", "'Ä'"),
        ("substr('Ärger', 9, 3)", "''"),
        ("substr(12345, 2, 3)", "'234'"),
        ("format('%d|%5d|%-5d|%05d|%d', 1, 2, 3, -4, 2.5)", "'1|    2|3    |-0004|2'"),
        ("format('%s|%4s|%-4s|%s', 'a', 'é', 'c', NULL)", "NULL"),
        ("format('%s|%4s|%-4s|%s', 'a', 'é', 'c', TRUE)", "'a|   é|c   |TRUE'"),
        (
            "format('%f|%.2f|%08.3f|%x|%04x|100%%', 1.5, 2, -3.14159, 255, 10)",
            "'1.500000|2.00|-003.142|ff|000a|100%'",
        ),
        ("lastname(0)", "'BARBARBAR'"),
        ("lastname(371)", "'PRICALLYOUGHT'"),
        ("lastname(999)", "'EINGEINGEING'"),
        ("numeral(35, 4, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ')", "'000Z'"),
        ("numeral(5, 4, '01')", "'0101'"),
        ("hash_text(7, 0, 'ab')", "''"),
        ("substr(sealed('abc', 13, 5), 1, 2)", "'ab'"),
        ("substr(sealed('äbc', 13, 5), 1, 2)", "'äb'"),
        ("is_sealed(sealed('abc', 14, 5), 5)", "true"),
        ("is_sealed(sealed('äbc', 14, 5), 5)", "true"),
        ("is_sealed(sealed('abc', 14, 5), 6)", "false"),
        ("is_sealed(concat('x', sealed('abc', 14, 5)), 5)", "false"),
        ("is_sealed(substr(sealed('abc', 14, 5), 1, 13), 5)", "false"),
        ("is_sealed('ab', 5)", "false"),
        ("is_sealed(NULL, 5)", "NULL"),
        ("normal_quantile(0.5)", "0.0"),
        ("zipf_quantile(0, 10, 1)", "1"),
        ("zipf_quantile(0.35, 10, 1)", "2"),
        ("zipf_quantile(1, 10, 1)", "10"),
        ("zipf_quantile(0.5, 4, 0)", "3"),
        ("date(0)", "'1970-01-01'"),
        ("date(11016)", "'2000-02-29'"),
        ("timestamp(1299261218)", "'2011-03-04 17:53:38'"),
        ("timestamp(-1)", "'1969-12-31 23:59:59'"),
        ("timestamp(1.9)", "'1970-01-01 00:00:01'"),
        ("text(0, 0)", "''"),
        ("digits(0)", "''"),
        ("constant(3)", "3.0"),
        ("pick(7)", "7"),
        ("pick(NULL)", "NULL"),
        ("nurand(0, 5, 5)", "5"),
        ("'it''s'", "'it''s'"),
        ("format(:client_id)", "failure"),
        ("format('%d', 'x')", "failure"),
    ];
    for (expression, expected) in cases {
        let found = value_of(expression, &[]).unwrap_or_else(|_| "failure".to_owned());
        assert_eq!(found.replace("'it's'", "'it''s'"), expected, "{expression}");
    }
}

#[test]
fn now_is_now() {
    let before = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let now: u64 = value_of("now()", &[]).unwrap().parse().unwrap();
    assert!((before..=before + 60).contains(&now));
}

#[test]
fn random_texts_have_their_lengths_and_all_their_letters() {
    let texts = drawn("text(3, 6)", 4000);
    assert!(texts.iter().all(|text| (3..=6).contains(&text.len())));
    let mut letters: Vec<char> = texts.concat().chars().collect();
    letters.sort_unstable();
    letters.dedup();
    assert_eq!(letters.len(), 62);
    assert!(letters.iter().all(char::is_ascii_alphanumeric));
    let texts = drawn("digits(19)", 4000);
    assert!(texts.iter().all(|text| text.len() == 19));
    let digits = texts.concat();
    for digit in '0'..='9' {
        // 7,600 of each are expected, with a standard deviation of 83.
        let count = digits.matches(digit).count();
        assert!(count.abs_diff(7600) < 500, "{digit}: {count}");
    }
}

/// TPC-C clause 2.1.6: `|` favours numbers with many one bits, so the distribution is far from uniform, within
/// its range, and shifted by c.
#[test]
fn nurand_has_the_distribution_of_tpc_c() {
    let counted = |text| {
        let mut counts = vec![0_i32; 1000];
        for number in drawn_numbers(text, 20_000) {
            counts[usize::try_from(number).unwrap()] += 1;
        }
        counts
    };
    let counts = counted("nurand(255, 0, 999, 0)");
    let with_ones = counts[255] + counts[511] + counts[767];
    let with_zeros = counts[256] + counts[512] + counts[768];
    assert!(
        with_ones > 20 * (with_zeros + 1),
        "{with_ones} {with_zeros}"
    );
    let shifted = counted("nurand(255, 0, 999, 100)");
    assert_eq!(counts[255], shifted[355]);
    let numbers = drawn_numbers("nurand(8191, 1, 100000)", 20_000);
    assert!(numbers.iter().all(|number| (1..=100_000).contains(number)));
}

#[test]
fn a_consistent_hash_moves_only_to_new_numbers() {
    let of = |count: i64| drawn_numbers(&format!("hash_consistent(:row, {count}, 3)"), 10_000);
    let (ten, eleven) = (of(10), of(11));
    for number in 0..10 {
        let count = ten.iter().filter(|&&found| found == number).count();
        assert!(count.abs_diff(1000) < 180, "{number}: {count}");
    }
    let moved: Vec<_> = ten.iter().zip(&eleven).filter(|(a, b)| a != b).collect();
    assert!(moved.iter().all(|(_, now)| **now == 10));
    assert!(moved.len().abs_diff(10_000 / 11) < 180, "{}", moved.len());
    assert!(of(1).iter().all(|&found| found == 0));
}

#[test]
fn pick_chooses_all_arguments_equally_often() {
    let picked = drawn("pick('a', 'b', :name, 4, 5)", 20_000);
    for text in ["a", "b", "Ä", "4", "5"] {
        let count = picked.iter().filter(|&found| found == text).count();
        assert!(count.abs_diff(4000) < 340, "{text}: {count}");
    }
}

#[test]
fn each_distribution_favours_its_own_values() {
    for text in
        ["random_exponential(1, 9, 2.5)", "random_gaussian(1, 9, 2.5)", "random_zipfian(1, 9, 1.5)"]
    {
        let numbers = drawn_numbers(text, 3000);
        let count = |value| numbers.iter().filter(|&&number| number == value).count();
        let is_within = numbers.iter().all(|number| (1..=9).contains(number));
        assert!(is_within, "{text}");
        let favourite = if text.contains("gaussian") { 5 } else { 1 };
        let is_less = |value| value == favourite || count(value) < count(favourite);
        assert!((1..=9).all(is_less), "{text}");
    }
}

#[test]
fn a_formula_reports_its_dependencies() {
    let needs = |of: &Formula| [of.uses(0), of.uses(1), of.is_random()];
    let constant_scale = formula(":row + 100000 * :scale");
    assert_eq!(needs(&constant_scale), [true, false, false]);
    let random_case = formula("CASE WHEN :scale = 10 THEN text(1, 2) ELSE :name END");
    assert_eq!(needs(&random_case), [false, false, true]);
    let mut random = Random::stream(1, 1);
    let value = constant_scale.evaluate(&[Value::Int(4), Value::Null], &mut random);
    assert_eq!(value, Ok(Value::Int(1_000_004)));
    let fault = formula("1 / :row").evaluate(&[Value::Int(0)], &mut random);
    let fault = fault.unwrap_err().to_string();
    assert_eq!(fault, "division by zero: 1 / 0");
}

#[test]
fn a_wrong_formula_is_reported_at_its_place_in_the_file() {
    let origin = Origin {
        path: "w.toml",
        line: 3,
        column: 9,
    };
    #[rustfmt::skip]
    let cases = [
        (":rwo + 1", "3:9", "nothing sets the variable :rwo", "did you mean :row?"),
        ("1 +\n  foo", "4:3", "expected a value, found foo", "a variable is written :foo"),
        ("now()", "3:9", "the same value every time, found now()", "the time as a parameter"),
        (":row + 1 2", "3:18", "expected the end of the line, found 2", ""),
        ("", "3:9", "expected a value, found the end of the line", ""),
        ("text(2, 1)", "3:9", "expected 0 <= min <= max", ""),
    ];
    for (text, place, message, hint) in cases {
        let error = compile(text, &["row"], &[], origin).unwrap_err();
        let begin = format!("w.toml:{place}: ");
        assert!(error.to_string().starts_with(&begin), "{error}");
        assert!(error.message.contains(message), "{error}");
        assert!(error.hint.unwrap_or_default().contains(hint), "{text}");
    }
}

#[test]
fn typed_values_convert_and_compare() {
    for (expression, expected) in [
        ("date(15037)", "'2011-03-04'"),
        ("date('2011-03-04') + 1", "15038"),
        ("date(date('2011-03-04') + 1)", "'2011-03-05'"),
        ("date(timestamp('2011-03-04 17:53:38.25'))", "'2011-03-04'"),
        ("timestamp(date('2011-03-04'))", "'2011-03-04 00:00:00'"),
        (
            "timestamp('2011-03-04 17:53:38.25')",
            "'2011-03-04 17:53:38.25'",
        ),
        ("time('01:02:03.5') * 2", "7447.0"),
        ("time(3723)", "'01:02:03'"),
        ("decimal('1.50')", "'1.50'"),
        ("decimal(2.345, 2)", "'2.35'"),
        ("decimal(-2.345, 2)", "'-2.35'"),
        ("decimal(7, 2)", "'7.00'"),
        ("decimal('7.00') + 1", "'8.00'"),
        ("decimal('0.10') + 1", "'1.10'"),
        ("bytes('00ff')", "'\\x00ff'"),
        ("list(1, 'a', NULL, list())", "'[1,\"a\",null,[]]'"),
        ("document('{\"a\": [1]}')", "'{\"a\": [1]}'"),
        (
            "document('a', decimal('1.0'), 'b c', list(date(0)), 'd', NULL)",
            "'{\"a\":1.0,\"b c\":[\"1970-01-01\"],\"d\":null}'",
        ),
        ("date(0) < date('1970-01-02')", "true"),
        ("date(0) = '1970-01-01'", "true"),
        ("concat(date(0), ' ', decimal('1.0'))", "'1970-01-01 1.0'"),
    ] {
        let found = value_of(expression, &[]);
        assert_eq!(found.as_deref(), Ok(expected), "{expression}");
    }
    for (expression, expected) in [
        ("date('tomorrow')", "expected a number"),
        ("time('25:00:00')", "expected a time of day"),
        ("decimal('1e5')", "expected a decimal number"),
        ("bytes('0')", "expected pairs of hexadecimal digits"),
        ("document('{')", "expected JSON"),
        ("document('a', 1, 'b')", "alternating keys and values"),
    ] {
        let message = value_of(expression, &[]).unwrap_err();
        assert!(message.contains(expected), "{expression}: {message}");
    }
}

/// `numeral` of a permutation: every text once; `hash_text`: as many texts as numbers, each always the same.
#[test]
fn texts_of_numbers_are_distinct_and_repeatable() {
    let distinct = |texts: &[String]| texts.iter().collect::<HashSet<_>>().len();
    let numeral = "numeral(permute(:row, 1296, 3), 2, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ')";
    assert_eq!(distinct(&drawn(numeral, 1296)), 1296);
    let repeated = drawn("hash_text(:row % 100, 20, '01234567', 4)", 1000);
    assert_eq!(distinct(&repeated), 100);
    assert_eq!(repeated[..100], repeated[900..]);
}
