//! Takes the first bytes that came from an address and that the driver in use could not read; returns who sent
//! them, where their form is known.

use crate::Sender;
use crate::registry::DRIVERS;

/// What the first bytes are known to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstBytes {
    /// Of a server of the protocol of this driver.
    Driver(&'static str, Sender),
    /// TLS, in which any protocol may follow.
    Tls,
    /// Of a protocol that no driver has.
    Other(Sender),
}

/// Beginnings of answers of servers of other protocols, to any request.
const OTHERS: &[(&[u8], &str)] = &[(b"HTTP/", "an HTTP server"), (b"SSH-", "an SSH server")];

/// A TLS record with an alert or a handshake, of any version: what a server of TLS answers to other bytes.
fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0x16, 3, 0..=4, ..])
}

/// Who sent these bytes; `None` where they have the form of no protocol that is known here.
pub fn sender_of(bytes: &[u8]) -> Option<FirstBytes> {
    if is_tls(bytes) {
        return Some(FirstBytes::Tls);
    }
    let other = OTHERS.iter().find(|(start, _)| bytes.starts_with(start));
    if let Some((_, name)) = other {
        return Some(FirstBytes::Other(Sender {
            name: (*name).to_owned(),
            scheme: None,
        }));
    }
    DRIVERS.iter().find_map(|driver| {
        (driver.sender_of)(bytes).map(|sender| FirstBytes::Driver(driver.name, sender))
    })
}

/// Bytes for a message: as text where they are text.
pub fn shown(bytes: &[u8]) -> String {
    const MOST_TEXT: usize = 40;
    const MOST_NUMBERS: usize = 16;
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\r' | b'\n' | b'\t');
    let (shown, length) = if bytes.iter().take(MOST_TEXT).all(is_text) {
        let text = &bytes[..bytes.len().min(MOST_TEXT)];
        let line = String::from_utf8_lossy(text).replace(['\r', '\n', '\t'], " ");
        (format!("\"{}\"", line.trim_end()), text.len())
    } else {
        let numbers = &bytes[..bytes.len().min(MOST_NUMBERS)];
        let pairs: Vec<String> = numbers.iter().map(|byte| format!("{byte:02x}")).collect();
        (format!("the bytes {}", pairs.join(" ")), numbers.len())
    };
    if length < bytes.len() {
        format!("{shown} …")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_as_text_or_as_numbers() {
        assert_eq!(shown(b"220 hello\r\n"), "\"220 hello\"");
        assert_eq!(shown(&[0, 1, 0xff]), "the bytes 00 01 ff");
        assert!(shown(&[0; 99]).ends_with("00 00 …"), "{}", shown(&[0; 99]));
        assert_eq!(shown(&[b'x'; 99]).len(), 42 + " …".len());
    }

    #[test]
    fn what_no_driver_speaks_is_known_too() {
        let Some(FirstBytes::Other(found)) = sender_of(b"HTTP/1.0 400 Bad") else {
            panic!("it is known")
        };
        assert_eq!((&*found.name, found.scheme), ("an HTTP server", None));
        assert_eq!(
            sender_of(b"\x15\x03\x03\0\x02\x02\x28"),
            Some(FirstBytes::Tls)
        );
        for unknown in [&b""[..], b"220 hello", &[0; 64], &[0xff; 64], b"S", b"NNNNNNNN"] {
            let found = sender_of(unknown);
            assert!(
                !matches!(found, Some(FirstBytes::Other(_) | FirstBytes::Tls)),
                "{found:?}"
            );
        }
    }
}
