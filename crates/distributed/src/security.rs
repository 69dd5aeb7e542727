//! Who may talk to whom: a token that both sides know, and TLS.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use subtle::ConstantTimeEq;
use thiserror::Error;

/// Something that is to appear nowhere.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// The text is the secret, but for white space around it.
    ///
    /// # Errors
    /// It is empty, or has characters that a header can't carry.
    pub fn try_new(text: &str) -> Result<Self, SecurityError> {
        let text = text.trim();
        if text.is_empty() || !text.chars().all(|c| c.is_ascii_graphic()) {
            return Err(SecurityError::Token);
        }
        Ok(Self(text.to_string()))
    }

    /// Reads it from a file.
    ///
    /// # Errors
    /// The file can't be read, or holds no secret.
    pub fn from_file(path: &Path) -> Result<Self, SecurityError> {
        Self::try_new(&String::from_utf8_lossy(&read(path)?))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the other one is the same. How long it takes doesn't tell how much of it is.
    pub(crate) fn is(&self, other: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(other).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// A certificate and its private key, in PEM.
#[derive(Clone)]
pub struct Identity {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl Identity {
    /// The certificate, with those that lead to its root, and the key.
    pub fn new(certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        Self { certificate: certificate.into(), key: key.into() }
    }

    /// Reads both from files.
    ///
    /// # Errors
    /// One of them can't be read.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, SecurityError> {
        Ok(Self::new(read(certificate)?, read(key)?))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(***)")
    }
}

/// How a driver shows who it is, and whom it trusts.
#[derive(Debug, Clone, Default)]
pub struct DriverSecurity {
    /// What workers want to see.
    pub token: Option<Secret>,
    /// The certificates, in PEM, that those of `https` workers have to lead to.
    pub ca: Option<Vec<u8>>,
    /// For workers that ask drivers for a certificate.
    pub identity: Option<Identity>,
    /// Also talks to workers on other machines without TLS.
    pub insecure: bool,
}

impl DriverSecurity {
    /// Reads `LANCE_INDEX_TOKEN` or the file named by `LANCE_INDEX_TOKEN_FILE`, the files named by
    /// `LANCE_INDEX_TLS_CA`, `LANCE_INDEX_TLS_CERT` and `LANCE_INDEX_TLS_KEY`, and
    /// `LANCE_INDEX_INSECURE`, which is `true` or `false`.
    ///
    /// # Errors
    /// A file can't be read, or a variable makes no sense.
    pub fn from_env() -> Result<Self, SecurityError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let path = |name: &str| variable(name).map(PathBuf::from);
        let token = match (variable("LANCE_INDEX_TOKEN"), path("LANCE_INDEX_TOKEN_FILE")) {
            (Some(token), _) => Some(Secret::try_new(&token)?),
            (None, Some(file)) => Some(Secret::from_file(&file)?),
            (None, None) => None,
        };
        let identity = match (path("LANCE_INDEX_TLS_CERT"), path("LANCE_INDEX_TLS_KEY")) {
            (Some(certificate), Some(key)) => Some(Identity::from_files(&certificate, &key)?),
            (None, None) => None,
            _ => {
                let pair = "LANCE_INDEX_TLS_CERT and LANCE_INDEX_TLS_KEY";
                return Err(SecurityError::Half { pair });
            }
        };
        let insecure = match variable("LANCE_INDEX_INSECURE").as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(SecurityError::Flag { name: "LANCE_INDEX_INSECURE" }),
        };
        let ca = path("LANCE_INDEX_TLS_CA").map(|path| read(&path)).transpose()?;
        Ok(Self { token, ca, identity, insecure })
    }
}

/// What a worker asks of those who talk to it, and how it shows who it is.
#[derive(Debug, Clone, Default)]
pub struct WorkerSecurity {
    /// What drivers have to show.
    pub token: Option<Secret>,
    /// Turns TLS on.
    pub identity: Option<Identity>,
    /// The certificates, in PEM, that those of drivers have to lead to; needs `identity`.
    pub client_ca: Option<Vec<u8>>,
    /// Also listens on other addresses than those of this machine without token and TLS.
    pub insecure: bool,
}

impl WorkerSecurity {
    /// A worker runs what it is sent, so only this machine may send without showing anything.
    pub(crate) fn check(&self, listen: SocketAddr) -> Result<(), SecurityError> {
        if self.client_ca.is_some() && self.identity.is_none() {
            return Err(SecurityError::Half { pair: "a CA for clients and a certificate" });
        }
        let open = self.token.is_none() || self.identity.is_none();
        if open && !self.insecure && !is_loopback(listen.ip()) {
            return Err(SecurityError::Open { listen });
        }
        Ok(())
    }
}

pub(crate) fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Why the sides can't talk safely.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecurityError {
    /// A file of a key, a certificate or a token.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A token that can't be one.
    #[error("a token has to be one word of printable ASCII characters")]
    Token,
    /// One of two that go together.
    #[error("{pair} go together: give both or none")]
    Half {
        /// The two.
        pair: &'static str,
    },
    /// A variable that is neither `true` nor `false`.
    #[error("{name} takes true or false")]
    Flag {
        /// The variable.
        name: &'static str,
    },
    /// Anyone could make the worker work.
    #[error(
        "a worker runs what it is sent, so on {listen}, which other machines reach, it takes a \
         token and TLS: give --token-file (or LANCE_INDEX_TOKEN), --tls-cert and --tls-key; or \
         --insecure where the network itself keeps others out"
    )]
    Open {
        /// Where it was to listen.
        listen: SocketAddr,
    },
}

/// Reads a file of a key, a certificate or a token.
fn read(path: &Path) -> Result<Vec<u8>, SecurityError> {
    std::fs::read(path).map_err(|source| SecurityError::Read { path: path.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        let token = Secret::try_new("marker\n").unwrap();
        assert!(token.is(b"marker") && !token.is(b"marke") && !token.is(b""));
        let (token, identity) = (Some(token), Some(Identity::new("marker", "marker")));
        let worker = WorkerSecurity { token: token.clone(), ..Default::default() };
        let driver = DriverSecurity { token, identity, ..Default::default() };
        assert!(!format!("{driver:?} {worker:?}").contains("marker"));
        let long = Secret::try_new("two words").unwrap_err().to_string();
        assert!(long.contains("one word") && !long.contains("two"), "{long}");
    }

    #[test]
    fn other_machines_have_to_show_something() {
        let open = WorkerSecurity::default();
        let any: SocketAddr = "0.0.0.0:1".parse().unwrap();
        for loopback in ["127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            open.check(loopback.parse().unwrap()).unwrap();
        }
        for other in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1"] {
            let error = open.check(other.parse().unwrap()).unwrap_err().to_string();
            assert!(error.contains("--insecure") && error.contains(other), "{error}");
        }
        let token = Some(Secret::try_new("t").unwrap());
        let identity = Some(Identity::new("c", "k"));
        let half = WorkerSecurity { token: token.clone(), ..Default::default() };
        assert!(half.check(any).is_err());
        let half = WorkerSecurity { identity: identity.clone(), ..Default::default() };
        assert!(half.check(any).is_err());
        WorkerSecurity { token, identity, ..Default::default() }.check(any).unwrap();
        WorkerSecurity { insecure: true, ..Default::default() }.check(any).unwrap();
    }
}
