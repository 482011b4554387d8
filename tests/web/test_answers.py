from web.answers import lay_out, render_markdown


def test_nothing_delivered_is_no_answer() -> None:
    assert lay_out(None) is None
    assert lay_out("") is None


def test_text_is_markdown_unless_a_schema_was_asked_for() -> None:
    plain = lay_out('{"a": 1}')
    assert plain is not None
    assert not plain.is_json
    structured = lay_out('{"a": 1}', is_structured=True)
    assert structured is not None
    assert structured.facts == (("a", "1"),)


def test_lists_of_objects_become_tables_with_every_column() -> None:
    answer = lay_out({"shop": "Lee Shore", "open": True, "lamps": [{"name": "Brass"}, {"name": "Oil", "price": 94.0}]})
    assert answer is not None
    assert answer.facts == (("shop", "Lee Shore"), ("open", "yes"))
    (table,) = answer.tables
    assert (table.name, table.columns) == ("lamps", ("name", "price"))
    assert table.rows == (("Brass", ""), ("Oil", "94.0"))


def test_other_values_are_said_in_a_cell() -> None:
    answer = lay_out({"tags": ["a", "b"], "size": {"w": 1}, "none": None, "empty": []})
    assert answer is not None
    assert answer.facts == (("tags", "a, b"), ("size", '{"w": 1}'), ("none", ""), ("empty", ""))


def test_a_list_at_the_top_is_one_table_and_a_long_one_is_cut() -> None:
    answer = lay_out([1, "two", *range(2000)])
    assert answer is not None
    (table,) = answer.tables
    assert table.columns == ("value",)
    assert len(table.rows) == 1000
    assert table.left_out == 1002


def test_markdown_brings_neither_markup_nor_script_nor_foreign_pictures() -> None:
    html = render_markdown(
        "<b>x</b> <script>1</script>\n\n[a](javascript:alert(1)) ![p](http://evil/p.png)\n\n| a |\n|-|\n| 1 |"
    )
    assert "<script" not in html
    assert "<b>" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert "<table>" in html
