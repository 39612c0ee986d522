//! The time that our BSON takes and that the crate `bson` takes, alternately: a command with a bound value is
//! encoded, the answer of 100 documents is read to the bytes of each value, a decimal128 is read and written.
//!
//! Our files are compiled in from where they are. Prints Markdown; `python -m benches bson_cost` runs it.

#![allow(dead_code)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::spec::BinarySubtype;
use bson::{Binary, Decimal128};

#[path = "../../../crates/drivers/src/mongodb/decimal128.rs"]
mod decimal128;
#[path = "../../../crates/drivers/src/mongodb/scan.rs"]
mod scan;
#[path = "../../../crates/drivers/src/mongodb/write.rs"]
mod write;

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(100);
const DOCUMENTS: i32 = 100;
const SESSION: [u8; 16] = [7; 16];
const DECIMALS: [&str; 4] = [
    "12.50",
    "0.001234",
    "-99999.99",
    "1234567890123456789012345678901234",
];

/// `{"find": "point", "filter": {"_id": id}, "projection": {…}, "limit": 1, "$db": …, "lsid": {…}}`.
fn command(id: i64, out: &mut Vec<u8>) {
    write::document(out, |out| {
        write::string_element("find", "point", out);
        write::document_element("filter", out, |out| write::int64_element("_id", id, out));
        write::document_element("projection", out, |out| {
            write::int32_element("_id", 0, out);
            write::int32_element("c", 1, out);
        });
        write::int32_element("limit", 1, out);
        write::string_element("$db", "assay", out);
        write::document_element("lsid", out, |out| {
            write::binary_element("id", scan::subtype::UUID, &SESSION, out);
        });
    });
}

fn command_of_crate(id: i64, out: &mut Vec<u8>) {
    let mut filter = RawDocumentBuf::new();
    filter.append(cstr!("_id"), id);
    let mut projection = RawDocumentBuf::new();
    projection.append(cstr!("_id"), 0_i32);
    projection.append(cstr!("c"), 1_i32);
    let mut session = RawDocumentBuf::new();
    let bytes = SESSION.to_vec();
    let subtype = BinarySubtype::Uuid;
    session.append(cstr!("id"), Binary { subtype, bytes });
    let mut whole = RawDocumentBuf::new();
    whole.append(cstr!("find"), "point");
    whole.append(cstr!("filter"), filter);
    whole.append(cstr!("projection"), projection);
    whole.append(cstr!("limit"), 1_i32);
    whole.append(cstr!("$db"), "assay");
    whole.append(cstr!("lsid"), session);
    // The socket's bytes are one buffer, in which the messages of several sessions may stand.
    out.extend_from_slice(whole.as_bytes());
}

/// An answer with 100 documents of a number, a text of 120 letters and a double.
fn answer() -> Vec<u8> {
    let mut batch = RawArrayBuf::new();
    for id in 0..DOCUMENTS {
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("_id"), id);
        document.append(cstr!("c"), "abcdefghij".repeat(12));
        document.append(cstr!("price"), 1.5_f64);
        batch.push(document);
    }
    let mut cursor = RawDocumentBuf::new();
    cursor.append(cstr!("firstBatch"), batch);
    cursor.append(cstr!("id"), 0_i64);
    cursor.append(cstr!("ns"), "assay.point");
    let mut whole = RawDocumentBuf::new();
    whole.append(cstr!("cursor"), cursor);
    whole.append(cstr!("ok"), 1.0_f64);
    whole.into_bytes()
}

/// The bytes of all values of the documents, so that each is looked at.
fn read(answer: &[u8]) -> usize {
    let elements = |bytes| {
        scan::Elements::of(bytes)
            .expect("a document")
            .map(|one| one.expect("an element"))
    };
    let mut total = 0;
    for part in elements(answer).filter(|part| part.name == b"cursor") {
        for field in elements(part.value).filter(|field| field.name == b"firstBatch") {
            for document in elements(field.value) {
                for value in elements(document.value) {
                    total += value.name.len() + value.text().unwrap_or(value.value).len();
                }
            }
        }
    }
    total
}

fn read_of_crate(answer: &[u8]) -> usize {
    let mut total = 0;
    let whole = RawDocument::from_bytes(answer).expect("a document");
    let cursor = whole.get_document("cursor").expect("a cursor");
    for document in cursor.get_array("firstBatch").expect("a batch") {
        let RawBsonRef::Document(document) = document.expect("an element") else {
            panic!("no document")
        };
        for element in document.iter_elements() {
            let element = element.expect("an element");
            let size = match element.value().expect("a value") {
                RawBsonRef::String(text) => text.len(),
                _ => element.size(),
            };
            total += element.key().as_str().len() + size;
        }
    }
    total
}

fn decimals(text: &mut Vec<u8>) {
    for word in DECIMALS {
        let bytes = decimal128::of_text(black_box(word)).expect("a decimal");
        decimal128::write_text(black_box(bytes), text);
    }
}

fn decimals_of_crate(text: &mut String) {
    for word in DECIMALS {
        let decimal: Decimal128 = black_box(word).parse().expect("a decimal");
        write!(text, "{}", black_box(decimal)).expect("memory");
    }
}

/// Nanoseconds of one call: the median of the rounds, the least and the most, of both sides alternately.
fn compare(name: &str, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        found[0].push(nanoseconds(&mut ours));
        found[1].push(nanoseconds(&mut theirs));
    }
    let mut ratios: Vec<f64> = found[0].iter().zip(&found[1]).map(|(a, b)| b / a).collect();
    let [ours, theirs] = found.map(|mut times| {
        let (median, least, most) = spread(&mut times);
        format!("{median:.0} ({least:.0} – {most:.0})")
    });
    let (median, least, most) = spread(&mut ratios);
    println!("| {name} | {ours} | {theirs} | {median:.1} ({least:.1} – {most:.1}) |");
}

fn nanoseconds(call: &mut impl FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0_u32);
    while start.elapsed() < ROUND {
        for _ in 0..64 {
            call();
        }
        calls += 64;
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}

fn spread(values: &mut [f64]) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    (
        values[values.len() / 2],
        values[0],
        values[values.len() - 1],
    )
}

fn main() {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    command(17, &mut one);
    command_of_crate(17, &mut other);
    assert_eq!(one, other, "both write the same bytes");
    let answer = answer();
    assert_eq!(
        read(&answer),
        read_of_crate(&answer),
        "both read the same values"
    );
    println!("| work | ours, ns (least – most) | crate `bson`, ns | theirs ÷ ours |");
    println!("|---|---:|---:|---:|");
    compare(
        "a command with a bound value",
        || {
            one.clear();
            command(black_box(17), &mut one);
            black_box(&one);
        },
        || {
            other.clear();
            command_of_crate(black_box(17), &mut other);
            black_box(&other);
        },
    );
    compare(
        "an answer of 100 documents",
        || _ = black_box(read(black_box(&answer))),
        || _ = black_box(read_of_crate(black_box(&answer))),
    );
    let (mut text, mut their_text) = (Vec::new(), String::new());
    compare(
        "four decimals, read and written",
        || {
            text.clear();
            decimals(&mut text);
        },
        || {
            their_text.clear();
            decimals_of_crate(&mut their_text);
        },
    );
}
