//! The driver of MySQL and MariaDB: on conversations recorded from both, and on real servers where there are some.

mod client;
mod conversation;
mod live;
mod recorded;
mod statements;
