"""How MySQL and MariaDB, which spell alike, differ from standard SQL: in quotes, literals, types,
collation, indexes over beginnings of values, and bulk loads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Column, Table
from assay.contracts.documents import TextStyle
from assay.dialects.limits import SchemaLimits
from assay.dialects.standard import StandardSql, codes, may_be_long, script_words, type_words, words
from assay.errors import ArgumentError

_PREFIX_CHARACTERS = 100
"""400 bytes in utf8mb4: an entry of an index holds 1000 in MyISAM, 3072 in InnoDB."""

UNFLUSHED_ENGINES = frozenset(("blackhole", "csv", "memory", "mrg_myisam", "myisam"))
"""Storage engines, in lower case, that never ask for their rows to be flushed, or keep none."""

_PART_OF_NAME = re.compile(r'`[^`]*`|"[^"]*"|[^.`"\s]+')

_HAS_FOREIGN_KEYS = "InnoDB"
"""The one storage engine that keeps them."""

_COLLATION = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
"""Texts compare byte by byte, as on the other systems: any other collation takes `a` for `A`."""

# Names that `CREATE TABLE t (NAME INT)` refuses in MariaDB 10.11 or in MySQL 9.7, tried one by one
# from information_schema.keywords of both; MANUAL and PARALLEL are reserved in MySQL 8.4's manual.
_RESERVED_WORDS = """
    accessible add all alter analyze and as asc asensitive before between bigint binary blob
    both by call cascade case change char character check collate column condition constraint
    continue convert create cross cube cume_dist current_date current_role current_time
    current_timestamp current_user cursor database databases day_hour day_microsecond day_minute
    day_second dec decimal declare default delayed delete delete_domain_id dense_rank desc
    describe deterministic distinct distinctrow div do_domain_ids double drop dual each else
    elseif empty enclosed escaped except exists exit explain external false fetch first_value
    float float4 float8 for force foreign from fulltext function generated get grant group
    grouping groups having high_priority hour_microsecond hour_minute hour_second if ignore
    ignore_domain_ids in index infile inner inout insensitive insert int int1 int2 int3 int4
    int8 integer intersect interval into io_after_gtids io_before_gtids is iterate join
    json_table key keys kill lag last_value lateral lead leading leave left library like limit
    linear lines load localtime localtimestamp lock long longblob longtext loop low_priority
    manual master_demote_to_replica master_demote_to_slave master_ssl_verify_server_cert match
    maxvalue mediumblob mediumint mediumtext middleint minute_microsecond minute_second mod
    modifies natural no_write_to_binlog not nth_value ntile null numeric of offset on optimize
    optimizer_costs option optionally or order out outer outfile over page_checksum parallel
    parse_vcol_expr partition percent_rank portion precision primary procedure purge qualify
    range rank read read_write reads real recursive ref_system_id references regexp release
    rename repeat replace require resignal restrict return returning revoke right rlike row
    row_number rows schema schemas second_microsecond select sensitive separator set show signal
    smallint spatial specific sql sql_big_result sql_calc_found_rows sql_small_result
    sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent
    stats_sample_pages stored straight_join system table tablesample terminated then tinyblob
    tinyint tinytext to trailing trigger true undo union unique unlock unsigned update usage use
    using utc_date utc_time utc_timestamp values varbinary varchar varcharacter varying virtual
    when where while window with write xor year_month zerofill
"""


_ERROR_NUMBERS: Mapping[str, str] = {
    "lost connection": "1053 1927 2006 2013 2055 4031",
    "deadlock": "1213 1614",
    "timeout": "1205 1969 3024 3572 1317",
    "serialization": "1020 3101",
    "constraint": "1022 1048 1062 1169 1216 1217 1364 1451 1452 3819 4025",
    "syntax": "1064 1065 1136 1149 1222",
    "unknown object": "1046 1051 1054 1072 1091 1146 1176 1193 1305",
    "permission": "1142 1143 1227 1290 1370 1792 1836",
    "data": "1264 1265 1292 1366 1367 1406 1411 1690",
    "authentication": "1044 1045 1049 1698",
    "too many connections": "1040 1203",
    "resources": "1021 1114 1135 1206",
}
"""The numbers of each class, of server and client, that a run can meet."""


class MysqlDialect(StandardSql):
    name = "mysql"
    explain = "EXPLAIN FORMAT=TRADITIONAL "
    version_query = "SELECT version()"
    limits = SchemaLimits(
        source="MySQL Reference Manual, sections 11.2.1 (names), 10.4.7 (rows, columns)",
        identifier_length=64,
        columns=1017,  # of InnoDB
        varchar_length=16_383,  # in utf8mb4
        row_bytes=65_535,
    )
    read_only_codes = ("1792",)
    error_fixes: Mapping[str, str] = {
        "1020": "innodb_snapshot_isolation=OFF (ON from MariaDB 11.6.2 on), up to 1000 "
        "retries, or the isolation level 'read committed'"
    }
    unknown_statements = dict.fromkeys(
        ("END", "END TRANSACTION", "END WORK"),
        "write COMMIT, as standard SQL has it; pgbench's own scripts write END",
    )
    server_names = ("MySQL", "MariaDB")
    error_classes = codes(_ERROR_NUMBERS)
    text_style = TextStyle(backslash_escapes=True, nests_comments=False)
    carriage_return = r"'\r'"
    own_tables = ("information_schema.", "performance_schema.", "mysql.", "sys.", "dual")
    functions_query = (  # what a function is declared to do, the server does not enforce
        "SELECT LOWER(routine_name) FROM information_schema.routines WHERE LOWER(routine_name) "
        "IN ({names}) AND routine_type = 'FUNCTION' AND routine_schema NOT IN ('mysql', 'sys')"
    )
    quote = "`"
    reserved_words = words(_RESERVED_WORDS)
    type_words = type_words(
        {
            "int": "INT",
            "float": "FLOAT",  # of four bytes, where REAL has eight
            "double": "DOUBLE",
            # The width that scripts written so far ask for: in a character set of four bytes a
            # MEDIUMTEXT, which holds 16 MiB.
            "text": "TEXT(32767)",
            # TIMESTAMP ends in 2038 and follows the session's time zone.
            "timestamp": "DATETIME(6)",
            "bytes": "LONGBLOB",
            "json": "JSON",
        }
    )
    script_words = script_words(
        {"clustering_index": "alter table {1} add primary key ({2})", "of_table": "on {0}"}
    )

    lock_refused_codes = ("1242",)

    def prefix(self, column: Column) -> str | None:
        """Of every value without bounded length its beginning: nothing else can be indexed."""
        name = self.identifier(column.name)
        return f"{name}({_PREFIX_CHARACTERS})" if may_be_long(column) else None

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """Of ``options`` the storage ``engine``; without it the server's default. The primary key
        is in it from the beginning: where rows lie in its order, adding it later would write them
        all a second time.

        Raises `ArgumentError` for a column without bounded length in a primary key.
        """
        self._insist_on_whole_values(table)
        engine = f" ENGINE = {options['engine']}" if "engine" in options else ""
        [statement] = super().create_table(table, options)
        return [f"{statement}{engine} {_COLLATION}"]

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        [statement] = self.create_table(table, options)
        return [f"{statement} COMMENT = {self.literal(mark)}"]

    def marks_query(self, database: str) -> str | None:
        del database
        return (
            "SELECT table_name, table_comment FROM information_schema.tables "
            "WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
        )

    def add_foreign_keys(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """None in an engine that would silently ignore them."""
        has_them = options.get("engine", _HAS_FOREIGN_KEYS) == _HAS_FOREIGN_KEYS
        return super().add_foreign_keys(table, options) if has_them else []

    def create_indexes(self, table: Table) -> list[str]:
        """One statement for all of them: MyISAM copies the whole table once for each statement."""
        if not table.indexes:
            return []
        parts = ",\n  ".join(f"ADD {self.index(table, index)}" for index in table.indexes)
        return [f"ALTER TABLE {self.identifier(table.name)}\n  {parts}"]

    def bulk_statement(self, table: Table) -> str:
        """The file is the engine's stream of rows, its name a word that only an error shows. Where
        some of them hold bytes it has no character set: else the server (MySQL) refuses those that
        are no text, and JSON is said to be in one. Texts are checked when they are stored, either
        way."""
        has_bytes = any(column.family == "bytes" for column in table.columns)
        documents = [column.name for column in table.columns if column.is_document and has_bytes]
        names = ", ".join(
            f"@d{documents.index(column.name)}"
            if column.name in documents
            else self.identifier(column.name)
            for column in table.columns
        )
        changes = ", ".join(
            f"{self.identifier(name)} = CONVERT(@d{number} USING utf8mb4)"
            for number, name in enumerate(documents)
        )
        return (
            f"LOAD DATA LOCAL INFILE 'rows' INTO TABLE {self.identifier(table.name)} "
            f"CHARACTER SET {'binary' if has_bytes else 'utf8mb4'} ({names})"
            + (f" SET {changes}" if changes else "")
        )

    def multi_row_statement(self, table: Table) -> str | None:
        """For servers whose ``local_infile`` is off."""
        return self.insert(table)

    def script_prologue(self, database: str, create: bool) -> list[str]:
        """The client stops at the first error by itself. The mode makes a value that does not fit
        an error in every engine, and a backslash an escape in literals."""
        name = self.quoted(database)
        new = [f"DROP DATABASE IF EXISTS {name};", f"CREATE DATABASE {name} {_COLLATION};"]
        return [
            *(new if create else []),
            f"USE {name};",
            "SET NAMES utf8mb4 COLLATE utf8mb4_bin;",
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';",
        ]

    def lock_table(self, table: str) -> list[str]:
        """A lock by name, which the deletes of a transaction may lack: those of READ COMMITTED keep
        no other from inserting the same rows. Where it is not had in time, the second subquery is
        an error: it has two rows."""
        got = f"GET_LOCK({self._lock_name(table)}, @@lock_wait_timeout) = 1"
        return [
            f"SET @assay_update = (SELECT IF({got}, 1, "
            "(SELECT 'another update is running' UNION ALL SELECT 'try again later')))"
        ]

    def unlock_table(self, table: str) -> list[str]:
        return [f"DO RELEASE_LOCK({self._lock_name(table)})"]

    def _lock_name(self, table: str) -> str:
        """Of one database of the server, and of at most 64 characters: 56 of SHA-224. MySQL 9.6 has
        no MD5 without a component."""
        return f"SHA2(CONCAT(DATABASE(), {self.literal('.' + table)}), 224)"

    def limit_statements(self, longest_s: float) -> list[str]:
        """Of MariaDB, in seconds; of MySQL, in milliseconds."""
        return [
            f"SET SESSION max_statement_time = {longest_s:g}",
            f"SET SESSION max_execution_time = {max(1, round(longest_s * 1000))}",
        ]

    def indexes_query(self, table: str) -> str:
        """With the length of a prefix. What only one server has stands in its own comments:
        expressions and indexes that no query sees."""
        column = (
            "CONCAT(COALESCE(column_name, /*!80013 CONCAT('(', expression, ')'), */ ''), "
            "COALESCE(CONCAT('(', sub_part, ')'), ''), IF(collation = 'D', ' DESC', ''))"
        )
        columns = f"GROUP_CONCAT({column} ORDER BY seq_in_index SEPARATOR ', ')"
        kind = "IF(non_unique = 0, 'unique ', ''), LOWER(index_type)"
        unseen = (
            "/*!80013 IF(MIN(is_visible) = 'NO', ' invisible', ''), */ "
            "/*M!100600 IF(MAX(ignored) = 'YES', ' ignored', ''), */ ''"
        )
        return (
            f"SELECT CONCAT({kind}, ' (', {columns}, ')', {unseen}) "
            "FROM information_schema.statistics "
            f"WHERE {self._is_named(table)} GROUP BY index_name, non_unique, index_type UNION ALL "
            "SELECT CONCAT_WS(' ', 'trigger', trigger_name, action_timing, event_manipulation, "
            "action_statement) FROM (SELECT *, event_object_schema AS table_schema, "
            "event_object_table AS table_name FROM information_schema.triggers) AS t "
            f"WHERE {self._is_named(table)}"
        )

    def view_query(self, table: str) -> str:
        """Without the name of the session's own database. A user may see no definition."""
        shown = "REPLACE(view_definition, CONCAT('`', DATABASE(), '`.'), '')"
        return f"SELECT {shown} FROM information_schema.views WHERE {self._is_named(table)}"

    def _is_named(self, table: str) -> str:
        """A condition of information_schema on the table, as a script spells it."""
        names = [name.strip('`"') for name in _PART_OF_NAME.findall(table)]
        schema = self.literal(names[-2]) if names[1:] else "DATABASE()"
        return f"table_schema = {schema} AND table_name = {self.literal(names[-1])}"

    def unflushed_query(self, table: str) -> str:
        engines = ", ".join(map(self.literal, sorted(UNFLUSHED_ENGINES)))
        return (
            "SELECT CONCAT('engine = ', engine) FROM information_schema.tables "
            f"WHERE {self._is_named(table)} AND LOWER(engine) IN ({engines})"
        )

    def flushed_table(self, table: str) -> str:
        return f"ALTER TABLE {table} ENGINE = InnoDB"

    def limit_waiting(self, wait_s: float) -> list[str]:
        """In whole seconds, at least one; for rows, and for tables and names."""
        seconds = max(1, round(wait_s))
        names = ("innodb_lock_wait_timeout", "lock_wait_timeout")
        return [f"SET SESSION {name} = {seconds}" for name in names]

    def user_query(self, user: str) -> str:
        """Names of users differ by letter case, what information_schema compares does not."""
        return (
            "SELECT 1 FROM information_schema.user_privileges "
            f"WHERE BINARY grantee = {self.literal(self._account(user))} LIMIT 1"
        )

    def write_query(self, user: str, tables: Sequence[str]) -> str:
        """By a right on all, on the database (which may be a pattern) or on a table."""
        names = ", ".join(map(self.literal, tables))
        held = " UNION ALL ".join(
            f"SELECT grantee, privilege_type FROM information_schema.{rights}"
            for rights in (
                "user_privileges",
                "schema_privileges WHERE DATABASE() LIKE table_schema",
                f"table_privileges WHERE table_schema = DATABASE() AND table_name IN ({names})",
            )
        )
        return (
            f"SELECT 1 FROM ({held}) AS held "
            f"WHERE BINARY grantee = {self.literal(self._account(user))} "
            "AND privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'DROP') LIMIT 1"
        )

    def create_user(self, user: str, password: str) -> list[str]:
        account = self._account(user)
        return [f"CREATE USER IF NOT EXISTS {account} IDENTIFIED BY {self.literal(password)}"]

    def grant_reading(self, user: str, tables: Sequence[str]) -> list[str]:
        """One statement takes one table. The mode is one of MariaDB, where GRANT would else make a
        user who is not there, without a password."""
        mode = "CONCAT(@@sql_mode, ',NO_AUTO_CREATE_USER')"
        return [
            f"SET @assay_reader = 1 /*M!100108 , SESSION sql_mode = {mode} */",
            *self._grants(user, tables),
        ]

    def _grants(self, user: str, tables: Sequence[str]) -> list[str]:
        return [
            f"GRANT SELECT ON {self.identifier(table)} TO {self._account(user)}" for table in tables
        ]

    def _account(self, user: str) -> str:
        """The user from any host."""
        return f"{self.literal(user)}@'%'"

    def update_statistics(self, tables: Sequence[Table]) -> list[str]:
        return [f"ANALYZE TABLE {self.identifier(table.name)}" for table in tables]

    def reclaim(self, tables: Sequence[Table]) -> list[str]:
        """Each table is rewritten."""
        return [f"OPTIMIZE TABLE {self.identifier(table.name)}" for table in tables]

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        return [f"SET SESSION TRANSACTION ISOLATION LEVEL {level.upper()}"]

    def session_read_only(self) -> list[str]:
        return ["SET SESSION TRANSACTION READ ONLY"]

    def begin_at(self, level: str) -> list[str]:
        """The level is said first: START TRANSACTION takes none."""
        if not level:
            return self.begin()
        self.insist_on_level(level)
        return [f"SET TRANSACTION ISOLATION LEVEL {level.upper()}", *self.begin()]

    def default(self, column: Column) -> str:
        """A text without bounded length takes its default as an expression alone."""
        literal = super().default(column)
        return f"({literal})" if column.family == "text" else literal

    def literal(self, text: str | None) -> str:
        """A backslash is an escape unless the session's mode says otherwise."""
        if text is None:
            return "NULL"
        escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0")
        return f"'{escaped}'"

    def _insist_on_whole_values(self, table: Table) -> None:
        for name in table.primary_key:
            column = table.column(name)
            if may_be_long(column):
                raise ArgumentError(
                    f"the table {table.name} has {name} in its primary key, which is "
                    f"{column.type}: expected a type of bounded length",
                    hint="declare it varchar(n): an index here holds only the beginning of a text",
                )


MYSQL = MysqlDialect()
