import tracemalloc
from pathlib import Path
from typing import cast

import pytest
from PIL import Image

from appliance.agent.animation import FRAME_MS, MOST_FRAMES, Film, Format, Frame, animate, frames_of
from appliance.agent.lettering import Lettering
from appliance.agent.record import RunOpened, StepAnswered, StepAsked
from appliance.agent.recorded import RecordedRun, RecordedStep
from appliance.events import ActionCall, TokenCount

COLORS = ["#cc2222", "#22cc22", "#2222cc"]


def picture(folder: Path, name: str, color: str = "#cc2222", size: tuple[int, int] = (1280, 800)) -> Path:
    Image.new("RGB", size, color).save(folder / name)
    return folder / name


def frames(folder: Path, count: int) -> list[Frame]:
    return [
        Frame(picture(folder, f"{number}.jpg", COLORS[number % 3]), number, f"Click number {number}.")
        for number in range(1, count + 1)
    ]


def step(number: int, screenshot: str | None, move: str = "") -> RecordedStep:
    asked = StepAsked(step=number, request="", url="", title="", fingerprint="", screenshot=screenshot)
    call = ActionCall("c", "click", {})
    answered = StepAnswered(step=number, reply="", calls=[call], tokens=TokenCount(), model="", think_ms=0, move=move)
    return RecordedStep(asked, answered)


def run_of(*steps: RecordedStep) -> RecordedRun:
    return RecordedRun(RunOpened(task="A task", model="m", max_steps=9, timeout=9.0), steps)


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_each_step_is_shown_for_three_seconds_behind_the_task(tmp_path: Path, kind: str):
    target = tmp_path / f"run.{kind}"
    assert animate(frames(tmp_path, 3), target, cast("Format", kind), title="Find the red mug")
    with Image.open(target) as film:
        assert getattr(film, "n_frames", 1) == 4
        colors: list[tuple[int, ...]] = []
        for number in range(4):
            film.seek(number)
            film.load()
            assert film.info["duration"] == FRAME_MS
            colors.append(cast("tuple[int, ...]", film.convert("RGB").getpixel((400, 250))))
    assert [max(range(3), key=color.__getitem__) for color in colors[1:]] == [1, 2, 0]


def test_without_a_picture_there_is_no_file(tmp_path: Path):
    assert not animate([], tmp_path / "run.gif", "gif", title="A task")
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8 no picture")
    assert not animate([Frame(broken, 1, "")], tmp_path / "run.gif", "gif", title="A task")
    assert not (tmp_path / "run.gif").exists()
    assert not list(tmp_path.glob(".tmp-*"))


def test_pictures_that_cannot_be_read_are_left_out(tmp_path: Path):
    cut = picture(tmp_path, "cut.jpg")
    cut.write_bytes(cut.read_bytes()[:200])
    assert animate([*frames(tmp_path, 2), Frame(cut, 3, "")], tmp_path / "run.webp", "webp")
    with Image.open(tmp_path / "run.webp") as film:
        assert getattr(film, "n_frames", 1) == 2


def test_steps_without_a_picture_are_left_out_and_their_moves_are_told(tmp_path: Path):
    picture(tmp_path, "1.jpg")
    picture(tmp_path, "4.jpg")
    run = run_of(step(1, "1.jpg", "Open it."), step(2, None), step(3, "gone.jpg"), step(4, "4.jpg"))
    found = frames_of(run, tmp_path)
    assert [(frame.step, frame.text) for frame in found] == [(1, "Open it."), (4, "click")]


def test_a_picture_outside_the_folder_is_not_shown(tmp_path: Path):
    picture(tmp_path, "secret.jpg")
    folder = tmp_path / "screenshots"
    folder.mkdir()
    (folder / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    assert frames_of(run_of(step(1, "../secret.jpg"), step(2, "link.jpg")), folder) == ()


def test_a_very_long_run_is_thinned_to_its_ends(tmp_path: Path):
    one = picture(tmp_path, "1.jpg", size=(64, 40))
    many = [Frame(one, number, "") for number in range(1, 400)]
    assert animate(many, tmp_path / "run.webp", "webp")
    with Image.open(tmp_path / "run.webp") as film:
        # Equal frames in a row may have been joined by the encoder.
        assert 1 <= getattr(film, "n_frames", 1) <= MOST_FRAMES


def test_only_one_frame_is_in_memory_at_a_time():
    drawn: list[int] = []

    def draw(number: int) -> Image.Image:
        drawn.append(number)
        return Image.new("RGB", (800, 592), COLORS[number % 3])

    film = Film(100, draw)
    tracemalloc.start()
    for number in range(100):
        film.seek(number)
        film.load()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert drawn == list(range(100))
    assert peak < 5_000_000
    with pytest.raises(EOFError):
        film.seek(100)


def test_long_texts_are_wrapped_and_cut():
    lettering = Lettering(20)
    lines = lettering.wrap("word " * 200, 300, 3)
    assert len(lines) == 3
    assert lines[-1].endswith("…")
    assert all(lettering.measure(line) <= 300 for line in lines)
    assert all(line.split(" ") == ["word"] * len(line.split(" ")) for line in lines[:2])


@pytest.mark.parametrize(
    "text", ["红色的杯子在篮子里" * 30, "x" * 500, "🙂🙃 Größe " * 40, "a\nb\n\nc", "", "\u0000\ud83d"]
)
def test_any_text_fits(text: str):
    lettering = Lettering(20)
    lines = lettering.wrap(text, 200, 4)
    assert len(lines) <= 4
    assert all(lettering.measure(line) <= 200 for line in lines)
    canvas = Image.new("RGB", (240, 150))
    for number, line in enumerate(lines):
        lettering.draw(canvas, (10, 10 + number * lettering.line_height), line, "#ffffff")


def test_drawn_text_can_be_seen_where_it_was_put():
    shown = Image.new("RGB", (300, 60))
    Lettering(20).draw(shown, (10, 10), "Step 3", "#ffffff")
    box = shown.getbbox()
    assert box is not None
    assert box[0] >= 8
    assert 20 < box[2] - box[0] < 120
    assert 10 < box[3] - box[1] < 32
