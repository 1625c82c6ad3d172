"""The line that a document's writer is in: columns, line breaks and where a new line is due.

Apart from the writers of scalars and collections, which share it; its rules are those of libyaml's emitter, because the
recorded secrets were written by a descendant of it.
"""

from __future__ import annotations

BREAKS = "\n\u2028\u2029"
"""Characters that end a line and may stand in a text as they are."""


class Output:
    """Text in the making.

    Attributes:
        column: characters in the current line.
        whitespace: the last thing written separates what follows.
        indention: the current line holds nothing but indentation and the signs of collections.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.column = 0
        self.whitespace = True
        self.indention = True

    def text(self) -> str:
        return "".join(self._parts)

    def put(self, text: str) -> None:
        """Characters of one line."""
        self._parts.append(text)
        self.column += len(text)

    def line_break(self, char: str = "\n") -> None:
        self._parts.append(char)
        self.column = 0

    def sign(self, text: str, *, spaced: bool, indention: bool = False) -> None:
        """A sign of YAML such as ``-`` or ``:``.

        Args:
            spaced: it needs a space before it.
            indention: the line still counts as empty after it.
        """
        if spaced:
            self.space()
        self.put(text)
        self.whitespace = False
        self.indention = self.indention and indention

    def space(self) -> None:
        """Separates from what stands before, if that is needed."""
        if not self.whitespace:
            self.put(" ")

    def indent(self, width: int) -> None:
        """Goes to that column, in a new line unless this one is still empty up to there."""
        if not self.indention or self.column > width or (self.column == width and not self.whitespace):
            self.line_break()
        self.put(" " * (width - self.column))
        self.whitespace = True
        self.indention = True

    def wrote(self) -> None:
        """After the text of a scalar."""
        self.whitespace = False
        self.indention = False
