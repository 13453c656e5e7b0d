"""Four APIs of models: what a reply looks like, whole and as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]


class Say(NamedTuple):
    text: str


class Use(NamedTuple):
    """`tool` without what the host puts before it."""

    tool: str
    arguments: Json


def _anthropic(reply: Say | Use, tool: str, request: Json) -> Iterator[tuple[str | None, Json]]:
    start = _anthropic_message(reply, tool, request) | {"content": [], "stop_reason": None}
    yield "message_start", {"type": "message_start", "message": start}
    match reply:
        case Say(text):
            block: Json = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": text}
        case Use(_, arguments):
            block = {"type": "tool_use", "id": _call_id(), "name": tool, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    yield (
        "content_block_start",
        {"type": "content_block_start", "index": 0, "content_block": block},
    )
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
    yield "message_stop", {"type": "message_stop"}


def _stop_reason(reply: Say | Use) -> str:
    return "end_turn" if isinstance(reply, Say) else "tool_use"


def _anthropic_message(reply: Say | Use, tool: str, request: Json) -> Json:
    match reply:
        case Say(text):
            content: Json = {"type": "text", "text": text}
        case Use(_, arguments):
            content = {"type": "tool_use", "id": _call_id(), "name": tool, "input": arguments}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.get("model"),
        "content": [content],
        "stop_reason": _stop_reason(reply),
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _responses(reply: Say | Use, tool: str, request: Json) -> Iterator[tuple[str | None, Json]]:
    match reply:
        case Say(text):
            item: Json = {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }
        case Use(_, arguments):
            space, _, name = tool.rpartition(".")
            item = {
                "type": "function_call",
                "id": "fc_1",
                "call_id": _call_id(),
                "name": name,
                "arguments": json.dumps(arguments),
            } | ({"namespace": space} if space else {})
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}
    usage = {
        "input_tokens": 10,
        "input_tokens_details": None,
        "output_tokens": 5,
        "output_tokens_details": None,
        "total_tokens": 15,
    }
    created = {"type": "response.created", "response": {"id": "resp_1"}}
    yield "response.created", created
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield "response.output_item.done", done
    completed = {"type": "response.completed", "response": response | {"usage": usage}}
    yield "response.completed", completed


def _chat(reply: Say | Use, tool: str, request: Json) -> Iterator[tuple[str | None, Json | str]]:
    whole = _chat_completion(reply, tool, request)
    choice = whole["choices"][0]
    delta = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": 0, **call} for call in delta["tool_calls"]]
    chunk = {key: whole[key] for key in ("id", "created", "model")}
    chunk["object"] = "chat.completion.chunk"
    yield None, chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield None, chunk | {"choices": [end], "usage": whole["usage"]}
    yield None, "[DONE]"


def _chat_completion(reply: Say | Use, tool: str, request: Json) -> Json:
    match reply:
        case Say(text):
            message: Json = {"role": "assistant", "content": text}
        case Use(_, arguments):
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"id": _call_id(), "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request.get("model"),
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "stop" if isinstance(reply, Say) else "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _gemini(reply: Say | Use, tool: str, request: Json) -> Iterator[tuple[str | None, Json]]:
    yield None, _gemini_answer(reply, tool, request)


def _gemini_answer(reply: Say | Use, tool: str, request: Json) -> Json:
    match reply:
        case Say(text):
            part: Json = {"text": text}
        case Use(_, arguments):
            part = {"functionCall": {"name": tool, "args": arguments}}
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 5,
            "totalTokenCount": 15,
        },
    }


def _no_responses(reply: Say | Use, tool: str, request: Json) -> Json:
    raise AssertionError("nobody asks the Responses API without streaming")


APIS: dict[str, Callable[[Say | Use, str, Json], Iterator[tuple[str | None, Json | str]]]] = {
    "/messages": _anthropic,
    "/responses": _responses,
    "/chat/completions": _chat,
    ":streamGenerateContent": _gemini,
    ":generateContent": _gemini,
}
WHOLE: dict[str, Callable[[Say | Use, str, Json], Json]] = {
    "/messages": _anthropic_message,
    "/responses": _no_responses,
    "/chat/completions": _chat_completion,
    ":streamGenerateContent": _gemini_answer,
    ":generateContent": _gemini_answer,
}

_calls = iter(range(1, 1_000_000))


def _call_id() -> str:
    return f"call_{next(_calls)}"
