//! Who holds which token, and what it grants (contract 5.4).
//!
//! A request costs the registry one short look under a read lock; a decision runs without any lock, so neither a long
//! body nor a slow client keeps anybody from minting, revoking or deciding.

use std::fmt;
use std::sync::{Arc, PoisonError};

use subtle::ConditionallySelectable;

use super::allowlist::{self, Unresolved};
use super::catalog::Catalog;
use super::token::{self, Digest, Entropy, NoEntropy, Token};
use super::{Bearer, Reviewer, Scope, Vendor};
use crate::config::{ConfigError, Members, Raw};
use crate::decision::Decision;
use crate::fault;
use crate::sync::{AtomicBool, Ordering, RwLock};
use crate::trace::Untraced;

/// The live tokens of one bridge: the shared one, and one for each reviewer. Any number of threads may use it at once.
///
/// Of a token only its digest is kept. One that comes with a request is compared with every live one in constant time.
///
/// ```
/// use kandev_policy::{Kind, Registry};
///
/// let (registry, _shared) = Registry::new(b"{}", None)?;
/// let reviewer = registry.mint("codex", &["kcap-review"], None)?;
/// let token = reviewer.token.expose().as_bytes();
///
/// let body = br#"{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}"#;
/// assert_eq!(registry.decide(token, b"codex", body).unwrap().decision.kind(), Kind::Allow);
///
/// registry.revoke(token);
/// assert!(registry.decide(token, b"codex", body).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Registry {
    catalog: Arc<Catalog>,
    enabled_vendors: Vec<Vendor>,
    result_channel_scope: Scope,
    shared: Arc<Grant>,
    /// Replaced as a whole at each mint and revocation, so that a request takes a copy of the list and no lock with it.
    reviewers: RwLock<Reviewers>,
}

struct Reviewers {
    live: Arc<[Arc<Grant>]>,
    last_number: u64,
}

/// What a token grants.
struct Grant {
    digest: Digest,
    /// 0 for the shared token.
    number: u64,
    /// One for each vendor that the token is good for.
    policies: Vec<Reviewer>,
    live: AtomicBool,
}

/// A reviewer that was registered.
#[derive(Debug)]
pub struct Minted {
    /// Its secret.
    pub token: Token,
    /// Its number, counted from 1 and never used again: what a log may say in place of the token.
    pub reviewer: u64,
    /// The ids of the servers that it is bound to, as the catalog spells them, each once.
    pub servers: Vec<String>,
}

/// A decision about a request that came on a live token.
#[derive(Debug)]
pub struct Answer<'a> {
    /// Whose token it was: a reviewer's number, or 0 for the shared token.
    pub reviewer: u64,
    /// The decision.
    pub decision: Decision<'a>,
}

/// Why no registry was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegistryError {
    /// The config can't be used.
    Config(ConfigError),
    /// There is no randomness for the shared token.
    NoEntropy,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryError::Config(error) => error.fmt(f),
            RegistryError::NoEntropy => NoEntropy.fmt(f),
        }
    }
}

impl std::error::Error for RegistryError {}

impl From<ConfigError> for RegistryError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<NoEntropy> for RegistryError {
    fn from(NoEntropy: NoEntropy) -> Self {
        Self::NoEntropy
    }
}

/// Why no reviewer was registered. The launch must fail then: nothing else may be handed to the reviewer in a token's
/// place. Texts are quoted, and cut when they are long.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MintError {
    /// No vendor has this name.
    UnknownVendor(String),
    /// The host has not enabled reviewers of this vendor.
    VendorNotEnabled(String),
    /// The allowlist is no list of names.
    NoList,
    /// The allowlist has an entry that no reviewer may be bound to.
    Entry {
        /// Its place in the list, counted from 0.
        place: usize,
        /// The entry.
        entry: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The allowlist has an entry that is no string.
    WrongType {
        /// Its place in the list, counted from 0.
        place: usize,
        /// The type found.
        found: &'static str,
    },
    /// There is no randomness for a token.
    NoEntropy,
}

impl fmt::Display for MintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MintError::UnknownVendor(vendor) => write!(f, "the vendor {} is unknown", Quoted(vendor)),
            MintError::VendorNotEnabled(vendor) => write!(f, "the vendor {} is not enabled", Quoted(vendor)),
            MintError::NoList => f.write_str("the allowlist is no JSON array of strings"),
            MintError::Entry { place, entry, why } => write!(f, "allowlist[{place}]: {} {why}", Quoted(entry)),
            MintError::WrongType { place, found } => write!(f, "allowlist[{place}]: found {found}, expected string"),
            MintError::NoEntropy => NoEntropy.fmt(f),
        }
    }
}

impl std::error::Error for MintError {}

impl From<NoEntropy> for MintError {
    fn from(NoEntropy: NoEntropy) -> Self {
        Self::NoEntropy
    }
}

/// A host's own text in an error, on one line and no longer than an error should be.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 64;
        match self.0.char_indices().nth(LONGEST) {
            None => write!(f, "{:?}", self.0),
            Some((cut, _)) => write!(f, "{:?}…", &self.0[..cut]),
        }
    }
}

impl Registry {
    /// A registry with no reviewer yet, and its shared token.
    ///
    /// `config` is one strict JSON object like a policy's config; each key may be absent or null.
    ///
    /// | key | type | meaning |
    /// |---|---|---|
    /// | `enabled_vendors` | array of strings | vendors that reviewers may be minted for; default `["codex"]` |
    /// | `result_channel_scope` | string | `"any"` (default) or `"reviewer"`: the tokens on which the result channel is open |
    /// | `catalog` | object | default the built-in one |
    ///
    /// `entropy` is mixed into the shared token, and is what a WebAssembly module makes it from.
    pub fn new(config: &[u8], entropy: Option<&Entropy>) -> Result<(Self, Token), RegistryError> {
        let members = Members::of_document(config)?;
        members.only("", &["enabled_vendors", "result_channel_scope", "catalog"])?;
        let enabled_vendors = enabled_vendors(&members)?;
        let result_channel_scope = Scope::read(&members)?;
        let catalog = Catalog::of_config(&members)?;
        let token = Token::fresh(entropy)?;

        let policy = |vendor| Reviewer {
            vendor,
            bearer: Bearer::Shared,
            servers: Vec::new(),
            result_channel_scope,
            catalog: catalog.clone(),
        };
        let shared = Grant::new(&token, 0, Vendor::ALL.map(policy).into());
        let reviewers = RwLock::new(Reviewers { live: [].into(), last_number: 0 });
        Ok((Self { catalog, enabled_vendors, result_channel_scope, shared, reviewers }, token))
    }

    /// Registers a reviewer: the vendor must be enabled, and every entry of the allowlist must be the name of an
    /// auto-approvable server (white space around it and ASCII case don't matter) or of the result channel's, which binds
    /// nothing. Duplicates collapse; an empty list binds nothing.
    ///
    /// `entropy` is mixed into the token, and is what a WebAssembly module makes it from.
    pub fn mint(
        &self,
        vendor: &str,
        allowlist: &[impl AsRef<str>],
        entropy: Option<&Entropy>,
    ) -> Result<Minted, MintError> {
        fault::point("mint");
        let word = vendor;
        let vendor = Vendor::of_word(word.as_bytes()).ok_or_else(|| MintError::UnknownVendor(word.to_owned()))?;
        if !self.enabled_vendors.contains(&vendor) {
            return Err(MintError::VendorNotEnabled(word.to_owned()));
        }
        let servers = allowlist::resolve(allowlist, &self.catalog).map_err(|Unresolved { place, why }| {
            MintError::Entry { place, entry: allowlist[place].as_ref().to_owned(), why }
        })?;
        let token = Token::fresh(entropy)?;
        let policy = Reviewer {
            vendor,
            bearer: Bearer::Reviewer,
            servers: servers.clone(),
            result_channel_scope: self.result_channel_scope,
            catalog: self.catalog.clone(),
        };
        let reviewer = self.register(&token, policy)?;
        Ok(Minted { token, reviewer, servers })
    }

    /// As [`Registry::mint`], for an allowlist that is a JSON array of strings; null or nothing at all is an empty one.
    pub fn mint_json(&self, vendor: &str, allowlist: &[u8], entropy: Option<&Entropy>) -> Result<Minted, MintError> {
        self.mint(vendor, &read_allowlist(allowlist)?, entropy)
    }

    /// Ends a reviewer's token, given as such or as a URL whose path begins with it. Once this has returned, no decision
    /// on the token is made any more, not even for a request that was under way. A token that isn't a live reviewer's is
    /// ignored; the shared one lives as long as the registry.
    pub fn revoke(&self, token_or_url: &[u8]) {
        let digest = Digest::of(token::in_url(token_or_url));
        let mut reviewers = self.reviewers.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(grant) = find(reviewers.live.iter(), &digest) {
            grant.live.store(false, Ordering::SeqCst);
            reviewers.live = reviewers.live.iter().filter(|other| other.number != grant.number).cloned().collect();
        }
    }

    /// Whose token it is: a reviewer's number, or 0 for the shared token. `None` for one that is unknown or revoked or
    /// that belongs to another vendor. What a bridge asks before it reads a request's body.
    pub fn find(&self, token: &[u8], vendor: &[u8]) -> Option<u64> {
        let grant = self.grant(token)?;
        grant.policy(vendor).map(|_| grant.number)
    }

    /// Decides a hook payload that came on a token for a vendor; `None` as in [`Registry::find`].
    pub fn decide<'a>(&self, token: &[u8], vendor: &[u8], body: &'a [u8]) -> Option<Answer<'a>> {
        self.grant(token)?.decide(vendor, body)
    }

    /// How many reviewers are live.
    pub fn reviewers(&self) -> usize {
        self.live().len()
    }

    fn live(&self) -> Arc<[Arc<Grant>]> {
        self.reviewers.read().unwrap_or_else(PoisonError::into_inner).live.clone()
    }

    fn register(&self, token: &Token, policy: Reviewer) -> Result<u64, NoEntropy> {
        let mut reviewers = self.reviewers.write().unwrap_or_else(PoisonError::into_inner);
        if find([&self.shared].into_iter().chain(reviewers.live.iter()), &token.digest()).is_some() {
            // Only a caller that hands in the same random bytes again comes here.
            return Err(NoEntropy);
        }
        reviewers.last_number += 1;
        let grant = Grant::new(token, reviewers.last_number, vec![policy]);
        reviewers.live = reviewers.live.iter().cloned().chain([grant]).collect();
        Ok(reviewers.last_number)
    }

    fn grant(&self, token: &[u8]) -> Option<Arc<Grant>> {
        fault::point("token_lookup");
        if !token::is_as_long_as_one(token) {
            return None;
        }
        find([&self.shared].into_iter().chain(self.live().iter()), &Digest::of(token)).cloned()
    }
}

/// The grant whose token has this digest. Every one is looked at, whichever it is, and the place of the match is picked
/// without a branch.
fn find<'g>(grants: impl Iterator<Item = &'g Arc<Grant>> + Clone, digest: &Digest) -> Option<&'g Arc<Grant>> {
    let mut place = u64::MAX;
    for (index, grant) in (0..).zip(grants.clone()) {
        place.conditional_assign(&index, grant.digest.matches(digest));
    }
    let mut grants = grants;
    usize::try_from(place).ok().and_then(|place| grants.nth(place))
}

impl Grant {
    fn new(token: &Token, number: u64, policies: Vec<Reviewer>) -> Arc<Self> {
        Arc::new(Self { digest: token.digest(), number, policies, live: AtomicBool::new(true) })
    }

    fn policy(&self, vendor: &[u8]) -> Option<&Reviewer> {
        let vendor = Vendor::of_word(vendor)?;
        self.policies.iter().find(|policy| policy.vendor == vendor)
    }

    fn decide<'a>(&self, vendor: &[u8], body: &'a [u8]) -> Option<Answer<'a>> {
        let decision = self.policy(vendor)?.decide_body(body, &mut Untraced);
        // Last, since the token may have been revoked while the decision was made.
        self.live.load(Ordering::SeqCst).then_some(Answer { reviewer: self.number, decision })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("reviewers", &self.reviewers()).finish_non_exhaustive()
    }
}

fn enabled_vendors(members: &Members<'_>) -> Result<Vec<Vendor>, ConfigError> {
    let Some(words) = members.read("enabled_vendors", "array of strings", Raw::strings)? else {
        return Ok(vec![Vendor::Codex]);
    };
    let vendor = |(place, word): (usize, &String)| {
        Vendor::of_word(word.as_bytes())
            .ok_or_else(|| ConfigError::rule(format!("enabled_vendors[{place}]"), "expected \"codex\" or \"claude\""))
    };
    words.iter().enumerate().map(vendor).collect()
}

fn read_allowlist(json: &[u8]) -> Result<Vec<String>, MintError> {
    if json.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let list = Raw::of_document(json).ok_or(MintError::NoList)?;
    if list.is_null() {
        return Ok(Vec::new());
    }
    let entry = |(place, raw): (usize, Raw<'_>)| {
        raw.string().ok_or_else(|| MintError::WrongType { place, found: raw.type_name() })
    };
    list.elements().ok_or(MintError::NoList)?.into_iter().enumerate().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::Registry;

    const ALLOWED: &[u8] = br#"{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}"#;

    #[test]
    fn a_decision_that_a_revocation_overtakes_does_not_come_back() {
        let (registry, _) = Registry::new(b"{}", None).unwrap();
        let minted = registry.mint("codex", &["kcap-review"], None).unwrap();
        let token = minted.token.expose().as_bytes();
        let under_way = registry.grant(token).unwrap();
        assert!(under_way.decide(b"codex", ALLOWED).is_some());
        registry.revoke(token);
        assert!(under_way.decide(b"codex", ALLOWED).is_none());
    }

    #[test]
    fn two_grants_of_one_token_are_refused() {
        let (registry, _) = Registry::new(b"{}", None).unwrap();
        let minted = registry.mint("codex", &["kcap-review"], None).unwrap();
        let policy = || super::Reviewer {
            vendor: super::Vendor::Codex,
            bearer: super::Bearer::Reviewer,
            servers: Vec::new(),
            result_channel_scope: super::Scope::Any,
            catalog: registry.catalog.clone(),
        };
        assert!(registry.register(&minted.token, policy()).is_err());
        assert_eq!(registry.reviewers(), 1);
    }
}
