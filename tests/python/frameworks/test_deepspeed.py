"""stowage.deepspeed with DeepSpeed's own attention."""

import pytest

pytest.importorskip("deepspeed")

from test_torch import HERE, torchrun


def test_attention_on_groups_is_attention_alone():
    assert "4 ranks, degrees [1, 2, 4]" in torchrun(HERE / "ulysses.py")
