//! Takes bytes from a socket and decrypts them, and encrypts those to send; opens no socket itself.

use std::io::{Read as _, Write as _};

use assay_drivers::{ErrorClass, SystemError};
use rustls::{AlertDescription, CertificateError, ClientConnection, Error, OtherError};

use crate::transport::TlsOffer;

#[derive(Debug)]
pub struct TlsLayer {
    connection: ClientConnection,
}

impl TlsLayer {
    /// Starts a handshake; [`TlsLayer::encrypt`] returns its first bytes.
    ///
    /// # Errors
    /// If the configuration does not suit such a server.
    pub fn new(offer: &TlsOffer) -> Result<Self, SystemError> {
        ClientConnection::new(offer.config.clone(), offer.server.clone())
            .map(|connection| Self { connection })
            .map_err(|error| refused(&error))
    }

    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Takes bytes from the socket; appends the decrypted bytes to `plain`. [`TlsLayer::take_records`] has TLS's own
    /// messages.
    ///
    /// # Errors
    /// If the certificate is invalid, or the bytes are not TLS.
    pub fn decrypt(&mut self, mut cipher: &[u8], plain: &mut Vec<u8>) -> Result<(), SystemError> {
        while !cipher.is_empty() {
            let state = match self.connection.read_tls(&mut cipher) {
                Ok(_) => self.connection.process_new_packets(),
                Err(error) => Err(Error::General(error.to_string())),
            };
            match state {
                Ok(state) => {
                    let start = plain.len();
                    plain.resize(start + state.plaintext_bytes_to_read(), 0);
                    self.connection
                        .reader()
                        .read_exact(&mut plain[start..])
                        .expect("TLS has reported this many bytes");
                }
                Err(error) => return Err(refused(&error)),
            }
        }
        Ok(())
    }

    /// Appends `plain`, encrypted, to `out`, after TLS's own messages.
    pub fn encrypt(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        // TLS buffers a limited number of unsent bytes, so they are passed in pieces.
        for piece in plain.chunks(16 * 1024) {
            self.connection
                .writer()
                .write_all(piece)
                .expect("the piece fits into TLS's buffer");
            self.take_records(out);
        }
        self.take_records(out);
    }

    /// Appends what TLS itself has to send (handshake, alerts, changes of keys) to `out`.
    pub fn take_records(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            self.connection
                .write_tls(out)
                .expect("writing to memory is infallible");
        }
    }
}

/// The codes are the program's own: a system's `fix` texts refer to them.
fn refused(error: &Error) -> SystemError {
    let (class, code, message) = match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => (
            ErrorClass::Authentication,
            "unknown authority",
            "the server's certificate is not signed by a trusted authority".to_owned(),
        ),
        Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            expected,
            presented,
        }) => (
            ErrorClass::Authentication,
            if presented.is_empty() {
                "no host name"
            } else {
                "other host"
            },
            other_host(&expected.to_str(), presented),
        ),
        Error::InvalidCertificate(CertificateError::Other(OtherError(cause)))
            if matches!(
                cause.downcast_ref(),
                Some(webpki::Error::UnsupportedCertVersion)
            ) =>
        {
            (
                ErrorClass::Authentication,
                "certificate version",
                "the server's certificate is of X.509 version 1 or 2, expected version 3"
                    .to_owned(),
            )
        }
        // A self-signed certificate is marked as an authority by default, and the verifier has found that it
        // is not one of those that are trusted.
        Error::InvalidCertificate(CertificateError::Other(OtherError(cause)))
            if matches!(
                cause.downcast_ref(),
                Some(webpki::Error::CaUsedAsEndEntity)
            ) =>
        {
            (
                ErrorClass::Authentication,
                "unknown authority",
                "the server's certificate is self-signed, and is not one of the trusted authorities"
                    .to_owned(),
            )
        }
        Error::InvalidCertificate(_) | Error::NoCertificatesPresented => {
            (ErrorClass::Authentication, "certificate", error.to_string())
        }
        Error::AlertReceived(
            AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRequired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::UnsupportedCertificate,
        ) => (
            ErrorClass::Authentication,
            "client certificate",
            format!("the server refuses the client's certificate: {error}"),
        ),
        _ => (ErrorClass::Protocol, "", error.to_string()),
    };
    SystemError::new(class, code, format!("TLS: {message}"))
}

fn other_host(host: &str, presented: &[String]) -> String {
    if presented.is_empty() {
        return format!(
            "the server's certificate has no subjectAltName (its CN does not count), expected {host}"
        );
    }
    // Each is given with its type, as in DnsName("localhost") and IpAddress(10.0.0.7).
    let bare = |name: &String| {
        let inner = name
            .split_once('(')
            .map_or(name.as_str(), |(_, inner)| inner);
        inner.trim_end_matches(')').trim_matches('"').to_owned()
    };
    let names = presented.iter().map(bare).collect::<Vec<_>>().join(", ");
    format!("the server's certificate is for {names}, expected {host}")
}
