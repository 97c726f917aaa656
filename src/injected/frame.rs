//! `malformed_frame`, `not_a_permission_request`: reads the decision path out of a frame (contract 4.2; 4.3, steps 2 to
//! 4). Members may come in any order, so they are recorded first and judged at the close.

use super::call::Call;
use super::dialect::Dialect;
use super::options::{Ids, Options};
use super::PermissionRequest;
use crate::fault;
use crate::json::{self, Cursor, Field, Keys, Malformed, Value};
use crate::limits::MAX_DOCUMENT_BYTES;
use crate::trace::{Step, Trace};
use crate::Reason;

const METHOD: &str = "session/request_permission";
const TOOL_CALL: &str = "tool_call";

pub(super) fn read<'a>(
    frame: &'a [u8],
    dialect: Dialect,
    trace: &mut impl Trace,
) -> Result<PermissionRequest<'a>, (Step, Reason)> {
    fault::point("document");
    let top = Top::read(frame, dialect).map_err(|Malformed| (Step::Document, Reason::MalformedFrame))?;
    let is_message = top.method.is_some() || top.params.is_some();
    if top.clash || is_message && top.members.any {
        return Err((Step::Document, Reason::MalformedFrame));
    }
    trace.passed(Step::Document, Some(("shape", if is_message { "message" } else { "params" })));

    fault::point("method");
    if is_message && !matches!(top.method, Some(Value::Str(method)) if method.equals(METHOD)) {
        return Err((Step::Method, Reason::NotAPermissionRequest));
    }
    trace.passed(Step::Method, None);

    fault::point("decision_path");
    let members = if is_message { top.params.flatten() } else { Some(top.members) };
    let (request, protocol) = members.and_then(Members::judge).ok_or((Step::DecisionPath, Reason::MalformedFrame))?;
    trace.passed(Step::DecisionPath, Some(("protocol", protocol)));
    Ok(request)
}

/// The members at the frame's top.
#[derive(Default)]
struct Top<'a> {
    method: Option<Value<'a>>,
    /// Present; inside, `None` if it is no object.
    params: Option<Option<Members<'a>>>,
    members: Members<'a>,
    clash: bool,
}

impl<'a> Top<'a> {
    fn read(frame: &'a [u8], dialect: Dialect) -> Result<Self, Malformed> {
        let text = json::text(frame, MAX_DOCUMENT_BYTES)?;
        let mut top = Top::default();
        let mut keys = Keys::new([Members::TOOL_CALL, Members::SUBJECT, Members::OPTIONS, "method", "params"]);
        Cursor::new(text).document(|cursor, key| {
            match keys.take(key) {
                Some(3) => top.method = Some(cursor.value()?),
                Some(4) if cursor.token() == Some(b'{') => top.params = Some(Some(Members::read(cursor, dialect)?)),
                Some(4) => {
                    top.params = Some(None);
                    cursor.skip()?;
                }
                Some(member) => top.members.read_member(member, cursor, dialect)?,
                None => cursor.skip()?,
            }
            Ok(())
        })?;
        top.clash = keys.clash();
        Ok(top)
    }
}

/// `toolCall`, `subject` and `options`, at the top or in `params`.
#[derive(Default)]
struct Members<'a> {
    /// Whether any of them is there, even as null.
    any: bool,
    call: Option<ObjectOr<Call<'a>>>,
    subject: Option<Subject<'a>>,
    options: Options<'a>,
    unusable: bool,
}

/// An object of the decision path, or a value that is none.
enum ObjectOr<T> {
    Object(T),
    Other,
}

enum Subject<'a> {
    Null,
    Object { is_tool_call: bool, call: Option<ObjectOr<Call<'a>>>, call_unusable: bool },
    Other,
}

impl<'a> Members<'a> {
    const TOOL_CALL: &'static str = "toolCall";
    const SUBJECT: &'static str = "subject";
    const OPTIONS: &'static str = "options";

    /// Reads `params`.
    fn read(cursor: &mut Cursor<'a>, dialect: Dialect) -> Result<Self, Malformed> {
        let mut members = Members::default();
        let mut keys = Keys::new([Self::TOOL_CALL, Self::SUBJECT, Self::OPTIONS]);
        cursor.object(|cursor, key| match keys.take(key) {
            Some(member) => members.read_member(member, cursor, dialect),
            None => cursor.skip(),
        })?;
        members.unusable |= keys.clash();
        Ok(members)
    }

    fn read_member(&mut self, member: usize, cursor: &mut Cursor<'a>, dialect: Dialect) -> Result<(), Malformed> {
        self.any = true;
        match member {
            0 => self.call = Some(read_call(cursor, dialect, &mut self.unusable)?),
            1 => self.subject = Some(read_subject(cursor, dialect, &mut self.unusable)?),
            _ => read_options(cursor, &mut self.options, &mut self.unusable)?,
        }
        Ok(())
    }

    /// The request and its protocol version, or `None` if the decision path is unusable.
    fn judge(self) -> Option<(PermissionRequest<'a>, &'static str)> {
        if self.unusable {
            return None;
        }
        let (call, version) = match (self.call, self.subject) {
            (Some(ObjectOr::Object(call)), None) => (call, "v1"),
            (None, Some(Subject::Null)) => (Call::default(), "v2"),
            (None, Some(Subject::Object { is_tool_call: false, .. })) => (Call::default(), "v2"),
            (
                None,
                Some(Subject::Object { is_tool_call: true, call: Some(ObjectOr::Object(call)), call_unusable: false }),
            ) => (call, "v2"),
            _ => return None,
        };
        Some((PermissionRequest { call, options: self.options }, version))
    }
}

fn read_subject<'a>(cursor: &mut Cursor<'a>, dialect: Dialect, unusable: &mut bool) -> Result<Subject<'a>, Malformed> {
    match cursor.token() {
        Some(b'{') => {}
        Some(b'n') => return cursor.skip().map(|()| Subject::Null),
        _ => return cursor.skip().map(|()| Subject::Other),
    }
    let (mut kind, mut call, mut call_unusable) = (Field::Absent, None, false);
    let mut keys = Keys::new(["type", Members::TOOL_CALL]);
    cursor.object(|cursor, key| {
        match keys.take(key) {
            Some(0) => kind = cursor.value()?.into(),
            Some(_) => call = Some(read_call(cursor, dialect, &mut call_unusable)?),
            None => cursor.skip()?,
        }
        Ok(())
    })?;
    *unusable |= keys.clash() || kind.is_torn();
    let is_tool_call = matches!(kind, Field::Text(kind) if kind.equals(TOOL_CALL));
    Ok(Subject::Object { is_tool_call, call, call_unusable })
}

fn read_call<'a>(
    cursor: &mut Cursor<'a>,
    dialect: Dialect,
    unusable: &mut bool,
) -> Result<ObjectOr<Call<'a>>, Malformed> {
    if cursor.token() != Some(b'{') {
        return cursor.skip().map(|()| ObjectOr::Other);
    }
    let mut call = Call::default();
    let mut keys = Keys::new(["name", "title", "kind", "_meta"]);
    cursor.object(|cursor, key| {
        match keys.take(key) {
            Some(0) => call.name = cursor.value()?.into(),
            Some(1) => call.title = cursor.value()?.into(),
            Some(2) => call.kind = cursor.value()?.into(),
            Some(_) => call.meta = dialect.read_metadata(cursor, unusable)?,
            None => cursor.skip()?,
        }
        Ok(())
    })?;
    *unusable |= keys.clash() || call.name.is_torn();
    Ok(ObjectOr::Object(call))
}

fn read_options<'a>(cursor: &mut Cursor<'a>, options: &mut Options<'a>, unusable: &mut bool) -> Result<(), Malformed> {
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
            let mut keys = Keys::new(["optionId", "kind"]);
            cursor.object(|cursor, key| {
                match keys.take(key) {
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
