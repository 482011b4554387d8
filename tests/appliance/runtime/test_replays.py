from pathlib import Path

import pytest

from appliance.errors import NotFound
from appliance.persistence.database import Database
from appliance.runtime.choices import ModelRules
from appliance.runtime.replays import Replays, ReplayWish
from tests.appliance.runtime.rig import open_rig


async def test_a_replay_has_the_profile_of_its_session_while_that_is_there(tmp_path: Path, database: Database):
    async with open_rig(tmp_path, database) as rig:
        equipment, profiles = rig.equipment, rig.equipment.profiles
        rules = ModelRules(equipment.keys)
        replays = Replays(equipment.settings, database, equipment.hub, rig.dispatcher, rules)
        profile = await profiles.create("shop", None, None)
        done = {"done": {"text": "Done.", "success": True}}
        session = await rig.run("RUN-recorded Look.", [done], profile_id=profile.id)

        replay = await replays.create(ReplayWish(session.id))
        assert replay.profile_id == profile.id
        await rig.ended(replay)
        await profiles.delete(profile.id, None)
        with pytest.raises(NotFound, match="Profile not found"):
            await replays.create(ReplayWish(session.id))
