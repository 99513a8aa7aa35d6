"""Names of a package that are imported when they are first asked for.

A face lists what others may import from a package. Importing a face loads none of it, so a hook
that needs one light class does not wait for all the others.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names come from other modules.

    `modules` gives for each name the module that defines it; a module that ends in the name itself,
    after a dot, is handed out whole.
    """

    def attribute(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import sys
        from importlib import import_module

        found = import_module(module)
        value = found if module.endswith(f".{name}") else getattr(found, name)
        setattr(sys.modules[package], name, value)  # so that the next access costs nothing
        return value

    return attribute
