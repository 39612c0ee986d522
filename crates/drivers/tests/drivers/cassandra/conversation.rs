//! Takes a session with a server; asks it for all that the driver can, and notes what the driver made of the
//! answers.

use assay_drivers::{Answer, Request};
use assay_values::{Decimal, Piece, Row, Value};

use crate::cassandra::Client;
use crate::support::pieces;

const COLUMNS: &[(&str, &str)] = &[
    ("id", "int"),
    ("a_text", "text"),
    ("an_ascii", "ascii"),
    ("a_bigint", "bigint"),
    ("a_smallint", "smallint"),
    ("a_tinyint", "tinyint"),
    ("a_varint", "varint"),
    ("a_decimal", "decimal"),
    ("a_double", "double"),
    ("a_float", "float"),
    ("a_boolean", "boolean"),
    ("a_timestamp", "timestamp"),
    ("a_date", "date"),
    ("a_time", "time"),
    ("a_uuid", "uuid"),
    ("a_timeuuid", "timeuuid"),
    ("an_inet", "inet"),
    ("a_blob", "blob"),
    ("a_duration", "duration"),
    ("a_list", "list<int>"),
    ("a_set", "set<text>"),
    ("a_map", "map<text, double>"),
    ("a_tuple", "tuple<int, text>"),
    ("a_nested", "frozen<map<int, frozen<list<timestamp>>>>"),
    ("a_person", "frozen<person>"),
    ("a_vector", "vector<float, 3>"),
];

const REPLICATED: &str = "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

pub fn converse(client: &mut Client) {
    let version = assay_drivers::Wire::server_version(&client.wire);
    client.say(format!("version {version}"));
    schema(client);
    types(client);
    pages(client);
    loads(client);
    pipelines(client);
    errors(client);
    changes(client);
    text(client, "DROP KEYSPACE assay_recorded");
}

fn text(client: &mut Client, text: &str) -> Answer {
    let answer = client.ask(&Request::Text(text));
    note(client, text, &answer);
    answer
}

fn note(client: &mut Client, what: &str, answer: &Answer) {
    client.note(what, answer, &answer.columns.join(", "));
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

fn schema(client: &mut Client) {
    text(client, "DROP KEYSPACE IF EXISTS assay_recorded");
    text(
        client,
        &format!("CREATE KEYSPACE assay_recorded {REPLICATED}"),
    );
    text(client, "USE assay_recorded");
    text(client, "CREATE TYPE person (name text, born date)");
    let columns = COLUMNS.iter().map(|(name, kind)| format!("{name} {kind}"));
    let columns = columns.collect::<Vec<_>>().join(", ");
    text(
        client,
        &format!("CREATE TABLE types ({columns}, PRIMARY KEY (id))"),
    );
    let sql = "CREATE TABLE numbers (k int, n int, t text, PRIMARY KEY (k, n))";
    text(client, sql);
    text(client, "CREATE TABLE counts (k int PRIMARY KEY, c counter)");
}

fn types(client: &mut Client) {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let (names, marks) = (names.join(", "), vec!["?"; COLUMNS.len()].join(", "));
    prepare(
        client,
        0,
        &format!("INSERT INTO types ({names}) VALUES ({marks})"),
    );
    let text = |text: &str| Value::Text(text.into());
    let decimal = |text: &str| Value::Decimal(Decimal::parse(text).expect("a decimal"));
    let values = [
        Value::Int(1),
        text("Grüße\n"),
        text("plain"),
        Value::Int(i64::MIN),
        Value::Int(-32_768),
        Value::Int(127),
        text("-123456789012345678901234567890"),
        decimal("-12.50"),
        Value::Double(0.1),
        Value::Double(0.1),
        Value::Bool(true),
        Value::Timestamp(1_299_261_218_123_456),
        Value::Date(15_037),
        Value::Time(64_418_500_000),
        text("123e4567-e89b-42d3-a456-426614174000"),
        text("8d6ab2c0-1dd2-11b2-8080-808080808080"),
        text("2001:db8::1"),
        Value::Bytes([0, 0xFF, b'\\'].into()),
        text("1y2mo3d4h5m6s7ms8us9ns"),
        Value::List([Value::Int(3), Value::Int(-1)].into()),
        text("[\"b\", \"a\\\"\"]"),
        Value::Document("{\"x\": 1.5, \"y\": -2}".into()),
        text("[7, null]"),
        text("{\"1\": [\"2011-03-04 17:53:38.5\", 0]}"),
        text("{\"name\": \"Ada\", \"born\": \"1815-12-10\"}"),
        Value::List([Value::Double(0.5), Value::Int(1), Value::Double(-2.25)].into()),
    ];
    execute(client, 0, &values);
    let mut nothing = vec![Value::Null; COLUMNS.len()];
    nothing[0] = Value::Int(2);
    execute(client, 0, &nothing);
    // What cannot become the type of its column is not sent.
    let mut wrong = nothing.clone();
    wrong[5] = Value::Int(128);
    execute(client, 0, &wrong);
    wrong[5] = Value::Null;
    wrong[14] = text("not a uuid");
    execute(client, 0, &wrong);
    execute(client, 0, &wrong[..3]);
    prepare(
        client,
        1,
        &format!("SELECT {names} FROM types WHERE id = ?"),
    );
    for id in [1, 2, 3] {
        execute(client, 1, &[Value::Int(id)]);
    }
    // Numbers as texts, and the same as JSON.
    prepare(client, 2, "UPDATE counts SET c = c + ? WHERE k = ?");
    execute(client, 2, &[text("41"), Value::Int(1)]);
    execute(client, 2, &[decimal("1.00"), Value::Double(1.0)]);
    self::text(client, "SELECT k, c FROM counts");
}

fn pages(client: &mut Client) {
    prepare(client, 3, "INSERT INTO numbers (k, n, t) VALUES (?, ?, ?)");
    for number in 0..8 {
        let value = Value::Text(format!("{number}").into());
        execute(client, 3, &[Value::Int(0), Value::Int(number), value]);
    }
    // The session asks for pages of three rows.
    text(client, "SELECT n, t FROM numbers WHERE k = 0");
    prepare(client, 4, "SELECT n FROM numbers WHERE k = ?");
    execute(client, 4, &[Value::Int(0)]);
    let pieces = &pieces("SELECT t FROM numbers WHERE k = ? AND n >= ?");
    for least in [0, 7] {
        let parameters = &[Value::Int(0), Value::Int(least)];
        let answer = client.ask(&Request::Direct { pieces, parameters });
        note(client, "direct", &answer);
    }
}

fn row(number: i64) -> Row {
    let mut row = Row::new();
    row.push_int(1);
    row.push_int(number);
    match number {
        5 => row.push_null(),
        _ => row.push_bytes(b"tab\tline\n"),
    }
    row
}

const INSERT: &str = "INSERT INTO numbers (k, n, t) VALUES (?, ?, ?)";

fn loads(client: &mut Client) {
    let answer = client.load(INSERT, &[], (0..20).map(row));
    note(client, "load", &answer);
    text(client, "SELECT count(*) FROM numbers WHERE k = 1");
    let short = || {
        let mut row = Row::new();
        row.push_int(1);
        row
    };
    let answer = client.load(INSERT, &[], (0..2).map(row).chain([short()]));
    note(client, "load of a row that is too short", &answer);
    let answer = client.load("INSERT INTO nowhere (k) VALUES (?)", &[], []);
    note(client, "load into no table", &answer);
    let answer = client.load(INSERT, &[], []);
    note(client, "load of nothing", &answer);
}

fn pipelines(client: &mut Client) {
    let (parameters, others) = (&[Value::Int(0)], &[Value::Int(1)]);
    let pieces = &pieces("SELECT t FROM numbers WHERE k = ? AND n = 7");
    let execute = |parameters| Request::Execute { id: 4, parameters };
    let answers = client.pipeline(&[
        execute(parameters),
        Request::Text("SELECT t FROM numbers WHERE k = 0 AND n = 3"),
        Request::Direct { pieces, parameters },
        execute(others),
    ]);
    for answer in &answers {
        note(client, "in a pipeline", answer);
    }
    let answers = client.pipeline(&[
        Request::Text("SELECT t FROM numbers WHERE k = 0 AND n = 3"),
        Request::Text("SELECT t FROM nowhere"),
        Request::Text("SELECT t FROM numbers WHERE k = 0 AND n = 4"),
    ]);
    for answer in &answers {
        note(client, "in a pipeline with an error", answer);
    }
    let answers = client.pipeline(&[]);
    client.say(format!("an empty pipeline has {} answers", answers.len()));
}

fn errors(client: &mut Client) {
    #[rustfmt::skip]
    let cases = [
        "SELEC 1", "SELECT * FROM nowhere", "SELECT nothing FROM numbers WHERE k = 1",
        "SELECT n FROM no_keyspace.numbers", "INSERT INTO numbers (k, n) VALUES ('x', 1)",
        "INSERT INTO numbers (k) VALUES (1)", "INSERT INTO numbers (k, n, t) VALUES (1, null, 'x')",
        "SELECT n FROM numbers WHERE t = 'x'", "CREATE TABLE numbers (k int PRIMARY KEY)",
        "DROP TABLE nowhere", "DROP KEYSPACE nowhere", "SELECT unknown_function(n) FROM numbers",
        "INSERT INTO types (id, a_tinyint) VALUES (1, 1000)", "BEGIN; COMMIT", "",
    ];
    for wrong in cases {
        text(client, wrong);
    }
    prepare(client, 5, "SELECT nothing FROM numbers WHERE k = ?");
    execute(client, 5, &[Value::Int(1)]);
    for _ in 0..2 {
        text(
            client,
            "INSERT INTO numbers (k, n) VALUES (9, 9) IF NOT EXISTS",
        );
    }
}

/// The server forgets statements on a table that changes, and describes their rows anew.
fn changes(client: &mut Client) {
    prepare(client, 6, "SELECT * FROM numbers WHERE k = ? AND n = 7");
    execute(client, 6, &[Value::Int(0)]);
    text(client, "ALTER TABLE numbers ADD more int");
    execute(client, 6, &[Value::Int(0)]);
    execute(client, 6, &[Value::Int(0)]);
    execute(client, 3, &[Value::Int(2), Value::Int(1), Value::Null]);
}

/// Sends values that no segment holds as a whole, and reads them back.
pub fn long_values(client: &mut Client) {
    text(
        client,
        &format!("CREATE KEYSPACE IF NOT EXISTS assay_long {REPLICATED}"),
    );
    text(client, "USE assay_long");
    let sql = "CREATE TABLE IF NOT EXISTS t (k int PRIMARY KEY, v blob)";
    text(client, sql);
    prepare(client, 0, "INSERT INTO t (k, v) VALUES (?, ?)");
    prepare(client, 1, "SELECT v FROM t WHERE k = ?");
    let byte = |at: u32| at.wrapping_mul(at).to_be_bytes()[2];
    for length in [131_000, 131_072, 1 << 20] {
        let value: Box<[u8]> = (0..length).map(byte).collect();
        let answer = execute(client, 0, &[Value::Int(1), Value::Bytes(value.clone())]);
        assert_eq!(answer.error, None);
        let parameters = &[Value::Int(1)];
        let answer = client.ask(&Request::Execute { id: 1, parameters });
        assert_eq!(answer.kept, [[Some(value)]]);
    }
    text(client, "DROP KEYSPACE assay_long");
}
