"""The API pages' view of the sources.

The description of `Field(description=...)` is the field's docstring, and the two colons that begin a block
of code in a docstring are one to its reader.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from griffe import Attribute, Docstring, Extension, Object


class Docstrings(Extension):
    """Docstrings of fields, and as they read on a page."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Look at the docstring of anything."""
        if obj.docstring is not None:
            text = re.sub(r"^::\n\n", "", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = re.sub(r"(?<=\S)::$", ":", text, flags=re.MULTILINE)

    def on_attribute_instance(self, *, node: Any, attr: Attribute, **_: Any) -> None:
        """Look at one attribute of a class, as it is read from source."""
        value = getattr(node, "value", None)
        if attr.docstring is not None or not isinstance(value, ast.Call):
            return
        if getattr(value.func, "id", "") != "Field":
            return
        for keyword in value.keywords:
            if keyword.arg == "description" and isinstance(keyword.value, ast.Constant):
                attr.docstring = Docstring(str(keyword.value.value) + ".", parent=attr)
            if keyword.arg == "default" and isinstance(keyword.value, ast.Constant):
                attr.value = repr(keyword.value.value)
        if value.args and isinstance(value.args[0], ast.Constant) and value.args[0].value is not ...:
            attr.value = repr(value.args[0].value)
        elif not any(keyword.arg == "default" for keyword in value.keywords):
            attr.value = None
