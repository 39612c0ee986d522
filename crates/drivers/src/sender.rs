//! Who sends the first bytes of a connection, by their form.

/// Who answers at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// With its article, or its name and version.
    pub name: String,
    /// The scheme of the URL that leads to it; `None` where nothing here speaks its protocol.
    pub scheme: Option<&'static str>,
}
