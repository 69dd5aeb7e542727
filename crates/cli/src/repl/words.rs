//! The words of the language.

/// Keywords of DataFusion's SQL and of index maintenance, in order. Not all words that a parser
/// may know: those that are rather names of columns are left out.
pub(super) const KEYWORDS: &[&str] = &[
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "ANTI",
    "ANY",
    "ARRAY",
    "AS",
    "ASC",
    "BETWEEN",
    "BIGINT",
    "BOOLEAN",
    "BY",
    "CASE",
    "CAST",
    "COLUMNS",
    "COPY",
    "CREATE",
    "CROSS",
    "CUBE",
    "CURRENT",
    "DATABASE",
    "DATE",
    "DECIMAL",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DOUBLE",
    "DROP",
    "ELSE",
    "END",
    "ESCAPE",
    "EXCEPT",
    "EXECUTE",
    "EXISTS",
    "EXPLAIN",
    "EXTERNAL",
    "EXTRACT",
    "FALSE",
    "FILTER",
    "FIRST",
    "FLOAT",
    "FOLLOWING",
    "FOR",
    "FORMAT",
    "FROM",
    "FULL",
    "FUNCTION",
    "FUNCTIONS",
    "GROUP",
    "GROUPING",
    "HAVING",
    "IF",
    "ILIKE",
    "IN",
    "INDEX",
    "INDEXES",
    "INNER",
    "INSERT",
    "INT",
    "INTEGER",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "LANCE",
    "LAST",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCATION",
    "NATURAL",
    "NOT",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "OPTIMIZE",
    "OPTIONS",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "OVERWRITE",
    "PARTITION",
    "PARTITIONED",
    "PRECEDING",
    "PREPARE",
    "QUALIFY",
    "RANGE",
    "RECURSIVE",
    "REFRESH",
    "REPLACE",
    "RESET",
    "RIGHT",
    "ROLLUP",
    "ROWS",
    "SCHEMA",
    "SEGMENTS",
    "SELECT",
    "SEMI",
    "SET",
    "SETS",
    "SHOW",
    "SIMILAR",
    "SMALLINT",
    "STORED",
    "TABLE",
    "TABLES",
    "THEN",
    "TIMESTAMP",
    "TINYINT",
    "TO",
    "TRUE",
    "TRUNCATE",
    "TRY_CAST",
    "UNBOUNDED",
    "UNION",
    "UNNEST",
    "UPDATE",
    "USING",
    "VACUUM",
    "VALUES",
    "VARCHAR",
    "VERBOSE",
    "VIEW",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "WITHIN",
];

/// Whether it is one, in whatever case.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word.to_ascii_uppercase().as_str()).is_ok()
}

/// What the name of a table comes after.
pub(super) fn is_before_table(word: &str) -> bool {
    const BEFORE: [&str; 7] = ["DESCRIBE", "FROM", "IN", "INTO", "JOIN", "TABLE", "UPDATE"];
    BEFORE.iter().any(|before| word.eq_ignore_ascii_case(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn whatever_the_case() {
        assert!(is_keyword("refresh") && is_keyword("Indexes") && is_keyword("SEGMENTS"));
        assert!(!is_keyword("kind"));
    }
}
