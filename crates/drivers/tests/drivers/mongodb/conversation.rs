//! Takes a session with a server; sends it all that the driver can, and notes what the driver made of the
//! answers.

use assay_drivers::{Answer, Request};
use assay_values::{ColumnType, Decimal, Piece, Row, Value};

use crate::mongodb::Client;
use crate::support::pieces;

pub fn converse(client: &mut Client) {
    text(client, r#"{"drop": "types"}"#);
    text(client, r#"{"drop": "numbers"}"#);
    types(client);
    loads(client);
    batches(client);
    changes(client);
    errors(client);
    text(client, r#"{"drop": "types"}"#);
    text(client, r#"{"drop": "numbers"};"#);
}

fn text(client: &mut Client, text: &str) -> Answer {
    let answer = client.ask(&Request::Text(text));
    note(client, text, &answer);
    answer
}

fn note(client: &mut Client, what: &str, answer: &Answer) {
    let columns = format!("{} {:?}", answer.columns.join(", "), answer.cell_types);
    let on_one_line = what.split_whitespace().collect::<Vec<_>>().join(" ");
    client.note(&on_one_line, answer, &columns);
}

fn prepare(client: &mut Client, id: u32, marked: &str) {
    let pieces: &[Piece] = &pieces(marked);
    let answer = client.ask(&Request::Prepare { id, pieces });
    note(client, &format!("prepare {marked}"), &answer);
}

fn execute(client: &mut Client, id: u32, parameters: &[Value]) -> Answer {
    let answer = client.ask(&Request::Execute { id, parameters });
    note(client, &format!("execute {id}"), &answer);
    answer
}

fn types(client: &mut Client) {
    text(
        client,
        r#"{"insert": "types", "documents": [{"_id": {"$oid": "0123456789abcdef01234567"},
            "text": "it's \"é\"\n", "int": 7, "long": 8589934592, "double": 0.5, "whole": {"$numberDouble": "3"},
            "yes": true, "nothing": null, "date": {"$date": "2024-01-31T12:30:00.5Z"},
            "bytes": {"$binary": {"base64": "AP8=", "subType": "00"}},
            "uuid": {"$binary": {"base64": "c//SZESzTGmQ6OfR38A11A==", "subType": "04"}},
            "list": [1, [2.5, "x"], {"b": null, "a": {"$numberLong": "1"}}],
            "document": {"z": 1, "a": {"$date": "1969-12-31T23:59:59Z"}},
            "regex": {"$regularExpression": {"pattern": "a.*", "options": "i"}}}]}"#,
    );
    text(client, r#"{"find": "types", "filter": {"int": 7}}"#);
    let insert =
        r#"{"insert": "types", "documents": [{"_id": ?, "v": ?, "in": [{"deep": ?}, ?]}]}"#;
    prepare(client, 1, insert);
    let decimal = Decimal::parse("-12.50").expect("a decimal");
    for (id, value) in [
        (1, Value::Int(-3)),
        (2, Value::Int(1 << 40)),
        (3, Value::Double(1e300)),
        (4, Value::Text("a\0b".into())),
        (5, Value::Bool(false)),
        (6, Value::Date(19_000)),
        (7, Value::Timestamp(1_700_000_000_123_456)),
        (8, Value::Time(3_723_000_000)),
        (9, Value::Bytes([1, 0, 255].into())),
        (10, Value::List([Value::Int(1), Value::Null].into())),
        (11, Value::Document(r#"{"b": 1, "a": [true]}"#.into())),
        (12, Value::Null),
        (13, Value::Decimal(decimal)),
    ] {
        let values = [Value::Int(id), value.clone(), value, Value::Null];
        execute(client, 1, &values);
    }
    let find = r#"{"find": "types", "filter": {"_id": {"$lt": 100}}, "sort": {"_id": 1}}"#;
    text(client, find);
    let typed = r#"{"find": "types", "filter": {"v": {"$date": ?}}, "projection": {"_id": 1}}"#;
    prepare(client, 2, typed);
    execute(client, 2, &[Value::Text("2022-01-08".into())]);
    execute(client, 2, &[Value::Text("yesterday".into())]);
    execute(client, 2, &[]);
}

fn loads(client: &mut Client) {
    let rows = (0..300_i64).map(|number| {
        let mut row = Row::new();
        row.push_int(number);
        row.push_int(number % 7);
        row.push_bytes(format!("text {number}").as_bytes());
        match number % 3 {
            0 => row.push_null(),
            _ => row.push_bytes(b"2013-10-12 07:59:20"),
        }
        row
    });
    use ColumnType::{BigInt, Int, Timestamp, Varchar};
    let types = [Int, BigInt, Varchar(20), Timestamp];
    let load = r#"{"insert": "numbers", "fields": ["_id", "k", "t", "at"]}"#;
    let answer = client.load(load, &types, rows);
    note(client, load, &answer);
    let mut row = Row::new();
    row.push_int(1);
    let answer = client.load(r#"{"insert": "numbers"}"#, &[], [row.clone()]);
    note(client, "load without fields", &answer);
    let load = r#"{"insert": "numbers", "fields": ["_id"]}"#;
    let answer = client.load(load, &[], [row]);
    note(client, "load of a key that is there", &answer);
}

fn batches(client: &mut Client) {
    let find =
        r#"{"find": "numbers", "sort": {"_id": 1}, "limit": 7, "projection": {"_id": 1, "at": 1}}"#;
    assert_eq!(text(client, find).rows, 7);
    let answer = client.ask(&Request::Text(r#"{"find": "numbers"}"#));
    assert_eq!(answer.rows, 300);
    for command in [
        r#"{"aggregate": "numbers", "pipeline": [{"$group": {"_id": "$k", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}]}"#,
        r#"{"count": "numbers", "query": {"k": 3}}"#,
        r#"{"distinct": "numbers", "key": "k", "query": {"_id": {"$lt": 3}}}"#,
    ] {
        text(client, command);
    }
}

fn changes(client: &mut Client) {
    let update =
        r#"{"update": "numbers", "updates": [{"q": {"_id": ?}, "u": {"$inc": {"k": ?}}}]}"#;
    prepare(client, 3, update);
    execute(client, 3, &[Value::Int(5), Value::Int(10)]);
    execute(client, 3, &[Value::Int(1000), Value::Int(10)]);
    for command in [
        r#"{"update": "numbers", "updates": [{"q": {"_id": 1000}, "u": {"$set": {"k": 1}}, "upsert": true}]}"#,
        r#"{"findAndModify": "numbers", "query": {"_id": 1000}, "update": {"$set": {"k": 2}}, "new": true}"#,
        r#"{"delete": "numbers", "deletes": [{"q": {"k": 3}, "limit": 0}]}"#,
    ] {
        text(client, command);
    }
}

fn errors(client: &mut Client) {
    for command in [
        r#"{"insert": "numbers", "documents": [{"_id": 1}]}"#,
        r#"{"find": "numbers", "filter": {"k": {"$fly": 1}}}"#,
        r#"{"fly": 1}"#,
        "SELECT 1",
        r#"{"find": "nothing"}"#,
    ] {
        text(client, command);
    }
}
