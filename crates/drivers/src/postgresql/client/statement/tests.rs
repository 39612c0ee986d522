use crate::postgresql::client::statement::*;

const NAMES: Names = Names {
    session: *b"0123456789abcdef",
};

fn two_parameters() -> Statement {
    let types = [ParameterType::Int4, ParameterType::Text];
    Statement::new(12, "".into(), types.into(), Vec::new()).expect("two parameters fit")
}

#[test]
fn an_execution_is_bind_execute_and_sync() {
    let mut out = b"before".to_vec();
    let parameters = [Value::Int(7), Value::Text("ab".into())];
    two_parameters()
        .execute(NAMES, &parameters, &mut out)
        .expect("two parameters are right");
    let bind = b"B\0\0\0\x37\0assay_0123456789abcdef_12\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x02ab\0\0";
    assert_eq!(
        out,
        [
            b"before",
            &bind[..],
            b"E\0\0\0\x09\0\0\0\0\0",
            b"S\0\0\0\x04"
        ]
        .concat()
    );
}

#[test]
fn a_value_of_another_type_changes_the_format_code_of_only_this_execution() {
    let statement = two_parameters();
    let (mut odd, mut even) = (Vec::new(), Vec::new());
    let text = Value::Text("7".into());
    statement
        .execute(NAMES, &[text, Value::Null], &mut odd)
        .expect("two parameters are right");
    statement
        .execute(NAMES, &[Value::Int(7), Value::Null], &mut even)
        .expect("two parameters are right");
    assert_eq!(odd[statement.formats_at..][..4], [0, 0, 0, 0]);
    assert_eq!(even[statement.formats_at..][..4], [0, 1, 0, 0]);
}

#[test]
fn patching_and_writing_an_execution_give_the_same_bytes() {
    use ParameterType as Type;
    let types = [
        Type::Int2,
        Type::Int4,
        Type::Int8,
        Type::Float4,
        Type::Float8,
        Type::Bool,
    ];
    let statement =
        Statement::new(3, "".into(), types.into(), Vec::new()).expect("six parameters fit");
    let whole = statement
        .whole
        .as_ref()
        .expect("all types are of a fixed size");
    let fitting = [
        Value::Int(-2),
        Value::Int(i64::from(i32::MAX)),
        Value::Int(i64::MIN),
        Value::Double(0.1),
        Value::Double(-0.0),
        Value::Bool(true),
    ];
    let (mut patched, mut written) = (b"before".to_vec(), b"before".to_vec());
    assert!(statement.patch(whole, NAMES, &fitting, &mut patched));
    statement
        .write(NAMES, &fitting, TAIL, &mut written)
        .expect("the count is right");
    assert_eq!(patched, written);

    let odd = [
        (0, Value::Int(40_000), false),
        (1, Value::Int(1 << 31), false),
        (2, Value::Double(1.0), true),
        (3, Value::Double(1e39), true),
        (4, Value::Null, true),
        (5, Value::Text("t".into()), true),
    ];
    for (index, value, is_of_the_type) in odd {
        let mut parameters = fitting.clone();
        parameters[index] = value;
        let mut out = b"before".to_vec();
        assert!(
            !statement.patch(whole, NAMES, &parameters, &mut out),
            "{parameters:?}"
        );
        assert_eq!(out, b"before");
        assert_eq!(
            statement.execute(NAMES, &parameters, &mut out),
            Ok(is_of_the_type),
            "{parameters:?}"
        );
        assert_eq!(out.ends_with(TAIL) && out.len() > 40, is_of_the_type);
    }
}

#[test]
fn a_wrong_number_of_parameters_sends_nothing() {
    let mut out = Vec::new();
    let error = two_parameters()
        .execute(NAMES, &[Value::Null], &mut out)
        .expect_err("one is missing");
    assert!(error.message.contains("expected 2 parameters") && out.is_empty());
}
#[test]
fn types_are_declared_again_only_if_a_value_has_another_type() {
    let mut statement =
        Statement::unknown(1, "SELECT -$1, $2".into(), 2).expect("two parameters fit");
    let (none, small, large) = (Value::Null, Value::Int(7), Value::Int(1 << 40));
    let (half, word) = (Value::Double(0.5), Value::Text("w".into()));
    let steps = [
        ([&small, &none], Some([23, 0])),
        ([&none, &word], None),
        ([&large, &word], Some([20, 0])),
        ([&small, &none], None),
        ([&half, &small], Some([1700, 23])),
        ([&none, &none], None),
        ([&word, &small], Some([0, 23])),
    ];
    for (values, expected) in steps {
        let values = values.map(Value::clone);
        let mut out = Vec::new();
        let fits = statement
            .execute(NAMES, &values, &mut out)
            .expect("two are right");
        assert_eq!(fits, expected.is_none(), "{values:?}");
        if let Some([one, other]) = expected {
            assert!(out.is_empty());
            statement = statement
                .declare(NAMES, &values, &mut out)
                .expect("it is short");
            let oids: [[u8; 4]; 2] = [i32::to_be_bytes(one), i32::to_be_bytes(other)];
            assert!(out.ends_with(&oids.concat()), "{}", out.escape_ascii());
            assert_eq!(statement.execute(NAMES, &values, &mut out), Ok(true));
        }
        assert!(out.ends_with(DESCRIBING_TAIL));
    }
    statement = statement.undeclared();
    assert_eq!(
        statement.execute(NAMES, &[word, small], &mut Vec::new()),
        Ok(false)
    );
}

#[test]
fn sessions_share_equal_statements_and_each_sends_its_own_names() {
    let (one, same) = (two_parameters().shared(), two_parameters().shared());
    assert!(Arc::ptr_eq(&one, &same));
    let other = Statement::unknown(12, "".into(), 2).expect("two parameters fit");
    assert!(!Arc::ptr_eq(&one, &other.shared()));
    let names = Names::of_new_session();
    for values in [[Value::Int(7), Value::Null], [Value::Null, Value::Int(7)]] {
        let (mut sent, mut of_another) = (Vec::new(), Vec::new());
        assert_eq!(one.execute(names, &values, &mut sent), Ok(true));
        assert_eq!(one.execute(NAMES, &values, &mut of_another), Ok(true));
        let name = names.of(12);
        assert_eq!(sent[6..][..name.len()], *name.as_bytes());
        names.enter(&mut of_another, 0);
        assert_eq!(sent, of_another);
    }
}

#[test]
fn no_two_sessions_have_the_same_name_for_a_statement() {
    let (one, other) = (Names::of_new_session(), Names::of_new_session());
    assert_eq!(one.of(3), one.of(3));
    assert_ne!(one.of(3), one.of(4));
    assert_ne!(one.of(3), other.of(3));
}
