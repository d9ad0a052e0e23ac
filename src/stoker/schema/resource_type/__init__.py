"""The contract of a resource type.

A type declares its properties and attributes and answers a few calls. It has no state: all that
a call needs comes in a :class:`Call`, all that is to be stored goes out in its answer. After a
:class:`Wait` the same method is called again, with the ``physical_id``, ``progress`` and ``data``
of that answer; it looks how far the work is and answers again. After a crash the call is repeated
in the same way, so every method must be safe to repeat: that is all that a type does for recovery.

Types never touch the database, another resource, or the clock. Types with a ``service`` run on
worker threads and may block; all others run on the event loop and must not.

Everything that the author of a type needs can be imported from here.
"""

from stoker.schema.resource_type.call import (
    Call,
    Inherited,
    Signal,
    SignalCredentials,
    SnapshotFacts,
    StackFacts,
    Update,
)
from stoker.schema.resource_type.capabilities import (
    Adopts,
    Checks,
    Claims,
    Contends,
    DependsImplicitly,
    Deploys,
    Expects,
    FindsObstacles,
    GrantsAccess,
    Impossible,
    JudgesNeighbours,
    NamesResources,
    ObjectUser,
    Observes,
    Reacts,
    Reads,
    Releases,
    Replaces,
    RequestsAddresses,
    RestartsResource,
    Shares,
    ShowsSignals,
    ShowsUsers,
    Signals,
    Snapshots,
    Suspends,
    Sweeps,
    TakesDeployments,
    Updates,
    Validates,
    can,
)
from stoker.schema.resource_type.importing import why_not_importable
from stoker.schema.resource_type.nesting import (
    GathersAttributes,
    MakesStack,
    Nested,
    NestingCall,
    NestingType,
    Referred,
    changes_in_place,
    has_attribute,
)
from stoker.schema.resource_type.outcomes import Done, Failed, Outcome, Wait
from stoker.schema.resource_type.scaling import (
    Adjustment,
    AdjustsGroup,
    NoChangeError,
    Resized,
    ScalableType,
)
from stoker.schema.resource_type.types import VALUES, ManagedType, ResourceType

__all__ = [
    "VALUES",
    "Adjustment", "AdjustsGroup", "Adopts", "Call", "Checks", "Claims", "Contends",
    "DependsImplicitly",
    "Deploys", "Done", "Expects", "Failed", "FindsObstacles", "GathersAttributes", "GrantsAccess",
    "Impossible", "Inherited", "JudgesNeighbours", "MakesStack", "ManagedType", "NamesResources",
    "Nested", "NestingCall",
    "NestingType", "NoChangeError", "ObjectUser", "Observes", "Outcome", "Reacts", "Reads",
    "Referred", "Releases", "Replaces", "RequestsAddresses", "Resized", "ResourceType",
    "RestartsResource",
    "ScalableType", "Shares",
    "ShowsSignals", "ShowsUsers", "Signal", "SignalCredentials", "Signals", "SnapshotFacts",
    "Snapshots",
    "StackFacts", "Suspends", "Sweeps", "TakesDeployments", "Update", "Updates",
    "Validates", "Wait", "can", "changes_in_place", "has_attribute", "why_not_importable",
]  # fmt: skip
