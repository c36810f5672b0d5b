"""Of random right rules (right_rules.py) none is accused; `make right-rules` has thousands."""
import jaxvet
import numpy as np
import pytest
import right_rules

COUNT, PARTS = 100, 20
#: A subnormal number decides a branch; what ties is put in another order; a fixed point of selu
#: is compared with it, as near as its constants are.
ONCE_ACCUSED = 453, 476, 3035, 4103


@pytest.mark.parametrize("seeds", [
    *(range(part * COUNT // PARTS, (part + 1) * COUNT // PARTS) for part in range(PARTS)),
    ONCE_ACCUSED], ids=lambda seeds: str(seeds[0]))
def test_none_is_accused(seeds):
    """A hundred, five at a time: one of each dtype."""
    for seed in seeds:
        ruled, avals = right_rules.case(seed)
        with right_rules.precision(right_rules.dtype_of(seed)):
            rng = np.random.RandomState(seed)
            args = [right_rules.point(1., a.shape, a.dtype, rng) for a in avals]
            found = jaxvet.gradcheck(ruled)(*args)
        notes = [f.data.get("note", "") for f in found.findings if f.level == "error"]
        assert not notes or right_rules.is_no_number(notes[0]) and right_rules.is_trapped(seed), (
            seed, found.findings)
        assert not found.undecided, (seed, found.undecided)
