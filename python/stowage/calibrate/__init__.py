"""Fits costs of your own cluster to rows that were measured there.

>>> from stowage.calibrate import fit
>>> found = fit("samples.csv")
>>> found.save("cost.json")

The module needs only NumPy. instances/cluster.md describes the measurements and the table of
samples. `torchrun -m stowage.calibrate -o cluster.json` measures, and needs torch.
"""

from __future__ import annotations

from ._fit import Coefficient as Coefficient
from ._fit import Errors as Errors
from ._fit import Fit as Fit
from ._fit import Next as Next
from ._fit import Separation as Separation
from ._fit import TimeTable as TimeTable
from ._fit import fit as fit
from ._refit import Refit as Refit
from ._refit import refit as refit
from ._samples import Sample as Sample
from ._samples import Samples as Samples
from ._strategy import Rate as Rate
from ._strategy import StrategyFit as StrategyFit
from ._strategy import fit_strategy as fit_strategy
