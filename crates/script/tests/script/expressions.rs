//! The values of expressions, by pgbench's rules; each is computed twice, folded and at run time.

use crate::support::value_of;
use assay_values::Value;

const INT: i64 = i64::MAX;

/// Expression over `:one` = 1, `:two` = 2, `:half` = 0.5, `:none` = NULL, `:yes` = TRUE, `:word` =
/// 'word', `:digits` = '12', and its value.
#[rustfmt::skip]
const GOOD: &[(&str, &str)] = &[
    ("1 + 2 * 3", "7"),
    ("(1 + 2) * 3", "9"),
    ("7 / 2", "3"),
    ("-7 / 2", "-3"),
    ("-7 % 2", "-1"),
    ("7 / 2.0", "3.5"),
    ("1 / 0.0", "inf"),
    ("1e3 + .5 + 1.", "1001.5"),
    ("- 2 + 5", "3"),
    ("- -2", "2"),
    ("-9223372036854775808", "-9223372036854775808"),
    ("-9223372036854775808 % -1", "0"),
    ("10 - 3 - 2", "5"),
    ("2 * :two + :one", "5"),
    ("1 << 4 | 3", "19"),
    ("6 & 3 # 1", "3"),
    ("~1 & 7", "6"),
    ("~ 1 + 1", "-3"),
    ("1 + 1 << 2", "8"),
    ("1 < 2", "true"),
    ("2 <> 2", "false"),
    ("2 != 3", "true"),
    ("1 = 1.0", "true"),
    (":two >= 2 AND :two <= 2", "true"),
    ("NOT 1 = 2", "true"),
    ("NOT FALSE AND FALSE", "false"),
    ("TRUE OR :none", "true"),
    ("FALSE OR :none", "NULL"),
    ("NULL AND FALSE", "NULL"),
    ("FALSE AND 1 = :none", "false"),
    ("TRUE OR :one / 0 = 1", "true"),
    (":none + 1", "NULL"),
    (":none = :none", "NULL"),
    (":none IS NULL", "true"),
    ("1 + :none IS NULL", "true"),
    (":one IS NOT NULL", "true"),
    (":none ISNULL", "true"),
    (":none NOTNULL", "false"),
    (":yes IS TRUE", "true"),
    (":one IS TRUE", "false"),
    ("1 = 2 IS FALSE", "true"),
    ("CASE WHEN :one = 2 THEN 'a' WHEN :two = 2 THEN 'b' ELSE 'c' END", "'b'"),
    ("CASE WHEN :none THEN 1 END", "NULL"),
    ("CASE WHEN 0 THEN 1 WHEN 2 THEN 3 ELSE 4 END", "3"),
    ("CASE WHEN :one = 1 THEN 5 ELSE :one / 0 END", "5"),
    // A part that is not evaluated need not have a value.
    ("CASE WHEN TRUE THEN 1 ELSE 1 / 0 END", "1"),
    ("CASE WHEN FALSE THEN 1 / 0 WHEN TRUE THEN 2 ELSE int(FALSE) END", "2"),
    ("FALSE AND 1", "false"),
    ("TRUE OR 1 / 0 = 1", "true"),
    ("'it''s'", "'it''s'"),
    ("'10' + 1", "11"),
    (":digits * 2", "24"),
    ("'1.5' + 1", "'2.5'"),
    (":word = 'word'", "true"),
    (":word < 'wore'", "true"),
    (":digits = 12", "true"),
    ("'9' < '10'", "true"),
    ("'on' IS NULL OR NOT 'off'", "true"),
    ("abs(-5)", "5"),
    ("ABS(-5.5)", "5.5"),
    ("int(2.5)", "2"),
    ("int(3.5)", "4"),
    ("int(-2.7)", "-3"),
    ("double(2)", "2.0"),
    ("greatest(1, 3, 2)", "3"),
    ("greatest(1, 2.5)", "2.5"),
    ("least(4)", "4"),
    ("least(4, 5.5)", "4.0"),
    ("least(1, :none)", "NULL"),
    ("mod(-7, 3)", "-1"),
    ("5.4 % 3", "2"),
    ("sqrt(9) + ln(1) + exp(0)", "4.0"),
    ("decimal('0.30') - '0.10'", "'0.20'"),
    ("decimal('0.30') - '0.10' = '0.2'", "true"),
    ("decimal('1.10') * 3 + 1", "'4.30'"),
    ("decimal('7.00') / 2", "3.5"),
    ("decimal('7') / 2", "3"),
    ("decimal('-7.50') % 4", "0"),
    ("int(decimal('2.50')) + int(decimal('3.50'))", "6"),
    ("decimal('0.1') + 0.2", "'0.3'"),
    ("0.10 + decimal('0.20') = 0.3", "true"),
    ("decimal('1.5') * 1e300", "1.5e300"),
    ("decimal('123456789012345678.01') > 123456789012345678", "true"),
    ("decimal('123456789012345678.01') - 123456789012345678", "'0.01'"),
    ("greatest(decimal('1.5'), 1, decimal('1.25'))", "'1.5'"),
    ("abs(decimal('-1.50'))", "'1.50'"),
    // More than 38 digits are a double.
    ("decimal('99999999999999999999999999999999999999') * 10", "1e39"),
    ("power(2, 10)", "1024.0"),
    ("pow(2, -1)", "0.5"),
    ("int(pi() * 100)", "314"),
    ("document('a', list(1, document('b', 2))) -> 'a' -> 1 -> 'b'", "2"),
    ("document('{\"a\": [1, 2], \"b\": \"x\"}') ->> 'a'", "'[1,2]'"),
    ("document('{\"a\": [1, 2], \"b\": \"x\"}') ->> 'b'", "'x'"),
    ("list(1, 2, 3) -> -1 + 1", "4"),
    ("document('a', 1) -> 'b' IS NULL", "true"),
    ("list(1) -> 1 IS NULL", "true"),
    (":none -> 'a' IS NULL", "true"),
    ("'{\"a\": {\"b\": 1.5}}' -> 'a' -> 'b'", "1.5"),
    ("random(5, 5)", "5"),
    ("random(:two, 2) + 0", "2"),
    ("greatest(random(-9223372036854775808, 9223372036854775807), 9223372036854775807)", "9223372036854775807"),
];

fn given() -> [(&'static str, Value); 8] {
    [
        ("one", Value::Int(1)),
        ("two", Value::Int(2)),
        ("half", Value::Double(0.5)),
        ("none", Value::Null),
        ("yes", Value::Bool(true)),
        ("word", Value::Text("word".into())),
        ("digits", Value::Text("12".into())),
        ("max", Value::Int(INT)),
    ]
}

#[test]
fn expressions_have_the_values_that_pgbench_gives_them() {
    for (expression, expected) in GOOD {
        let found = value_of(expression, &given());
        // The tests print quotes within a text undoubled.
        let expected = expected.replace("''", "'");
        assert_eq!(found, Ok(expected), "{expression}");
    }
}

/// The expression with a variable in place of every number, so that nothing can be folded.
fn with_variables(expression: &str) -> (String, Vec<(String, Value)>) {
    let mut text = String::new();
    let mut given = Vec::new();
    let mut rest = expression;
    let (mut is_quoted, mut is_in_word) = (false, false);
    while let Some(letter) = rest.chars().next() {
        let is_number = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == 'e';
        let length = rest.find(|letter| !is_number(letter)).unwrap_or(rest.len());
        let number = match rest[..length].parse::<i64>() {
            Ok(number) => Some(Value::Int(number)),
            Err(_) => rest[..length].parse::<f64>().ok().map(Value::Double),
        };
        let is_too_large = rest.starts_with("9223372036854775808");
        match number {
            Some(value) if !is_quoted && !is_in_word && !is_too_large => {
                let name = format!("v{}", given.len());
                text.push_str(&format!(":{name}"));
                given.push((name, value));
                rest = &rest[length..];
            }
            _ => {
                is_quoted ^= letter == '\'';
                is_in_word = letter.is_alphanumeric() || letter == ':';
                text.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    (text, given)
}

#[test]
fn folding_does_not_change_a_value() {
    for (expression, expected) in GOOD {
        let (slow, variables) = with_variables(expression);
        let named = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()));
        let all: Vec<_> = given().into_iter().chain(named).collect();
        let expected = expected.replace("''", "'");
        assert_eq!(value_of(&slow, &all), Ok(expected), "{slow}");
    }
    assert_eq!(with_variables("'1' + 2 * :x3").0, "'1' + :v0 * :x3");
}

/// Expressions without a value at run time, and part of the message.
#[rustfmt::skip]
const WITHOUT: &[(&str, &str)] = &[
    ("1 / (:one - 1)", "test.sql:1:10: division by zero: 1 / 0"),
    ("1 % (:one - 1)", "division by zero: 1 % 0"),
    ("decimal('1.5') / (:one - decimal('1.0'))", "division by zero: 1.5 / 0.0"),
    (":max + :one", "integer overflow: 9223372036854775807 + 1"),
    ("(0 - :max - 1) / -:one", "integer overflow"),
    ("abs(0 - :max - 1)", "integer overflow"),
    ("1 << (:one + 63)", "expected a shift by 0 to 63 places, found 64"),
    ("1 >> (0 - :one)", "found -1"),
    ("int(:max * 2.0)", "does not fit into an integer"),
    (":yes + 1", "expected a number, found TRUE"),
    (":word * 2", "expected a number, found 'word'"),
    ("NOT :one", "expected TRUE or FALSE, found 1"),
    (":yes AND :one", "expected TRUE or FALSE, found 1"),
    ("CASE WHEN :one THEN 1 / 0 END", "test.sql:1:30: division by zero"),
    ("random(:two, :one)", "random(2, 1) has an empty range"),
];

#[test]
fn an_expression_without_a_value_fails_the_transaction_with_the_class_script() {
    for (expression, message) in WITHOUT {
        let found = value_of(expression, &given()).expect_err(expression);
        assert!(found.contains(message), "{expression}: {found}");
    }
}
