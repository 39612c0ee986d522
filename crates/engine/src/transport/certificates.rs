//! Takes a TLS mode and certificate files; returns the client's TLS configuration.

use std::sync::Arc;

use assay_drivers::{ErrorClass, SystemError};
use assay_values::SourceError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, Error as TlsError,
    InconsistentKeys, OtherError, RootCertStore, SignatureScheme,
};

use crate::EngineError;
use crate::document::{DeploymentDocument, TlsMode};
use crate::transport::Address;

/// What TLS with one server needs; shared by all clients.
#[derive(Clone, Debug)]
pub struct TlsOffer {
    pub config: Arc<ClientConfig>,
    pub server: ServerName<'static>,
    /// Whether a server that does not encrypt is rejected.
    pub is_required: bool,
}

impl TlsOffer {
    /// `None` if the connection is not encrypted.
    ///
    /// # Errors
    /// If a certificate file cannot be used, or the host name cannot be in a certificate.
    pub fn new(
        deployment: &DeploymentDocument,
        address: &Address,
    ) -> Result<Option<Self>, EngineError> {
        let Address::Tcp { host, .. } = address else {
            return Ok(None);
        };
        if !address.wants_tls(deployment.tls) {
            return Ok(None);
        }
        let server = ServerName::try_from(host.clone()).map_err(|_| {
            let message = format!("TLS: {host:?} is not a host name that a certificate can have");
            let error = SystemError::new(ErrorClass::Authentication, "certificate", message);
            EngineError::System(error, format!("connecting to {address}"))
        })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trust = match deployment.tls {
            TlsMode::Off | TlsMode::Prefer | TlsMode::Require => Trust::Anything,
            TlsMode::VerifyCa | TlsMode::Verify => {
                let (roots, listed) = authorities(deployment.ca_file.as_deref())?;
                let checks_name = deployment.tls == TlsMode::Verify;
                Trust::Authorities {
                    roots,
                    listed,
                    checks_name,
                }
            }
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider has a cipher suite for each of the default versions")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Verifier::new(
                trust,
                Arc::clone(&provider),
            )));
        let config = match own_certificate(deployment, &provider)? {
            Some(own) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(own))),
            None => builder.with_no_client_auth(),
        };
        Ok(Some(Self {
            config: Arc::new(config),
            server,
            is_required: deployment.tls != TlsMode::Prefer,
        }))
    }
}

/// The authorities of a file, with all its certificates; or those of this machine.
fn authorities(
    ca_file: Option<&str>,
) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), EngineError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca_file else {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            return Err(EngineError::Machine {
                message: "no certificate authorities are installed on this machine".to_owned(),
                hint: Some(
                    "install them (package ca-certificates), or give a PEM file of authorities"
                        .to_owned(),
                ),
            });
        }
        return Ok((roots, Vec::new()));
    };
    let listed = certificates(path)?;
    for certificate in &listed {
        let added = roots.add(certificate.clone());
        added.map_err(|error| wrong(path, format!("expected certificates: {error}")))?;
    }
    Ok((roots, listed))
}

/// The client's own certificate, its chain and its key.
fn own_certificate(
    deployment: &DeploymentDocument,
    provider: &CryptoProvider,
) -> Result<Option<CertifiedKey>, EngineError> {
    let (Some(cert_file), Some(key_file)) = (&deployment.cert_file, &deployment.key_file) else {
        return Ok(None);
    };
    let chain = certificates(cert_file)?;
    let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| match error {
        PemError::NoItemsFound => SourceError {
            hint: Some(format!(
                "openssl pkey -in {key_file} -out NEW.key writes one without a passphrase"
            )),
            ..wrong(
                key_file,
                "expected a private key in PEM without a passphrase, found none".to_owned(),
            )
        },
        other => wrong(key_file, other.to_string()),
    })?;
    let key = provider.key_provider.load_private_key(key);
    let key = key.map_err(|error| wrong(key_file, format!("expected a private key: {error}")))?;
    let own = CertifiedKey::new(chain, key);
    // A certificate without extensions (version 1) cannot be compared here; the server does.
    match own.keys_match() {
        Err(TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(wrong(
            key_file,
            format!("expected the key of the certificate in {cert_file}, found another key"),
        )
        .into()),
        _ => Ok(Some(own)),
    }
}

fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, EngineError> {
    let found =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = found.map_err(|error| wrong(path, error.to_string()))?;
    if found.is_empty() {
        return Err(wrong(path, "expected PEM certificates, found none".to_owned()).into());
    }
    Ok(found)
}

fn wrong(path: &str, message: String) -> SourceError {
    SourceError {
        message,
        file: path.to_owned(),
        line: 0,
        column: 0,
        hint: None,
    }
}

// Takes the certificate that a server presents; returns whether to trust the server.

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
