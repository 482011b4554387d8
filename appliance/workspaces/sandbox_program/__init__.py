"""The program that scripts of the agent run in: standard library only, locked up before it takes the first script."""

# Encryption is never of use in there, and asyncio would load it: nothing can be connected to.
BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['ssl'] = None; "
    "from appliance.workspaces.sandbox_program.main import main; main()"
)
"""What Python is to run, isolated and without site, with the folder of the package and the user to become."""
