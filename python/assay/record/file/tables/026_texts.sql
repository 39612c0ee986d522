CREATE TABLE texts (
  -- Texts of 100,000 characters and more, each once, however many runs have it.
  digest  TEXT PRIMARY KEY,                  -- SHA-256 of the text in UTF-8
  content BLOB NOT NULL                      -- the text in UTF-8, compressed (RFC 1950)
);

-- Of a long text, which is in texts; `text` is then empty. In a document of `observations` it stands as {"$text": digest}.
ALTER TABLE scripts ADD COLUMN digest TEXT;
