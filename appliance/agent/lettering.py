"""Draws text with the fonts that are installed: each character in the first font that has it, long lines wrapped."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
PREFERRED = (
    *("NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "DejaVuSans.ttf"),
    *("NotoSansCJK-Regular.ttc", "wqy-microhei.ttc", "wqy-zenhei.ttc", "DroidSansFallbackFull.ttf"),
    *("NotoSansArabic-Regular.ttf", "NotoSansHebrew-Regular.ttf", "NotoSansThai-Regular.ttf"),
    *("NotoSansDevanagari-Regular.ttf", "NotoEmoji-Regular.ttf", "Symbola.ttf", "NotoSansSymbols2-Regular.ttf"),
)
"""Fonts by file name, the first that has a character draws it."""
COLOR_EMOJI = "NotoColorEmoji.ttf"
_COLOR_SIZE = 109
"""The only size, in pixels, in which the font of coloured pictures exists."""
_UNKNOWN = "\U0010fffe"


class Lettering:
    """Text in one size, in pixels."""

    def __init__(self, size: int) -> None:
        self.size = size
        found = _installed()
        self._fonts: list[Any] = [ImageFont.truetype(found[name], size) for name in PREFERRED if name in found]
        self._fonts = self._fonts or [ImageFont.load_default(size)]
        self._color = ImageFont.truetype(found[COLOR_EMOJI], _COLOR_SIZE) if COLOR_EMOJI in found else None
        self._blanks = {id(font): bytes(font.getmask(_UNKNOWN)) for font in self._fonts}
        self._chosen: dict[str, Any] = {}

    @property
    def line_height(self) -> int:
        """Pixels from one line to the next."""
        return round(self.size * 1.4)

    def wrap(self, text: str, width: int, most: int) -> list[str]:
        """Return the text as lines that fit, at most so many; what is left out is told by an ellipsis."""
        lines: list[str] = []
        for paragraph in text.split("\n"):
            line = ""
            for word in _words(paragraph):
                if self.measure((line + word).rstrip()) <= width:
                    line += word
                    continue
                lines += [line.rstrip()] if line.strip() else []
                line = word.lstrip()
                if len(lines) > most:
                    break
                while self.measure(line.rstrip()) > width:
                    cut = self._fitting(line, width)
                    lines.append(line[:cut])
                    line = line[cut:]
            lines.append(line.rstrip())
            if len(lines) > most:
                break
        if len(lines) > most:
            last = lines[most - 1]
            while last and self.measure(last + "…") > width:
                last = last[:-1]
            lines = [*lines[: most - 1], last + "…"]
        return lines

    def measure(self, text: str) -> float:
        """Return the width of a line in pixels."""
        return sum(self._advance(one) for one in text)

    def draw(self, picture: Image.Image, at: tuple[int, int], line: str, fill: str) -> None:
        """Draw one line with its upper left corner there."""
        pen = ImageDraw.Draw(picture)
        x, y = float(at[0]), at[1]
        run, font = "", None
        for one in [*line, ""]:
            own = self._font_of(one) if one else None
            if run and own is not font:
                pen.text((x, y + self.size), run, font=font, fill=fill, anchor="ls")
                x += font.getlength(run) if font is not None else 0
                run = ""
            font = own
            if one and own is None:
                self._paste_emoji(picture, (round(x), y), one)
                x += self._advance(one)
            elif one:
                run += one

    def _paste_emoji(self, picture: Image.Image, at: tuple[int, int], character: str) -> None:
        tile = Image.new("RGBA", (_COLOR_SIZE + 27, _COLOR_SIZE + 19))
        ImageDraw.Draw(tile).text((0, 0), character, font=self._color, embedded_color=True)
        tile = tile.resize((round(self.size * 1.15), round(self.size * 1.1)))
        picture.paste(tile, at, tile)

    def _advance(self, character: str) -> float:
        font = self._font_of(character)
        return self.size * 1.25 if font is None else font.getlength(character)

    def _font_of(self, character: str) -> Any:
        """Return the first font that has the character; None for one that only the coloured font has."""
        if character not in self._chosen:
            self._chosen[character] = self._choose(character)
        return self._chosen[character]

    def _choose(self, character: str) -> Any:
        if character.isspace():
            return self._fonts[0]
        for font in self._fonts:
            if bytes(font.getmask(character)) != self._blanks[id(font)]:
                return font
        if self._color is not None and self._color.getmask(character).getbbox() is not None:
            return None
        return self._fonts[0]

    def _fitting(self, text: str, width: int) -> int:
        """Return how many characters of the text fit, one at least."""
        total = 0.0
        for number, character in enumerate(text):
            total += self._advance(character)
            if total > width:
                return max(1, number)
        return len(text)


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    """Return the paths of the fonts that are known here, by file name."""
    known = {*PREFERRED, COLOR_EMOJI}
    files = (file for folder in FOLDERS if folder.is_dir() for file in folder.rglob("*.tt[fc]"))
    return {file.name: str(file) for file in files if file.name in known}


def _words(text: str) -> list[str]:
    """Return the text in the pieces between which a line may end, spaces at their ends."""
    pieces: list[str] = []
    for character in text:
        is_wide = ord(character) >= 0x2E80
        if pieces and not is_wide and not pieces[-1].endswith(" ") and ord(pieces[-1][-1]) < 0x2E80:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces
