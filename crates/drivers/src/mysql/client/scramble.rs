//! Takes a password and the server's nonce; returns the scramble for each authentication method.
//!
//! Sources: "mysql_native_password" and "caching_sha2_password" in the MySQL server's source
//! documentation. Both prove knowledge of a hash without sending it: the server stores the hash of
//! the hash, reverses the exclusive-or with it, and hashes the result.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// `SHA1(password) ^ SHA1(nonce ‖ SHA1(SHA1(password)))`; empty for an empty password.
pub(crate) fn native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mask = Sha1::new()
        .chain_update(nonce)
        .chain_update(twice)
        .finalize();
    exclusive_or(&once, &mask)
}

/// `SHA256(password) ^ SHA256(SHA256(SHA256(password)) ‖ nonce)`; empty for an empty password.
pub(crate) fn caching_sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mask = Sha256::new()
        .chain_update(twice)
        .chain_update(nonce)
        .finalize();
    exclusive_or(&once, &mask)
}

/// The password and a zero byte, XORed with the repeated nonce: this is encrypted with RSA when the
/// server needs the password over an unencrypted connection.
pub(crate) fn masked_password(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let nonce = nonce.iter().cycle();
    password
        .iter()
        .chain(&[0])
        .zip(nonce)
        .map(|(byte, mask)| byte ^ mask)
        .collect()
}

fn exclusive_or(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left ^ right)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    const NONCE: &[u8] = b"d\xe7\x1c>}/\x12\x41\x02\x55\x66\x33\x17\x1f\x2a\x3c\x4d\x5e\x6f\x01";

    /// Values computed with Python's hashlib from the formulas of the documentation.
    #[test]
    fn scrambles_follow_the_documentation() {
        assert_eq!(
            hex(&native(b"secret", NONCE)),
            "ceae550ff6b8f31cc21c11cff4ba84ea241d9ba4"
        );
        assert_eq!(
            hex(&caching_sha2(b"secret", NONCE)),
            "ddd3f66b68dc05920394531aed44df630723c2c8d3050dbd6125b41cba66256c"
        );
        assert_eq!(native(b"", NONCE), b"");
        assert_eq!(caching_sha2(b"", NONCE), b"");
    }
}
