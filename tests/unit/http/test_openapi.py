from __future__ import annotations

import json

from coordroomsd.api.operations import OPERATIONS
from coordroomsd.http.openapi import description


def test_bounds_are_written_in_json_schemas_own_words() -> None:
    text = json.dumps(description(OPERATIONS))
    assert '"maximum": 1000' in text
    assert '"ge"' not in text
    assert '"le"' not in text
