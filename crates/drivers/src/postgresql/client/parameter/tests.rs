use crate::postgresql::client::parameter::{Format, ParameterType as Type};
use assay_values::{Decimal, Value};

#[expect(
    clippy::needless_pass_by_value,
    reason = "callers write the value in place"
)]
fn check(of: Type, value: Value, format: Format, expected: &[u8]) {
    let mut out = Vec::new();
    assert_eq!(of.write(&value, &mut out), Some(format), "{of:?} {value:?}");
    assert_eq!(
        out[..4],
        u32::try_from(expected.len()).expect("short").to_be_bytes()
    );
    assert_eq!(&out[4..], expected, "{of:?} {value:?}");
}

#[test]
fn values_that_fit_their_type_are_sent_in_binary() {
    check(Type::Int2, Value::Int(-2), Format::Binary, &[0xff, 0xfe]);
    check(Type::Int4, Value::Int(258), Format::Binary, &[0, 0, 1, 2]);
    check(Type::Int8, Value::Int(-1), Format::Binary, &[0xff; 8]);
    check(
        Type::Float8,
        Value::Double(1.5),
        Format::Binary,
        &1.5_f64.to_be_bytes(),
    );
    check(
        Type::Float4,
        Value::Double(0.1),
        Format::Binary,
        &0.1_f32.to_be_bytes(),
    );
    check(Type::Bool, Value::Bool(true), Format::Binary, &[1]);
    check(
        Type::Int4,
        Value::Double(2.0),
        Format::Binary,
        &[0, 0, 0, 2],
    );
}

#[test]
fn a_number_of_another_type_needs_its_own_type_declared() {
    for (of, value, own) in [
        (Type::Int2, Value::Int(40_000), Type::Int4),
        (Type::Int4, Value::Int(i64::MAX), Type::Int8),
        (Type::Int4, Value::Double(1.5), Type::Numeric),
        (Type::Int8, Value::Double(1e19), Type::Numeric),
        (Type::Int8, Value::Double(f64::NAN), Type::Numeric),
        (Type::Quoted, Value::Int(5), Type::Int4),
        (Type::Quoted, Value::Double(3e9), Type::Int8),
        (Type::Quoted, Value::Bool(true), Type::Bool),
        (Type::Numeric, Value::Int(5), Type::Int4),
        (Type::Float8, Value::Int(5), Type::Int4),
        (Type::Unknown, Value::Null, Type::Quoted),
        (Type::Unknown, Value::Text("a".into()), Type::Quoted),
        (Type::Unknown, Value::Text("1.".into()), Type::Quoted),
        (Type::Unknown, Value::Text("-1.50".into()), Type::Numeric),
    ] {
        assert_eq!(of.write(&value, &mut Vec::new()), None, "{of:?} {value:?}");
        assert_eq!(Type::of_literal(&value), own, "{value:?}");
        assert!(own.write(&value, &mut Vec::new()).is_some(), "{value:?}");
    }
}

#[test]
fn values_that_do_not_fit_are_sent_as_text_for_the_server_to_check() {
    check(Type::Bool, Value::Int(1), Format::Text, b"1");
    check(Type::Int4, Value::Text("x".into()), Format::Text, b"x");
    check(
        Type::Float4,
        Value::Double(1e39),
        Format::Text,
        b"1000000000000000000000000000000000000000",
    );
    check(Type::Text, Value::Bool(false), Format::Text, b"false");
    check(Type::Text, Value::Double(f64::NAN), Format::Text, b"NaN");
}

#[test]
fn values_of_other_types_are_sent_in_the_servers_form() {
    let decimal = Decimal::parse("-1.50")
        .map(Value::Decimal)
        .expect("it is one");
    check(
        Type::Bytea,
        Value::Bytes([0, 255].into()),
        Format::Binary,
        &[0, 255],
    );
    check(
        Type::Text,
        Value::Bytes([0, 255].into()),
        Format::Text,
        b"\\x00ff",
    );
    check(Type::Numeric, decimal.clone(), Format::Text, b"-1.50");
    assert_eq!(Type::Quoted.write(&decimal, &mut Vec::new()), None);
    check(Type::Quoted, Value::Date(0), Format::Text, b"1970-01-01");
    let inner = Value::List([Value::Int(2), Value::Null].into());
    let list = Value::List([Value::Text("a \"b\"".into()), inner].into());
    check(Type::Text, list, Format::Text, br#"{"a \"b\"",{2,NULL}}"#);
    check(
        Type::Text,
        Value::Document("{}".into()),
        Format::Text,
        b"{}",
    );
}

#[test]
fn null_has_the_length_of_minus_one() {
    let mut out = Vec::new();
    assert_eq!(
        Type::Int4.write(&Value::Null, &mut out),
        Some(Format::Binary)
    );
    assert_eq!(out, [0xff; 4]);
}
