//! The only list of protocols that the null server supports, by the names of their drivers: the enum
//! below, the names in Python and the calibration are made from it.

use crate::null::ResultSize;
use crate::server::{ServerEvent, WireServer};
use crate::{SystemError, cassandra, msql, mysql, postgresql};

/// Makes the server side of a session: from its number, or from the error that refuses it.
pub type NewServer = fn(Result<u32, SystemError>) -> AnyServer;

/// Makes [`SERVERS`], and an enum on which the hot path dispatches without a virtual call.
macro_rules! servers {
    ($($name:ident = $server:ident;)*) => {
        /// The server side of any of the protocols.
        pub enum AnyServer {
            $(#[doc = concat!("Of the protocol or library `", stringify!($name), "`.")] $server($name::$server),)*
        }

        /// Every protocol: its name, and how a session is made.
        pub const SERVERS: &[(&str, NewServer)] = &[
            $((stringify!($name), |admission| {
                AnyServer::$server($name::$server::new(admission))
            }),)*
        ];

        impl WireServer for AnyServer {
            fn connected(&mut self, out: &mut Vec<u8>) {
                match self { $(Self::$server(server) => server.connected(out),)* }
            }

            #[inline]
            fn receive<'a>(
                &'a mut self,
                input: &[u8],
                out: &mut Vec<u8>,
            ) -> Result<(usize, ServerEvent<'a>), SystemError> {
                match self { $(Self::$server(server) => server.receive(input, out),)* }
            }

            #[inline]
            fn answer(&mut self, given: &mut ResultSize, out: &mut Vec<u8>) -> bool {
                match self { $(Self::$server(server) => server.answer(given, out),)* }
            }

            fn fail(&mut self, error: &SystemError, out: &mut Vec<u8>) {
                match self { $(Self::$server(server) => server.fail(error, out),)* }
            }
        }
    };
}

servers! {
    postgresql = PostgresqlServer;
    mysql = MysqlServer;
    cassandra = CassandraServer;
    msql = MsqlServer;
}
