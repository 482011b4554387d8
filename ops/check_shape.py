"""Fails for what grows too large or strays: long files, long functions, inline script or style, foreign words."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES = 400
FUNCTION_LINES = 60
README_LINES = 150
TOP_LEVEL = {
    "pyproject.toml", "README.md", "Dockerfile", "compose.yaml", "appliance", "web", "templates", "static", "tests",
    "ops", "LICENSE", "requirements.lock",
}  # fmt: skip
INDEX_WORDS = ("--index-url", "--extra-index-url", '"resolved"')


def list_files() -> list[Path]:
    """Return every file that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def check_python(path: Path) -> Iterator[str]:
    """Yield a sentence for the file and for each function in it that is too long."""
    name = path.relative_to(ROOT)
    text = path.read_text()
    if len(text.splitlines()) > FILE_LINES:
        yield f"{name} has more than {FILE_LINES} lines; find the second noun in it."
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{name}:{node.lineno} {node.name} has {length} lines, more than {FUNCTION_LINES}."


def check_template(path: Path) -> Iterator[str]:
    """Yield a sentence for inline style or script, which the content security policy refuses."""
    text = path.read_text().lower()
    for mark in ("<style", "style=", "onclick=", "javascript:"):
        if mark in text:
            yield f"{path.relative_to(ROOT)} contains {mark}; put it into static/."
    if "<script>" in text:
        yield f"{path.relative_to(ROOT)} contains an inline script; put it into static/js."


def check_files(files: list[Path]) -> Iterator[str]:
    """Yield a sentence for each file that breaks a rule of shape."""
    for path in files:
        name = path.relative_to(ROOT)
        if name.parts[0] not in TOP_LEVEL and not name.parts[0].startswith("."):
            yield f"{name} does not belong at the top level."
        if path.suffix == ".py" and "migrations" not in name.parts:
            yield from check_python(path)
        elif name.parts[0] == "templates":
            yield from check_template(path)
        elif path.suffix == ".lock" or path.name == "package-lock.json":
            text = path.read_text()
            yield from (f"{name} names where packages come from ({word})." for word in INDEX_WORDS if word in text)
    if len((ROOT / "README.md").read_text().splitlines()) > README_LINES:
        yield f"README.md has more than {README_LINES} lines."


def main() -> int:
    """Print every finding; return 1 if there is one."""
    findings = list(check_files(list_files()))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
