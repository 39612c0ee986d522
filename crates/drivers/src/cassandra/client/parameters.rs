//! Takes how requests are sent; appends what stands behind the text or the id of a request: consistency, flags,
//! values and the size of a page.

use crate::SystemError;
use crate::cassandra::client::settings::Settings;
use crate::cassandra::shared::constants::query_flag as flag;
use crate::cassandra::shared::scan::write_bytes;

/// Where the flags stand in what was written: [`with_page`] sets one.
pub(crate) type FlagsAt = usize;

/// # Errors
/// Those of `values`.
#[inline]
pub(crate) fn write(
    settings: &Settings,
    is_v5: bool,
    more_flags: u8,
    out: &mut Vec<u8>,
    values: impl FnOnce(&mut Vec<u8>) -> Result<(), SystemError>,
) -> Result<FlagsAt, SystemError> {
    out.extend_from_slice(&settings.consistency.to_be_bytes());
    // The serial consistency stands behind the paging state, which comes last where there is none.
    let flags = more_flags | flag::PAGE_SIZE;
    if is_v5 {
        out.extend_from_slice(&[0; 3]);
    }
    let flags_at = out.len();
    out.push(flags);
    values(out)?;
    out.extend_from_slice(&settings.page_size.to_be_bytes());
    Ok(flags_at)
}

/// Appends the same parameters again, `written` by [`write`], for the page behind a paging state if there is
/// one. `flags_at` counts from the beginning of `written`.
#[inline]
pub(crate) fn send(
    written: &[u8],
    flags_at: FlagsAt,
    paging_state: Option<&[u8]>,
    settings: &Settings,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend_from_slice(written);
    if let Some(state) = paging_state {
        out[start + flags_at] |= flag::PAGING_STATE;
        write_bytes(state, out);
    }
    if let Some(level) = settings.serial_consistency {
        out[start + flags_at] |= flag::SERIAL_CONSISTENCY;
        out.extend_from_slice(&level.to_be_bytes());
    }
}
