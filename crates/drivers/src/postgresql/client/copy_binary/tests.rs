use crate::postgresql::client::copy_binary::*;

#[test]
fn only_a_plain_statement_with_known_types_becomes_binary() {
    let types = [ColumnType::Int, ColumnType::Timestamp];
    assert_eq!(
        statement("COPY t (a, b) FROM STDIN", &types).as_deref(),
        Some("COPY t (a, b) FROM STDIN (FORMAT binary)")
    );
    assert_eq!(statement("COPY t (a, b) FROM STDIN", &[]), None);
    assert_eq!(statement("COPY t (a, b) FROM STDIN (FREEZE)", &types), None);
    assert_eq!(statement("é", &types), None);
    let decimal = "decimal(9,2)".parse().expect("a type");
    assert_eq!(statement("COPY t FROM STDIN", &[decimal]), None);
}

#[test]
fn a_cell_is_written_in_its_column_type_or_rejected() {
    let check = |of: ColumnType, cell: Cell<'_>, expected: Option<&[u8]>| {
        let mut out = Vec::new();
        let is_written = Field::of(of)
            .expect("a supported type")
            .write(cell, &mut out);
        assert_eq!(is_written, expected.is_some(), "{of:?} {cell:?}");
        if let Some(expected) = expected {
            let length = u32::try_from(expected.len()).expect("short");
            assert_eq!(out[..4], length.to_be_bytes());
            assert_eq!(&out[4..], expected, "{of:?} {cell:?}");
        }
    };
    check(ColumnType::Int, Cell::Double(258.0), Some(&[0, 0, 1, 2]));
    check(ColumnType::Int, Cell::Text(b"007"), Some(&[0, 0, 0, 7]));
    check(ColumnType::Int, Cell::Int(1 << 31), None);
    check(ColumnType::Int, Cell::Double(0.5), None);
    check(ColumnType::BigInt, Cell::Int(-1), Some(&[0xff; 8]));
    check(
        ColumnType::Double,
        Cell::Int(2),
        Some(&2.0_f64.to_be_bytes()),
    );
    check(
        ColumnType::Float,
        Cell::Double(0.1),
        Some(&0.1_f32.to_be_bytes()),
    );
    check(ColumnType::Float, Cell::Double(1e39), None);
    check(ColumnType::Char(4), Cell::Int(42), Some(b"42"));
    check(ColumnType::Bool, Cell::Int(1), Some(&[1]));
    check(ColumnType::Bool, Cell::Int(2), None);
    check(
        ColumnType::Date,
        Cell::Text(b"2000-01-03"),
        Some(&[0, 0, 0, 2]),
    );
    check(ColumnType::Date, Cell::Int(3), None);
    check(
        ColumnType::Timestamp,
        Cell::Text(b"1999-12-31 23:59:59.999999"),
        Some(&[0xff; 8]),
    );
}
