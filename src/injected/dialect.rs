//! Where an agent puts what we need. The one place to add the next agent in: a variant, its `agent_type`, and what the
//! functions below answer for it.

use super::call::{Call, Metadata};
use crate::claim::Claim;
use crate::json::{Cursor, Field, JsonStr, Keys, Malformed, Value};
use crate::qualified_name::QualifiedName;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// Any agent without a dialect of its own: the programmatic name alone counts.
    Generic,
    /// `@agentclientprotocol/claude-agent-acp`.
    Claude,
}

impl Dialect {
    pub(super) fn of(agent_type: &str) -> Self {
        match agent_type {
            "claude-acp" => Dialect::Claude,
            _ => Dialect::Generic,
        }
    }

    /// Whether the tool call's `_meta` is on the decision path.
    pub(super) fn has_metadata(self) -> bool {
        match self {
            Dialect::Generic => false,
            Dialect::Claude => true,
        }
    }

    /// What counts of the metadata that a host has decoded: nothing, where the dialect doesn't have it on its path.
    pub(super) fn only_its_own(self, meta: Metadata<'_>) -> Metadata<'_> {
        if self.has_metadata() {
            meta
        } else {
            Metadata::default()
        }
    }

    /// Reads `_meta` at the cursor. `unusable` is set when a key of the decision path clashes or a string of it is torn.
    pub(super) fn read_metadata<'a>(
        self,
        cursor: &mut Cursor<'a>,
        meta: &mut Metadata<'a>,
        unusable: &mut bool,
    ) -> Result<(), Malformed> {
        match self {
            Dialect::Generic => cursor.skip(),
            Dialect::Claude => claude_metadata(cursor, meta, unusable),
        }
    }

    /// The title, where the agent is known to put the qualified name there for an MCP tool (contract 4.3, step 7).
    pub(super) fn name_from_title<'a>(self, call: &Call<'a>) -> Option<JsonStr<'a>> {
        match (self, call.title, call.kind) {
            (Dialect::Claude, Field::Text(title), Field::Text(kind)) if kind.equals("other") => {
                QualifiedName::parse(title.decode()?).ok()?;
                Some(title)
            }
            _ => None,
        }
    }
}

/// `_meta.claudeCode`: `toolName`, and from 0.80 on `mcpServer`.
fn claude_metadata<'a>(cursor: &mut Cursor<'a>, meta: &mut Metadata<'a>, unusable: &mut bool) -> Result<(), Malformed> {
    match cursor.token() {
        Some(b'{') => {}
        Some(b'n') => return cursor.skip(),
        _ => {
            meta.malformed = true;
            return cursor.skip();
        }
    }
    let mut keys = Keys::default();
    cursor.object(|cursor, key| match keys.take(&["claudeCode"], key) {
        Some(_) if cursor.token() == Some(b'{') => claude_code(cursor, meta, unusable),
        Some(_) => {
            meta.malformed = true;
            cursor.skip()
        }
        None => cursor.skip(),
    })?;
    *unusable |= keys.clash();
    Ok(())
}

fn claude_code<'a>(cursor: &mut Cursor<'a>, meta: &mut Metadata<'a>, unusable: &mut bool) -> Result<(), Malformed> {
    let mut keys = Keys::default();
    cursor.object(|cursor, key| match keys.take(&["toolName", "mcpServer"], key) {
        Some(0) => {
            match cursor.value()? {
                Value::Str(name) => {
                    *unusable |= !name.is_text();
                    meta.tool_name = Some(name);
                }
                _ => meta.malformed = true,
            }
            Ok(())
        }
        Some(_) => {
            meta.server = Claim::read(cursor, unusable)?;
            meta.malformed |= matches!(meta.server, Claim::Malformed);
            Ok(())
        }
        None => cursor.skip(),
    })?;
    *unusable |= keys.clash();
    Ok(())
}
