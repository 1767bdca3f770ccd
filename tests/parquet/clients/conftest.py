"""Programs that add filters: a separate one, and the command if it was built with Arrow."""
import os
import subprocess

import pytest

PROGRAMS = os.environ["TAMIS_ADD_FILTERS"].split(os.pathsep)


@pytest.fixture
def tamis_command():
    return os.environ["TAMIS_COMMAND"]


@pytest.fixture(params=PROGRAMS, ids=lambda program: "command" if " " in program else "library")
def add_filters(request):
    def add(path, columns, new, *options):
        """Adds filters for the columns, and returns the result of the process."""
        return subprocess.run(
            [*request.param.split(" "), "--column", ",".join(columns), *options, path, "-o", new],
            check=False, capture_output=True, text=True)
    return add
