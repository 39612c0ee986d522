"""How CUBRID differs from standard SQL: in types, names, isolation and statistics; and what its
error codes mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Table
from assay.contracts.documents import TextStyle
from assay.dialects.standard import (
    TRUTH_AS_NUMBERS,
    InsertingSql,
    codes,
    script_words,
    type_words,
    words,
)

# The reserved ones of the keywords of version 11.4, plain words that `[word]` or `"word"` makes
# names of.
_RESERVED_WORDS = """
    absolute action add add_months after all allocate alter and any are as asc assertion async at
    attach attribute avg before begin between bigint binary bit bit_length blob boolean both breadth
    by call cascade cascaded case cast catalog change char check class classes clob coalesce collate
    column commit connect connect_by_iscycle connect_by_isleaf connect_by_root connection constraint
    constraints continue convert corresponding count create cross current current_date
    current_datetime current_time current_timestamp current_user cursor cycle data data_type
    database date datetime datetimeltz datetimetz day day_hour day_millisecond day_minute day_second
    dblink deallocate dec decimal declare default deferrable deferred delete depth desc describe
    descriptor diagnostics difference disconnect distinct distinctrow div do domain double drop
    duplicate each else elseif end enum equals escape evaluate except exception exec execute exists
    external extract false fetch file first float for foreign found from full function general get
    global go goto grant group having hour hour_millisecond hour_minute hour_second identity if
    ignore immediate in index indicator inherit initially inner inout input insert int integer
    intersect intersection interval into is isolation join json key language last leading leave left
    less level like limit list local local_transaction_id localtime localtimestamp loop lower match
    max merge method millisecond min minute minute_millisecond minute_second mod modify module
    monetary month multiset multiset_of na names national natural nchar next no none not null nullif
    numeric object octet_length of off on only optimization option or order out outer output
    overlaps parameters partial partition position precision prepare preserve primary prior
    privileges procedure query read recursive ref references referencing relative rename replace
    resignal restrict return returns revoke right role rollback rollup routine row rownum rows
    savepoint schema scope scroll search second second_millisecond section select sensitive sequence
    sequence_of serializable server session session_user set set_of seteq setneq shared short
    siblings signal similar smallint some sql sqlcode sqlerror sqlexception sqlstate sqlwarning
    statistics string subclass subset subseteq substring sum superclass superset superseteq
    sys_connect_by_path sys_date sys_datetime sys_time sys_timestamp sysdate sysdatetime system_user
    systime systimestamp table temporary then time timestamp timestampltz timestamptz timezone
    timezone_hour timezone_minute to trailing transaction translate translation trigger trim true
    truncate under union unique unknown update upper usage use user using utime vacuum value values
    varchar variable varying vclass view when whenever where while with within without work write
    xor year year_month zone
"""

_OVERFLOWS = "-458 -729 -730 -731 -732 -733 -875 -936"
"""Of arithmetic, in sums too, which have the type of what is summed."""

_CODES = {
    "authentication": "-165 -171",
    # A constraint, a unique index, NOT NULL, and both sides of a foreign key.
    "constraint": "-205 -631 -670 -886 -922 -924 -926 -1121",
    "data": f"{_OVERFLOWS} -181 -182 -427 -539 -552 -553 -1041 -1042 -10010",
    "deadlock": "-72 -966 -967 -968",
    "lost connection": "-111 -193 -195 -199 -671 -672 -673 -677 -850 -10003 -10025",
    "permission": "-157 -159 -160 -161 -163 -581 -10018",
    "resources": "-3 -14 -15 -80 -614 -706 -707 -714 -10002",
    "serialization": "-1158",
    "timeout": "-4 -73 -74 -75 -76 -10019",
    "too many connections": "-669 -831 -10017",
    "unknown object": "-64",
}
"""The engine's class of errors → codes of the server, and below -10000 of its broker."""


class CubridDialect(InsertingSql):
    name = "cubrid"
    text_style = TextStyle(nests_comments=False, bracketed_names=True)
    bulk_form = "multi-row"
    version_query = "SELECT 'CUBRID ' || version()"
    lacking = frozenset({"gregorian dates", "microseconds"})
    read_only_codes = ()
    # Its SERIALIZABLE lets two transactions commit of which each has read what the other changed.
    isolation_levels = ("read committed", "repeatable read")
    adds_keys_together = False
    error_classes = codes(_CODES)
    # The codes -493 and -494 are of every statement that cannot be compiled, whatever is wrong.
    error_phrases: Mapping[str, str] = {
        "unknown class": "unknown object",
        "is not defined": "unknown object",
        "cannot coerce": "data",
        "invalid date": "data",
        "conversion error": "data",
        "null byte": "data",
    }
    reserved_words = words(_RESERVED_WORDS)
    truth_words = TRUTH_AS_NUMBERS
    type_words = type_words(
        {
            "int": "INT",
            "decimal": "NUMERIC",
            "float": "FLOAT",
            "double": "DOUBLE",
            "text": "STRING",
            "timestamp": "DATETIME",  # TIMESTAMP ends in 2038 and has whole seconds
            "bool": "SMALLINT",
            "bytes": "BIT VARYING",
        }
    )
    script_words = script_words(
        {
            "dividend": "cast({0} as double)",  # a quotient has the digits of the sum
            "of_table": "on {0}",
            "strictest_level": "repeatable read",  # a snapshot
            "summand": "cast({0} as bigint)",  # sums of INT have 32 bits, for averages too
        }
    )

    def update_statistics(self, tables: Sequence[Table]) -> list[str]:
        return [f"UPDATE STATISTICS ON {self.identifier(table.name)}" for table in tables]

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        return [f"SET TRANSACTION ISOLATION LEVEL {level.upper()}"]

    def begin_at(self, level: str) -> list[str]:
        """The level is the session's from here on."""
        return [*self.session_isolation(level), *self.begin()] if level else self.begin()


CUBRID = CubridDialect()
