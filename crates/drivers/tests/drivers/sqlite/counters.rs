//! The counters of the library's page cache.

use assay_drivers::Blocking as _;

use crate::sqlite::support::{Folder, done, open, text};

#[test]
fn a_page_is_a_miss_once_and_then_a_hit() {
    let folder = Folder::new("counters");
    let mut writer = open(&folder.file());
    done(&mut writer, "CREATE TABLE t (a)");
    done(
        &mut writer,
        "INSERT INTO t SELECT zeroblob(3000) FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9]')",
    );

    let mut reader = open(&folder.file());
    let counters = |session: &assay_drivers::sqlite::SqliteConnection| {
        let [("buffer_hits", hits), ("buffer_misses", misses)] = session.counters()[..] else {
            panic!("expected hits and misses, found {:?}", session.counters());
        };
        (hits, misses)
    };
    let (_, before) = counters(&reader);
    text(&mut reader, "SELECT sum(length(a)) FROM t");
    let (hits, misses) = counters(&reader);
    assert!(misses >= before + 9, "each row has a page of its own");
    text(&mut reader, "SELECT sum(length(a)) FROM t");
    let (hits_again, misses_again) = counters(&reader);
    assert_eq!(misses_again, misses);
    assert!(hits_again >= hits + 9);
}
