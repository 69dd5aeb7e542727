use datafusion_sql::sqlparser::ast::{Ident, ObjectName, Statement};
use datafusion_sql::sqlparser::tokenizer::Span;

use crate::{OptionName, SyntaxError, WithOptions, from_ast, procedure};

/// A statement about the indexes of a Lance table.
///
/// Names are sqlparser's: a table is `[[catalog.]schema.]table`, and an identifier keeps its
/// quotes (an unquoted one is meant in lower case) and its place in the text.
///
/// Prints itself as `ALTER TABLE t ...` where it can be written so; what is printed is read again
/// as an equal statement by [`StatementParser`](crate::StatementParser) in a dialect that quotes
/// as DataFusion's default does. Statements are equal whatever their places in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexStatement {
    /// `CREATE INDEX`
    CreateIndex(CreateIndex),
    /// `ALTER TABLE t REFRESH`
    RefreshIndex(RefreshIndex),
    /// `ALTER TABLE t OPTIMIZE`
    OptimizeIndex(OptimizeIndex),
    /// `DROP INDEX`
    DropIndex(DropIndex),
    /// `SHOW INDEXES`
    ShowIndexes(ShowIndexes),
    /// `SHOW INDEX SEGMENTS`
    ShowIndexSegments(ShowIndexSegments),
    /// `SHOW CREATE INDEX`
    ShowCreateIndex(ShowCreateIndex),
    /// `ALTER TABLE t ALTER INDEX i SET`
    AlterIndexSet(AlterIndexSet),
    /// `ALTER TABLE t ALTER INDEX i RESET`
    AlterIndexReset(AlterIndexReset),
    /// `OPTIMIZE TABLE`
    OptimizeTable(OptimizeTable),
    /// `VACUUM TABLE`
    VacuumTable(VacuumTable),
}

impl IndexStatement {
    /// Reads what [`LanceIndexDialect`](crate::LanceIndexDialect) makes sqlparser answer. `None`
    /// if the statement is none of ours.
    ///
    /// Ours are sqlparser's `CREATE INDEX` and `DROP INDEX`, and a `CALL` of a procedure in the
    /// schema `lance_index`, whether read from our grammar or written by a user:
    /// `CALL lance_index.refresh_index(table => t, index => i, num_segments => 8)`.
    ///
    /// sqlparser's `CREATE INDEX` doesn't say where the method is, nor how it was spelt.
    ///
    /// # Errors
    /// If the statement has a part that our grammar doesn't, such as `UNIQUE`, lacks one, or
    /// calls a procedure that isn't there or takes other arguments.
    pub fn from_sqlparser(statement: &Statement) -> Result<Option<Self>, SyntaxError> {
        match statement {
            Statement::Call(call) => procedure::from_call(call),
            Statement::CreateIndex(create) => from_ast::create_index(create).map(Some),
            Statement::Drop { .. } => from_ast::drop_index(statement),
            _ => Ok(None),
        }
    }

    /// The statement as a procedure call, which is what sqlparser can hold of it.
    ///
    /// ```
    /// # use lance_index_sql::{IndexStatement, ShowIndexes};
    /// # use datafusion_sql::sqlparser::ast::{Ident, ObjectName};
    /// let table = ObjectName::from(vec![Ident::new("t")]);
    /// let statement = IndexStatement::ShowIndexes(ShowIndexes { table });
    /// assert_eq!(
    ///     statement.to_sqlparser().to_string(),
    ///     "CALL lance_index.show_indexes(table => t)"
    /// );
    /// ```
    pub fn to_sqlparser(&self) -> Statement {
        procedure::to_call(self)
    }

    /// The table that the statement is about.
    pub fn table(&self) -> &ObjectName {
        match self {
            Self::CreateIndex(statement) => &statement.table,
            Self::RefreshIndex(statement) => &statement.table,
            Self::OptimizeIndex(statement) => &statement.table,
            Self::DropIndex(statement) => &statement.table,
            Self::ShowIndexes(statement) => &statement.table,
            Self::ShowIndexSegments(statement) => &statement.table,
            Self::ShowCreateIndex(statement) => &statement.table,
            Self::AlterIndexSet(statement) => &statement.table,
            Self::AlterIndexReset(statement) => &statement.table,
            Self::OptimizeTable(statement) => &statement.table,
            Self::VacuumTable(statement) => &statement.table,
        }
    }
}

/// Creates an index.
///
/// ```sql
/// CREATE [OR REPLACE] INDEX [IF NOT EXISTS] i ON t [USING method] (column) [WITH (...)]
/// ALTER TABLE t CREATE [OR REPLACE] INDEX [IF NOT EXISTS] i [USING method] (column) [WITH (...)]
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateIndex {
    /// `OR REPLACE`
    pub or_replace: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The name of the index.
    pub index: Ident,
    /// The table.
    pub table: ObjectName,
    /// `USING method`
    pub method: Option<IndexMethod>,
    /// The column, as the path to a leaf: `a.b` has two parts, `"a.b"` has one. Never empty when
    /// read from a text.
    pub column: Vec<Ident>,
    /// `WITH (...)`
    pub options: WithOptions,
}

/// The method of an index: `btree`, `"btree"` and `'btree'` are the same.
///
/// Equal to another of the same spelling, whatever their places in a text.
#[derive(Debug, Clone)]
pub struct IndexMethod {
    name: String,
    span: Span,
}

impl IndexMethod {
    /// A method as written, at a place.
    pub fn new(name: impl Into<String>, span: Span) -> Self {
        Self { name: name.into(), span }
    }

    /// The name as written, without quotes.
    pub fn as_written(&self) -> &str {
        &self.name
    }

    /// The name in lower case: the case of a method doesn't matter.
    pub fn to_lowercase(&self) -> String {
        self.name.to_ascii_lowercase()
    }

    /// Where the name is.
    pub fn span(&self) -> Span {
        self.span
    }
}

impl PartialEq for IndexMethod {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for IndexMethod {}

/// Which indexes of a table a statement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexTarget {
    /// `INDEX i`
    One(Ident),
    /// `INDEXES`
    All,
}

/// Indexes the rows that an index doesn't cover yet.
///
/// ```sql
/// ALTER TABLE t REFRESH {INDEX i | INDEXES} [WITH (...)]
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshIndex {
    /// The table.
    pub table: ObjectName,
    /// Which of its indexes.
    pub target: IndexTarget,
    /// `WITH (...)`
    pub options: WithOptions,
}

/// Refreshes an index, then merges its segments.
///
/// ```sql
/// ALTER TABLE t OPTIMIZE {INDEX i | INDEXES} [WITH (...)]
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptimizeIndex {
    /// The table.
    pub table: ObjectName,
    /// Which of its indexes.
    pub target: IndexTarget,
    /// `WITH (...)`
    pub options: WithOptions,
}

/// Drops an index.
///
/// ```sql
/// ALTER TABLE t DROP INDEX [IF EXISTS] i
/// DROP INDEX [IF EXISTS] i ON t
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropIndex {
    /// The table.
    pub table: ObjectName,
    /// The name of the index.
    pub index: Ident,
    /// `IF EXISTS`
    pub if_exists: bool,
}

/// Lists the indexes of a table.
///
/// ```sql
/// SHOW {INDEX | INDEXES} {FROM | IN} t
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowIndexes {
    /// The table.
    pub table: ObjectName,
}

/// Lists the segments of an index, or of all indexes of a table.
///
/// ```sql
/// SHOW INDEX SEGMENTS {FROM | IN} t [INDEX i]
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowIndexSegments {
    /// The table.
    pub table: ObjectName,
    /// The name of the index.
    pub index: Option<Ident>,
}

/// Shows the statement that creates an index.
///
/// ```sql
/// SHOW CREATE INDEX i ON t
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowCreateIndex {
    /// The table.
    pub table: ObjectName,
    /// The name of the index.
    pub index: Ident,
}

/// Stores options with an index.
///
/// ```sql
/// ALTER TABLE t ALTER INDEX i SET (option = value, ...)
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterIndexSet {
    /// The table.
    pub table: ObjectName,
    /// The name of the index.
    pub index: Ident,
    /// The options. Never empty when read from a text.
    pub options: WithOptions,
}

/// Removes options stored with an index.
///
/// ```sql
/// ALTER TABLE t ALTER INDEX i RESET (option, ...)
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterIndexReset {
    /// The table.
    pub table: ObjectName,
    /// The name of the index.
    pub index: Ident,
    /// The names of the options, all different. Never empty when read from a text.
    pub options: Vec<OptionName>,
}

/// Compacts the fragments of a table.
///
/// ```sql
/// OPTIMIZE TABLE t [WITH (...)]
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptimizeTable {
    /// The table.
    pub table: ObjectName,
    /// `WITH (...)`
    pub options: WithOptions,
}

/// Removes old versions of a table.
///
/// ```sql
/// VACUUM TABLE t [WITH (...)]
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VacuumTable {
    /// The table.
    pub table: ObjectName,
    /// `WITH (...)`
    pub options: WithOptions,
}
