//! The only list of protocols that the null server supports, by the names of their drivers: the enum
//! below, the names in Python and the calibration are made from it.

use crate::null::ResultSize;
use crate::{
    Result, ServerEvent, SystemError, WireServer, cassandra, mongodb, msql, mysql, postgresql,
};

/// Makes the server side of a session: from its number, or from the error that refuses it.
pub type NewServer = fn(Result<u32>) -> AnyServer;

/// The server side of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct NullProtocol {
    /// The name of the protocol's driver.
    pub name: &'static str,
    /// The language of its statements: `sql`, which is all that the null servers know of CQL too, or `json`.
    pub language: &'static str,
    /// How a session is made.
    pub new_server: NewServer,
}

/// Makes [`SERVERS`], and an enum on which the hot path dispatches without a virtual call.
macro_rules! servers {
    ($($name:ident = $server:ident, $language:ident;)*) => {
        /// The server side of any of the protocols.
        pub enum AnyServer {
            $(#[doc = concat!("Of the protocol or library `", stringify!($name), "`.")] $server($name::$server),)*
        }

        /// Every protocol.
        pub const SERVERS: &[NullProtocol] = &[
            $(NullProtocol {
                name: stringify!($name),
                language: stringify!($language),
                new_server: |admission| AnyServer::$server($name::$server::new(admission)),
            },)*
        ];

        impl WireServer for AnyServer {
            fn connected(&mut self, out: &mut Vec<u8>) {
                match self { $(Self::$server(server) => server.connected(out),)* }
            }

            #[inline]
            fn receive(
                &mut self,
                input: &[u8],
                out: &mut Vec<u8>,
            ) -> Result<(usize, ServerEvent<'_>)> {
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
    postgresql = PostgresqlServer, sql;
    mysql = MysqlServer, sql;
    cassandra = CassandraServer, sql;
    msql = MsqlServer, sql;
    mongodb = MongodbServer, json;
}
