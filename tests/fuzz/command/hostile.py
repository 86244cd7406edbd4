"""Values that a careful reader must expect: numbers at the limits of a document's range, and texts
that would control a terminal, end a line, or are not valid UTF-8."""

# The numbers are texts, since JSON's library and Python would change some of them.
NUMBERS = (
    "0", "-0", "-1", "1", "2", "0.5", "1.5", "5e-324", "1e-308", "1e-100", "1e-20", "1e-9", "1e15", "1e100",
    "1e308", "1.7976931348623157e308", "1e400", "-1e400", "9007199254740991", "9007199254740992",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
    "18446744073709551615", "18446744073709551617", "4294967296", "2147483648", "1" + "0" * 400,
    "0." + "0" * 400 + "1")

# Numbers that a flag may be given and that no document can hold.
WORDS_FOR_NUMBERS = ("nan", "inf", "-inf", "", " 1", "1 ", "1k", "1M", "0x10", "1e5", "+1", "1,5", "١")

FORGED = "optimal  1 B  verified"  # what a forged line says

# Code points that steer a terminal, a line or the direction of text, or are not seen: first, last.
STEERING = ((0x00, 0x1f), (0x7f, 0x9f), (0xad, 0xad), (0x61c, 0x61c), (0x180e, 0x180e),
            (0x200b, 0x200f), (0x2028, 0x202e), (0x2060, 0x206f), (0xfeff, 0xfeff), (0xfff9, 0xfffb),
            (0x1bca0, 0x1bca3), (0x1d173, 0x1d17a), (0xe0000, 0xe007f))

# Kinds of text for a name, by the kind.
TEXTS = {
    "line end": "n\n" + FORGED,
    "carriage return": "n\r" + FORGED,
    "colour": "n\x1b[1m\x1b[32m" + FORGED + "\x1b[0m",
    "title of a terminal": "n\x1b]0;t\x07",
    "control character of C1": "n\x9b31m\x85" + FORGED,
    "NUL": "n\x00m",
    "tab and backspace": "n\t\x08\x08\x7f",
    "separators of lines": "n\u2028" + FORGED + "\u2029",
    "override of direction": "n\u202edeifirev\u202c",
    "isolates of direction": "n\u2066\u2067m\u2069",
    "invisible": "n\u200b\u200e\u00ad\u2060\ufeff",
    "tags": "n\U000e0041\U000e007f",
    "annotation": "n\ufff9\ufffb\U0001d173",
    "lone surrogate": "n\ud800",
    "surrogates in the wrong order": "n\udc00\ud800",
    "beyond the basic plane": "n\U0001f600\U0010ffff\uffff",
    "combining": "n" + "\u0301" * 40,
    "empty": "",
    "spaces": "   ",
    "markup": "<script>alert(1)</script>]]>&amp;\"'-->",
    "separators of a table": "a,b;\"c\",=1+1",
    "words of a model": "End\\ Bounds free x-1 + 2 >= 3",
    "path": "../../etc/passwd",
    "flag": "-o--help",
    "format": "%s%n%1000000d{}{0}$(id)`id`\\",
    "long": "n" * 70000,
    "key of a document": "x-name",
    "number": "1e400",
}

# Invalid UTF-8 bytes, written unchanged between quotation marks.
BYTES = {
    "not UTF-8": b"n\xff\xfe",
    "overlong": b"n\xc0\xaf\xe0\x80\x80",
    "cut": b"n\xe2\x82",
    "surrogate in UTF-8": b"n\xed\xa0\x80",
    "beyond Unicode": b"n\xf4\x90\x80\x80",
    "raw control characters": b"n\x1b[1m\x07",
    "wrong escape": b"n\\q\\u12",
}


def steering_at(text):
    """Returns the index of the first character that would control a terminal or forge a line, or
    -1. A line end alone does not count."""
    for at, letter in enumerate(text):
        code = ord(letter)
        if code == 0x0a or 0x20 <= code < 0x7f:
            continue
        if 0xd800 <= code < 0xe000:  # was no UTF-8
            return at
        if any(first <= code <= last for first, last in STEERING):
            return at
    return text.find("\n" + FORGED)
