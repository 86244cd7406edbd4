"""Tests of the frameworks use the data set and the loops of tests/python/loops."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "loops"))
