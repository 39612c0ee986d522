INSERT INTO bibtab (authorcount, editorcount, pagecount, bibtype, filename, label, author, editor, booktitle, title, crossref, chapter, journal, volume, type, number, institution, organization, publisher, school, address, edition, pages, day, month, monthnumber, year, CODEN, DOI, ISBN, ISBN13, ISSN, LCCN, MRclass, MRnumber, MRreviewer, bibdate, bibsource, bibtimestamp, note, series, URL, abstract, keywords, remark, subject, TOC, ZMnumber, entry) VALUES (3, NULL, 13, 'article', 'sample.bib', 'one:1999:A', 'Ann O''Example and Smith and Sons and Jorg Sim', NULL, NULL, 'The TeX of testing -- a `first'' try: 100% sure, tools & more', NULL, NULL, 'j-TEST', '12', NULL, '3--4', NULL, NULL, NULL, NULL, NULL, NULL, '20--32', NULL, 'jul', '7', '1999', 'TESTAB', NULL, NULL, NULL, '0000-0019 OR 00000019', NULL, NULL, NULL, NULL, 'Fri Mar 4 17:53:38 MST 2011', 'http://example.org/~me/tests.bib', '2011.03.04 17:53:38 MST', NULL, NULL, 'http://example.org/~me/a_b%20c', 'Lines and lines, and a backslash and ''); drop table bibtab; --', NULL, NULL, NULL, NULL, NULL, '
@Article{one:1999:A,
  author =       "Ann O''Example and {Smith and Sons} and J{\"o}rg \v{S}{\''\i}m",
  title =        "The {\TeX} of testing\emdash{}a `first'' try:
                 100\% sure, \pkg{tools} \& more",
  journal =      j-TEST,
  volume =       "12",
  number =       "3--4",
  pages =        "20--32",
  month =        jul # "\slash " # aug,
  year =         "1999",
  CODEN =        "TESTAB",
  ISSN =         "0000-0019",
  bibdate =      "Fri Mar 4 17:53:38 MST 2011",
  bibsource =    "http://example.org/~me/tests.bib",
  URL =          "http://example.org/~me/a_b%20c",
  abstract =     "Lines and
                 lines,   and a backslash \\ and ''); drop table bibtab; --",
  acknowledgement = ack-me,
}');
INSERT INTO bibtab (authorcount, editorcount, pagecount, bibtype, filename, label, author, editor, booktitle, title, crossref, chapter, journal, volume, type, number, institution, organization, publisher, school, address, edition, pages, day, month, monthnumber, year, CODEN, DOI, ISBN, ISBN13, ISSN, LCCN, MRclass, MRnumber, MRreviewer, bibdate, bibsource, bibtimestamp, note, series, URL, abstract, keywords, remark, subject, TOC, ZMnumber, entry) VALUES (NULL, 1, 403, 'book', 'sample.bib', 'two:2001:B', NULL, 'Anonymous', NULL, 'A book with (parentheses), "quotes" and nested braces', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'pub-NONE', NULL, 'pub-NONE:adr', NULL, 'xvi + 383 + [4]', NULL, NULL, NULL, '2001', NULL, NULL, '0-000-00001-9 OR 0000000019', '978-0-000-00001-9 OR 9780000000019', NULL, NULL, NULL, NULL, NULL, 'Sat Aug 27 10:53:25 1994n', NULL, NULL, 'first', NULL, NULL, NULL, NULL, NULL, NULL, 'One / 1 Two / 99', NULL, '
@Book{two:2001:B,
  editor =       {Anonymous},
  title =        {{A book with (parentheses), "quotes" and {nested {braces}}}},
  publisher =    pub-NONE,
  address =      pub-NONE:adr,
  pages =        "xvi + 383 + [4]",
  year =         2001,
  ISBN =         "0-000-00001-9",
  ISBN-13 =      "978-0-000-00001-9",
  edition =      "????",
  month =        "",
  bibdate =      "Sat Aug 27 10:53:25 1994n",
  tableofcontents = "One / 1 \\
                 Two~/ 99",
  note =         "first",
  note =         "second",
  acknowledgement = ack-me,
}');
INSERT INTO bibtab (authorcount, editorcount, pagecount, bibtype, filename, label, author, editor, booktitle, title, crossref, chapter, journal, volume, type, number, institution, organization, publisher, school, address, edition, pages, day, month, monthnumber, year, CODEN, DOI, ISBN, ISBN13, ISSN, LCCN, MRclass, MRnumber, MRreviewer, bibdate, bibsource, bibtimestamp, note, series, URL, abstract, keywords, remark, subject, TOC, ZMnumber, entry) VALUES (1, NULL, 13, 'inproceedings', 'sample.bib', 'three-2010', 'Ann O''Example', NULL, NULL, NULL, 'two:2001:B', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '17:1--17:13', NULL, NULL, NULL, NULL, NULL, '10.1000/182', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'Cafe or Café; naïve joined 5', NULL, NULL, NULL, '
@InProceedings(three-2010,
  author = {Ann O''Example}, crossref = "two:2001:B", pages = "17:1--17:13",
  doi = {10.1000/182}, remark = "Caf\''e or Café; naïve" # { joined } # 5
)');
INSERT INTO bibtab (authorcount, editorcount, pagecount, bibtype, filename, label, author, editor, booktitle, title, crossref, chapter, journal, volume, type, number, institution, organization, publisher, school, address, edition, pages, day, month, monthnumber, year, CODEN, DOI, ISBN, ISBN13, ISSN, LCCN, MRclass, MRnumber, MRreviewer, bibdate, bibsource, bibtimestamp, note, series, URL, abstract, keywords, remark, subject, TOC, ZMnumber, entry) VALUES (NULL, NULL, NULL, 'misc', 'sample.bib', 'four', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '
@Misc{four,}');
INSERT INTO bibtab (authorcount, editorcount, pagecount, bibtype, filename, label, author, editor, booktitle, title, crossref, chapter, journal, volume, type, number, institution, organization, publisher, school, address, edition, pages, day, month, monthnumber, year, CODEN, DOI, ISBN, ISBN13, ISSN, LCCN, MRclass, MRnumber, MRreviewer, bibdate, bibsource, bibtimestamp, note, series, URL, abstract, keywords, remark, subject, TOC, ZMnumber, entry) VALUES (NULL, NULL, NULL, 'unpublished', 'sample.bib', 'five:????:C', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'win', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '
@Unpublished{five:????:C, year = "????", month = "Winter", key = {x}}');
INSERT INTO strtab (key, value, entry) VALUES ('ack-me', 'Nobody in Particular, \path|nobody@example.org|', '
@String{ack-me = "Nobody in Particular, \path|nobody@example.org|"}');
INSERT INTO strtab (key, value, entry) VALUES ('j-TEST', 'Journal of {\TeX} Tests', '
@string(j-TEST = {Journal of {\TeX} Tests})');
INSERT INTO strtab (key, value, entry) VALUES ('pub-NONE', 'No Such Press', '
@String{pub-NONE     = "No Such Press"}');
INSERT INTO strtab (key, value, entry) VALUES ('pub-NONE:adr', 'Nowhere', '
@String{pub-NONE:adr = "Nowhere"}');
INSERT INTO namtab (name, count) VALUES ('Ann O''Example', 2);
INSERT INTO namtab (name, count) VALUES ('Anonymous', 1);
INSERT INTO namtab (name, count) VALUES ('Jorg Sim', 1);
INSERT INTO namtab (name, count) VALUES ('Smith and Sons', 1);
