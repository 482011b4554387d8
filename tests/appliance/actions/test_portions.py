from appliance.actions.portions import portion_end


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
