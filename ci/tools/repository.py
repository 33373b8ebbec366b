"""Commands of git in this repository."""

import subprocess

from ci.tools.cache import ROOT


def git(*arguments: str) -> str:
    """The output of a command. CalledProcessError if it fails."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
