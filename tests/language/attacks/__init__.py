"""Requests of the greatest size that a service accepts, each made to cost as much as it can.

Together they name the amplifiers of the language: short texts for large values, for many steps, or
for many findings.
"""

from __future__ import annotations

from tests.language.attacks import calls, documents, mistakes, sections, trees, values

ATTACKS = {
    make.__name__: make
    for module in (documents, sections, mistakes, calls, values, trees)
    for make in module.ATTACKS
}
