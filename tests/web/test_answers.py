from web.answer_files import as_csv, as_json
from web.answers import Cell, lay_out, render_markdown


def texts(facts: tuple[tuple[str, Cell], ...]) -> list[tuple[str, str]]:
    return [(name, cell.text) for name, cell in facts]


def test_nothing_delivered_is_no_answer() -> None:
    assert lay_out(None) is None
    assert lay_out("") is None


def test_text_is_markdown_unless_a_schema_was_asked_for() -> None:
    plain = lay_out('{"a": 1}')
    assert plain is not None
    assert plain.prose is not None
    structured = lay_out('{"a": 1}', is_structured=True)
    assert structured is not None
    assert texts(structured.facts) == [("a", "1")]


def test_lists_of_objects_become_tables_with_every_column() -> None:
    answer = lay_out({"shop": "Lee Shore", "open": True, "lamps": [{"name": "Brass"}, {"name": "Oil", "price": 94.0}]})
    assert answer is not None
    assert texts(answer.facts) == [("shop", "Lee Shore"), ("open", "yes")]
    (table,) = answer.tables
    assert (table.name, table.columns) == ("lamps", ("name", "price"))
    assert [[cell.text for cell in row] for row in table.rows] == [["Brass", ""], ["Oil", "94.0"]]


def test_other_values_are_said_in_a_cell() -> None:
    answer = lay_out({"tags": ["a", "b"], "size": {"w": 1}, "none": None, "empty": []})
    assert answer is not None
    assert texts(answer.facts) == [("tags", "a, b"), ("size", '{"w": 1}'), ("none", ""), ("empty", "")]


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


def test_every_value_knows_where_it_stands_and_whether_it_was_read() -> None:
    sources = {
        "/a~1b": {"status": "read"},
        "/rows/1/name": {"status": "absent", "reason": "none"},
        "/rows/0/tags/0": {"status": "read"},
        "/rows/0/tags/1": {"status": "unseen"},
    }
    answer = lay_out({"a/b": 1, "rows": [{"name": "x", "tags": ["p", "q"]}, {"name": None}]}, sources=sources)
    assert answer is not None
    assert answer.facts == (("a/b", Cell("1", "/a~1b", "read")),)
    (table,) = answer.tables
    assert table.rows[0] == (Cell("x", "/rows/0/name", ""), Cell("p, q", "/rows/0/tags", "unseen"))
    assert table.rows[1] == (Cell("", "/rows/1/name", "absent"), Cell("", "/rows/1/tags", ""))
    assert (answer.is_traced, answer.unseen) == (True, 1)


def test_an_answer_of_which_nothing_is_known_is_shown_as_it_is() -> None:
    answer = lay_out({"a": 1})
    assert answer is not None
    assert (answer.is_traced, answer.facts[0][1].origin) == (False, "")


def test_a_spreadsheet_gets_the_rows_and_calculates_nothing_that_a_page_wrote() -> None:
    rows = [
        {"name": '=HYPERLINK("http://evil")', "price": -3.5, "tags": ["a", "b"]},
        {"name": "Bell, brass", "x": None},
    ]
    lines = as_csv({"total": 2, "few": [1], "items": rows}).split("\r\n")
    assert lines[0] == "\ufeffname,price,tags,x"
    assert lines[1] == '"\'=HYPERLINK(""http://evil"")",-3.5,"a, b",'
    assert lines[2] == '"Bell, brass",,,'


def test_an_answer_without_rows_is_a_file_too() -> None:
    assert as_csv({"a": 1, "b": "x"}) == "\ufeffa,b\r\n1,x\r\n"
    assert as_csv("just text") == "\ufeffvalue\r\njust text\r\n"
    assert as_csv([1, {"n": 2}]) == "\ufeffvalue,n\r\n1,\r\n,2\r\n"
    assert as_json({"a": "ü"}) == '{\n  "a": "ü"\n}\n'
    assert as_json("just text") == "just text"


def test_only_a_web_address_and_nothing_else_is_a_link() -> None:
    assert Cell("https://shop.example/a").is_link
    for text in ("", "see https://shop.example", "http://a.example and more", "javascript:alert(1)", "ftp://a.example"):
        assert not Cell(text).is_link
