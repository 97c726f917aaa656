//! `malformed_frame`, `not_a_permission_request`: reads the decision path out of a frame (contract 4.2; 4.3, steps 2 to
//! 4). Members may come in any order, so they are recorded first and judged at the close.

use super::call::Call;
use super::dialect::Dialect;
use super::options::Ids;
use super::PermissionRequest;
use crate::fault;
use crate::json::{self, Cursor, Field, Keys, Malformed, Value};
use crate::limits::MAX_DOCUMENT_BYTES;
use crate::trace::{Step, Trace};
use crate::Reason;

const METHOD: &str = "session/request_permission";
const TOOL_CALL_TYPE: &str = "tool_call";

/// Reads the decision path into `request`.
pub(super) fn read<'a>(
    frame: &'a [u8],
    dialect: Dialect,
    request: &mut PermissionRequest<'a>,
    trace: &mut impl Trace,
) -> Result<(), (Step, Reason)> {
    fault::point("document");
    let mut reader = Reader { dialect, request, found: Found::default() };
    let top = reader.read_top(frame).map_err(|Malformed| (Step::Document, Reason::MalformedFrame))?;
    let found = reader.found;
    let is_message = top.method.is_some() || top.params;
    if top.clash || is_message && top.members {
        return Err((Step::Document, Reason::MalformedFrame));
    }
    trace.passed(Step::Document, Some(("shape", if is_message { "message" } else { "params" })));

    fault::point("method");
    if is_message && !matches!(top.method, Some(Value::Str(method)) if method.equals(METHOD)) {
        return Err((Step::Method, Reason::NotAPermissionRequest));
    }
    trace.passed(Step::Method, None);

    fault::point("decision_path");
    let protocol = found.judge().ok_or((Step::DecisionPath, Reason::MalformedFrame))?;
    if found.subject == Some(Subject::WithoutCall) {
        request.call = Call::default();
    }
    trace.passed(Step::DecisionPath, Some(("protocol", protocol)));
    Ok(())
}

/// The members at the frame's top.
#[derive(Default)]
struct Top<'a> {
    method: Option<Value<'a>>,
    /// Whether it is there. What is no object has no members, which is malformed by itself.
    params: bool,
    /// Whether `toolCall`, `subject` or `options` stands here, even as null.
    members: bool,
    clash: bool,
}

/// What was found of the decision path, but for the request itself.
#[derive(Default)]
struct Found {
    tool_call: bool,
    subject: Option<Subject>,
    /// Whether the `toolCall` of either place is an object.
    call_is_object: bool,
    /// A clash or a torn string in the tool call, which counts only where the call does.
    call_unusable: bool,
    /// The same anywhere else.
    unusable: bool,
}

/// What a `subject` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// Null, or of another type: a legal frame without an identity.
    WithoutCall,
    ToolCall,
    /// No object.
    Other,
}

impl Found {
    /// The frame's protocol version, or `None` if the decision path is unusable.
    fn judge(&self) -> Option<&'static str> {
        let call_usable = self.call_is_object && !self.call_unusable;
        match (self.tool_call, self.subject) {
            _ if self.unusable => None,
            (true, None) if call_usable => Some("v1"),
            (false, Some(Subject::ToolCall)) if call_usable => Some("v2"),
            (false, Some(Subject::WithoutCall)) => Some("v2"),
            _ => None,
        }
    }
}

/// Reads in place. There is one place for the tool call and one for the options, though a frame has several where they can
/// stand: a frame that uses two of these is malformed, whatever they hold.
struct Reader<'a, 'r> {
    dialect: Dialect,
    request: &'r mut PermissionRequest<'a>,
    found: Found,
}

const TOOL_CALL: &str = "toolCall";
const SUBJECT: &str = "subject";
const OPTIONS: &str = "options";

impl<'a> Reader<'a, '_> {
    fn read_top(&mut self, frame: &'a [u8]) -> Result<Top<'a>, Malformed> {
        let text = json::text(frame, MAX_DOCUMENT_BYTES)?;
        let mut top = Top::default();
        let mut keys = Keys::default();
        Cursor::new(text).document(|cursor, key| {
            match keys.take(&[TOOL_CALL, SUBJECT, OPTIONS, "method", "params"], key) {
                Some(3) => top.method = Some(cursor.value()?),
                Some(4) => {
                    top.params = true;
                    match cursor.token() {
                        Some(b'{') => self.read_params(cursor)?,
                        _ => cursor.skip()?,
                    }
                }
                Some(member) => {
                    top.members = true;
                    self.read_member(member, cursor)?;
                }
                None => cursor.skip()?,
            }
            Ok(())
        })?;
        top.clash = keys.clash();
        Ok(top)
    }

    fn read_params(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let mut keys = Keys::default();
        cursor.object(|cursor, key| match keys.take(&[TOOL_CALL, SUBJECT, OPTIONS], key) {
            Some(member) => self.read_member(member, cursor),
            None => cursor.skip(),
        })?;
        self.found.unusable |= keys.clash();
        Ok(())
    }

    #[inline(always)]
    fn read_member(&mut self, member: usize, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        match member {
            0 => {
                self.found.tool_call = true;
                self.read_call(cursor)
            }
            1 => self.read_subject(cursor),
            _ => self.read_options(cursor),
        }
    }

    fn read_subject(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        match cursor.token() {
            Some(b'{') => {}
            Some(b'n') => {
                self.found.subject = Some(Subject::WithoutCall);
                return cursor.skip();
            }
            _ => {
                self.found.subject = Some(Subject::Other);
                return cursor.skip();
            }
        }
        let mut kind = Field::Absent;
        let mut keys = Keys::default();
        cursor.object(|cursor, key| {
            match keys.take(&["type", TOOL_CALL], key) {
                Some(0) => kind = cursor.value()?.into(),
                Some(_) => self.read_call(cursor)?,
                None => cursor.skip()?,
            }
            Ok(())
        })?;
        self.found.unusable |= keys.clash() || kind.is_torn();
        let is_tool_call = matches!(kind, Field::Text(kind) if kind.equals(TOOL_CALL_TYPE));
        self.found.subject = Some(if is_tool_call { Subject::ToolCall } else { Subject::WithoutCall });
        Ok(())
    }

    #[inline(never)]
    fn read_call(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        if cursor.token() != Some(b'{') {
            return cursor.skip();
        }
        self.found.call_is_object = true;
        let (call, unusable) = (&mut self.request.call, &mut self.found.call_unusable);
        let mut keys = Keys::default();
        cursor.object(|cursor, key| {
            match keys.take(&["name", "title", "kind", "_meta"], key) {
                Some(0) => call.name = cursor.value()?.into(),
                Some(1) => call.title = cursor.value()?.into(),
                Some(2) => call.kind = cursor.value()?.into(),
                Some(_) => self.dialect.read_metadata(cursor, &mut call.meta, unusable)?,
                None => cursor.skip()?,
            }
            Ok(())
        })?;
        *unusable |= keys.clash() || call.name.is_torn();
        Ok(())
    }

    #[inline(never)]
    fn read_options(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let (options, unusable) = (&mut self.request.options, &mut self.found.unusable);
        match cursor.token() {
            Some(b'[') => {}
            Some(b'n') => return cursor.skip(),
            _ => {
                *unusable = true;
                return cursor.skip();
            }
        }
        let array = cursor.slice(|cursor| {
            cursor.array(|cursor| {
                if cursor.token() != Some(b'{') {
                    *unusable = true;
                    return cursor.skip();
                }
                let (mut id, mut kind) = (Field::Absent, Field::Absent);
                let mut keys = Keys::default();
                cursor.object(|cursor, key| {
                    match keys.take(&["optionId", "kind"], key) {
                        Some(0) => id = cursor.value()?.into(),
                        Some(_) => kind = cursor.value()?.into(),
                        None => cursor.skip()?,
                    }
                    Ok(())
                })?;
                match (id, kind) {
                    (Field::Text(id), Field::Text(kind)) if !keys.clash() && id.is_text() && kind.is_text() => {
                        options.push(id, kind);
                    }
                    _ => *unusable = true,
                }
                Ok(())
            })
        })?;
        options.set_ids(Ids::Json(array));
        Ok(())
    }
}
