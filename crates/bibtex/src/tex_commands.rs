//! Takes the name of a TeX command; returns its plain text.

/// The letters or symbols that a command prints, as ASCII.
pub(crate) fn special_letters(name: &[u8]) -> Option<&'static [u8]> {
    Some(match name {
        b"i" => b"i",
        b"j" => b"j",
        b"l" => b"l",
        b"L" => b"L",
        b"o" => b"o",
        b"O" => b"O",
        b"aa" => b"a",
        b"AA" => b"A",
        b"ae" => b"ae",
        b"AE" => b"AE",
        b"oe" => b"oe",
        b"OE" => b"OE",
        b"ss" => b"ss",
        b"SS" => b"SS",
        b"th" => b"th",
        b"TH" => b"TH",
        b"dh" | b"dj" => b"d",
        b"DH" | b"DJ" => b"D",
        b"ng" => b"ng",
        b"NG" => b"NG",
        b"slash" => b"/",
        b"backslash" | b"textbackslash" => b"\\",
        b"dots" | b"ldots" => b"...",
        b"underscore" | b"textunderscore" => b"_",
        b"textasciitilde" => b"~",
        b"textasciicircum" => b"^",
        // Quotes as they are typed without a command.
        b"textquoteleft" | b"lq" | b"textasciigrave" => b"`",
        b"textquoteright" | b"rq" | b"textquotesingle" => b"'",
        b"textquotedblleft" => b"``",
        b"textquotedblright" => b"''",
        b"textquotedbl" => b"\"",
        b"quotesinglbase" => b",",
        b"quotedblbase" => b",,",
        b"guillemotleft" | b"guillemetleft" => b"<<",
        b"guillemotright" | b"guillemetright" => b">>",
        b"guilsinglleft" | b"textless" => b"<",
        b"guilsinglright" | b"textgreater" => b">",
        b"textbar" => b"|",
        b"textbraceleft" | b"lbrace" => b"{",
        b"textbraceright" | b"rbrace" => b"}",
        b"textdollar" => b"$",
        b"textampersand" => b"&",
        b"textpercent" => b"%",
        b"textellipsis" => b"...",
        b"textperiodcentered" | b"textbullet" => b"*",
        _ => return None,
    })
}

/// Commands that put an accent on the next letter.
pub(crate) fn is_accent(name: &[u8]) -> bool {
    matches!(
        name,
        b"b" | b"c" | b"d" | b"H" | b"k" | b"r" | b"t" | b"u" | b"v"
    )
}

/// Commands that change the style of the following text and print nothing.
pub(crate) fn is_switch(name: &[u8]) -> bool {
    matches!(
        name,
        b"bf"
            | b"cal"
            | b"em"
            | b"it"
            | b"rm"
            | b"sc"
            | b"sf"
            | b"sl"
            | b"tt"
            | b"bfseries"
            | b"itshape"
            | b"rmfamily"
            | b"scshape"
            | b"sffamily"
            | b"slshape"
            | b"ttfamily"
            | b"normalfont"
            | b"small"
            | b"protect"
            | b"relax"
            | b"unskip"
    )
}
