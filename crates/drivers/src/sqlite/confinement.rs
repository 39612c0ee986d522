//! Takes a session; has the library refuse statements that reach other files than its own. It asks when it compiles a
//! statement, not when it runs one.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ffi};

/// Pragmas that name directories, in which the library would then make files.
const OF_DIRECTORIES: [&str; 2] = ["temp_store_directory", "data_store_directory"];

pub(super) fn confine(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        // VACUUM itself attaches a temporary database, which has no name.
        AuthAction::Attach { filename: "" } => Authorization::Allow,
        AuthAction::Attach { .. } => Authorization::Deny,
        // Its name is known only when the statement runs.
        AuthAction::Unknown { code, .. } if code == ffi::SQLITE_ATTACH => Authorization::Deny,
        AuthAction::Function {
            function_name: "load_extension",
        } => Authorization::Deny,
        AuthAction::Pragma { pragma_name, .. } if is_of_directories(pragma_name) => {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }))
}

fn is_of_directories(pragma: &str) -> bool {
    OF_DIRECTORIES
        .iter()
        .any(|name| name.eq_ignore_ascii_case(pragma))
}
