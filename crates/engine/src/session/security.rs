//! How far a session is with TLS: what the site asks for, what the server says to it, the handshake.

use assay_drivers::{ErrorClass, Progress, SystemError};

use crate::transport::{TlsLayer, TlsOffer};

pub enum Security {
    Clear,
    /// The server has not yet said whether it encrypts.
    Offered(TlsOffer),
    Handshake(Box<TlsLayer>),
    Encrypted(Box<TlsLayer>),
}

impl Security {
    #[must_use]
    pub fn new(offer: Option<&TlsOffer>) -> Self {
        offer.cloned().map_or(Self::Clear, Self::Offered)
    }

    /// The layer that what comes in goes through.
    #[inline]
    pub fn layer(&mut self) -> Option<&mut TlsLayer> {
        match self {
            Self::Clear | Self::Offered(_) => None,
            Self::Handshake(tls) | Self::Encrypted(tls) => Some(tls),
        }
    }

    /// The layer that what the driver says goes through.
    #[inline]
    pub fn encrypted(&mut self) -> Option<&mut TlsLayer> {
        match self {
            Self::Encrypted(tls) => Some(tls),
            Self::Clear | Self::Offered(_) | Self::Handshake(_) => None,
        }
    }

    /// The first thing the server says settles whether it encrypts. Until then the driver has said
    /// nothing that only an encrypted session may carry, and what it wants to say now is not sent yet.
    ///
    /// # Errors
    /// Where the server does not, and the site requires it.
    #[inline]
    pub fn settle(&mut self, has_spoken: bool, progress: Progress) -> Result<(), SystemError> {
        let Self::Offered(offer) = self else {
            return Ok(());
        };
        if !has_spoken || progress == Progress::StartTls {
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

    /// Begins the handshake that the server has agreed to; its first bytes go into `cipher`.
    ///
    /// # Errors
    /// Where nobody offered one.
    pub fn begin_handshake(&mut self, cipher: &mut Vec<u8>) -> Result<(), SystemError> {
        let Self::Offered(offer) = self else {
            return Err(SystemError::protocol("no TLS", "its consent to it"));
        };
        let mut tls = Box::new(TlsLayer::new(offer)?);
        tls.encrypt(&[], cipher);
        *self = Self::Handshake(tls);
        Ok(())
    }

    /// Whether the handshake has just ended; the driver may go on then.
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
