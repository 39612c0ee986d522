//! Takes bytes; returns the text of whole packets. Takes text; appends it as a packet.

use crate::SystemError;

/// What a server accepts in one packet.
pub(crate) const MAX_SENT_BYTES: usize = 32 * 1024;

/// Longer packets are not read: the protocol's own limit is far lower.
const MAX_READ_BYTES: usize = 1024 * 1024;

const LENGTH_BYTES: usize = 4;

/// The first packet of `input`, and how many bytes it has with its length; nothing where it is incomplete.
///
/// # Errors
/// Where the length is none that a packet can have.
#[inline]
pub(crate) fn read(input: &[u8]) -> Result<Option<(usize, &[u8])>, SystemError> {
    let Some((length, rest)) = input.split_first_chunk::<LENGTH_BYTES>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_READ_BYTES {
        return Err(SystemError::protocol(
            "a packet of at most 1 MiB",
            format_args!("one of {length} bytes"),
        ));
    }
    let text = rest.get(..length);
    Ok(text.map(|text| (LENGTH_BYTES + length, text)))
}

/// Appends the packet whose text `write` appends.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    write(out);
    let length = u32::try_from(out.len() - start - LENGTH_BYTES).unwrap_or(u32::MAX);
    out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
}

/// Commands of a client.
pub(crate) mod command {
    pub const QUIT: &[u8] = b"1:";
    pub const DATABASE: &[u8] = b"2:";
    pub const QUERY: &[u8] = b"3:";
}

/// Appends a command.
pub(crate) fn send(command: &[u8], text: &[u8], out: &mut Vec<u8>) {
    write(out, |out| {
        out.extend_from_slice(command);
        out.extend_from_slice(text);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        send(command::QUERY, b"select a from t", &mut bytes);
        assert_eq!(&bytes[..4], [17, 0, 0, 0]);
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Ok(None), "{end} bytes are not all");
        }
        bytes.push(b'x');
        let whole = (bytes.len() - 1, &b"3:select a from t"[..]);
        assert_eq!(read(&bytes), Ok(Some(whole)));
        assert!(read(&[0, 0, 16, 0]).is_ok());
        assert!(read(&[1, 0, 16, 0]).is_err());
    }
}
