//! Takes a TLS mode and an authorities' file; gives what a client shows and checks in handshakes.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::Address;
use crate::EngineError;
use crate::document::{SiteDocument, TlsMode};

/// What is needed to begin TLS with one server; shared by all clients.
#[derive(Clone, Debug)]
pub struct TlsOffer {
    pub config: Arc<ClientConfig>,
    pub server: ServerName<'static>,
    /// Whether a server that does not encrypt is refused.
    pub is_required: bool,
}

impl TlsOffer {
    /// `None` where nothing is to be encrypted.
    ///
    /// # Errors
    /// Where the authorities cannot be read, or the host's name is none that a certificate can have.
    pub fn new(site: &SiteDocument, address: &Address) -> Result<Option<Self>, EngineError> {
        let Address::Tcp { host, .. } = address else {
            return Ok(None);
        };
        if !address.wants_tls(site.tls) {
            return Ok(None);
        }
        let server = ServerName::try_from(host.clone()).map_err(|error| {
            EngineError::Document(format!("the site document, key `host`: {host}: {error}"))
        })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider has a cipher suite for each of the default versions");
        let config = if site.tls == TlsMode::Verify {
            builder.with_root_certificates(authorities(site.ca_file.as_deref())?)
        } else {
            let lenient = Arc::new(AnyCertificate(provider));
            builder
                .dangerous()
                .with_custom_certificate_verifier(lenient)
        };
        Ok(Some(Self {
            config: Arc::new(config.with_no_client_auth()),
            server,
            is_required: site.tls != TlsMode::Prefer,
        }))
    }
}

fn authorities(ca_file: Option<&str>) -> Result<RootCertStore, EngineError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca_file else {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            return Err(EngineError::Document(
                "the site document, key `ca_file`: this machine has no certificate authorities of \
                 its own; name a PEM file"
                    .to_owned(),
            ));
        }
        return Ok(roots);
    };
    let wrong = |reason: String| {
        EngineError::Document(format!(
            "the site document, key `ca_file`: {path}: {reason}"
        ))
    };
    for certificate in
        CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?
    {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| wrong(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("expected PEM certificates, found none".to_owned()));
    }
    Ok(roots)
}

/// Takes any certificate whose key signed this very handshake: keeps listeners out, not impostors.
/// That is what `prefer` and `require` say they do.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
