//! Which workers there are, and which of them gets the next attempt.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use datafusion_lance_index::error::{Error, Result};
use url::{Host, Url};

use crate::security::is_loopback;

/// How long a worker gets no attempt while others are left, after it lost one.
const REST: Duration = Duration::from_secs(30);

/// How long the addresses of a name are taken to be the same.
const KNOWN_FOR: Duration = Duration::from_secs(10);

/// How long looking up a name may take.
const LOOK_UP: Duration = Duration::from_secs(5);

/// How many workers a name is taken to stand for before it was looked up.
const NOT_LOOKED_UP: usize = 4;

/// A worker as a driver reaches it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    /// Where it listens: `http://10.0.0.7:50051`.
    pub url: Url,
    /// The name in its certificate, where that isn't the host of the URL.
    pub certified: Option<String>,
}

impl Address {
    /// `http://10.0.0.7:50051`
    pub(crate) fn name(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }
}

/// What `lance_index.workers` names.
#[derive(Debug)]
enum Entry {
    One(Address),
    /// Every address of a name, which are looked up time and again.
    Name {
        scheme: String,
        host: String,
        port: u16,
    },
}

/// The workers of an executor.
#[derive(Debug)]
pub(crate) struct Workers {
    entries: Vec<Entry>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The addresses of the names, and when they were looked up.
    looked_up: Option<(Vec<Address>, Instant)>,
    seats: HashMap<Address, Seat>,
}

/// What is known of one worker.
#[derive(Debug, Default, Clone, Copy)]
struct Seat {
    running: usize,
    /// Attempts that it has been given so far.
    given: u64,
    rests_until: Option<Instant>,
}

impl Workers {
    /// Reads `http://a:50051,https://b:50051` or `dns+http://name:50051`.
    ///
    /// # Errors
    /// It names no worker, or one in another way. Without `insecure`, workers on other machines
    /// have to be `https`.
    pub(crate) fn parse(text: &str, insecure: bool) -> Result<Self> {
        let entries: Vec<Entry> = text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .map(|entry| parse_entry(entry, insecure))
            .collect::<Result<_>>()?;
        if entries.is_empty() {
            return Err(Error::invalid(
                "lance_index.workers names no worker; SET lance_index.workers = \
                 'http://host:50051,...', or lance_index.executor = 'local'",
            ));
        }
        Ok(Self { entries, state: Mutex::default() })
    }

    /// How many there are, as far as is known without looking up names.
    pub(crate) fn len(&self) -> usize {
        let named = self.entries.iter().filter(|entry| matches!(entry, Entry::Name { .. })).count();
        let looked_up = self.state().looked_up.as_ref().map(|(addresses, _)| addresses.len());
        let addresses = if named == 0 { 0 } else { looked_up.unwrap_or(named * NOT_LOOKED_UP) };
        self.entries.len() - named + addresses
    }

    /// The worker for the next attempt: of those that don't rest the one that runs the fewest, by
    /// turns; and if all rest, the one that has done so for longest.
    ///
    /// # Errors
    /// The names can't be looked up, or stand for nothing.
    pub(crate) async fn choose(&self) -> Result<Chosen<'_>> {
        let known = self.known().await?;
        let now = Instant::now();
        let mut state = self.state();
        let seat = |address: &Address| state.seats.get(address).copied().unwrap_or_default();
        let chosen = known.into_iter().min_by_key(|address| {
            let Seat { running, given, rests_until } = seat(address);
            (rests_until.filter(|until| *until > now), running, given)
        });
        let address = chosen.ok_or_else(|| Error::lost("there is no worker"))?;
        let seat = state.seats.entry(address.clone()).or_default();
        seat.running += 1;
        seat.given += 1;
        drop(state);
        Ok(Chosen { workers: self, address, answered: false })
    }

    async fn known(&self) -> Result<Vec<Address>> {
        let mut known = Vec::new();
        let mut names = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::One(address) => known.push(address.clone()),
                Entry::Name { scheme, host, port } => names.push((scheme, host, *port)),
            }
        }
        if names.is_empty() {
            return Ok(known);
        }
        let before = self.state().looked_up.clone();
        if let Some((addresses, at)) = &before
            && at.elapsed() < KNOWN_FOR
        {
            known.extend(addresses.iter().cloned());
            return Ok(known);
        }
        let mut addresses = Vec::new();
        for (scheme, host, port) in names {
            match look_up(scheme, host, port).await {
                Ok(found) => addresses.extend(found),
                // Those of before may still be there.
                Err(_) if before.is_some() || !known.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        if addresses.is_empty() {
            addresses = before.map(|(addresses, _)| addresses).unwrap_or_default();
        }
        known.extend(addresses.iter().cloned());
        self.state().looked_up = Some((addresses, Instant::now()));
        Ok(known)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parse_entry(entry: &str, insecure: bool) -> Result<Entry> {
    let wrong = |why: &str| {
        Err(Error::invalid(format!(
            "lance_index.workers: {why}; write http://host:port, https://host:port, or \
             dns+http://name:port for every address of a name"
        )))
    };
    let (looked_up, address) = match entry.strip_prefix("dns+") {
        Some(address) => (true, address),
        None => (false, entry),
    };
    let Ok(url) = Url::parse(address) else {
        return wrong(&format!("'{entry}' is no address"));
    };
    if !url.username().is_empty() || url.password().is_some() {
        // It isn't repeated: there may be a password in it.
        return wrong("an address has no user and no password");
    }
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return wrong(&format!("'{entry}' has no host"));
    };
    let plain = url.path().trim_matches('/').is_empty() && url.query().is_none();
    if !plain || !matches!(url.scheme(), "http" | "https") {
        return wrong(&format!("'{entry}' is no address of a worker"));
    }
    let is_here = match &host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(ip) => is_loopback((*ip).into()),
        Host::Ipv6(ip) => is_loopback((*ip).into()),
    };
    if url.scheme() == "http" && !is_here && !insecure {
        return Err(Error::invalid(format!(
            "lance_index.workers: '{entry}' is on another machine and without TLS; write https, or \
             set LANCE_INDEX_INSECURE=true in the environment where the network itself keeps \
             others out"
        )));
    }
    if !looked_up {
        return Ok(Entry::One(Address { url, certified: None }));
    }
    match host {
        Host::Domain(host) => {
            let (scheme, host) = (url.scheme().to_string(), host.to_string());
            Ok(Entry::Name { scheme, host, port })
        }
        Host::Ipv4(_) | Host::Ipv6(_) => wrong(&format!("'{entry}' is no name to be looked up")),
    }
}

async fn look_up(scheme: &str, host: &str, port: u16) -> Result<Vec<Address>> {
    let failed = |why: String| Error::lost(format!("looking up the workers '{host}': {why}"));
    let found = tokio::time::timeout(LOOK_UP, tokio::net::lookup_host((host, port))).await;
    let found = found.map_err(|_| failed(format!("no answer in {} s", LOOK_UP.as_secs())))?;
    let found = found.map_err(|error| failed(error.to_string()))?;
    let mut addresses: Vec<_> = found
        .filter_map(|address| Url::parse(&format!("{scheme}://{address}")).ok())
        .map(|url| Address { url, certified: Some(host.to_string()) })
        .collect();
    addresses.sort_by(|one, other| one.url.cmp(&other.url));
    addresses.dedup();
    Ok(addresses)
}

/// A worker that has an attempt. Unless it [answers](Self::answered), it rests afterwards.
#[derive(Debug)]
pub(crate) struct Chosen<'a> {
    workers: &'a Workers,
    address: Address,
    answered: bool,
}

impl Chosen<'_> {
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// The worker did what it was asked to.
    pub(crate) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Chosen<'_> {
    fn drop(&mut self) {
        let mut state = self.workers.state();
        let seat = state.seats.entry(self.address.clone()).or_default();
        seat.running = seat.running.saturating_sub(1);
        seat.rests_until = (!self.answered).then(|| Instant::now() + REST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Workers::parse(text, false).unwrap_err().to_string()
    }

    #[test]
    fn what_names_workers() {
        let len = |text| Workers::parse(text, false).unwrap().len();
        assert_eq!(len("http://127.0.0.1:1, https://b:2/ ,"), 2);
        assert_eq!(len("dns+https://workers:50051"), NOT_LOOKED_UP);
        assert!(error(" , ").contains("names no worker"));
        for wrong in
            ["b:2", "127.0.0.1", "ftp://b:2", "http://localhost:1/x", "dns+https://10.0.0.1:1"]
        {
            assert!(error(wrong).contains("http://host:port"), "{wrong}: {}", error(wrong));
        }
        let secret = error("https://user:marker@b:2");
        assert!(secret.contains("no password") && !secret.contains("marker"), "{secret}");
        assert!(error("http://b:2").contains("LANCE_INDEX_INSECURE"));
        Workers::parse("http://b:2", true).unwrap();
    }

    #[tokio::test]
    async fn the_least_busy_one_that_does_not_rest() {
        let workers = Workers::parse("http://localhost:1,http://localhost:2", false).unwrap();
        let port = |chosen: &Chosen<'_>| chosen.address().url.port().unwrap();
        let first = workers.choose().await.unwrap();
        let second = workers.choose().await.unwrap();
        assert_eq!((port(&first), port(&second)), (1, 2));
        first.answered();
        assert_eq!(port(&workers.choose().await.unwrap()), 1);
        // That one was lost, so its next attempts are elsewhere, however busy it is there.
        let third = workers.choose().await.unwrap();
        let fourth = workers.choose().await.unwrap();
        assert_eq!((port(&third), port(&fourth)), (2, 2));
        // Once all of them rest, the one that has rested for longest.
        drop((second, third, fourth));
        let fifth = workers.choose().await.unwrap();
        assert_eq!(port(&fifth), 1);
        // An answer ends the rest.
        fifth.answered();
        assert_eq!(port(&workers.choose().await.unwrap()), 1);
    }

    #[tokio::test]
    async fn idle_ones_take_turns() {
        let workers = Workers::parse("http://localhost:1,http://localhost:2", false).unwrap();
        for port in [1, 2, 1, 2] {
            let chosen = workers.choose().await.unwrap();
            assert_eq!(chosen.address().url.port(), Some(port));
            chosen.answered();
        }
    }

    #[tokio::test]
    async fn a_name_stands_for_its_addresses() {
        let workers = Workers::parse("dns+http://localhost:50051", false).unwrap();
        let chosen = workers.choose().await.unwrap();
        assert_eq!(chosen.address().certified.as_deref(), Some("localhost"));
        assert_eq!(chosen.address().url.port(), Some(50051));
        drop(chosen);
        assert!((1..=2).contains(&workers.len()));
        let workers = Workers::parse("dns+https://no-such-name.invalid:1", false).unwrap();
        let error = workers.choose().await.unwrap_err().to_string();
        assert!(error.contains("no-such-name.invalid"), "{error}");
    }
}
