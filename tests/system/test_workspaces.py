"""A workspace between sessions and their caller, as the unmodified client of the cloud uses it."""

from pathlib import Path
from uuid import uuid4

import pytest
from browser_use_sdk.v3 import BrowserUse, BrowserUseError

from tests.stand_in import StandIn
from tests.system.instance import Instance

MODEL = "gpt-5.5"
DONE = {"done": {"text": "Ready.", "success": True}}


def test_what_one_session_writes_its_caller_gets_and_the_next_one_reads(
    instance: Instance, stand_in: StandIn, client: BrowserUse, tmp_path: Path
):
    workspace = str(client.workspaces.create(name="Reports").id)
    (tmp_path / "prices.csv").write_text("lamp,12\n")
    client.workspaces.upload(workspace, tmp_path / "prices.csv", prefix="in/")
    report = {"write_file": {"file_name": "report.md", "content": "A lamp is 12."}}
    stand_in.add("RUN-wswrite", [{"read_file": {"file_name": "in/prices.csv"}}, report, DONE])
    stand_in.add("RUN-wsread", [{"read_file": {"file_name": "report.md"}}, DONE])

    first = client.run("RUN-wswrite Report.", model=MODEL, workspace_id=workspace)
    assert str(first.session.workspace_id) == workspace
    read = [request.text for request in stand_in.steps if request.marker == "RUN-wswrite"]
    assert "in/prices.csv (8 bytes)" in read[0]
    assert "lamp,12" in read[1]
    files = client.workspaces.files(workspace).files
    assert [file.path for file in files] == ["in/prices.csv", "report.md"]
    client.workspaces.download(workspace, "report.md", to=tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text() == "A lamp is 12."

    client.run("RUN-wsread Read it.", model=MODEL, workspace_id=workspace)
    assert "A lamp is 12." in [request.text for request in stand_in.steps if request.marker == "RUN-wsread"][1]
    client.workspaces.delete(workspace)
    assert instance.find({"id": str(first.session.id)})["output"] == "Ready."


def test_a_session_in_a_workspace_that_is_not_there_is_refused(client: BrowserUse):
    with pytest.raises(BrowserUseError, match="Workspace not found"):
        client.run("Report.", workspace_id=str(uuid4()))
