"""Comma-separated text brought into the form of RFC 4180, whatever a model wrote."""

import csv
import io


def normalise(text: str) -> str:
    """Return the rows of the text quoted where they must be, each ended by CR LF; blank lines are left out.

    Backslash-n stands for a line's end where the text has no real one. A text that cannot be read as rows stays as it
    is.
    """
    if "\n" not in text and "\r" not in text and "\\n" in text:
        text = text.replace("\\r\\n", "\n").replace("\\n", "\n")
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    try:
        for row in csv.reader(io.StringIO(text, newline=""), strict=False):
            if row and not (len(row) == 1 and not row[0].strip()):
                writer.writerow(row)
    except csv.Error:
        return text
    return out.getvalue()
