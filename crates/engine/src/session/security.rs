//! The TLS state of a session: what the deployment requests, what the server answers, the handshake.

use assay_drivers::{ErrorClass, Progress, SystemError};

use crate::transport::{TlsLayer, TlsOffer};

pub enum Security {
    Clear,
    /// The server has not answered yet whether it encrypts.
    Offered(TlsOffer),
    Handshake(Box<TlsLayer>),
    Encrypted(Box<TlsLayer>),
}

impl Security {
    pub fn new(offer: Option<&TlsOffer>) -> Self {
        offer.cloned().map_or(Self::Clear, Self::Offered)
    }

    /// Whether the deployment asks for TLS, and it is not known yet whether it begins.
    pub fn is_offered(&self) -> bool {
        matches!(self, Self::Offered(_))
    }

    /// Whether TLS has begun.
    pub fn is_tls(&self) -> bool {
        matches!(self, Self::Handshake(_) | Self::Encrypted(_))
    }

    /// The layer that received bytes pass through.
    #[inline]
    pub fn layer(&mut self) -> Option<&mut TlsLayer> {
        match self {
            Self::Clear | Self::Offered(_) => None,
            Self::Handshake(tls) | Self::Encrypted(tls) => Some(tls),
        }
    }

    /// The layer that the driver's bytes pass through.
    #[inline]
    pub fn encrypted(&mut self) -> Option<&mut TlsLayer> {
        match self {
            Self::Encrypted(tls) => Some(tls),
            Self::Clear | Self::Offered(_) | Self::Handshake(_) => None,
        }
    }

    /// The server's first message decides whether it encrypts. Until then the driver has sent nothing
    /// confidential, and what it has written now is not sent yet.
    ///
    /// # Errors
    /// If the server does not encrypt, and the deployment requires it.
    #[inline]
    pub fn settle(&mut self, has_answered: bool, progress: Progress) -> Result<(), SystemError> {
        let Self::Offered(offer) = self else {
            return Ok(());
        };
        if !has_answered || progress == Progress::StartTls {
            return Ok(());
        }
        if offer.is_required {
            return Err(SystemError::new(
                ErrorClass::Authentication,
                "no TLS",
                "TLS is required, and the server does not offer TLS",
            ));
        }
        *self = Self::Clear;
        Ok(())
    }

    /// Starts the handshake that the server has agreed to; its first bytes are written to `cipher`.
    ///
    /// # Errors
    /// If the client did not offer TLS.
    pub fn begin_handshake(&mut self, cipher: &mut Vec<u8>) -> Result<(), SystemError> {
        let Self::Offered(offer) = self else {
            return Err(SystemError::protocol(
                "no TLS",
                "an answer to a TLS request",
            ));
        };
        let mut tls = Box::new(TlsLayer::new(offer)?);
        tls.encrypt(&[], cipher);
        *self = Self::Handshake(tls);
        Ok(())
    }

    /// Whether the handshake has just finished, so that the driver can continue.
    #[inline]
    pub fn ends_handshake(&mut self) -> bool {
        if !matches!(self, Self::Handshake(tls) if !tls.is_handshaking()) {
            return false;
        }
        if let Self::Handshake(tls) = std::mem::replace(self, Self::Clear) {
            *self = Self::Encrypted(tls);
        }
        true
    }
}
