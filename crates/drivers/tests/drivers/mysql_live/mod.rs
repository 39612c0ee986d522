//! Tests the driver with real servers: MariaDB if it is installed, MySQL if `ASSAY_TEST_MYSQLD`
//! names its program. Each server is started once and stopped at the end.

mod bulk;
mod connecting;
mod errors;
mod statements;
mod types;

use crate::mysql_support::server::Server;

#[test]
fn the_driver_works_with_mariadb() {
    match Server::mariadb() {
        Ok(server) => test_with(&server, "MariaDB "),
        Err(reason) => report_skipped(&reason),
    }
}

#[test]
fn the_driver_works_with_mysql() {
    match Server::mysql() {
        Ok(server) => test_with(&server, "MySQL "),
        Err(reason) => report_skipped(&reason),
    }
}

fn test_with(server: &Server, name: &str) {
    connecting::greets_and_runs_the_sessions_statements(server, name);
    connecting::proves_a_password_without_tls(server);
    connecting::is_refused_when_the_server_is_full(server);
    statements::returns_rows_counts_and_names(server);
    statements::takes_several_results(server);
    statements::executes_every_kind_of_value(server);
    statements::keeps_the_columns_that_the_server_does_not_send_again(server);
    statements::carries_texts_longer_than_a_packet(server);
    types::both_protocols_give_the_same_text(server);
    types::floating_point_numbers_are_printed_as_the_server_does(server);
    errors::are_classed_and_leave_the_session_good(server);
    errors::deadlocks_and_waits_have_their_classes(server);
    errors::a_killed_session_is_lost(server);
    bulk::a_native_load_stores_the_rows_unchanged(server);
    bulk::a_row_that_the_server_changed_is_an_error(server);
    bulk::an_aborted_load_leaves_no_rows(server);
    bulk::statements_that_are_not_loads_are_refused(server);
    bulk::multi_row_inserts_store_the_rows_unchanged(server);
}

/// Writes to standard error directly, because the test harness hides the output of passing tests.
fn report_skipped(reason: &str) {
    use std::io::Write as _;
    writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error is open");
}
