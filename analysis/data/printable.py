"""Texts of tokens as they can be shown: nothing in them is invisible."""

_CONTROL = {code: chr(0x2400 + code) for code in range(32)}  # Unicode has a sign for each: ␍ for a carriage return
_SIGNS = _CONTROL | {ord(" "): "␣", ord("\n"): "⏎", ord("\t"): "⇥", 0x7F: "␡", 0xA0: "⍽"}


def printable(text: str) -> str:
    """Spaces and control characters by their signs, what else cannot be seen by its number."""
    shown = []
    for character in text.translate(_SIGNS):
        shown.append(character if character.isprintable() else f"⟨{ord(character):x}⟩")
    return "".join(shown) or "∅"
