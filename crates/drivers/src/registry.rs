//! The only list of drivers: the enums below, the names in Python and the conformance tests are made
//! from it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use assay_values::Row;

use crate::{
    Answer, Blocking, Cancel, Canceller, ConnectOptions, LocalOptions, Received, Request, Result,
    Sender, Wire, WrongOption,
};

/// How a driver opens a session.
#[derive(Clone, Copy, Debug)]
pub enum SessionKind {
    /// The engine owns the socket; any number of clients share a thread.
    Wire(fn(ConnectOptions) -> AnyWire),
    /// The library answers before it returns: a thread for each client, and `open_files` file
    /// descriptors in each session.
    Blocking {
        /// Opens a session.
        open: fn(&LocalOptions<'_>) -> Result<AnyBlocking>,
        /// Files that each session has open.
        open_files: u32,
    },
}

/// Takes the options of a deployment document.
pub type CheckOptions = fn(&BTreeMap<String, String>) -> Result<(), WrongOption>;

/// Properties of a driver that are known without a session.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    /// The driver's name, as documents spell it.
    pub name: &'static str,
    /// How its sessions begin.
    pub sessions: SessionKind,
    /// Refuses options of the deployment document that the driver does not have ([`Wire::check_options`]). A library
    /// refuses its own when it opens a session.
    pub check_options: CheckOptions,
    /// Who sends these first bytes ([`Wire::sender_of`]); a library has no server.
    pub sender_of: fn(&[u8]) -> Option<Sender>,
    /// Whether it can begin, commit and roll back ([`Request::Begin`] and the next two).
    pub has_transactions: bool,
}

/// Makes [`DRIVERS`], and an enum for each kind of driver: the hot path dispatches on it without a
/// virtual call.
///
/// The crate `enum_dispatch` would write the matches alone: the list would stay. It takes no trait with functions
/// without `self`, as [`Wire::check_options`] and [`Wire::sender_of`], and has had no release since March 2024.
macro_rules! drivers {
    (
        wire { $($wire_name:ident = $wire:ident, transactions: $of_wire:literal;)* }
        blocking { $($blocking_name:ident = $blocking:ident, transactions: $of_blocking:literal;)* }
    ) => {
        /// Any of the wire drivers.
        pub enum AnyWire {
            $(#[doc = concat!("Of the protocol or library `", stringify!($wire_name), "`.")] $wire($wire_name::$wire),)*
        }

        /// Any of the blocking drivers.
        pub enum AnyBlocking {
            $(#[doc = concat!("Of the protocol or library `", stringify!($blocking_name), "`.")] $blocking($blocking_name::$blocking),)*
        }

        /// Every driver.
        pub const DRIVERS: &[Driver] = &[
            $(Driver {
                name: stringify!($wire_name),
                sessions: SessionKind::Wire(|options| {
                    AnyWire::$wire($wire_name::$wire::new(options))
                }),
                check_options: <$wire_name::$wire as Wire>::check_options,
                sender_of: <$wire_name::$wire as Wire>::sender_of,
                has_transactions: $of_wire,
            },)*
            $(Driver {
                name: stringify!($blocking_name),
                sessions: SessionKind::Blocking {
                    open: |options| {
                        $blocking_name::$blocking::open(options).map(AnyBlocking::$blocking)
                    },
                    open_files: $blocking_name::$blocking::OPEN_FILES,
                },
                check_options: |_| Ok(()),
                sender_of: |_| None,
                has_transactions: $of_blocking,
            },)*
        ];

        $(use crate::$wire_name;)*
        $(use crate::$blocking_name;)*

        impl AnyWire {
            /// The name of the driver, as documents spell it.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$wire(_) => stringify!($wire_name),)* }
            }
        }

        impl Wire for AnyWire {
            fn sender_of(first: &[u8]) -> Option<Sender> {
                DRIVERS.iter().find_map(|driver| (driver.sender_of)(first))
            }

            fn begins_with_tls(&self) -> bool {
                match self { $(Self::$wire(wire) => wire.begins_with_tls(),)* }
            }

            fn connected(&mut self, out: &mut Vec<u8>) {
                match self { $(Self::$wire(wire) => wire.connected(out),)* }
            }

            fn secured(&mut self, out: &mut Vec<u8>) {
                match self { $(Self::$wire(wire) => wire.secured(out),)* }
            }

            #[inline]
            fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
                match self { $(Self::$wire(wire) => wire.request(request, out),)* }
            }

            #[inline]
            fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, answer: &mut Answer) -> Received {
                match self { $(Self::$wire(wire) => wire.receive(input, out, answer),)* }
            }

            fn pipelines(&self) -> bool {
                match self { $(Self::$wire(wire) => wire.pipelines(),)* }
            }

            #[inline]
            fn queue(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<()> {
                match self { $(Self::$wire(wire) => wire.queue(request, out),)* }
            }

            #[inline]
            fn sync(&mut self, out: &mut Vec<u8>) {
                match self { $(Self::$wire(wire) => wire.sync(out),)* }
            }

            #[inline]
            fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()> {
                match self { $(Self::$wire(wire) => wire.bulk_row(row, out),)* }
            }

            fn bulk_is_full(&self) -> bool {
                match self { $(Self::$wire(wire) => wire.bulk_is_full(),)* }
            }

            fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>) {
                match self { $(Self::$wire(wire) => wire.bulk_end(abort, out),)* }
            }

            fn terminate(&mut self, out: &mut Vec<u8>) {
                match self { $(Self::$wire(wire) => wire.terminate(out),)* }
            }

            fn server_version(&self) -> &str {
                match self { $(Self::$wire(wire) => wire.server_version(),)* }
            }

            fn session_id(&self) -> u64 {
                match self { $(Self::$wire(wire) => wire.session_id(),)* }
            }

            fn cancel(&self) -> Option<Cancel> {
                match self { $(Self::$wire(wire) => wire.cancel(),)* }
            }
        }

        impl Blocking for AnyBlocking {
            #[inline]
            fn request(&mut self, request: &Request<'_>, answer: &mut Answer) -> Result<()> {
                match self { $(Self::$blocking(library) => library.request(request, answer),)* }
            }

            #[inline]
            fn bulk_row(&mut self, row: &Row) -> Result<()> {
                match self { $(Self::$blocking(library) => library.bulk_row(row),)* }
            }

            fn bulk_end(&mut self, abort: Option<&str>, answer: &mut Answer) -> Result<()> {
                match self { $(Self::$blocking(library) => library.bulk_end(abort, answer),)* }
            }

            fn server_version(&self) -> &str {
                match self { $(Self::$blocking(library) => library.server_version(),)* }
            }

            fn counters(&self) -> Vec<(&'static str, u64)> {
                match self { $(Self::$blocking(library) => library.counters(),)* }
            }

            fn canceller(&self) -> Option<Canceller> {
                match self { $(Self::$blocking(library) => library.canceller(),)* }
            }
        }
    };
}

drivers! {
    wire {
        postgresql = PostgresqlWire, transactions: true;
        mysql = MysqlWire, transactions: true;
        cassandra = CassandraWire, transactions: false;
        msql = MsqlWire, transactions: false;
        mongodb = MongodbWire, transactions: true;
    }
    blocking {
        sqlite = SqliteConnection, transactions: true;
        duckdb = DuckdbConnection, transactions: true;
        dbapi = DbapiConnection, transactions: true;
        null = NullConnection, transactions: true;
        null_documents = NullDocumentsConnection, transactions: false;
    }
}
