//! The driver against real servers: MariaDB where this machine has it, MySQL where the environment
//! names its program (`ASSAY_TEST_MYSQLD`). Each server is started once and taken down at the end.

#[path = "mysql_live/bulk.rs"]
mod bulk;
#[path = "mysql_live/connecting.rs"]
mod connecting;
#[path = "mysql_live/errors.rs"]
mod errors;
mod mysql_support;
#[path = "mysql_live/statements.rs"]
mod statements;
#[path = "mysql_live/types.rs"]
mod types;

use mysql_support::server::Server;

#[test]
fn the_driver_speaks_with_mariadb() {
    match Server::mariadb() {
        Ok(server) => speak_with(&server, "MariaDB "),
        Err(reason) => say_skipped(&reason),
    }
}

#[test]
fn the_driver_speaks_with_mysql() {
    match Server::mysql() {
        Ok(server) => speak_with(&server, "MySQL "),
        Err(reason) => say_skipped(&reason),
    }
}

fn speak_with(server: &Server, name: &str) {
    connecting::greets_and_runs_the_sessions_statements(server, name);
    connecting::proves_a_password_over_an_open_line(server);
    connecting::is_told_when_the_server_is_full(server);
    statements::gives_rows_counts_and_names(server);
    statements::takes_several_results(server);
    statements::executes_every_kind_of_value(server);
    statements::keeps_the_columns_that_the_server_does_not_send_again(server);
    statements::carries_texts_longer_than_a_packet(server);
    types::both_protocols_give_the_same_text(server);
    types::floating_point_numbers_are_printed_as_the_server_does(server);
    errors::are_classed_and_leave_the_session_good(server);
    errors::deadlocks_and_waits_have_their_classes(server);
    errors::a_killed_session_is_lost(server);
    bulk::a_file_arrives_as_it_was(server);
    bulk::a_row_that_the_server_changed_is_an_error(server);
    bulk::a_load_that_is_given_up_leaves_nothing(server);
    bulk::what_is_no_load_is_refused(server);
    bulk::inserts_of_many_rows_arrive_as_they_were(server);
}

/// Past the test harness, which keeps to itself what a test that passes prints.
fn say_skipped(reason: &str) {
    use std::io::Write as _;
    writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error is open");
}
