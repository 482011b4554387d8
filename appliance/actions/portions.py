"""Long texts are given to the model in portions, none of which splits a row."""


def portion_end(text: str, start: int, limit: int) -> int:
    """Return where the portion from `start` ends: at the last line's end near the limit, or the limit without one."""
    end = start + limit
    if end >= len(text):
        return len(text)
    line_end = text.rfind("\n", start + limit // 2, end)
    return line_end + 1 if line_end != -1 else end
