//! Sessions of one file share its database, which is closed with the last of them.

use assay_drivers::Blocking as _;

use crate::duckdb::support::{Folder, done, open, shown, try_open};

#[test]
fn sessions_see_each_others_commits_and_the_file_keeps_them() {
    let Some(folder) = Folder::new("share") else {
        return;
    };
    let file = folder.file();
    let (mut one, mut other) = (open(&file), open(&file));
    assert!(one.server_version().starts_with("DuckDB "));
    done(&mut one, "CREATE TABLE t AS SELECT 42 AS n");
    assert_eq!(shown(&mut other, "SELECT n FROM t"), ["42"]);
    let linked = folder.0.join("linked");
    std::os::unix::fs::symlink(&folder.0, &linked).expect("a link can be made");
    let mut third = open(&linked.join("test.duckdb"));
    assert_eq!(
        shown(&mut third, "SELECT n FROM t"),
        ["42"],
        "by another path"
    );
    drop((one, other, third));
    assert!(
        !file.with_extension("duckdb.wal").exists(),
        "closed in order"
    );
    assert_eq!(shown(&mut open(&file), "SELECT n FROM t"), ["42"]);
}

#[test]
fn settings_are_those_of_the_database_and_sessions_cannot_differ() {
    let Some(folder) = Folder::new("settings") else {
        return;
    };
    let asked = [("threads", "1"), ("memory_limit", "100MB")];
    let statements = ["SET streaming_buffer_size = '2MB'"];
    let mut session = try_open(&folder.file(), &asked, &statements).expect("the file opens");
    let found = shown(
        &mut session,
        "SELECT current_setting('threads'), current_setting('memory_limit'), \
         current_setting('streaming_buffer_size')",
    );
    assert_eq!(found, ["1|95.3 MiB|1.9 MiB"]);
    let Err(error) = try_open(&folder.file(), &[("threads", "2")], &[]) else {
        panic!("two sessions have different settings");
    };
    assert!(error.message.contains("other settings"), "{error}");
}
