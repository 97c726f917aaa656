//! `malformed_request`: reads a hook payload (contract 5.1, step 1).

use std::borrow::Cow;

use crate::claim::Claim;
use crate::json::{self, Cursor, Field, Keys};
use crate::limits::MAX_HOOK_BODY_BYTES;

const EVENT: &str = "PermissionRequest";
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What a decision needs of a hook payload.
pub(super) struct Body<'a> {
    pub(super) tool_name: Cow<'a, str>,
    pub(super) server: Claim<'a>,
}

impl<'a> Body<'a> {
    /// `None` if the payload is not one strict, complete permission request.
    pub(super) fn read(body: &'a [u8]) -> Option<Self> {
        if body.len() > MAX_HOOK_BODY_BYTES {
            return None;
        }
        let text = json::text(body.strip_prefix(BOM).unwrap_or(body), MAX_HOOK_BODY_BYTES).ok()?;
        let (mut session, mut tool, mut event) = (Field::Absent, Field::Absent, Field::Absent);
        let (mut server, mut unusable) = (Claim::Absent, false);
        let mut keys = Keys::default();
        Cursor::new(text)
            .document(|cursor, key| {
                match keys.take(&["session_id", "tool_name", "hook_event_name", "mcp_server"], key) {
                    Some(0) => session = cursor.value()?.into(),
                    Some(1) => tool = cursor.value()?.into(),
                    Some(2) => event = cursor.value()?.into(),
                    Some(_) => server = Claim::read(cursor, &mut unusable)?,
                    None => cursor.skip()?,
                }
                Ok(())
            })
            .ok()?;
        let is_permission_request = match event {
            Field::Absent => true,
            Field::Text(event) => event.equals(EVENT),
            Field::WrongType => false,
        };
        if unusable || keys.clash() || !is_permission_request {
            return None;
        }
        let (Field::Text(session), Field::Text(tool)) = (session, tool) else { return None };
        let (session, tool_name) = (session.decode()?, tool.decode()?);
        let session_is_blank = session.chars().all(|c| c == '-' || c.is_whitespace());
        let tool_is_blank = tool_name.chars().all(char::is_whitespace);
        (!session_is_blank && !tool_is_blank).then_some(Self { tool_name, server })
    }
}
