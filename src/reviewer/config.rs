//! The config of the reviewer policy (contract 5.1).

use std::sync::Arc;

use super::allowlist::{self, Unresolved};
use super::catalog::Catalog;
use super::{Bearer, Reviewer, Scope, Vendor};
use crate::config::{ConfigError, Members, Raw};

impl Reviewer {
    pub(crate) fn compile(members: &Members<'_>) -> Result<Self, ConfigError> {
        members.only("", &["policy", "vendor", "token", "servers", "result_channel_scope", "catalog"])?;
        let vendor = members.require("", "vendor", "string", Raw::text)?;
        let vendor = Vendor::of_word(vendor.as_bytes())
            .ok_or_else(|| ConfigError::rule("vendor", "expected \"codex\" or \"claude\""))?;
        let bearer = match &*members.require("", "token", "string", Raw::text)? {
            "reviewer" => Bearer::Reviewer,
            "shared" => Bearer::Shared,
            _ => return Err(ConfigError::rule("token", "expected \"reviewer\" or \"shared\"")),
        };
        let result_channel_scope = Scope::read(members)?;
        let catalog = Catalog::of_config(members)?;
        let entries = members.read("servers", "array of strings", Raw::strings)?.unwrap_or_default();
        let servers = allowlist::resolve(&entries, &catalog)
            .map_err(|Unresolved { place, why }| ConfigError::rule(format!("servers[{place}]"), why))?;
        Ok(Self { vendor, bearer, servers, result_channel_scope, catalog })
    }
}

impl Scope {
    pub(super) fn read(members: &Members<'_>) -> Result<Self, ConfigError> {
        match members.read("result_channel_scope", "string", Raw::text)?.as_deref() {
            None | Some("any") => Ok(Scope::Any),
            Some("reviewer") => Ok(Scope::Reviewer),
            Some(_) => Err(ConfigError::rule("result_channel_scope", "expected \"any\" or \"reviewer\"")),
        }
    }
}

impl Catalog {
    /// The config's own catalog, else the built-in one.
    pub(super) fn of_config(members: &Members<'_>) -> Result<Arc<Self>, ConfigError> {
        match members.read("catalog", "object", Raw::members)? {
            None => Ok(Catalog::built_in()),
            Some(members) => Catalog::read(&members, "catalog.").map(Arc::new),
        }
    }
}
