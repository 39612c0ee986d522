//! A confined session reaches no file but its own.

use assay_drivers::ErrorClass;

use crate::sqlite::support::{Folder, class, done, shown_by, try_open};

#[test]
fn a_confined_session_reaches_no_other_file() {
    let folder = Folder::new("confined");
    let file = folder.file();
    let other = folder.0.join("other.db");
    let mut session = try_open(&file, &[("other_files", "refused")]).expect("the file opens");
    done(&mut session, "CREATE TABLE t (a)");
    done(&mut session, "INSERT INTO t VALUES (1)");
    let name = other.display();
    for sql in [
        format!("ATTACH '{name}' AS other"),
        format!("ATTACH 'file:{name}?mode=rwc' AS other"),
        format!("ATTACH '{name}' || '' AS other"),
        format!("VACUUM INTO '{name}'"),
        format!("PRAGMA temp_store_directory = '{}'", folder.0.display()),
        format!("PRAGMA TEMP_STORE_DIRECTORY = '{}'", folder.0.display()),
    ] {
        assert_eq!(class(&mut session, &sql), ErrorClass::Permission, "{sql}");
    }
    class(&mut session, &format!("SELECT load_extension('{name}')"));
    assert!(!other.exists(), "a statement made {name}");

    // What stays in its own file goes on.
    done(&mut session, "VACUUM");
    done(&mut session, "CREATE TEMP TABLE u (a)");
    assert_eq!(shown_by(&mut session, "SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn a_free_session_reaches_other_files() {
    let folder = Folder::new("free");
    let other = folder.0.join("other.db");
    let mut session = try_open(&folder.file(), &[]).expect("the file opens");
    done(
        &mut session,
        &format!("ATTACH '{}' AS other", other.display()),
    );
    done(&mut session, "CREATE TABLE other.t (a)");
    assert!(other.exists());
}
