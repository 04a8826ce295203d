"""What a subject module hands over: what is asked, and of which function."""

import dataclasses
from typing import Any, Callable


@dataclasses.dataclass(frozen=True)
class Gate:
    """One row of docs/subjects.md."""

    what: str  #: which function of the library, and what is around it
    operation: str
    profile: Any  #: the name of a profile, or its fields
    function: Callable[..., Any]

    @property
    def profile_name(self):
        return self.profile if isinstance(self.profile, str) else self.profile["name"]


#: Elements: name -> (profile, emax, two codes a byte, largest value).
ELEMENTS = {
    "e2m1": ("mxfp4/ocp", 2, True, 6.0),
    "e2m3": ("mxfp6-e2m3/ocp", 2, False, 7.5),
    "e3m2": ("mxfp6-e3m2/ocp", 4, False, 28.0),
    "e4m3": ("mxfp8-e4m3/ocp", 8, False, 448.0),
    "e5m2": ("mxfp8-e5m2/ocp", 15, False, 57344.0),
}

#: The scale nearest to amax / 6, for casts to E8M0 of a quotient that binary32 rounds first.
NEAREST = {"name": "mxfp4/nearest-fp32-divide", "base": "mxfp4/nearest", "scale_arithmetic": "fp32-divide"}
