use std::fmt;

use crate::WithOptions;
use crate::names::{Column, Name, Table, is_reserved, is_word, write_quoted};
use crate::statement::{
    AlterIndexReset, AlterIndexSet, CreateIndex, DropIndex, IndexMethod, IndexStatement,
    IndexTarget, OptimizeIndex, OptimizeTable, RefreshIndex, ShowCreateIndex, ShowIndexSegments,
    ShowIndexes, VacuumTable,
};

impl fmt::Display for IndexStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateIndex(statement) => statement.fmt(f),
            Self::RefreshIndex(statement) => statement.fmt(f),
            Self::OptimizeIndex(statement) => statement.fmt(f),
            Self::DropIndex(statement) => statement.fmt(f),
            Self::ShowIndexes(statement) => statement.fmt(f),
            Self::ShowIndexSegments(statement) => statement.fmt(f),
            Self::ShowCreateIndex(statement) => statement.fmt(f),
            Self::AlterIndexSet(statement) => statement.fmt(f),
            Self::AlterIndexReset(statement) => statement.fmt(f),
            Self::OptimizeTable(statement) => statement.fmt(f),
            Self::VacuumTable(statement) => statement.fmt(f),
        }
    }
}

impl fmt::Display for CreateIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { or_replace, if_not_exists, index, table, method, column, options } = self;
        write!(f, "ALTER TABLE {} CREATE ", Table(table))?;
        if *or_replace {
            f.write_str("OR REPLACE ")?;
        }
        f.write_str("INDEX ")?;
        if *if_not_exists {
            f.write_str("IF NOT EXISTS ")?;
        }
        write!(f, "{} ", Name(index))?;
        if let Some(method) = method {
            write!(f, "USING {method} ")?;
        }
        write!(f, "({}){}", Column(column), With(options))
    }
}

/// Prints the method as it stands after `USING`.
impl fmt::Display for IndexMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.as_written();
        if is_word(name) && !is_reserved(name) {
            f.write_str(name)
        } else {
            write_quoted(f, name, '\'')
        }
    }
}

impl fmt::Display for IndexTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(index) => write!(f, "INDEX {}", Name(index)),
            Self::All => f.write_str("INDEXES"),
        }
    }
}

impl fmt::Display for RefreshIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, target, options } = self;
        let table = Table(table);
        write!(f, "ALTER TABLE {table} REFRESH {target}{}", With(options))
    }
}

impl fmt::Display for OptimizeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, target, options } = self;
        let table = Table(table);
        write!(f, "ALTER TABLE {table} OPTIMIZE {target}{}", With(options))
    }
}

impl fmt::Display for DropIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, index, if_exists } = self;
        let condition = if *if_exists { "IF EXISTS " } else { "" };
        let (table, index) = (Table(table), Name(index));
        write!(f, "ALTER TABLE {table} DROP INDEX {condition}{index}")
    }
}

impl fmt::Display for ShowIndexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHOW INDEXES FROM {}", Table(&self.table))
    }
}

impl fmt::Display for ShowIndexSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHOW INDEX SEGMENTS FROM {}", Table(&self.table))?;
        match &self.index {
            Some(index) => write!(f, " INDEX {}", Name(index)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ShowCreateIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (table, index) = (Table(&self.table), Name(&self.index));
        write!(f, "SHOW CREATE INDEX {index} ON {table}")
    }
}

impl fmt::Display for AlterIndexSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, index, options } = self;
        let (table, index) = (Table(table), Name(index));
        write!(f, "ALTER TABLE {table} ALTER INDEX {index} SET ({options})")
    }
}

impl fmt::Display for AlterIndexReset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (table, index) = (Table(&self.table), Name(&self.index));
        write!(f, "ALTER TABLE {table} ALTER INDEX {index} RESET (")?;
        for (i, option) in self.options.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{option}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for OptimizeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = Table(&self.table);
        write!(f, "OPTIMIZE TABLE {table}{}", With(&self.options))
    }
}

impl fmt::Display for VacuumTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = Table(&self.table);
        write!(f, "VACUUM TABLE {table}{}", With(&self.options))
    }
}

/// Prints the clause that ends a statement, if it has options.
struct With<'a>(&'a WithOptions);

impl fmt::Display for With<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " WITH ({})", self.0) }
    }
}
