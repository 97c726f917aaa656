//! A request that the host has decoded itself.

use super::call::{Call, Metadata};
use super::dialect::Dialect;
use super::options::{Ids, Options};
use super::PermissionRequest;
use crate::claim::Claim;
use crate::json::{Field, JsonStr};

/// A permission request as a host holds it after decoding a frame. Everything is borrowed.
///
/// The decision is the one that the frame would have had, apart from what decoding has already hidden: duplicate keys,
/// and lone surrogates that a decoder replaced.
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    /// `toolCall.name`; `None` if the agent sent none.
    pub tool_name: Option<&'a str>,
    /// What `toolCall._meta` says.
    pub tool_meta: ToolMeta<'a>,
    /// `toolCall.title`; empty if the agent sent none.
    pub title: &'a str,
    /// `toolCall.kind`; empty if the agent sent none.
    pub kind: &'a str,
    /// The offered options, in their order.
    pub options: &'a [Offer<'a>],
}

/// One offered option.
#[derive(Clone, Copy, Default)]
pub struct Offer<'a> {
    /// `optionId`
    pub option_id: &'a str,
    /// `kind`
    pub kind: &'a str,
}

/// What an agent's metadata says about the call; for Claude ACP, `_meta.claudeCode`.
#[derive(Clone, Copy, Default)]
pub struct ToolMeta<'a> {
    /// A member of it has another type than the agent's dialect gives it.
    pub malformed: bool,
    /// `toolName`
    pub tool_name: Option<&'a str>,
    /// `mcpServer`: its `name` and its `source`
    pub server: Option<(&'a str, &'a str)>,
}

impl<'a> Request<'a> {
    pub(super) fn read(&'a self, dialect: Dialect) -> PermissionRequest<'a> {
        let text = |text| Field::Text(JsonStr::plain(text));
        let call = Call {
            name: self.tool_name.map_or(Field::Absent, text),
            title: text(self.title),
            kind: text(self.kind),
            meta: dialect.only_its_own(Metadata {
                malformed: self.tool_meta.malformed,
                tool_name: self.tool_meta.tool_name.map(JsonStr::plain),
                server: self.tool_meta.server.map_or(Claim::Absent, |(name, source)| Claim::Server {
                    name: JsonStr::plain(name),
                    source: JsonStr::plain(source),
                }),
            }),
        };
        let mut options = Options::default();
        for offer in self.options {
            options.push(JsonStr::plain(offer.option_id), JsonStr::plain(offer.kind));
        }
        options.set_ids(Ids::Offers(self.options));
        PermissionRequest { call, options }
    }
}
