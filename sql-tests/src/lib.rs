//! SQL scripts in `cases/`, run by the integration test `sql`; there is no library.
