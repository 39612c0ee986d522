//! Takes the certificate that a server presents; returns whether to trust the server.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

/// Which certificates are accepted.
#[derive(Debug)]
pub enum Trust {
    /// Any certificate whose key signed this handshake: protects from eavesdropping, not from impostors. That
    /// is how `prefer` and `require` are documented.
    Anything,
    Authorities {
        roots: RootCertStore,
        /// The certificates of the authorities' file. A server may present one of them as its own, even one
        /// marked as an authority: `openssl req -x509` makes such by default.
        listed: Vec<CertificateDer<'static>>,
        checks_name: bool,
    },
}

#[derive(Debug)]
pub struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    #[must_use]
    pub fn new(trust: Trust, provider: Arc<CryptoProvider>) -> Self {
        Self { trust, provider }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Trust::Authorities {
            roots,
            listed,
            checks_name,
        } = &self.trust
        else {
            return Ok(ServerCertVerified::assertion());
        };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let known = self.provider.signature_verification_algorithms.all;
        match verify_server_cert_signed_by_trust_anchor(
            &certificate,
            roots,
            intermediates,
            now,
            known,
        ) {
            // Its dates were checked before.
            Err(error) if is_ca_as_end_entity(&error) && listed.contains(end_entity) => {}
            signed => signed?,
        }
        if *checks_name {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Whether the certificate is rejected only because it is marked as an authority.
fn is_ca_as_end_entity(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidCertificate(CertificateError::Other(OtherError(cause)))
            if matches!(cause.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
    )
}
