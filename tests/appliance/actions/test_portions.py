from appliance.actions.portions import Portion, Portions, portion_end


def test_a_portion_ends_at_a_line_and_the_portions_make_the_whole():
    text = "".join(f"row {number}\n" for number in range(200))
    start, portions = 0, []
    while start < len(text):
        end = portion_end(text, start, 100)
        portions.append(text[start:end])
        start = end
    assert "".join(portions) == text
    assert all(portion.endswith("\n") and len(portion) <= 100 for portion in portions)


def test_a_text_without_lines_is_split_at_the_limit():
    assert portion_end("x" * 500, 100, 250) == 350
    assert portion_end("x" * 300, 100, 250) == 300


def cut(text: str, limit: int) -> list[Portion]:
    portions, cuts = Portions(text), list[Portion]()
    while not portions.is_at_end:
        cuts.append(portions.next(limit))
        portions.go_on(cuts[-1])
    return cuts


def test_portions_end_between_paragraphs_and_make_the_whole():
    text = "\n\n".join(f"Paragraph {number}: " + "words and\nmore " * 8 for number in range(100))
    cuts = cut(text, 1_000)
    assert "".join(portion.text for portion in cuts) == text
    assert all(portion.text.startswith("Paragraph") and len(portion.text) <= 1_000 for portion in cuts)
    assert cuts[1].before.startswith(f"Paragraph {text[: cuts[0].end].count('Paragraph') - 1}: ")


def test_a_portion_comes_with_the_last_heading_and_the_head_of_its_table():
    rows = "".join(f"| ware {number} | {number} |\n" for number in range(200))
    cuts = cut(f"# Shop\n\nWords.\n\n## Wares\n\n| Name | Price |\n| --- | --- |\n{rows}\nThe end.", 500)
    assert all(portion.before == "## Wares\n\n| Name | Price |\n| --- | --- |" for portion in cuts[1:-1])
    assert all(line.count("|") == 3 for portion in cuts[1:-1] for line in portion.text.rstrip("\n").split("\n"))


def test_the_head_of_a_table_that_is_over_is_not_told():
    table = "| Name |\n| --- |\n" + "| ware |\n" * 20
    cuts = cut(table + "\n" + "\n\n".join(["Words that follow it."] * 40), 300)
    assert "| Name |" not in cuts[-1].before
    assert cuts[-1].before == "Words that follow it."
