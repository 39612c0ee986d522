//! The one list of protocols that a null server speaks, under the names of their drivers. The enum
//! below, the names Python sees and the calibration are made from it.

use crate::null::Given;
use crate::server::{Demand, WireServer};
use crate::{SystemError, mysql, postgresql};

/// How the server's side of a session begins: with its number, or with why it is refused.
pub type NewServer = fn(Result<u32, SystemError>) -> AnyServer;

/// Makes an enum, so that the hot path calls through a jump and not through a pointer, and [`SERVERS`].
macro_rules! servers {
    ($($name:ident = $server:ident;)*) => {
        /// The server's side of any of the protocols.
        pub enum AnyServer {
            $(#[doc = concat!("Of the protocol or library `", stringify!($name), "`.")] $server($name::$server),)*
        }

        /// Every protocol: its name, and how a session begins.
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
            ) -> Result<(usize, Demand<'a>), SystemError> {
                match self { $(Self::$server(server) => server.receive(input, out),)* }
            }

            #[inline]
            fn answer(&mut self, given: &mut Given, out: &mut Vec<u8>) -> bool {
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
}
