//! Random histories of tables that this library and other clients of Lance change in turn.
//!
//! After every step: the rows are those of a model in memory, each predicate finds with the index
//! what it finds by a scan, and the invariants of maintenance hold.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use arrow::{
    array::AsArray, datatypes::Int64Type, ipc::writer::FileWriter,
    util::pretty::pretty_format_batches,
};
use lance::index::DatasetIndexExt;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};

mod rows;
mod steps;

use self::{
    rows::{COLUMNS, Rows, VALUES, batch, predicate, word},
    steps::{STEPS, Step},
};
use crate::support::{Table, copy, fresh_seed};

/// A table, and what is known of it.
struct World {
    table: Table,
    rows: Rows,
    next_id: i64,
    random: StdRng,
    stable_row_ids: bool,
    /// The rows that versions have had.
    past: BTreeMap<u64, Rows>,
    /// Indexes that were dropped, here or elsewhere, and not made or built by their name since.
    dropped: BTreeSet<String>,
    /// What was done, to be repeated.
    history: Vec<String>,
    counts: Counts,
}

/// A failure, of whatever kind, tells the history.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("stable row ids: {}\n{}", self.stable_row_ids, self.history.join("\n"));
        }
    }
}

/// How often each step was taken, by what came of it.
type Counts = BTreeMap<String, usize>;

impl World {
    async fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let stable_row_ids = random.random();
        let mut world = Self {
            // A first fragment of one row, so that there is a table.
            table: Table::new(&[batch(&Rows::from([(0, [Some(0); 8])]))], stable_row_ids).await,
            rows: Rows::from([(0, [Some(0); 8])]),
            next_id: 1,
            random,
            stable_row_ids,
            past: BTreeMap::new(),
            dropped: BTreeSet::new(),
            history: Vec::new(),
            counts: Counts::new(),
        };
        for _ in 0..2 {
            steps::append(&mut world).await;
        }
        world
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        *of.choose(&mut self.random).unwrap()
    }

    fn note(&mut self, what: impl Into<String>) {
        self.history.push(what.into());
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_string()).or_default() += 1;
    }

    /// New rows of random values.
    fn new_rows(&mut self, most: usize) -> Rows {
        let rows = (0..self.random.random_range(1..=most)).map(|_| {
            let id = self.next_id;
            self.next_id += 1;
            (id, std::array::from_fn(|_| self.value()))
        });
        rows.collect()
    }

    fn value(&mut self) -> rows::Value {
        self.random.random_bool(0.9).then(|| self.random.random_range(0..VALUES))
    }

    /// Runs a statement; what it says if it fails.
    async fn sql(&mut self, statement: &str) -> Result<(), String> {
        self.note(statement);
        let ran = self.table.try_sql(statement).await;
        ran.map(drop).map_err(|error| error.strip_backtrace())
    }

    /// Runs a statement that can't fail.
    async fn must(&mut self, statement: &str) {
        if let Err(error) = self.sql(statement).await {
            panic!("{statement}: {error}");
        }
    }

    /// Leaves the table, and the rows that it should have, in that directory.
    fn keep(&self, to: &Path) {
        copy(Path::new(&self.table.uri), &to.join("t"));
        let rows = batch(&self.rows);
        let file = File::create(to.join("rows.arrow")).unwrap();
        let mut writer = FileWriter::try_new(file, &rows.schema()).unwrap();
        writer.write(&rows).unwrap();
        writer.finish().unwrap();
    }

    async fn indexes(&self) -> Vec<String> {
        let names = self.table.sql("SELECT name FROM lance_indexes('t') ORDER BY name").await;
        let names = names.iter().flat_map(|batch| {
            let names = batch.column(0);
            let name = |row| arrow::util::display::array_value_to_string(names, row).unwrap();
            (0..batch.num_rows()).map(name).collect::<Vec<_>>()
        });
        names.collect()
    }

    /// The live fragments that each index covers; no two of its segments cover the same.
    async fn coverage(&self) -> BTreeMap<String, BTreeSet<u32>> {
        let dataset = self.table.open().await;
        let live = dataset.fragment_bitmap().as_ref().clone();
        let mut coverage: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for segment in dataset.load_indices().await.unwrap().iter() {
            // Lance's own, of deferred compaction.
            if segment.name.starts_with("__lance") {
                continue;
            }
            let covered = coverage.entry(segment.name.clone()).or_default();
            let effective = segment.effective_fragment_bitmap(&live).unwrap_or_default();
            for fragment in effective {
                let is_new = covered.insert(fragment);
                assert!(is_new, "{fragment} is covered twice by {}", segment.name);
            }
        }
        coverage
    }

    async fn step(&mut self, step: &Step) {
        let before = self.coverage().await;
        let taken = (step.take)(self).await;
        self.count(&format!("{} {}", step.name, taken));
        self.check(step, &before).await;
        let version = self.table.version().await;
        self.past.insert(version, self.rows.clone());
    }

    async fn check(&mut self, step: &Step, before: &BTreeMap<String, BTreeSet<u32>>) {
        self.check_rows().await;
        let explained = self.random.random_range(0..COLUMNS.len());
        for (at, column) in COLUMNS.iter().enumerate() {
            let predicate =
                predicate(at, self.random.random_range(0..VALUES), self.random.random());
            self.check_predicate(&predicate).await;
            if at == explained && self.table.is_answered_by_index(&predicate).await {
                self.count(&answered_by(column.method));
            }
        }
        self.check_search().await;
        let after = self.coverage().await;
        if step.maintains {
            let live = self.table.open().await.fragment_bitmap().as_ref().clone();
            for (name, covered) in before {
                let now = after.get(name).cloned().unwrap_or_default();
                let lost = covered.iter().find(|it| live.contains(**it) && !now.contains(*it));
                // A statement that was to drop it or to make another one says so by name.
                let last = self.history.last().map_or("", String::as_str);
                let replaced = last.contains("REPLACE") && last.contains(name);
                assert!(
                    lost.is_none() || self.dropped.contains(name) || replaced,
                    "{name} doesn't cover {lost:?} any more"
                );
            }
        }
        for name in &self.dropped {
            assert!(!after.contains_key(name), "{name} is back");
        }
    }

    async fn check_rows(&self) {
        let found = self.table.sql("SELECT * FROM scan ORDER BY id").await;
        let found = pretty_format_batches(&found).unwrap().to_string();
        let expected = pretty_format_batches(&[batch(&self.rows)]).unwrap().to_string();
        // Of no rows, neither has columns.
        if !self.rows.is_empty() || found.lines().count() > 4 {
            assert_eq!(found, expected);
        }
    }

    async fn check_predicate(&mut self, predicate: &str) {
        let ids = async |table: &str| {
            let ids = format!("SELECT id FROM {table} WHERE {predicate} ORDER BY id");
            pretty_format_batches(&self.table.sql(&ids).await).unwrap().to_string()
        };
        let (found, truth) = (ids("t").await, ids("scan").await);
        assert_eq!(found, truth, "{predicate}: with the index, without");
    }

    /// A full-text search finds the rows with the word, if there is an index that finds all.
    async fn check_search(&mut self) {
        let value = self.random.random_range(0..VALUES);
        let search = format!("SELECT id FROM lance_fts('t', 'ft', '{}') ORDER BY id", word(value));
        let found = match self.table.try_sql(&search).await {
            Ok(found) => found,
            Err(error) => {
                let error = error.strip_backtrace();
                let known = ["has no fts index", "has lost rows"];
                let is_known = known.iter().any(|known| error.contains(known));
                assert!(is_known, "{search}: {error}");
                return self.count("search refused");
            }
        };
        let has = |of: &rows::Value| of.is_some_and(|of| of == value || (of + 5) % VALUES == value);
        let truth = self.rows.iter().filter(|(_, values)| has(&values[6])).map(|(id, _)| *id);
        let found = found.iter().flat_map(|rows| rows["id"].as_primitive::<Int64Type>().values());
        assert!(found.copied().eq(truth), "{search}");
        self.count("search done");
    }
}

/// One history of so many steps, which leaves its table in `keep`.
async fn history(seed: u64, steps: usize, keep: Option<&Path>) -> Counts {
    let mut world = World::new(seed).await;
    world.note(format!("seed {seed}"));
    let total: u32 = STEPS.iter().map(|step| step.weight).sum();
    for _ in 0..steps {
        let mut at = world.random.random_range(0..total);
        let step = STEPS.iter().find(|step| {
            let is_it = at < step.weight;
            at = at.wrapping_sub(step.weight);
            is_it
        });
        world.step(step.unwrap()).await;
    }
    if let Some(keep) = keep {
        // Lance itself finds all rows only after that.
        steps::follow_deferred(&mut world).await;
        world.keep(&keep.join(seed.to_string()));
    }
    std::mem::take(&mut world.counts)
}

fn answered_by(method: &str) -> String {
    format!("predicate answered by {method}")
}

fn add(all: &mut Counts, counts: Counts) {
    for (what, count) in counts {
        *all.entry(what).or_default() += count;
    }
}

/// Those with fixed seeds are the same in every run.
#[tokio::test]
async fn some_histories() {
    for seed in 0..4 {
        history(seed, 25, None).await;
    }
}

#[tokio::test]
async fn histories_of_the_day() {
    let begun = Instant::now();
    let seed = fresh_seed();
    for seed in seed..seed + 4 {
        history(seed, 25, None).await;
    }
    eprintln!("seeds from {seed}, {:?}", begun.elapsed());
}

/// As many histories as there is time for: `LANCE_INDEX_MODEL_SECONDS`, 600 if it isn't set. The first
/// seed is `LANCE_INDEX_MODEL_SEED`, or a fresh one, so that runs with seeds far apart share the work
/// and one that ended goes on from its last. Prints how often each step was taken.
///
/// The tables are left in `LANCE_INDEX_MODEL_KEEP`, with the rows that they should have: for another
/// reader, `tests/pylance/oracle.py`.
#[tokio::test]
#[ignore = "runs for minutes or hours"]
async fn many_histories() {
    let given = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let most = Duration::from_secs(given("LANCE_INDEX_MODEL_SECONDS").unwrap_or(600));
    let mut seed = given("LANCE_INDEX_MODEL_SEED").unwrap_or_else(fresh_seed);
    let keep = std::env::var_os("LANCE_INDEX_MODEL_KEEP").map(PathBuf::from);
    let begun = Instant::now();
    const STEPS_EACH: usize = 40;
    let (mut counts, mut steps) = (Counts::new(), 0);
    while begun.elapsed() < most {
        add(&mut counts, history(seed, STEPS_EACH, keep.as_deref()).await);
        seed += 1;
        steps += STEPS_EACH;
        eprintln!("{steps} steps, seed {seed} is next");
    }
    counts.iter().for_each(|(what, count)| eprintln!("{count:>8} {what}"));
    if steps < 5000 {
        return;
    }
    for step in &STEPS {
        let taken = counts.contains_key(&format!("{} done", step.name));
        assert!(taken, "{} was never taken", step.name);
    }
    for column in &COLUMNS {
        let answered = counts.contains_key(&answered_by(column.method));
        assert!(answered, "no predicate was answered by an index of type {}", column.method);
    }
}
